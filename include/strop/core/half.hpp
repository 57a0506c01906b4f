// SPDX-License-Identifier: Apache-2.0
/// \file
/// The two 16-bit floating types as storage: half (IEEE binary16) and bfloat16. Arithmetic happens in float.
#pragma once
#include <strop/core/config.hpp>

#include <bit>
#include <cstdint>

namespace strop::inline v0 {

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. Conversion from float rounds to nearest, ties to even.
struct half {
  std::uint16_t bits = 0;

  half() = default;
  explicit constexpr half(float value) : bits(pack(value)) {}
  explicit constexpr operator float() const { return unpack(bits); }
  static constexpr half from_bits(std::uint16_t bits) {
    half h;
    h.bits = bits;
    return h;
  }

 private:
  static constexpr std::uint16_t pack(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (word >> 16) & 0x8000U;
    std::uint32_t magnitude = word & 0x7fffffffU;
    if (magnitude >= 0x7f800000U) {  // infinity stays; NaN becomes quiet and keeps its upper bits, as processors do it
      const std::uint32_t nan = 0x200U | ((magnitude >> 13) & 0x3ffU);
      return static_cast<std::uint16_t>(sign | 0x7c00U | (magnitude > 0x7f800000U ? nan : 0U));
    }
    if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // 65520 and above round up
    if (magnitude < 0x38800000U) {  // below 2^-14: adding 0.5 lets the addition do the rounding
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
    }
    magnitude += 0xfffU + ((magnitude >> 13) & 1U);
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U) >> 13));
  }
  static constexpr float unpack(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fU;
    const std::uint32_t fraction = bits & 0x3ffU;
    if (exponent == 31)
      return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13) | (fraction != 0 ? 0x400000U : 0U));
    if (exponent == 0) {
      const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
      return sign != 0 ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  }
};

/// The upper half of a float: 8 exponent and 7 fraction bits. Conversion from float rounds to nearest, ties to even.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  explicit constexpr bfloat16(float value) : bits(pack(value)) {}
  explicit constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 b;
    b.bits = bits;
    return b;
  }

 private:
  static constexpr std::uint16_t pack(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    if ((word & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((word >> 16) | 0x40U);
    return static_cast<std::uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
  }
};

}  // namespace strop::inline v0
