// SPDX-License-Identifier: Apache-2.0
/// \file
/// What hosts ask of names that we add to: functions of std with their types written out, and whether a call exists.
#include <algorithm>
#include <chrono>
#include <string>
#include <type_traits>

#include <strop/strop.hpp>

struct Point {
  int x;
  friend constexpr bool operator<(Point a, Point b) { return a.x < b.x; }
};

static_assert(std::max<long double>(1, 2) == 2);
static_assert(std::min<std::chrono::nanoseconds>(std::chrono::milliseconds(1), std::chrono::microseconds(2)).count() ==
              2000);
static_assert(std::max<Point>({1}, {2}).x == 2);
inline std::string longer(const std::string& a, const std::string& b) { return std::max<std::string>(a, b); }

struct Twice {
  enum class Mode : char { plain, squared };
  float by = 2;
  Mode mode = Mode::plain;
  constexpr auto forward(auto x) const { return x * by; }
};
inline constexpr strop::Op<Twice> twice;

struct Nothing {};
#if !defined( \
    __clang__)  // there what no call takes is deleted; clang, which shortens such sentences, says it to who asks
static_assert(!std::is_invocable_v<decltype(twice), Nothing>);
#endif
static_assert(std::is_invocable_r_v<strop::Array, decltype(twice), strop::Array>);
