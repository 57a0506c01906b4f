// SPDX-License-Identifier: Apache-2.0
/// \file
/// What every register of lanes has: loading, choosing, bits, roundings and roots; and the whole vocabulary lane by
/// lane, for those functions that no later layer replaces.
#pragma once
#include <strop/number/lanes_vec.hpp>
#include <strop/number/rep.hpp>

#ifndef STROP_NO_LANES
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

/// One lane after the other.
template <class T>
struct EachLane {
  using V = Vec<T>;
  using Elem = T;
  using Mask = decltype(V() < V());
  static constexpr int lanes = lane_bytes / static_cast<int>(sizeof(T));

  STROP_LANE V splat(T e) { return e - V{}; }  // not a sum, which loses the sign of −0
  STROP_LANE V select(Mask m, V a, V b) { return m ? a : b; }
  STROP_LANE V load(const T* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  STROP_LANE void store(T* p, V v) { __builtin_memcpy(p, &v, sizeof v); }
  /// Past the caches, where the machine can; p is aligned to the register. Before other threads read: drain().
  STROP_LANE void store_past(T* p, V v) {
#if defined(__x86_64__) && defined(__clang__)
    __builtin_nontemporal_store(v, reinterpret_cast<V*>(p));
#elif STROP_X86_BYTES == 64
    __builtin_ia32_movntps512(reinterpret_cast<float*>(p), pun<Vec<float>>(v));
#elif STROP_X86_BYTES == 32
    __builtin_ia32_movntps256(reinterpret_cast<float*>(p), pun<Vec<float>>(v));
#elif STROP_X86_BYTES == 16
    __builtin_ia32_movntps(reinterpret_cast<float*>(p), pun<Vec<float>>(v));
#else
    store(p, v);
#endif
  }
  STROP_LANE void drain() {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
  }
  /// Whether the answer is yes in some lane, in every lane.
  STROP_LANE bool any(Mask m) {
#if STROP_X86_BYTES == 64
    return __builtin_ia32_cvtd2mask512(pun<Vec<std::int32_t>>(m)) != 0;
#elif STROP_X86_BYTES == 32
    return __builtin_ia32_movmskps256(pun<Vec<float>>(m)) != 0;
#elif STROP_X86_BYTES == 16
    return __builtin_ia32_movmskps(pun<Vec<float>>(m)) != 0;
#else
    std::uint64_t words[lane_bytes / 8], together = 0;
    __builtin_memcpy(words, &m, sizeof m);
    for (const std::uint64_t word : words) together |= word;
    return together != 0;
#endif
  }
  STROP_LANE bool all(Mask m) { return !any(~m); }
  // greater and lesser give their second operand where one is NaN
  STROP_LANE V max(V a, V b) { return a != a ? a : greater(a, b); }
  STROP_LANE V min(V a, V b) { return a != a ? a : lesser(a, b); }

#define STROP_REAL(f)                                       \
  STROP_LANE V f(V x) {                                     \
    T t[sizeof(V) / sizeof(T)];                             \
    store(t, x);                                            \
    for (int i = 0; i < lanes; ++i) t[i] = Rep<T>::f(t[i]); \
    return load(t);                                         \
  }
#define STROP_REAL2(f)                                            \
  STROP_LANE V f(V x, V y) {                                      \
    T t[sizeof(V) / sizeof(T)], s[sizeof(V) / sizeof(T)];         \
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
  using EachLane<T>::all;

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
  STROP_LANE Int down(Int b, int n) { return pun<Int>(pun<Vec<typename F::Unsigned>>(b) >> n); }
  /// Sums and differences that wrap: those of a lane that is NaN are thrown away, and may be any.
  STROP_LANE Int plus(Int a, typename F::Int b) {
    return pun<Int>(pun<Vec<typename F::Unsigned>>(a) + static_cast<typename F::Unsigned>(b));
  }
  STROP_LANE Int minus(Int a, Int b) {
    return pun<Int>(pun<Vec<typename F::Unsigned>>(a) - pun<Vec<typename F::Unsigned>>(b));
  }

  // --- roundings ----------------------------------------------------------------------------------------------------
  /// Halves away from zero.
  STROP_LANE V round(V x) {
    const V a = abs(x), t = BaseLanes::trunc(a);
    return copysign(t + (a - t >= T(0.5) ? splat(1) : splat(0)), x);
  }
#ifdef STROP_HAS_ROUNDING
  STROP_LANE V rint(V x) { return rounded<4>(x); }
  STROP_LANE V floor(V x) { return rounded<1>(x); }
  STROP_LANE V ceil(V x) { return rounded<2>(x); }
  STROP_LANE V trunc(V x) { return rounded<3>(x); }
#else
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
#endif

  /// Quotients below 2^digits are exact but for the rounding to an integer above; the rest goes lane by lane.
  STROP_LANE V fmod(V x, V y) {
    if constexpr (!fused) {
      return EachLane<T>::fmod(x, y);
    } else {
      const V a = abs(x), b = abs(y), q = BaseLanes::trunc(a / b), rest = fma(-q, b, a);
      const V result = copysign(rest < T(0) ? rest + b : rest, x);
      const Mask near = (q < F::whole) & (b < infinity());
      if (BaseLanes::all(near)) [[likely]]
        return result;
      return near ? result : EachLane<T>::fmod(x, y);
    }
  }

  // --- roots --------------------------------------------------------------------------------------------------------
  /// Of doubles with registers of 64 bytes not by the instruction, which takes longer, but rounded as it rounds: from
  /// an estimate of 1 / √x R. Goldschmidt's iteration (1964) makes g ≈ √x and h ≈ 1 / 2√x with errors of some 2⁻⁵³, and
  /// g + h (x − g²), whose difference is exact, is the nearest number (P. Markstein, IBM J. Res. Dev. 34, 1990).
  /// Numbers too small for that go through the instruction.
  STROP_LANE V sqrt(V x) {
#if STROP_X86_BYTES == 64
    if constexpr (sizeof(T) == 8) {
      const V y = estimate_rsqrt(x);
      V g = x * y, h = y * 0.5;
      for (int i = 0; i < 2; ++i) {
        const V e = fma(-h, g, splat(0.5));
        g = fma(g, e, g);
        h = fma(h, e, h);
      }
      const V result = fma(fma(-g, g, x), h, g);
      const Mask ordinary = (x >= 0x1p-900) & (x < infinity());
      if (all(ordinary)) [[likely]]
        return result;
      return ordinary ? result : root(x);
    }
#endif
    return root(x);
  }
  STROP_LANE V rsqrt(V x) {
#ifdef STROP_HAS_ESTIMATE
    if constexpr (sizeof(T) == 4 || STROP_X86_BYTES == 64) {
      // (1 − e)^−½ = 1 + e/2 + 3/8 e² + …, where e is what the estimate is off by
      const V y = estimate_rsqrt(x), e = fma(x * y, -y, splat(1));
      V series;
      if constexpr (sizeof(T) == 4)
        series = fma(e, splat(0.375f), splat(0.5f));
      else
        series = polynomial(e, 0.5, 0.375, 0.3125, 0.2734375);
      const V result = fma(y * e, series, y);
      const Mask ordinary = (x >= F::smallest_normal) & (x < infinity());
      if (all(ordinary)) [[likely]]
        return result;
      return ordinary ? result : T(1) / root(x);
    }
#endif
    return T(1) / root(x);
  }

  /// Between low and high; NaN stays.
  STROP_LANE V clamp(V x, T low, T high) { return lesser(splat(high), greater(splat(low), x)); }
};

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_HAS_ROUNDING
#undef STROP_HAS_ESTIMATE
#undef STROP_LANE
#endif
