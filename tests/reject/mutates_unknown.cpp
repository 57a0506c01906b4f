// SPDX-License-Identifier: Apache-2.0
// reject: strop: mutates names something that stands not in inputs
#include <strop/op/diagnose.hpp>
#include <strop/op/tags.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;
#if defined(CONTROL)
struct Bad {
  static constexpr std::string_view inputs[] = {"x"}, mutates[] = {"x"};
  constexpr auto forward(auto x) const { return std::tuple(2 * x, x); }
};
#else
struct Bad {
  static constexpr std::string_view inputs[] = {"x"}, mutates[] = {"y"};
  constexpr auto forward(auto x) const { return std::tuple(2 * x, x); }
};
#endif
static_assert(strop::diagnose<Bad>());
