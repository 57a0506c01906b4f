// SPDX-License-Identifier: Apache-2.0
// reject-first CAST CAST_TO_INT CONDITION NEGATION: strop: in forward() a number may be many at once: keep it auto
// reject-first CONDITION: to choose, write where(x != 0, a, b)
// reject-first REMAINDER REMAINDER_OF_TWO: strop: in forward() write fmod(a, b), not a % b
#include <strop/op/check.hpp>

struct Bad {
  constexpr auto forward(auto x) const {
#if defined(CONTROL)
    return where(x != 0, fmod(2 * x, x), decltype(x)(1));
#elif defined(CAST)
    return static_cast<float>(x);
#elif defined(CAST_TO_INT)
    return (int)x;
#elif defined(CONDITION)
    if (x) return 2 * x;
    return x;
#elif defined(NEGATION)
    return where(!x, 1, x);
#elif defined(REMAINDER)
    return x % 2;
#elif defined(REMAINDER_OF_TWO)
    return 2 * x % x;
#endif
  }
};
static_assert(strop::check::value(Bad{}, 0.0) == 1);
