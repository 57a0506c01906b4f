// SPDX-License-Identifier: Apache-2.0
/// \file
/// The 16-bit floating types against the arithmetic of their definition: every pattern, and every rounding between two.
#include <doctest/doctest.h>
#include <strop/core/half.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

using strop::bfloat16;
using strop::half;

namespace {

/// The number of a pattern with `fraction_bits` and exponents from 1 - bias, by scalbn alone.
double number(unsigned bits, int fraction_bits, int bias) {
  const unsigned fraction = bits & ((1U << fraction_bits) - 1);
  const int exponent = static_cast<int>(bits & 0x7fffU) >> fraction_bits;
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (exponent == 2 * bias + 1) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::scalbn(static_cast<double>(fraction), 1 - bias - fraction_bits);
  return sign * std::scalbn(static_cast<double>(fraction + (1U << fraction_bits)), exponent - bias - fraction_bits);
}

/// Failures of a whole type: patterns that do not read as their number, do not come back, or round to the wrong
/// neighbour. One count, because 65,536 assertions would take longer than what they test.
template <class H>
int failures(int fraction_bits, int bias) {
  int wrong = 0;
  const auto expect = [&](bool good) { wrong += good ? 0 : 1; };
  const unsigned infinity = static_cast<unsigned>(2 * bias + 1) << fraction_bits;
  for (unsigned bits = 0; bits < 0x10000U; ++bits) {
    const double exact = number(bits, fraction_bits, bias);
    const auto x = static_cast<float>(H::from_bits(static_cast<std::uint16_t>(bits)));
    if (std::isnan(exact)) {
      const H back(x);
      expect(std::isnan(x) && std::isnan(static_cast<float>(back)));
      expect(std::signbit(x) == ((bits & 0x8000U) != 0) && (back.bits & 0x8000U) == (bits & 0x8000U));
      continue;
    }
    expect(static_cast<double>(x) == exact && std::signbit(x) == std::signbit(exact));
    expect(H(x).bits == bits);
    // Between this pattern and the next further from zero (past the largest: where the next would be): halfway goes to
    // the even one, a hair to either side to the nearer one.
    if ((bits & 0x7fffU) >= infinity) continue;
    const double step =
        std::scalbn(1.0, std::max(static_cast<int>(bits & 0x7fffU) >> fraction_bits, 1) - bias - fraction_bits);
    const double halfway = exact + std::copysign(step / 2, exact);
    const auto tie = static_cast<float>(halfway);
    if (static_cast<double>(tie) !=
        halfway) {  // float itself has no number between: the least of bfloat16's subnormals
      expect(false);
      continue;
    }
    const unsigned next = bits + 1, even = (bits & 1U) == 0 ? bits : next;
    expect(H(tie).bits == even);
    expect(H(std::nextafter(tie, 0.0F)).bits == bits);
    expect(H(std::nextafter(tie, std::copysign(HUGE_VALF, tie))).bits == next);
  }
  return wrong;
}

}  // namespace

TEST_CASE("all 65,536 patterns of float16, and the rounding between them") { CHECK(failures<half>(10, 15) == 0); }
TEST_CASE("all 65,536 patterns of bfloat16, and the rounding between them") { CHECK(failures<bfloat16>(7, 127) == 0); }

#if defined(__FLT16_MANT_DIG__)
TEST_CASE("float16 rounds as the compiler's own type does") {
  int wrong = 0;
  // Every 4,099th float: a prime, so that all exponents and all low bits are met.
  for (std::uint64_t word = 0; word < 0x100000000U; word += 4099) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    if (std::isnan(x)) continue;
    wrong += half(x).bits == std::bit_cast<std::uint16_t>(static_cast<_Float16>(x)) ? 0 : 1;
  }
  CHECK(wrong == 0);
}
#endif

TEST_CASE("what lies outside float16") {
  CHECK(half(65504.0F).bits == 0x7bff);
  CHECK(half(65519.996F).bits == 0x7bff);
  CHECK(half(65520.0F).bits == 0x7c00);
  CHECK(half(-1e30F).bits == 0xfc00);
  CHECK(half(0x1p-25F).bits == 0);  // halfway to the smallest: the even one is zero
  CHECK(half(std::nextafter(0x1p-25F, 1.0F)).bits == 1);
  CHECK(half(-1e-30F).bits == 0x8000);
  CHECK(bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(bfloat16(std::bit_cast<float>(0x7f800001U)).bits == 0x7fc0);  // a NaN whose upper half alone is infinity
}
