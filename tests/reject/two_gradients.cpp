// SPDX-License-Identifier: Apache-2.0
// reject: strop: an operator states one gradient
#include <strop/op/diagnose.hpp>
#include <strop/op/tags.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;
#if defined(CONTROL)
struct Bad {
  constexpr auto forward(auto x) const { return x; }
  constexpr auto grad_use_none(auto dy) const { return dy; }
};
#else
struct Bad {
  constexpr auto forward(auto x) const { return x; }
  constexpr auto grad_use_none(auto dy) const { return dy; }
  constexpr auto grad_use_out(auto dy, auto) const { return dy; }
};
#endif
static_assert(strop::diagnose<Bad>());
