// SPDX-License-Identifier: Apache-2.0
// reject: strop: an operator is a plain aggregate
#include <strop/op/diagnose.hpp>
#include <strop/op/tags.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;
#if defined(CONTROL)
struct Bad {
  float a = 0;
  constexpr auto forward(auto x) const { return x; }
};
#else
class Bad {
  float a = 0;

 public:
  constexpr auto forward(auto x) const { return x; }
};
#endif
static_assert(strop::diagnose<Bad>());
