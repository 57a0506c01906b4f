// SPDX-License-Identifier: Apache-2.0
/// \file
/// Conversion of a block of elements without a branch, bit for bit as `convert` does one.
#pragma once
#include <strop/core/dtype.hpp>
#include <strop/number/lanes_vec.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

// Whether the processor itself converts a register of halves.
#if STROP_X86_BYTES == 64 || (STROP_X86_BYTES == 32 && defined(__F16C__)) || \
    (STROP_LANE_BYTES == 16 && defined(__aarch64__) && defined(__ARM_NEON))
#define STROP_HALF_LANES
#if defined(__aarch64__) && !defined(__clang__)
#include <arm_neon.h>
#endif
#endif

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
  std::int32_t value = pick(magnitude < 0x400, std::bit_cast<std::int32_t>(subnormal), normal);
  value |= pick(magnitude > 0x7c00, 0x400000, 0);
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
  out |= pick(magnitude > 0x7f800000, 0x200 | ((magnitude >> 13) & 0x3ff), 0);
  return static_cast<std::uint16_t>(static_cast<std::uint32_t>(out) | ((bits >> 16) & 0x8000U));
}
inline std::uint16_t narrow_lane(bfloat16, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16, nan = (bits >> 16) | 0x40U;
  return static_cast<std::uint16_t>(static_cast<std::int32_t>(bits & 0x7fffffffU) > 0x7f800000 ? nan : rounded);
}

/// Truncated and saturated, NaN as 0.
template <class To, class From>
To truncate_lane(From value) {
  constexpr To lowest = std::numeric_limits<To>::min(), highest = std::numeric_limits<To>::max();
  constexpr From low = static_cast<From>(lowest);
  if constexpr (sizeof(To) == 8) {
    constexpr From past = -low;
    std::int64_t out = static_cast<std::int64_t>(((value >= low) & (value < past)) ? value : From(0));
    out = value >= past ? highest : out;
    return value < low ? lowest : out;
  } else {
    // Where float does not hold the highest integer: the number below it that it holds.
    constexpr bool held = sizeof(To) < sizeof(From) || sizeof(From) == 8;
    constexpr From high = held ? static_cast<From>(highest) : From(0x7fffff80);
    From inside = value == value ? value : From(0);
    inside = inside < low ? low : inside;
    inside = inside > high ? high : inside;
    const auto out = static_cast<std::int32_t>(inside);
    if constexpr (held)
      return static_cast<To>(out);
    else
      return pick(value > high, highest, out);
  }
}

/// One of the two is float, or neither is a half.
template <class To, class From>
LaneOf<To> convert_lane(LaneOf<From> value) {
  if constexpr (is_half(dtype_of<From>))
    return widen_lane(From{}, value);
  else if constexpr (is_half(dtype_of<To>))
    return narrow_lane(To{}, value);
  else if constexpr (std::same_as<To, bool>)
    return value != 0 ? 1 : 0;
  else if constexpr (std::integral<To> && std::floating_point<From>)
    return truncate_lane<To>(value);
  else
    return static_cast<To>(value);
}

inline constexpr int lane_block = 64;

/// Converts lane_block elements. The loop is over arrays that nothing else can refer to, and of constant length, so
/// that compilers vectorise it without being asked to.
template <class To, class From>
void convert_block_of_lanes(const From* from, To* to) {
  LaneOf<From> in[lane_block];
  LaneOf<To> out[lane_block];
  __builtin_memcpy(in, from, sizeof in);
  for (int i = 0; i < lane_block; ++i) out[i] = convert_lane<To, From>(in[i]);
  __builtin_memcpy(static_cast<void*>(to), out, sizeof out);
}

/// Whether lane_block numbers, none of them NaN, lie so that 32 bits hold them without their fractions.
template <class From>
bool narrow_enough(const From* from) {
  std::int32_t outside = 0;
  for (int i = 0; i < lane_block; ++i)
    outside |= static_cast<std::int32_t>(!((from[i] >= From(-0x1p31)) & (from[i] <= From(0x1p30))));
  return outside == 0;
}

