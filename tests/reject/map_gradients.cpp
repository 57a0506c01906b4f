// SPDX-License-Identifier: Apache-2.0
// reject: strop: grad_use_in takes (dy..., x...), one dy per output and one x per input of forward, and is const
// reject: strop: grad_use_out takes (dy..., y...), one dy and one y per output of forward, and is const
// reject: strop: grad_use_none takes (dy...), one dy per output of forward, and is const
// reject: strop: grad_use_in_out takes (dy..., x..., y...), one dy and one y per output and one x per input of forwar
// reject: strop: a gradient returns a number, for several inputs a std::tuple of one number per input of forward
#include <strop/op/diagnose.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;

struct TwoOutputsGradUseIn {
  constexpr auto forward(auto x) const { return std::tuple(x * x, 2 * x); }
#if defined(CONTROL)
  constexpr auto grad_use_in(auto dy0, auto dy1, auto x) const { return dy0 * 2 * x + 2 * dy1; }
#else
  constexpr auto grad_use_in(auto dy, auto x) const { return dy * 2 * x; }
#endif
};
static_assert(strop::diagnose<TwoOutputsGradUseIn>());

struct TwoOutputsGradUseOut {
  constexpr auto forward(auto x) const { return std::tuple(x * x, 2 * x); }
#if defined(CONTROL)
  constexpr auto grad_use_out(auto dy0, auto dy1, auto, auto y1) const { return dy0 * y1 + 2 * dy1; }
#else
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * y; }
#endif
};
static_assert(strop::diagnose<TwoOutputsGradUseOut>());

struct TwoOutputsGradUseNone {
  constexpr auto forward(auto x) const { return std::tuple(x, 2 * x); }
#if defined(CONTROL)
  constexpr auto grad_use_none(auto dy0, auto dy1) const { return dy0 + 2 * dy1; }
#else
  constexpr auto grad_use_none(auto dy) const { return dy; }
#endif
};
static_assert(strop::diagnose<TwoOutputsGradUseNone>());

struct TwoOutputsGradUseInOut {
  constexpr auto forward(auto x) const { return std::tuple(x * x, 2 * x); }
#if defined(CONTROL)
  constexpr auto grad_use_in_out(auto dy0, auto dy1, auto x, auto, auto) const { return dy0 * 2 * x + 2 * dy1; }
#else
  constexpr auto grad_use_in_out(auto dy, auto x, auto) const { return dy * 2 * x; }
#endif
};
static_assert(strop::diagnose<TwoOutputsGradUseInOut>());

struct GradientOfTwo {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  constexpr auto grad_use_none(auto dy) const { return 2 * dy; }
#else
  constexpr auto grad_use_none(auto dy) const { return std::tuple(2 * dy, dy); }
#endif
};
static_assert(strop::diagnose<GradientOfTwo>());
