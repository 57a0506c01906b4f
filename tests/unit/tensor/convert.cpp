// SPDX-License-Identifier: Apache-2.0
/// \file
/// Conversion of elements, byte counts and the codes of reshape.
#include <doctest/doctest.h>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/reshape_codes.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

using namespace strop;

namespace {

/// Values at and around every edge that a conversion knows, as the type can hold them.
template <class E>
std::vector<E> samples() {
  std::vector<E> out;
  const double edges[] = {0,           -0.0,         0.4,          0.5,  0.9,    1,       -1,
                          1.5,         -1.5,         2.5,          127,  127.9,  128,     -128,
                          -129,        255,          255.5,        256,  -0.9,   65504,   65519,
                          65520,       1e5,          1e-8,         6e-8, 3e38,   1e39,    2147483647,
                          2147483648., -2147483648., -2147483649., 9e18, 9.3e18, -9.3e18, 1e300,
                          0.1,         1.0009765625, 1.00048828125};
  for (double edge : edges) out.push_back(detail::from_double<E>(edge));
  if constexpr (std::same_as<E, std::int64_t>) {
    for (int shift = 0; shift < 63; ++shift)
      for (std::int64_t step : {-1, 0, 1}) out.push_back((std::int64_t{1} << shift) + step);
    out.push_back(9007199254740993);                                       // not a double
    out.push_back((std::int64_t{1} << 54) + (std::int64_t{1} << 30) + 1);  // rounds twice through a double
    out.push_back(std::numeric_limits<std::int64_t>::min());
    out.push_back(std::numeric_limits<std::int64_t>::max());
  }
  if (is_floating(dtype_of<E>)) {
    out.push_back(detail::from_double<E>(std::numeric_limits<double>::infinity()));
    out.push_back(detail::from_double<E>(-std::numeric_limits<double>::infinity()));
    out.push_back(detail::from_double<E>(std::numeric_limits<double>::quiet_NaN()));
  }
  return out;
}

template <class E>
bool same(E a, E b) {
  if constexpr (std::same_as<E, half> || std::same_as<E, bfloat16>)
    return same(static_cast<float>(a), static_cast<float>(b));
  else if constexpr (std::floating_point<E>)
    return (a == b && std::signbit(a) == std::signbit(b)) || (a != a && b != b);
  else
    return a == b;
}

}  // namespace

TEST_CASE("every pair of dtypes converts as one element does, in every length of block") {
  for (Dtype from : all_dtypes) {
    for (Dtype to : all_dtypes) {
      visit(from, [&]<class From>() {
        visit(to, [&]<class To>() {
          const std::vector<From> all = samples<From>();
          for (std::size_t length : {std::size_t{0}, std::size_t{1}, all.size(), std::size_t{511}, std::size_t{1500}}) {
            auto source = std::make_unique<From[]>(length + 1);
            auto target = std::make_unique<To[]>(length + 1);
            for (std::size_t i = 0; i < length; ++i) source[i] = all[i % all.size()];
            const To sentinel = convert<To>(1.0F);
            target[length] = sentinel;
            detail::convert_elements(from, source.get(), to, target.get(), static_cast<std::int64_t>(length));
            bool right = same(target[length], sentinel);
            for (std::size_t i = 0; i < length; ++i) {
              const bool one = same(target[i], convert<To>(source[i]));
              if (!one) INFO("value ", detail::to_double(source[i]));
              right = right && one;
            }
            CAPTURE(name_of(from));
            CAPTURE(name_of(to));
            CHECK(right);
          }
        });
      });
    }
  }
}

TEST_CASE("integers saturate from floating values and wrap from wider integers") {
  const float values[] = {-1e9F, -128.5F, -7.9F, 7.9F, 127.5F, 1e9F, std::nanf("")};
  std::int8_t small[7];
  detail::convert_elements(f32, values, i8, small, 7);
  CHECK(small[0] == -128);
  CHECK(small[1] == -128);
  CHECK(small[2] == -7);
  CHECK(small[3] == 7);
  CHECK(small[4] == 127);
  CHECK(small[5] == 127);
  CHECK(small[6] == 0);
  const std::int64_t wide[] = {257, -1};
  std::uint8_t bytes[2];
  detail::convert_elements(i64, wide, u8, bytes, 2);
  CHECK(bytes[0] == 1);
  CHECK(bytes[1] == 255);
}

