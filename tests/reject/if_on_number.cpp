// SPDX-License-Identifier: Apache-2.0
// reject: in forward() a comparison has one answer per lane; write where(condition, a, b), not if or ?:
#include <strop/op/check.hpp>
struct Relu {
#if defined(CONTROL)
  constexpr auto forward(auto x) const { return where(x > 0, x, 0); }
#else
  constexpr auto forward(auto x) const { return x > 0 ? x : x * 0; }
#endif
};
static_assert(strop::check::value(Relu{}, -1.0) == 0);
