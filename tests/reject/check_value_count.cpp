// SPDX-License-Identifier: Apache-2.0
// reject: strop: check::value takes a number for each input of forward
#include <strop/op/check.hpp>
struct Twice {
  constexpr auto forward(auto x) const { return 2 * x; }
};
#if defined(CONTROL)
static_assert(strop::check::value(Twice{}, 1.0) == 2);
#else
static_assert(strop::check::value(Twice{}, 1.0, 2.0) == 2);
#endif