TEST_CASE("byte_count refuses what cannot be counted") {
  CHECK(detail::byte_count({}, f64) == 8);
  CHECK(detail::byte_count({2, 3}, f16) == 12);
  CHECK(detail::byte_count({std::int64_t{1} << 50, 0}, f64) == 0);
  CHECK_THROWS_AS(detail::byte_count({std::int64_t{1} << 62, 0, std::int64_t{1} << 62}, f64), Error);
  CHECK_THROWS_AS(detail::byte_count({std::int64_t{1} << 32, std::int64_t{1} << 32}, u8), Error);
  CHECK_THROWS_AS(detail::byte_count({std::int64_t{1} << 61}, f64), Error);
  CHECK_THROWS_WITH_AS(detail::byte_count({2, -1}, f32), "strop: an array cannot have extent -1 along axis 1", Error);
  CHECK_THROWS_AS(detail::byte_count(Shape::unknown(), f32), Error);
}

TEST_CASE("reshape codes") {
  const Shape x{2, 3, 4};
  CHECK(detail::reshape_codes(x, {4, 6}) == Shape{4, 6});
  CHECK(detail::reshape_codes(x, {-1}) == Shape{24});
  CHECK(detail::reshape_codes(x, {4, 0, 2}) == Shape{4, 3, 2});
  CHECK(detail::reshape_codes(x, {2, 0, 0}) == Shape{2, 3, 4});
  CHECK(detail::reshape_codes(x, {6, 1, -1}) == Shape{6, 1, 4});
  CHECK(detail::reshape_codes(x, {-2}) == Shape{2, 3, 4});
  CHECK(detail::reshape_codes(x, {2, -2}) == Shape{2, 3, 4});
  CHECK(detail::reshape_codes(x, {-2, 1, 1}) == Shape{2, 3, 4, 1, 1});
  CHECK(detail::reshape_codes(x, {-3, 4}) == Shape{6, 4});
  CHECK(detail::reshape_codes(x, {0, -3}) == Shape{2, 12});
  CHECK(detail::reshape_codes({2, 3, 4, 5}, {-3, -3}) == Shape{6, 20});
  CHECK(detail::reshape_codes(x, {-3, -2}) == Shape{6, 4});
  CHECK(detail::reshape_codes(x, {-4, 1, 2, -2}) == Shape{1, 2, 3, 4});
  CHECK(detail::reshape_codes(x, {2, -4, -1, 3, -2}) == Shape{2, 1, 3, 4});
  CHECK(detail::reshape_codes({}, {1, 1}) == Shape{1, 1});
  CHECK(detail::reshape_codes({1}, {}) == Shape{});
  CHECK(detail::reshape_codes({8, 3, 3, 3, 4, 4}, {-4, 2, -1, -2}) == Shape{2, 4, 3, 3, 3, 4, 4});
}

TEST_CASE("reshape of arrays without elements") {
  CHECK(detail::reshape_codes({0}, {-1}) == Shape{0});
  CHECK_THROWS_AS(detail::reshape_codes({0, 3}, {3, 0}), Error);  // 0 keeps the extent 3: 9 elements
  CHECK(detail::reshape_codes({0, 3}, {-1, 3}) == Shape{0, 3});
  CHECK(detail::reshape_codes({0, 2, 3}, {0, -1}) == Shape{0, 6});
  CHECK(detail::reshape_codes({2, 0}, {-3}) == Shape{0});
  CHECK_THROWS_AS(detail::reshape_codes({0, 3}, {3, 3, -4, 0, 0}), Error);
}

TEST_CASE("reshape refuses what does not fit, with a sentence") {
  const Shape x{2, 3};
  CHECK_THROWS_WITH_AS(detail::reshape_codes(x, {4, 2}),
                       "reshape: shape (2, 3) by codes (4, 2): the result (4, 2) would have 8 elements, not 6", Error);
  CHECK_THROWS_WITH_AS(detail::reshape_codes(x, {4, -1}),
                       "reshape: shape (2, 3) by codes (4, -1): 6 elements cannot be divided by 4", Error);
  CHECK_THROWS_AS(detail::reshape_codes(x, {-1, -1}), Error);
  CHECK_THROWS_AS(detail::reshape_codes(x, {0, 0, 0}), Error);
  CHECK_THROWS_AS(detail::reshape_codes(x, {2, -3}), Error);
  CHECK_THROWS_AS(detail::reshape_codes(x, {-4, 2}), Error);
  CHECK_THROWS_AS(detail::reshape_codes(x, {-4, -1, -1, 3}), Error);
  CHECK_THROWS_AS(detail::reshape_codes(x, {-4, 3, 3, 0}), Error);
  CHECK_THROWS_AS(detail::reshape_codes(x, {-5}), Error);
  CHECK_THROWS_AS(detail::reshape_codes(x, {std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
}
