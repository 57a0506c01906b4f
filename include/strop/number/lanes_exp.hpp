// SPDX-License-Identifier: Apache-2.0
/// \file
/// Exponentials of lanes: exp, exp2, expm1, sigmoid, tanh, sinh, cosh.
///
/// eˣ = 2ⁿ eʳ with n = x / ln 2 to the nearest integer; the polynomials for (eʳ − 1 − r) / r² are minimax fits of our own
/// (Remez' algorithm, relative to eʳ) whose coefficients were rounded one after the other.
#pragma once
#include <strop/number/lanes_base.hpp>

#ifndef STROP_NO_LANES
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

template <class T>
struct ExpFormat;
template <>
struct ExpFormat<float> {
  static constexpr float log2_e = 0x1.715476p+0f, ln2_high = 0x1.62ep-1f, ln2_low = 0x1.0bfbe8p-15f, ln2 = 0x1.62e430p-1f;
  static constexpr float largest = 89, smallest = -104;   // beyond the arguments with a finite result that is not 0
  static constexpr float largest2 = 129, smallest2 = -151;
  static constexpr float minus_one = -18;  // expm1 of less is −1
  static constexpr float magic = 0x1.8p23f;
  /// (eʳ − 1 − r) / r² for |r| ≤ ln 2 / 2, to 2⁻²⁸.
  template <class V>
  [[gnu::always_inline]] static inline V rest(V r) {
    return polynomial(r, 0x1.fffffcp-2f, 0x1.55548cp-3f, 0x1.555862p-5f, 0x1.123deap-7f, 0x1.6aba72p-10f);
  }
};
template <>
struct ExpFormat<double> {
  static constexpr double log2_e = 0x1.71547652b82fep+0, ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b3ap-40,
                          ln2 = 0x1.62e42fefa39efp-1;
  static constexpr double largest = 710, smallest = -746;
  static constexpr double largest2 = 1025, smallest2 = -1076;
  static constexpr double minus_one = -39;
  static constexpr double magic = 0x1.8p52;
  /// To 2⁻⁵⁷.
  template <class V>
  [[gnu::always_inline]] static inline V rest(V r) {
    return polynomial(r, 0x1.000000000000ap-1, 0x1.555555555551dp-3, 0x1.555555555087dp-5, 0x1.1111111121886p-7,
                      0x1.6c16c183fcc30p-10, 0x1.a01a01437cd6ap-13, 0x1.a0199ab49bdbcp-16, 0x1.71def9a70111cp-19,
                      0x1.28acc84a3a0bfp-22, 0x1.adb6a9fef9231p-26);
  }
};

template <class T>
struct ExpLanes : BaseLanes<T> {
  using Base = BaseLanes<T>;
  using typename Base::F;
  using typename Base::Int;
  using typename Base::V;
  using X = ExpFormat<T>;

  STROP_LANE V exp(V x) {
    x = clamp(x, X::smallest, X::largest);
    return power(x, [](V y) { return y * X::log2_e; },
                 [](V y, V n) { return (y - n * X::ln2_high) - n * X::ln2_low; });
  }
  STROP_LANE V exp2(V x) {
    x = clamp(x, X::smallest2, X::largest2);
    return power(x, [](V y) { return y; }, [](V y, V n) { return (y - n) * X::ln2; });
  }
  STROP_LANE V expm1(V x) {
    const V y = clamp(x, X::minus_one, X::largest);
    const V shifted = y * X::log2_e + X::magic, n = shifted - X::magic;
    const V r = (y - n * X::ln2_high) - n * X::ln2_low;
    const V e = r * r * X::rest(r) + r;
    // half of 2ⁿ, which is infinite for the largest arguments
    const V half = Base::from_bits(Base::up(Base::bits(shifted) + (F::bias - 1), F::digits));
    const V result = (e * half + (half - T(0.5))) * T(2);
    return Base::sign_of_zero(n == Base::splat(0) ? e : result, x);
  }
  /// eˣ / (1 + eˣ).
  STROP_LANE V sigmoid(V x) {
    const V e = exp(x > T(40) ? Base::splat(40) : x);
    return e / (e + T(1));
  }

 protected:
  /// NaN stays.
  STROP_LANE V clamp(V x, T low, T high) {
    const V l = Base::splat(low), h = Base::splat(high);
    x = l > x ? l : x;
    return h < x ? h : x;
  }
  /// 2ⁿ eʳ with n = to_n(x) to the nearest integer and r = to_r(x, n), |n| < 2 · bias.
  template <class ToN, class ToR>
  STROP_LANE V power(V x, ToN to_n, ToR to_r) {
    // The sum has n + 2 · bias in its low bits. 2ⁿ may be out of range, so it is applied as two factors, ⌊n / 2⌋ and the
    // rest, whose exponents with their bias are half of that number and what remains; higher bits are shifted out.
    constexpr T magic = X::magic + 2 * F::bias;
    const V shifted = to_n(x) + magic, n = shifted - magic;
    const V r = to_r(x, n);
    const V e = (r * r * X::rest(r) + r) + T(1);
    const Int sum = Base::bits(shifted), half = Base::down(sum, 1);
    return e * Base::from_bits(Base::up(half, F::digits)) * Base::from_bits(Base::up(sum - half, F::digits));
  }
};

/// tanh of float is a quotient of polynomials, of double e²ˣ − 1 over e²ˣ + 1.
template <class T>
struct HyperbolicLanes : ExpLanes<T> {
  using Base = ExpLanes<T>;
  using typename Base::V;

  STROP_LANE V tanh(V x) {
    if constexpr (sizeof(T) == 4) {
      // tanh x / x in x², a minimax fit of our own on |x| ≤ 9.02, where tanh rounds to 1; to 2⁻²⁵
      const V y = Base::clamp(x, -9.01f, 9.01f), z = y * y;
      const V p = polynomial(z, 0x1.000000p+0f, 0x1.1213ccp-3f, 0x1.ca672cp-9f, 0x1.5a1872p-16f, 0x1.cb39f6p-27f);
      const V q = polynomial(z, 0x1.000000p+0f, 0x1.de5f34p-2f, 0x1.a8163cp-6f, 0x1.58c886p-12f, 0x1.a1ecb4p-21f);
      return y * p / q;
    } else {
      const V a = Base::abs(x), e = Base::expm1((a > 20.0 ? Base::splat(20) : a) * 2.0);
      return Base::copysign(e / (e + 2.0), x);
    }
  }
};

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LANE
#endif
