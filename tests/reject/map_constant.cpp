// SPDX-License-Identifier: Apache-2.0
// reject-first DECLARED LITERAL: strop: forward returns numbers of the kind that it takes: write auto forward
// reject CAST: write auto forward, not float forward, and no cast in it
// reject-first CAST(g++): write auto forward, not float forward, and no cast in it
// reject-first DECLARED LITERAL: a constant is decltype(x)(1)
#include <strop/op/diagnose.hpp>

struct Bad {
#if defined(CONTROL)
  constexpr auto forward(auto x) const { return decltype(x)(1); }
#elif defined(DECLARED)
  constexpr float forward(auto x) const { return 2 * x; }
#elif defined(CAST)
  constexpr auto forward(auto x) const { return (float)x; }
#else
  constexpr auto forward(auto) const { return 1.0f; }
#endif
};
static_assert(strop::diagnose<Bad>());
