// SPDX-License-Identifier: Apache-2.0
/// \file
/// What every register of lanes has: loading, choosing, bits, roundings and roots; and the whole vocabulary lane by lane,
/// for those functions that no later layer replaces.
#pragma once
#include <strop/number/isa.hpp>
#include <strop/number/rep.hpp>

#include <cstdint>

#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {

namespace detail_lanes {
template <class T>
struct VecOf {
  using Type = T;
};
#ifndef STROP_NO_LANES
template <>
struct VecOf<float> {
  typedef float Type __attribute__((vector_size(lane_bytes)));
};
template <>
struct VecOf<double> {
  typedef double Type __attribute__((vector_size(lane_bytes)));
};
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
  static constexpr int digits = 23, bias = 127;
  static constexpr Int one = 0x3f800000, root_half = 0x3f3504f3, infinity = 0x7f800000, quiet_nan = 0x7fc00000;
  static constexpr Int mantissa = 0x7fffff, sign = INT32_MIN;
  static constexpr float smallest_normal = 0x1p-126f, whole = 0x1p23f;  // from `whole` on every number is an integer
};
template <>
struct Format<double> {
  using Int = std::int64_t;
  static constexpr int digits = 52, bias = 1023;
  static constexpr Int one = 0x3ff0000000000000, root_half = 0x3fe6a09e667f3bcd, infinity = 0x7ff0000000000000;
  static constexpr Int quiet_nan = 0x7ff8000000000000, mantissa = 0xfffffffffffff, sign = INT64_MIN;
  static constexpr double smallest_normal = 0x1p-1022, whole = 0x1p52;
};

/// The same bits as another type of the same size.
template <class To, class From>
[[gnu::always_inline]] inline To pun(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

/// c + d · x + …, by Horner's rule.
template <class V, class T>
[[gnu::always_inline]] inline V polynomial(V, T c) {
  return V{} + c;
}
template <class V, class T, class... More>
[[gnu::always_inline]] inline V polynomial(V x, T c, T d, More... more) {
  return polynomial(x, d, more...) * x + c;
}

template <class T>
struct BaseLanes {
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
#if defined(__AVX__) && !defined(__CUDACC__)
    if constexpr (lane_bytes == 32) {
      using M = long long __attribute__((vector_size(32)));
      return __builtin_ia32_ptestz256(pun<M>(m), pun<M>(m)) == 0;
    }
#endif
    std::uint64_t words[lane_bytes / 8], all = 0;
    __builtin_memcpy(words, &m, sizeof m);
    for (const std::uint64_t word : words) all |= word;
    return all != 0;
  }
  STROP_LANE bool all(Mask m) { return !any(~m); }

  // --- one lane after the other -------------------------------------------------------------------------------------
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
    using Unsigned = decltype(unsigned_like(Int()));
    return pun<Int>(pun<Unsigned>(b) >> n);
  }

  // --- roundings ----------------------------------------------------------------------------------------------------
  STROP_LANE V rint(V x) {
    const V a = abs(x), r = (a + F::whole) - F::whole;
    return copysign(a < F::whole ? r : x, x);
  }
  STROP_LANE V floor(V x) {
    const V r = rint(x);
    return sign_of_zero(r - (r > x ? splat(1) : splat(0)), x);
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
  STROP_LANE V rsqrt(V x) { return 1 / root(x); }

 private:
  STROP_LANE std::uint32_t __attribute__((vector_size(lane_bytes))) unsigned_like(
      std::int32_t __attribute__((vector_size(lane_bytes))));
};

}  // namespace detail_lanes
#endif
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LANE
