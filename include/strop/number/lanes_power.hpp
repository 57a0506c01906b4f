// SPDX-License-Identifier: Apache-2.0
/// \file
/// pow, cbrt and erf of float lanes.
#pragma once
#include <strop/number/lanes_trig.hpp>

#ifndef STROP_NO_LANES
#define STROP_INLINE [[gnu::always_inline]] inline
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

/// The lanes of a register of floats as two registers of doubles.
struct Wide {
  Vec<double> low, high;
};
template <class V, int... i>
struct Halves;
STROP_INLINE Wide widen(Vec<float> x) {
#if defined(__x86_64__) && !defined(__clang__)
  // GCC's __builtin_convertvector takes four instructions for each half.
#if defined(__AVX512F__)
  using Half = float __attribute__((vector_size(32)));
  const Half low = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7);
  const Half high = __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  constexpr auto every = static_cast<unsigned char>(-1);
  const Vec<double> none{};
  return {__builtin_ia32_cvtps2pd512_mask(low, none, every, 4), __builtin_ia32_cvtps2pd512_mask(high, none, every, 4)};
#elif defined(__AVX2__) && defined(__FMA__)
  return {__builtin_ia32_cvtps2pd256(__builtin_shufflevector(x, x, 0, 1, 2, 3)),
          __builtin_ia32_cvtps2pd256(__builtin_shufflevector(x, x, 4, 5, 6, 7))};
#else
  return {__builtin_ia32_cvtps2pd(x), __builtin_ia32_cvtps2pd(__builtin_shufflevector(x, x, 2, 3, 2, 3))};
#endif
#else
  constexpr int half = lane_bytes / 8;
  Wide w;
  if constexpr (half == 2) {
    w.low = __builtin_convertvector(__builtin_shufflevector(x, x, 0, 1), Vec<double>);
    w.high = __builtin_convertvector(__builtin_shufflevector(x, x, 2, 3), Vec<double>);
  } else if constexpr (half == 4) {
    w.low = __builtin_convertvector(__builtin_shufflevector(x, x, 0, 1, 2, 3), Vec<double>);
    w.high = __builtin_convertvector(__builtin_shufflevector(x, x, 4, 5, 6, 7), Vec<double>);
  } else {
    w.low = __builtin_convertvector(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7), Vec<double>);
    w.high = __builtin_convertvector(__builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15), Vec<double>);
  }
  return w;
#endif
}
