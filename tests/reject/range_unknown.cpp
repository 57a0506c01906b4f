// SPDX-License-Identifier: Apache-2.0
// reject: strop: range names something that is no parameter of the operator
#include <strop/op/diagnose.hpp>
#include <strop/op/tags.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;
#if defined(CONTROL)
struct Bad {
  float a = 0;
  static constexpr strop::Range range[] = {{"a", 0, 1}};
  constexpr auto forward(auto x) const { return x; }
};
#else
struct Bad {
  float a = 0;
  static constexpr strop::Range range[] = {{"b", 0, 1}};
  constexpr auto forward(auto x) const { return x; }
};
#endif
static_assert(strop::diagnose<Bad>());
