// SPDX-License-Identifier: Apache-2.0
/// \file
/// Exponentials of lanes: exp, exp2, expm1, sigmoid.
///
/// eˣ = 2ⁿ eʳ with n = x / ln 2 to the nearest integer; the polynomials for (eʳ − 1 − r) / r² are minimax fits of our
/// own (Remez' algorithm, relative to eʳ) whose coefficients were rounded one after the other.
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
  static constexpr float log2_e = 0x1.715476p+0f, ln2_high = 0x1.62ep-1f, ln2_low = 0x1.0bfbe8p-15f,
                         ln2 = 0x1.62e430p-1f;
  static constexpr float largest = 89, smallest = -104;  // beyond the arguments with a finite result that is not 0
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

  STROP_LANE V exp(V x) { return power<0>(Base::clamp(x, X::smallest, X::largest), Base::splat(X::log2_e), remainder); }
  STROP_LANE V exp2(V x) {
    return power<0>(Base::clamp(x, X::smallest2, X::largest2), Base::splat(1),
                    [](V y, V n) { return (y - n) * X::ln2; });
  }
  STROP_LANE V expm1(V x) {
    const V y = Base::clamp(x, X::minus_one, X::largest);
    const V shifted = fma(y, Base::splat(X::log2_e), Base::splat(X::magic)), n = shifted - X::magic;
    const V r = remainder(y, n), e = fma(r * r, X::rest(r), r);
    // half of 2ⁿ, which is infinite for the largest arguments
    const V half = Base::from_bits(Base::up(Base::plus(Base::bits(shifted), F::bias - 1), F::digits));
    const V result = fma(e, half, half - T(0.5)) * T(2);
    return Base::sign_of_zero(n == Base::splat(0) ? e : result, x);
  }
  /// eˣ / (1 + eˣ).
  STROP_LANE V sigmoid(V x) {
    const V e = power<0>(Base::clamp(x, X::smallest, 40), Base::splat(X::log2_e), remainder);
    return e / (e + T(1));
  }

 protected:
  /// x − n ln 2.
  STROP_LANE V remainder(V x, V n) { return fma(n, Base::splat(-X::ln2_low), fma(n, Base::splat(-X::ln2_high), x)); }
  /// 2ⁿ⁺ᵐ eʳ with n = x · log2 of the base, to the nearest integer, |n| < 2 · bias, and r = to_r(x, n).
  template <int m, class ToR>
  STROP_LANE V power(V x, V log2_base, ToR to_r) {
#if STROP_X86_BYTES == 64
    const V n = fma(x, log2_base, Base::splat(X::magic)) - X::magic, r = to_r(x, n);
    return scale(fma(r * r, X::rest(r), r) + T(1), m == 0 ? n : n + T(m));
#else
    // The sum has n + m + 2 · bias in its low bits. The power of two may be out of range, so it is applied as two
    // factors whose exponents with their bias are half of that number and what remains; higher bits are shifted out.
    constexpr T magic = X::magic + 2 * F::bias + m;
    const V shifted = fma(x, log2_base, Base::splat(magic)), n = shifted - magic;
    const V r = to_r(x, n);
    const V e = fma(r * r, X::rest(r), r) + T(1);
    const Int sum = Base::bits(shifted), half = Base::down(sum, 1);
    return e * Base::from_bits(Base::up(half, F::digits)) *
           Base::from_bits(Base::up(Base::minus(sum, half), F::digits));
#endif
  }
};

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LANE
#endif
