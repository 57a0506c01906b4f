// SPDX-License-Identifier: Apache-2.0
/// \file
/// What every register of lanes has: loading, choosing, bits, roundings and roots; and the whole vocabulary lane by lane,
/// for those functions that no later layer replaces.
#pragma once
#include <strop/number/isa.hpp>
#include <strop/number/rep.hpp>

#include <cstdint>

#define STROP_INLINE [[gnu::always_inline]] inline
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {

namespace detail_lanes {
template <class T>
struct VecOf {
  using Type = T;
};
#ifndef STROP_NO_LANES
#define STROP_VEC(T)                                           \
  template <>                                                  \
  struct VecOf<T> {                                            \
    typedef T Type __attribute__((vector_size(lane_bytes)));   \
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
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
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

// √x; a < b ? a : b; a > b ? a : b; a · b + c, with one rounding where the machine has such an instruction. GCC has no
// notation for the first and the last and does not recognise the others.
#if defined(__x86_64__) && !defined(__clang__)
#if STROP_LANE_BYTES == 64  // the last arguments: every lane, rounding as it is set
#define STROP_BUILTINS(T, M, s)                                                                       \
  STROP_INLINE Vec<T> root(Vec<T> x) { return __builtin_ia32_sqrt##s##512_mask(x, x, M(-1), 4); }     \
  STROP_INLINE Vec<T> lesser(Vec<T> a, Vec<T> b) {                                                    \
    return __builtin_ia32_min##s##512_mask(a, b, a, M(-1), 4);                                        \
  }                                                                                                   \
  STROP_INLINE Vec<T> greater(Vec<T> a, Vec<T> b) {                                                   \
    return __builtin_ia32_max##s##512_mask(a, b, a, M(-1), 4);                                        \
  }                                                                                                   \
  STROP_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) {                                             \
    return __builtin_ia32_vfmadd##s##512_mask(a, b, c, M(-1), 4);                                     \
  }
#elif STROP_LANE_BYTES == 32
#define STROP_BUILTINS(T, M, s)                                                                       \
  STROP_INLINE Vec<T> root(Vec<T> x) { return __builtin_ia32_sqrt##s##256(x); }                       \
  STROP_INLINE Vec<T> lesser(Vec<T> a, Vec<T> b) { return __builtin_ia32_min##s##256(a, b); }         \
  STROP_INLINE Vec<T> greater(Vec<T> a, Vec<T> b) { return __builtin_ia32_max##s##256(a, b); }        \
  STROP_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) { return __builtin_ia32_vfmadd##s##256(a, b, c); }
#else
#define STROP_BUILTINS(T, M, s)                                                                       \
  STROP_INLINE Vec<T> root(Vec<T> x) { return __builtin_ia32_sqrt##s(x); }                            \
  STROP_INLINE Vec<T> lesser(Vec<T> a, Vec<T> b) { return __builtin_ia32_min##s(a, b); }              \
  STROP_INLINE Vec<T> greater(Vec<T> a, Vec<T> b) { return __builtin_ia32_max##s(a, b); }             \
  STROP_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) { return a * b + c; }
#endif
using Every16 = unsigned short;
using Every8 = unsigned char;
STROP_BUILTINS(float, Every16, ps)
STROP_BUILTINS(double, Every8, pd)
#undef STROP_BUILTINS
#else
template <class V>
STROP_INLINE V root(V x) {
#if defined(__clang__)
  return __builtin_elementwise_sqrt(x);
#else
  for (int i = 0; i < static_cast<int>(sizeof x / sizeof x[0]); ++i) x[i] = libm::sqrt(x[i]);
  return x;
#endif
}
template <class V>
STROP_INLINE V lesser(V a, V b) {
  return a < b ? a : b;
}
template <class V>
STROP_INLINE V greater(V a, V b) {
  return a > b ? a : b;
}
template <class V>
STROP_INLINE V fma(V a, V b, V c) {
#if defined(__clang__) && (defined(__FMA__) || defined(__ARM_FEATURE_FMA))
  return __builtin_elementwise_fma(a, b, c);
#else
  return a * b + c;
#endif
}
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
  if constexpr (sizeof...(more) == 0) return low;
  else return fma(square * square, polynomial(x, more...), low);
}

/// One lane after the other.
template <class T>
struct EachLane {
  using V = Vec<T>;
  using Elem = T;
  using Mask = decltype(V() < V());
  static constexpr int lanes = lane_bytes / static_cast<int>(sizeof(T));

  STROP_LANE V splat(T e) { return V{} + e; }
  STROP_LANE V select(Mask m, V a, V b) { return m ? a : b; }
  STROP_LANE V load(const T* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  STROP_LANE void store(T* p, V v) { __builtin_memcpy(p, &v, sizeof v); }
  /// Whether the answer is yes in some lane, in every lane.
  STROP_LANE bool any(Mask m) {
#if defined(__x86_64__) && STROP_LANE_BYTES == 64
    return __builtin_ia32_cvtd2mask512(pun<Vec<std::int32_t>>(m)) != 0;
#elif defined(__x86_64__) && STROP_LANE_BYTES == 32
    return __builtin_ia32_movmskps256(pun<Vec<float>>(m)) != 0;
#elif defined(__x86_64__)
    return __builtin_ia32_movmskps(pun<Vec<float>>(m)) != 0;
#else
    std::uint64_t words[lane_bytes / 8], together = 0;
    __builtin_memcpy(words, &m, sizeof m);
    for (const std::uint64_t word : words) together |= word;
    return together != 0;
#endif
  }
  STROP_LANE bool all(Mask m) { return !any(~m); }

#define STROP_REAL(f)                                       \
  STROP_LANE V f(V x) {                                     \
    T t[lanes];                                             \
    store(t, x);                                            \
    for (int i = 0; i < lanes; ++i) t[i] = Rep<T>::f(t[i]); \
    return load(t);                                         \
  }
#define STROP_REAL2(f)                                            \
  STROP_LANE V f(V x, V y) {                                      \
    T t[lanes], s[lanes];                                         \
    store(t, x);                                                  \
    store(s, y);                                                  \
    for (int i = 0; i < lanes; ++i) t[i] = Rep<T>::f(t[i], s[i]); \
    return load(t);                                               \
  }
#include <strop/number/vocabulary.def>
};

/// All lanes at once: bits, roundings, roots.
template <class T>
struct BaseLanes : EachLane<T> {
  using typename EachLane<T>::V;
  using typename EachLane<T>::Mask;
  using EachLane<T>::lanes;
  using EachLane<T>::splat;

  // --- bits ---------------------------------------------------------------------------------------------------------
  using F = Format<T>;
  using Int = Mask;  ///< integers of the lanes' size
  STROP_LANE Int bits(V x) { return pun<Int>(x); }
  STROP_LANE V from_bits(Int b) { return pun<V>(b); }
  STROP_LANE V infinity() { return from_bits(Int{} + F::infinity); }
  STROP_LANE V nan() { return from_bits(Int{} + F::quiet_nan); }
  STROP_LANE Mask isnan(V x) { return x != x; }
  STROP_LANE V abs(V x) { return from_bits(bits(x) & ~F::sign); }
  STROP_LANE V copysign(V x, V y) { return from_bits((bits(x) & ~F::sign) | (bits(y) & F::sign)); }
  /// x, where a zero takes the sign of y; elsewhere the signs must agree or y be positive.
  STROP_LANE V sign_of_zero(V x, V y) { return from_bits(bits(x) | (bits(y) & F::sign)); }
  /// The bits moved up or, as unsigned numbers, down.
  STROP_LANE Int up(Int b, int n) { return b << n; }
  STROP_LANE Int down(Int b, int n) {
    return pun<Int>(pun<Vec<typename F::Unsigned>>(b) >> n);
  }

  // --- roundings ----------------------------------------------------------------------------------------------------
  STROP_LANE V rint(V x) {
    const V a = abs(x), r = (a + F::whole) - F::whole;
    return copysign(a < F::whole ? r : x, x);
  }
  STROP_LANE V floor(V x) {
    const V r = rint(x);
    return r - (r > x ? splat(1) : splat(0));
  }
  STROP_LANE V ceil(V x) {
    const V r = rint(x);
    return copysign(r + (r < x ? splat(1) : splat(0)), x);
  }
  STROP_LANE V trunc(V x) {
    const V a = abs(x), r = rint(a);
    return copysign(r - (r > a ? splat(1) : splat(0)), x);
  }
  /// Halves away from zero.
  STROP_LANE V round(V x) {
    const V a = abs(x), r = rint(a);
    return copysign(r + (a - r >= T(0.5) ? splat(1) : splat(0)), x);
  }

  // --- roots --------------------------------------------------------------------------------------------------------
  STROP_LANE V sqrt(V x) { return root(x); }
  STROP_LANE V rsqrt(V x) { return T(1) / root(x); }

  /// Between low and high; NaN stays.
  STROP_LANE V clamp(V x, T low, T high) { return lesser(splat(high), greater(splat(low), x)); }
};

}  // namespace detail_lanes
#endif
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_INLINE
#undef STROP_LANE
