// SPDX-License-Identifier: Apache-2.0
/// \file
/// Conversion of sixteen elements at once, bit for bit as `convert` does one.
#pragma once
#include <strop/core/dtype.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace strop::inline v0::detail {

template <class T>
struct SixteenOf {
  typedef T Type __attribute__((vector_size(16 * sizeof(T))));
};
template <class T>
using Sixteen = typename SixteenOf<T>::Type;

/// What an element is in a vector: the bits of a half, the byte of a bool, else itself.
template <class E>
using LaneOf =
    std::conditional_t<std::same_as<E, bool>, std::uint8_t,
                       std::conditional_t<std::same_as<E, half> || std::same_as<E, bfloat16>, std::uint16_t, E>>;

using Words = Sixteen<std::uint32_t>;
using SignedWords = Sixteen<std::int32_t>;

template <class To, class From>
void pun_lanes(const From& from, To& to) {
  static_assert(sizeof from == sizeof to);
  __builtin_memcpy(&to, &from, sizeof to);
}

/// `yes` where the comparison's result `mask` is all ones, else `no`.
inline void choose(const SignedWords& mask, const Words& yes, const Words& no, Words& out) {
  out = (reinterpret_cast<const Words&>(mask) & yes) | (~reinterpret_cast<const Words&>(mask) & no);
}

inline void widen_lanes(half, const Sixteen<std::uint16_t>& from, Sixteen<float>& to) {
  const Words bits = __builtin_convertvector(from, Words), magnitude = bits & 0x7fffU;
  const auto& compared = reinterpret_cast<const SignedWords&>(magnitude);
  const SignedWords special = compared >= 0x7c00, small = compared < 0x400;
  const Words normal = (magnitude << 13) + (112U << 23) + (reinterpret_cast<const Words&>(special) & (112U << 23));
  const Sixteen<float> subnormal = __builtin_convertvector(compared, Sixteen<float>) * 0x1p-24F;
  Words value;
  pun_lanes(subnormal, value);
  choose(small, value, normal, value);
  value |= (bits & 0x8000U) << 16;
  pun_lanes(value, to);
}

inline void widen_lanes(bfloat16, const Sixteen<std::uint16_t>& from, Sixteen<float>& to) {
  const Words bits = __builtin_convertvector(from, Words) << 16;
  pun_lanes(bits, to);
}

inline void narrow_lanes(half, const Sixteen<float>& from, Sixteen<std::uint16_t>& to) {
  Words bits;
  pun_lanes(from, bits);
  const Words magnitude = bits & 0x7fffffffU;
  const auto& compared = reinterpret_cast<const SignedWords&>(magnitude);
  const SignedWords small = compared < 0x38800000, large = compared >= 0x477ff000, nan = compared > 0x7f800000;
  const Words normal = (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
  Sixteen<float> shifted;  // adding 0.5 rounds what becomes a subnormal
  pun_lanes(magnitude, shifted);
  shifted += 0.5F;
  Words value;
  pun_lanes(shifted, value);
  value -= 0x3f000000U;
  choose(small, value, normal, value);
  choose(large, Words{} + 0x7c00U, value, value);
  value |= (reinterpret_cast<const Words&>(nan) & 0x200U) | ((bits >> 16) & 0x8000U);
  to = __builtin_convertvector(value, Sixteen<std::uint16_t>);
}

inline void narrow_lanes(bfloat16, const Sixteen<float>& from, Sixteen<std::uint16_t>& to) {
  Words bits;
  pun_lanes(from, bits);
  const Words magnitude = bits & 0x7fffffffU;
  const SignedWords nan = reinterpret_cast<const SignedWords&>(magnitude) > 0x7f800000;
  Words value = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  choose(nan, (bits >> 16) | 0x40U, value, value);
  to = __builtin_convertvector(value, Sixteen<std::uint16_t>);
}

/// Doubles to an integer type: truncated, saturated, NaN as 0.
template <class To>
void truncate_lanes(const Sixteen<double>& from, Sixteen<To>& to) {
  constexpr double low = static_cast<double>(std::numeric_limits<To>::min()),
                   past = static_cast<double>(std::numeric_limits<To>::max()) + (sizeof(To) == 8 ? 0 : 1);
  const auto number = from == from, above = from >= past, inside = (from >= low) & (from < past);
  const auto keep = inside;
  Sixteen<std::int64_t> bits;
  pun_lanes(from, bits);
  bits &= keep;  // 0 where it is not in range
  Sixteen<double> value;
  pun_lanes(bits, value);
  if constexpr (sizeof(To) == 8)
    to = __builtin_convertvector(value, Sixteen<To>);
  else
    to = __builtin_convertvector(__builtin_convertvector(value, SignedWords), Sixteen<To>);
  const Sixteen<std::int64_t> lowest = ~inside & ~above & number;
  to |= __builtin_convertvector(above, Sixteen<To>) & std::numeric_limits<To>::max();
  to |= __builtin_convertvector(lowest, Sixteen<To>) & std::numeric_limits<To>::min();
}

template <class To, class From>
void convert_sixteen(const From* from, To* to) {
  constexpr bool small_from = sizeof(LaneOf<From>) == 2, small_to = sizeof(LaneOf<To>) == 2;
  Sixteen<LaneOf<From>> in;
  Sixteen<LaneOf<To>> out;
  __builtin_memcpy(&in, from, sizeof in);
  if constexpr (small_from) {
    Sixteen<float> wide;
    widen_lanes(From{}, in, wide);
    if constexpr (std::same_as<To, float>)
      out = wide;
    else
      out = __builtin_convertvector(wide, Sixteen<LaneOf<To>>);
  } else if constexpr (small_to) {
    if constexpr (std::same_as<From, float>)
      narrow_lanes(To{}, in, out);
    else
      narrow_lanes(To{}, __builtin_convertvector(in, Sixteen<float>), out);
  } else if constexpr (std::same_as<To, bool>) {
    out = __builtin_convertvector(in != 0, Sixteen<std::uint8_t>) & 1;
  } else if constexpr (std::integral<To> && std::floating_point<From>) {
    truncate_lanes<To>(in, out);
  } else {
    out = __builtin_convertvector(in, Sixteen<To>);
  }
  __builtin_memcpy(to, &out, sizeof out);
}

}  // namespace strop::inline v0::detail
