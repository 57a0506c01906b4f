// SPDX-License-Identifier: Apache-2.0
/// \file
/// The arithmetic of normal numbers against the C library's, in double.
#include <strop/memory/normal.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

using namespace strop::random::detail;

static_assert(fused_in_double(0x1.001p0F, 0x1.001p0F, -1.0F) == 0x1.0008p-11F);  // the product needs 25 bits
static_assert(fused(3, 4, 5) == 17);

namespace {

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

constexpr double tau = 6.283185307179586476925286766559;

}  // namespace

TEST_CASE("normal: a fused product and sum without the instruction is the C library's") {
  std::mt19937_64 random(1);
  int different = 0;
  for (int i = 0; i < 300000; ++i) {
    const std::uint64_t word = random();
    const auto number = [&](int shift, int spread) {
      const auto mantissa = static_cast<double>((word >> shift & 0xFFFFF) | 0x100000) / 0x1p20;
      const int exponent = static_cast<int>(random() % (2 * static_cast<unsigned>(spread) + 1)) - spread;
      return static_cast<float>(std::ldexp((word >> (shift + 20) & 1) != 0 ? -mantissa : mantissa, exponent));
    };
    const float a = number(0, 20), b = number(21, 20);
    // Near -a b the sum cancels; far from it the small part decides a tie.
    const float c = i % 2 == 0 ? -a * b * (1.0F + static_cast<float>(static_cast<int>(random() % 9) - 4) * 0x1p-23F)
                               : std::ldexp(number(42, 0), static_cast<int>(random() % 64) - 32);
    different += bits_of(fused_in_double(a, b, c)) != bits_of(std::fma(a, b, c));
    different += bits_of(fused(a, b, c)) != bits_of(std::fma(a, b, c));
  }
  CHECK(different == 0);
}

TEST_CASE("normal: the square root is within one unit in the last place") {
  CHECK(square_root(0.0F) == 0.0F);
  for (float x = 1e-9F; x < 50; x *= 1.00037F) {
    const double exact = std::sqrt(static_cast<double>(x));
    REQUIRE(std::abs(static_cast<double>(square_root(x)) - exact) <= exact * 0x1p-23);
  }
}

TEST_CASE("normal: -2 ln u over the whole range of words") {
  const auto expected = [](std::uint32_t w) {
    const auto u = static_cast<double>(std::fma(static_cast<float>(static_cast<std::int32_t>(w)), 0x1p-31F, 0x1p-32F));
    return -2 * std::log(u);
  };
  const auto check = [&](std::uint32_t w) {
    const double exact = expected(w);
    REQUIRE(std::abs(static_cast<double>(minus_two_log(w)) - exact) <= exact * 3e-7);
  };
  for (std::uint32_t w = 0; w < 2000; ++w) check(w);
  for (std::uint32_t w = 0x7FFFFFFF; w > 0x7FFFFFFF - 2000; --w) check(w);
  for (std::uint64_t w = 0; w < 0x80000000; w += 12347) check(static_cast<std::uint32_t>(w));
  CHECK(minus_two_log(0x7FFFFFFF) == 0.0F);
}

TEST_CASE("normal: pairs are radius times cosine and sine of the angle") {
  std::mt19937 random(2);
  double worst = 0;
  for (std::int64_t i = 0; i < 200000; ++i) {
    const auto a = static_cast<std::uint32_t>(random());
    const auto b = i < 64 ? static_cast<std::uint32_t>(i) << 26 : static_cast<std::uint32_t>(random());
    const auto u =
        static_cast<double>(std::fma(static_cast<float>(static_cast<std::int32_t>(a >> 1)), 0x1p-31F, 0x1p-32F));
    const double radius = std::sqrt(-2 * std::log(u)), angle = tau * static_cast<double>(b) * 0x1p-32;
    const Pair pair = normal_pair(a, b);
    worst = std::max({worst, std::abs(static_cast<double>(pair.even) - radius * std::cos(angle)),
                      std::abs(static_cast<double>(pair.odd) - radius * std::sin(angle))});
  }
  CHECK(worst < 2e-6);
}

TEST_CASE("normal: the largest and the smallest number") {
  CHECK(normal_pair(0, 0).even == doctest::Approx(std::sqrt(-2 * std::log(0x1p-32))));
  CHECK(normal_pair(0, 0).even < 6.67F);
  CHECK(normal_pair(0, 0).odd == 0);
  CHECK(normal_pair(0, 0x80000000).even == -normal_pair(0, 0).even);
  CHECK(normal_pair(0xFFFFFFFF, 12345).even == 0);
}
