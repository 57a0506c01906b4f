// SPDX-License-Identifier: Apache-2.0
/// \file
/// Registers of numbers on the compilers' own vector types, and the few operations that need a compiler's built-in
/// name.
#pragma once
#include <strop/core/isa.hpp>
#include <strop/number/libm.hpp>

#include <cstdint>

#if STROP_LANE_BYTES == 16 && defined(__aarch64__) && defined(__ARM_NEON) && !defined(__clang__)
#define STROP_NEON  // g++ has no spelling of its own for the fused product and the root of a register
#include <arm_neon.h>
#endif

#define STROP_INLINE [[gnu::always_inline]] inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {

namespace detail_lanes {
template <class T>
struct VecOf {
  using Type = T;
};
#ifndef STROP_NO_LANES
#define STROP_VEC(T)                                         \
  template <>                                                \
  struct VecOf<T> {                                          \
    typedef T Type __attribute__((vector_size(lane_bytes))); \
  };
STROP_VEC(float)
STROP_VEC(double)
STROP_VEC(std::int32_t)
STROP_VEC(std::uint32_t)
STROP_VEC(std::uint64_t)
#undef STROP_VEC
#endif
}  // namespace detail_lanes

/// A register of lane_bytes bytes on the compilers' vector types; with STROP_NO_LANES one number.
template <class T>
using Vec = typename detail_lanes::VecOf<T>::Type;

