// SPDX-License-Identifier: Apache-2.0
// reject: strop: an operator is not final
#include <strop/op/diagnose.hpp>
#include <strop/op/tags.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;
#if defined(CONTROL)
struct Bad {
  constexpr auto forward(auto x) const { return x; }
};
#else
struct Bad final {
  constexpr auto forward(auto x) const { return x; }
};
#endif
static_assert(strop::diagnose<Bad>());