#if STROP_X86_BYTES >= 32
/// A register of floats rounded to bfloat16, as narrow_lane rounds one.
inline void narrow_register(number::Vec<float> x, bfloat16* to) {
  typedef std::uint16_t Words __attribute__((vector_size(number::lane_bytes / 2)));
  using Bits = number::Vec<std::uint32_t>;
  const auto bits = number::detail_lanes::pun<Bits>(x);
  const Bits rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
  const Bits chosen = x != x ? bits | 0x400000U : rounded;
  const Words words = __builtin_convertvector(chosen >> 16, Words);
  __builtin_memcpy(static_cast<void*>(to), &words, sizeof words);
}
#endif

#ifdef STROP_HALF_LANES
typedef std::int16_t HalfRegister __attribute__((vector_size(number::lane_bytes / 2)));
#if defined(__clang__)
typedef __fp16 CompilersHalves __attribute__((vector_size(number::lane_bytes / 2)));
#endif

inline number::Vec<float> widen_register(HalfRegister bits) {
#if defined(__clang__)
  return __builtin_convertvector(number::detail_lanes::pun<CompilersHalves>(bits), number::Vec<float>);
#elif STROP_X86_BYTES == 64
  return __builtin_ia32_vcvtph2ps512_mask(bits, number::Vec<float>{}, number::detail_lanes::Every(), 4);
#elif STROP_X86_BYTES == 32
  return __builtin_ia32_vcvtph2ps256(bits);
#else
  return (number::Vec<float>)vcvt_f32_f16(number::detail_lanes::pun<float16x4_t>(bits));
#endif
}
inline HalfRegister narrow_register(number::Vec<float> x) {
#if STROP_X86_BYTES == 64  // 0: to nearest, ties to even
  return number::detail_lanes::pun<HalfRegister>(
      __builtin_ia32_vcvtps2ph512_mask(x, 0, HalfRegister{}, number::detail_lanes::Every()));
#elif STROP_X86_BYTES == 32
  return number::detail_lanes::pun<HalfRegister>(__builtin_ia32_vcvtps2ph256(x, 0));
#elif defined(__clang__)
  return number::detail_lanes::pun<HalfRegister>(__builtin_convertvector(x, CompilersHalves));
#else
  return number::detail_lanes::pun<HalfRegister>(vcvt_f16_f32((float32x4_t)x));
#endif
}
#endif

/// The same, of halves by the processor's own instructions where it has them. Halves from and to what is no float go
/// through floats. Most processors have no instruction for wide integers: what is small goes through narrow ones.
template <class To, class From>
void convert_block(const From* from, To* to) {
  constexpr bool small_from = is_half(dtype_of<From>), small_to = is_half(dtype_of<To>);
  if constexpr ((small_from && !std::same_as<To, float>) || (small_to && !std::same_as<From, float>)) {
    float between[lane_block];
    convert_block(from, between);
    convert_block(between, to);
  } else if constexpr (std::same_as<To, std::int64_t> && std::floating_point<From>) {
    if (!narrow_enough(from)) return convert_block_of_lanes(from, to);
    std::int32_t between[lane_block];
    for (int i = 0; i < lane_block; ++i) between[i] = static_cast<std::int32_t>(from[i]);
    convert_block_of_lanes(between, to);
  } else {
#ifdef STROP_HALF_LANES
    constexpr int lanes = number::lane_bytes / 4;
    if constexpr (std::same_as<From, half>) {
      for (int i = 0; i < lane_block; i += lanes) {
        HalfRegister bits;
        __builtin_memcpy(&bits, from + i, sizeof bits);
        const number::Vec<float> wide = widen_register(bits);
        __builtin_memcpy(to + i, &wide, sizeof wide);
      }
      return;
    }
    if constexpr (std::same_as<To, half>) {
      for (int i = 0; i < lane_block; i += lanes) {
        number::Vec<float> wide;
        __builtin_memcpy(&wide, from + i, sizeof wide);
        const HalfRegister bits = narrow_register(wide);
        __builtin_memcpy(static_cast<void*>(to + i), &bits, sizeof bits);
      }
      return;
    }
#endif
#if STROP_X86_BYTES >= 32
    if constexpr (std::same_as<To, bfloat16>) {
      for (int i = 0; i < lane_block; i += number::lane_bytes / 4) {
        number::Vec<float> wide;
        __builtin_memcpy(&wide, from + i, sizeof wide);
        narrow_register(wide, to + i);
      }
      return;
    }
#endif
    convert_block_of_lanes(from, to);
  }
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail

#undef STROP_HALF_LANES
