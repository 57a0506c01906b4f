// SPDX-License-Identifier: Apache-2.0
/// \file
/// A register of floats as two registers of doubles, and back.
#pragma once
#include <strop/number/lanes_base.hpp>

#ifndef STROP_NO_LANES

// The numbers of the lanes of the lower and of the upper half.
#if STROP_LANE_BYTES == 64
#define STROP_LOW 0, 1, 2, 3, 4, 5, 6, 7
#define STROP_HIGH 8, 9, 10, 11, 12, 13, 14, 15
#elif STROP_LANE_BYTES == 32
#define STROP_LOW 0, 1, 2, 3
#define STROP_HIGH 4, 5, 6, 7
#else
#define STROP_LOW 0, 1
#define STROP_HIGH 2, 3
#endif

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

struct Wide {
  Vec<double> low, high;
};
typedef float HalfVec __attribute__((vector_size(lane_bytes / 2)));

#if STROP_X86_BYTES != 0 && !defined(__clang__)
// GCC's __builtin_convertvector needs four instructions to widen a half, and its vectors of two floats are slow.
[[gnu::always_inline]] inline Wide widen(Vec<float> x) {
#if STROP_X86_BYTES == 64
  const Vec<double> none{};
  return {__builtin_ia32_cvtps2pd512_mask(__builtin_shufflevector(x, x, STROP_LOW), none, Every(), 4),
          __builtin_ia32_cvtps2pd512_mask(__builtin_shufflevector(x, x, STROP_HIGH), none, Every(), 4)};
#elif STROP_X86_BYTES == 32
  return {__builtin_ia32_cvtps2pd256(__builtin_shufflevector(x, x, STROP_LOW)),
          __builtin_ia32_cvtps2pd256(__builtin_shufflevector(x, x, STROP_HIGH))};
#else
  return {__builtin_ia32_cvtps2pd(x), __builtin_ia32_cvtps2pd(__builtin_shufflevector(x, x, 2, 3, 2, 3))};
#endif
}
[[gnu::always_inline]] inline Vec<float> narrow(Wide w) {
#if STROP_X86_BYTES >= 32
  return __builtin_shufflevector(__builtin_convertvector(w.low, HalfVec), __builtin_convertvector(w.high, HalfVec),
                                 STROP_LOW, STROP_HIGH);
#else
  return __builtin_shufflevector(__builtin_ia32_cvtpd2ps(w.low), __builtin_ia32_cvtpd2ps(w.high), 0, 1, 4, 5);
#endif
}
#else
[[gnu::always_inline]] inline Wide widen(Vec<float> x) {
  return {__builtin_convertvector(__builtin_shufflevector(x, x, STROP_LOW), Vec<double>),
          __builtin_convertvector(__builtin_shufflevector(x, x, STROP_HIGH), Vec<double>)};
}
[[gnu::always_inline]] inline Vec<float> narrow(Wide w) {
  return __builtin_shufflevector(__builtin_convertvector(w.low, HalfVec), __builtin_convertvector(w.high, HalfVec),
                                 STROP_LOW, STROP_HIGH);
}
#endif

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LOW
#undef STROP_HIGH
#endif
