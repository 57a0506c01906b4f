// SPDX-License-Identifier: Apache-2.0
/// \file
/// Conversion of a block of elements without a branch, bit for bit as `convert` does one.
#pragma once
#include <strop/core/dtype.hpp>
#include <strop/core/isa.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// What an element is while it is converted: the bits of a 16-bit float, the byte of a bool, else itself.
template <class E>
using LaneOf =
    std::conditional_t<std::same_as<E, bool>, std::uint8_t,
                       std::conditional_t<std::same_as<E, half> || std::same_as<E, bfloat16>, std::uint16_t, E>>;

/// A choice that stays arithmetic: a compiler that made a branch of it would not vectorise the floating-point operation
/// before it, which could raise an exception that the branch avoids.
inline std::int32_t pick(bool condition, std::int32_t yes, std::int32_t no) {
  const std::int32_t mask = -static_cast<std::int32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

inline float widen_lane(half, std::uint16_t bits) {
  const std::int32_t magnitude = bits & 0x7fff;
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24F;
  const std::int32_t normal = (magnitude << 13) + (112 << 23) + pick(magnitude >= 0x7c00, 112 << 23, 0);
  const std::int32_t value = pick(magnitude < 0x400, std::bit_cast<std::int32_t>(subnormal), normal);
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) | (static_cast<std::uint32_t>(bits) & 0x8000U) << 16);
}
inline float widen_lane(bfloat16, std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t narrow_lane(half, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto magnitude = static_cast<std::int32_t>(bits & 0x7fffffffU);
  const std::int32_t normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  const std::int32_t subnormal = std::bit_cast<std::int32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000;
  std::int32_t out = pick(magnitude < 0x38800000, subnormal, normal);  // adding 0.5 has rounded
  out = pick(magnitude >= 0x477ff000, 0x7c00, out);
  out |= pick(magnitude > 0x7f800000, 0x200, 0);
  return static_cast<std::uint16_t>(static_cast<std::uint32_t>(out) | ((bits >> 16) & 0x8000U));
}
inline std::uint16_t narrow_lane(bfloat16, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16, nan = (bits >> 16) | 0x40U;
  return static_cast<std::uint16_t>(static_cast<std::int32_t>(bits & 0x7fffffffU) > 0x7f800000 ? nan : rounded);
}

/// Truncated and saturated, NaN as 0.
template <class To>
To truncate_lane(double value) {
  using Wide = std::conditional_t<sizeof(To) == 8, std::int64_t, std::int32_t>;
  constexpr To lowest = std::numeric_limits<To>::min(), highest = std::numeric_limits<To>::max();
  constexpr double low = static_cast<double>(lowest), past = static_cast<double>(highest) + (sizeof(To) == 8 ? 0 : 1);
  Wide out = static_cast<Wide>(((value >= low) & (value < past)) ? value : 0.0);
  out = value >= past ? highest : out;
  out = value < low ? lowest : out;
  return static_cast<To>(out);
}

template <class To, class From>
LaneOf<To> convert_lane(LaneOf<From> value) {
  constexpr bool small_from = !std::same_as<From, bool> && !std::same_as<LaneOf<From>, From>;
  constexpr bool small_to = !std::same_as<To, bool> && !std::same_as<LaneOf<To>, To>;
  if constexpr (small_from)
    return static_cast<To>(widen_lane(From{}, value));
  else if constexpr (small_to)
    return narrow_lane(To{}, static_cast<float>(value));
  else if constexpr (std::same_as<To, bool>)
    return value != 0 ? 1 : 0;
  else if constexpr (std::integral<To> && std::floating_point<From>)
    return truncate_lane<To>(static_cast<double>(value));
  else
    return static_cast<To>(value);
}

inline constexpr int lane_block = 64;

/// Converts lane_block elements. The loop is over arrays that nothing else can refer to, and of constant length, so
/// that compilers vectorise it without being asked to.
template <class To, class From>
void convert_block(const From* from, To* to) {
  LaneOf<From> in[lane_block];
  LaneOf<To> out[lane_block];
  __builtin_memcpy(in, from, sizeof in);
  for (int i = 0; i < lane_block; ++i) out[i] = convert_lane<To, From>(in[i]);
  __builtin_memcpy(static_cast<void*>(to), out, sizeof out);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
