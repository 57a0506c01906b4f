// SPDX-License-Identifier: Apache-2.0
// reject: the first argument of where() is a comparison, such as x > 0
#include <strop/op/check.hpp>
struct Pick {
#if defined(CONTROL)
  constexpr auto forward(auto x) const { return where(x != 0, x, 0); }
#else
  constexpr auto forward(auto x) const { return where(x, x, 0); }
#endif
};
static_assert(strop::check::value(Pick{}, 2.0) == 2);
