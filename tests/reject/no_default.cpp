// SPDX-License-Identifier: Apache-2.0
// reject: strop: every parameter has a default initialiser
#include <strop/op/diagnose.hpp>
#include <strop/op/tags.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;
#if defined(CONTROL)
struct Bad {
  strop::Required<int> n = {};
  constexpr auto forward(auto x) const { return x; }
};
#else
struct Ref {
  explicit Ref(int) {}
};
struct Bad {
  Ref n;
  constexpr auto forward(auto x) const { return x; }
};
#endif
static_assert(strop::diagnose<Bad>());
