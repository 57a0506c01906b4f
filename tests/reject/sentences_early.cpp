// SPDX-License-Identifier: Apache-2.0
// What compilers write before a sentence, in a program that calls the operator, is no more than a screen.
//
// lines: 20
// reject-first MAX: strop: in forward() write max(x, y), not std::max(x, y)
// reject-first EXP: strop: in forward() write exp(x), not std::exp(x)
// reject-first IF WHILE TERNARY: strop: in forward() a comparison has one answer per lane
// reject-first IF_NUMBER WHILE_NUMBER: strop: in forward() a number may be many at once: keep it auto
// reject-first FUNCTION STD_ARRAY ARRAY_OF_OURS: strop: a parameter is a bool, a number, a string
// reject-first ARRAY: strop: a parameter is no array; a list of integers is a strop::Shape
#include <strop/strop.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

struct Bad {
#if defined(FUNCTION)
  std::function<float(float)> f = {};
#elif defined(STD_ARRAY)
  std::array<float, 3> list = {};
#elif defined(ARRAY_OF_OURS)
  strop::NDArray table = {};
#elif defined(ARRAY)
  float list[3] = {};
#endif
  float a = 1;
  constexpr auto forward(auto x) const {
#if defined(MAX)
    return std::max(x, 2 * x);
#elif defined(EXP)
    return std::exp(a * x);
#elif defined(IF)
    if (x > 0) return x;
    return 0 * x;
#elif defined(IF_NUMBER)
    if (x) return x;
    return 0 * x;
#elif defined(WHILE)
    while (x > 0) x = x - 1;
    return x;
#elif defined(WHILE_NUMBER)
    while (x) x = x - 1;
    return x;
#elif defined(TERNARY)
    return x > 0 ? x : 0 * x;
#else
    return a * x;
#endif
  }
};
inline constexpr strop::Op<Bad> bad;

strop::NDArray use(const strop::NDArray& x);
strop::NDArray use(const strop::NDArray& x) { return bad(x, {.a = 2}) + 1; }