#ifndef STROP_NO_LANES
namespace detail_lanes {

/// The layout of a floating type, in integers of its size.
template <class T>
struct Format;
template <>
struct Format<float> {
  using Int = std::int32_t;
  using Unsigned = std::uint32_t;
  static constexpr int digits = 23, bias = 127;
  static constexpr Int one = 0x3f800000, root_half = 0x3f3504f3, infinity = 0x7f800000, quiet_nan = 0x7fc00000;
  static constexpr Int mantissa = 0x7fffff, sign = INT32_MIN;
  static constexpr float smallest_normal = 0x1p-126f, whole = 0x1p23f;  // from `whole` on every number is an integer
};
template <>
struct Format<double> {
  using Int = std::int64_t;
  using Unsigned = std::uint64_t;
  static constexpr int digits = 52, bias = 1023;
  static constexpr Int one = 0x3ff0000000000000, root_half = 0x3fe6a09e667f3bcd, infinity = 0x7ff0000000000000;
  static constexpr Int quiet_nan = 0x7ff8000000000000, mantissa = 0xfffffffffffff, sign = INT64_MIN;
  static constexpr double smallest_normal = 0x1p-1022, whole = 0x1p52;
};

/// Whether fma rounds once.
#if (defined(__FMA__) && STROP_LANE_BYTES >= 32) || defined(__ARM_FEATURE_FMA)
inline constexpr bool fused = true;
#else
inline constexpr bool fused = false;
#endif

/// The same bits as another type of the same size.
template <class To, class From>
STROP_INLINE To pun(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

/// Every lane, as a mask of whatever type a built-in function takes: some are signed.
struct Every {
  template <class M>
  [[gnu::always_inline]] constexpr operator M() const {
    return static_cast<M>(-1);
  }
};

// √x; a < b ? a : b; a > b ? a : b; a · b + c, with one rounding where the machine has such an instruction. GCC has no
// notation for the first and the last and does not recognise the others.
#if STROP_X86_BYTES != 0 && !defined(__clang__)
#if STROP_X86_BYTES == 64  // the last arguments: every lane, rounding as it is set
#define STROP_BUILTINS(T, s)                                                                                       \
  STROP_INLINE Vec<T> root(Vec<T> x) { return __builtin_ia32_sqrt##s##512_mask(x, x, Every(), 4); }                \
  STROP_INLINE Vec<T> lesser(Vec<T> a, Vec<T> b) { return __builtin_ia32_min##s##512_mask(a, b, a, Every(), 4); }  \
  STROP_INLINE Vec<T> greater(Vec<T> a, Vec<T> b) { return __builtin_ia32_max##s##512_mask(a, b, a, Every(), 4); } \
  STROP_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) {                                                          \
    return __builtin_ia32_vfmadd##s##512_mask(a, b, c, Every(), 4);                                                \
  }
#elif STROP_X86_BYTES == 32
#define STROP_BUILTINS(T, s)                                                                   \
  STROP_INLINE Vec<T> root(Vec<T> x) { return __builtin_ia32_sqrt##s##256(x); }                \
  STROP_INLINE Vec<T> lesser(Vec<T> a, Vec<T> b) { return __builtin_ia32_min##s##256(a, b); }  \
  STROP_INLINE Vec<T> greater(Vec<T> a, Vec<T> b) { return __builtin_ia32_max##s##256(a, b); } \
  STROP_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) { return __builtin_ia32_vfmadd##s##256(a, b, c); }
#else
#define STROP_BUILTINS(T, s)                                                              \
  STROP_INLINE Vec<T> root(Vec<T> x) { return __builtin_ia32_sqrt##s(x); }                \
  STROP_INLINE Vec<T> lesser(Vec<T> a, Vec<T> b) { return __builtin_ia32_min##s(a, b); }  \
  STROP_INLINE Vec<T> greater(Vec<T> a, Vec<T> b) { return __builtin_ia32_max##s(a, b); } \
  STROP_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) { return a * b + c; }
#endif
STROP_BUILTINS(float, ps)
STROP_BUILTINS(double, pd)
#undef STROP_BUILTINS
#else
#if defined(STROP_NEON)
STROP_INLINE Vec<float> root(Vec<float> x) { return (Vec<float>)vsqrtq_f32((float32x4_t)x); }
STROP_INLINE Vec<double> root(Vec<double> x) { return (Vec<double>)vsqrtq_f64((float64x2_t)x); }
STROP_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  return (Vec<float>)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
STROP_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return (Vec<double>)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
#else
template <class V>
STROP_INLINE V root(V x) {
#if __has_builtin(__builtin_elementwise_sqrt)
  return __builtin_elementwise_sqrt(x);
#else
  for (int i = 0; i < static_cast<int>(sizeof x / sizeof x[0]); ++i) x[i] = libm::sqrt(x[i]);
  return x;
#endif
}
template <class V>
STROP_INLINE V fma(V a, V b, V c) {
  if constexpr (!fused) return a * b + c;
#if __has_builtin(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#else  // clang before 17, which makes one instruction of it
  for (int i = 0; i < static_cast<int>(sizeof a / sizeof a[0]); ++i)
    if constexpr (sizeof a[0] == sizeof(float))
      a[i] = __builtin_fmaf(a[i], b[i], c[i]);
    else
      a[i] = __builtin_fma(a[i], b[i], c[i]);
  return a;
#endif
}
#endif
template <class V>
STROP_INLINE V lesser(V a, V b) {
  return a < b ? a : b;
}
template <class V>
STROP_INLINE V greater(V a, V b) {
  return a > b ? a : b;
}
#endif

// One instruction for all roundings, where there is one: to even (4, as the mode is set), down, up, towards zero.
#if STROP_X86_BYTES >= 32 || (STROP_X86_BYTES == 16 && defined(__SSE4_1__))
#define STROP_HAS_ROUNDING
#if STROP_X86_BYTES == 64
#define STROP_ROUNDED(T, s)                                           \
  template <int mode>                                                 \
  STROP_INLINE Vec<T> rounded(Vec<T> x) {                             \
    return __builtin_ia32_rndscale##s##_mask(x, mode, x, Every(), 4); \
  }
#elif STROP_X86_BYTES == 32
#define STROP_ROUNDED(T, s)                       \
  template <int mode>                             \
  STROP_INLINE Vec<T> rounded(Vec<T> x) {         \
    return __builtin_ia32_round##s##256(x, mode); \
  }
#else
#define STROP_ROUNDED(T, s)                  \
  template <int mode>                        \
  STROP_INLINE Vec<T> rounded(Vec<T> x) {    \
    return __builtin_ia32_round##s(x, mode); \
  }
#endif
STROP_ROUNDED(float, ps)
STROP_ROUNDED(double, pd)
#undef STROP_ROUNDED
#endif

// 1 / √x to 11 bits or more, of normal positive floats; with registers of 64 bytes to 14, also of doubles.
#if STROP_X86_BYTES != 0
#define STROP_HAS_ESTIMATE
STROP_INLINE Vec<float> estimate_rsqrt(Vec<float> x) {
#if STROP_X86_BYTES == 64
  return __builtin_ia32_rsqrt14ps512_mask(x, x, Every());
#elif STROP_X86_BYTES == 32
  return __builtin_ia32_rsqrtps256(x);
#else
  return __builtin_ia32_rsqrtps(x);
#endif
}
#if STROP_X86_BYTES == 64
STROP_INLINE Vec<double> estimate_rsqrt(Vec<double> x) { return __builtin_ia32_rsqrt14pd512_mask(x, x, Every()); }
#endif
#endif

// With registers of 64 bytes: x · 2ⁿ, rounded once; of x > 0 its exponent less that of its mantissa, and the mantissa,
// between ¾ and 1½ (of infinity ∞ and 1, of zero −∞ and 1, of negative numbers NaN).
#if STROP_X86_BYTES == 64
#define STROP_SCALE(T, s)                                                                                           \
  STROP_INLINE Vec<T> scale(Vec<T> x, Vec<T> n) { return __builtin_ia32_scalef##s##512_mask(x, n, x, Every(), 4); } \
  STROP_INLINE Vec<T> mantissa_of(Vec<T> x) { return __builtin_ia32_getmant##s##512_mask(x, 15, x, Every(), 4); }   \
  STROP_INLINE Vec<T> exponent_of(Vec<T> x, Vec<T> mantissa) {                                                      \
    return __builtin_ia32_getexp##s##512_mask(x, x, Every(), 4) -                                                   \
           __builtin_ia32_getexp##s##512_mask(mantissa, x, Every(), 4);                                             \
  }
STROP_SCALE(float, ps)
STROP_SCALE(double, pd)
#undef STROP_SCALE
#endif

/// c + d · x + …: four terms at a time, so that the chain of dependent operations is short (G. Estrin, 1960).
template <class V, class T>
STROP_INLINE V polynomial(V, T c) {
  return V{} + c;
}
template <class V, class T>
STROP_INLINE V polynomial(V x, T c, T d) {
  return fma(x, V{} + d, V{} + c);
}
template <class V, class T>
STROP_INLINE V polynomial(V x, T c, T d, T e) {
  return fma(x, polynomial(x, d, e), V{} + c);
}
template <class V, class T, class... More>
STROP_INLINE V polynomial(V x, T c, T d, T e, T f, More... more) {
  const V square = x * x, low = fma(square, polynomial(x, e, f), polynomial(x, c, d));
  if constexpr (sizeof...(more) == 0)
    return low;
  else
    return fma(square * square, polynomial(x, more...), low);
}

}  // namespace detail_lanes
#endif
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_INLINE
#undef STROP_NEON
