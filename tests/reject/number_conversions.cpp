// SPDX-License-Identifier: Apache-2.0
// reject-first CAST CAST_TO_INT CONDITION NEGATION: strop: in forward() a number may be many at once: keep it auto
// reject-first CONDITION: to choose, write where(x != 0, a, b)
// reject-first REMAINDER REMAINDER_OF_TWO: strop: in forward() write fmod(a, b), not a % b
// reject-first BIT SHIFT COMPLEMENT: strop: in forward() write fmod(x, 2) for x & 1, 2 * x for x << 1
// reject-first INCREMENT: strop: in forward() write x += 1, not ++x
// reject-first POSTFIX: strop: in forward() write x -= 1, not x--
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
#elif defined(BIT)
    return x & 1;
#elif defined(SHIFT)
    return 1 << x;
#elif defined(COMPLEMENT)
    return ~x;
#elif defined(INCREMENT)
    return ++x;
#elif defined(POSTFIX)
    x--;
    return x;
#elif defined(REMAINDER)
    return x % 2;
#elif defined(REMAINDER_OF_TWO)
    return 2 * x % x;
#endif
  }
};
static_assert(strop::check::value(Bad{}, 0.0) == 1);
