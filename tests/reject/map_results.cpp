// SPDX-License-Identifier: Apache-2.0
// reject: strop: forward returns a number or a std::tuple of one number per output
// reject: ForwardReturnsVoid
// reject: ForwardReturnsText
#include <strop/op/diagnose.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;

struct ForwardEmptyTuple {
#if defined(CONTROL)
  constexpr auto forward(auto x) const { return 2 * x; }
#else
  constexpr auto forward(auto) const { return std::tuple<>(); }
#endif
};
static_assert(strop::diagnose<ForwardEmptyTuple>());

struct ForwardReturnsVoid {
#if defined(CONTROL)
  constexpr auto forward(auto x) const { return 2 * x; }
#else
  constexpr void forward(auto) const {}
#endif
};
static_assert(strop::diagnose<ForwardReturnsVoid>());

struct ForwardReturnsText {
#if defined(CONTROL)
  constexpr auto forward(auto x) const { return 2 * x; }
#else
  constexpr auto forward(auto) const { return "text"; }
#endif
};
static_assert(strop::diagnose<ForwardReturnsText>());
