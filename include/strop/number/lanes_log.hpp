// SPDX-License-Identifier: Apache-2.0
/// \file
/// Logarithms of lanes: log, log1p, log2, log10, and what is made of them and exp: softplus, log_sigmoid, logaddexp,
/// xlogy.
///
/// x = 2ᵏ (1 + f) with 1 + f between √½ and √2; log(1 + f) = f − f²/2 + f³ q(f) in float, and in double with
/// s = f / (2 + f) as 2 artanh s. The polynomials are minimax fits of our own (Remez' algorithm).
#pragma once
#include <strop/number/lanes_exp.hpp>

#ifndef STROP_NO_LANES
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

template <class T>
struct LogFormat;
template <>
struct LogFormat<float> {
  static constexpr float ln2_high = 0x1.62ep-1f, ln2_low = 0x1.0bfbe8p-15f;
  static constexpr float log2_e = 0x1.715476p+0f, log2_e_low = 0x1.4ae0cp-26f;
  static constexpr float log10_e = 0x1.bcb7b2p-2f, log10_2_high = 0x1.344p-2f, log10_2_low = 0x1.3509f8p-18f;
  static constexpr float counter = 0x1p23f;  // has an integer in its low bits
};
template <>
struct LogFormat<double> {
  static constexpr double ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b3ap-40;
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double log10_e = 0x1.bcb7b1526e50ep-2, log10_2_high = 0x1.34413509f8p-2,
                          log10_2_low = -0x1.80433b83b532ap-44;
  static constexpr double counter = 0x1p52;
};

template <class T>
struct LogLanes : ExpLanes<T> {
  using Base = ExpLanes<T>;
  using typename Base::F;
  using typename Base::Int;
  using typename Base::Mask;
  using typename Base::V;
  using L = LogFormat<T>;

  STROP_LANE V log(V x) {
#if STROP_X86_BYTES == 64
    if constexpr (sizeof(T) == 4) {  // infinity, zero and negative numbers come out right without being asked for
      const V m = mantissa_of(x), k = exponent_of(x, m), f = m - T(1), square = f * f;
      const V q = polynomial(f, 0x1.5555a2p-2f, -0x1.000040p-2f, 0x1.9969c4p-3f, -0x1.54efd0p-3f, 0x1.28836cp-3f,
                             -0x1.0d8a12p-3f, 0x1.ac9a66p-4f, -0x1.715810p-5f);
      const V rest = fma(square * f, -q, square * T(0.5));
      return fma(k, Base::splat(L::ln2_high), f - fma(k, Base::splat(-L::ln2_low), rest));
    }
#endif
    const Split s = split(x);
    return domain(x, together(s.k, s.f));
  }
  STROP_LANE V log2(V x) {
    const Split s = split(x);
    return domain(x, together_scaled(s, 1, 0, L::log2_e));
  }
  STROP_LANE V log10(V x) {
    const Split s = split(x);
    return domain(x, together_scaled(s, L::log10_2_high, L::log10_2_low, L::log10_e));
  }
  STROP_LANE V log1p(V x) {
    // 1 + f = (1 + x) / 2ᵏ is computed from x itself, unless x is so large that 1 does not matter.
    const V u = x + T(1);
    const Int shifted = Base::plus(Base::bits(u), F::one - F::root_half), e = Base::down(shifted, F::digits);
    const V m = Base::from_bits((shifted & F::mantissa) + F::root_half);
    const V scale = Base::from_bits(Base::up(2 * F::bias - e, F::digits));
    const V f = x > T(0x1p60) ? m - T(1) : fma(x, scale, scale - T(1));
    const V result = Base::sign_of_zero(together(exponent(e, L::counter + F::bias), f), x);
    const V low = x == T(-1) ? -Base::infinity() : Base::nan();
    const V finite = x > T(-1) ? result : low;
    return x < Base::infinity() ? finite : x;
  }

  STROP_LANE V softplus(V x) { return greater(x, V{}) + above(Base::abs(x)); }
  STROP_LANE V log_sigmoid(V x) { return lesser(x, V{}) - above(Base::abs(x)); }
  STROP_LANE V logaddexp(V x, V y) {
    return x == y ? x + Base::splat(ExpFormat<T>::ln2) : greater(x, y) + above(Base::abs(x - y));
  }
  STROP_LANE V xlogy(V x, V y) { return ((x == T(0)) & (y == y)) ? Base::splat(0) : x * log(y); }

 protected:
  /// log(1 + e⁻ᵃ).
  STROP_LANE V above(V a) { return log1p(Base::exp(-a)); }
  /// sin πx / πx with the sine of an angle up to π/2. x − n is exact, π has two parts.
  template <class Sine>
  STROP_LANE V sinc_by(V x, Sine sine) {
    constexpr T pi = T(0x1.921fb54442d18p+1);
    constexpr T rest = sizeof(T) == 4 ? T(0x1.921fb54442d18p+1 - double(pi)) : T(0x1.1a62633145c07p-53);
    const auto turned = [](V t) { return fma(t, Base::splat(rest), t * pi); };
    const V n = Base::rint(x), half = n * T(0.5);
    const V angle = Base::abs(x) < F::whole ? turned(x - n) : V{};
    const V y = sine(angle) / turned(x), value = Base::rint(half) == half ? y : -y;
    const V limit = x == T(0) ? Base::splat(1) : value;
    return Base::abs(x) == Base::infinity() ? Base::splat(0) : limit;
  }
  struct Split {
    V k, f;
  };
  /// x > 0 as 2ᵏ (1 + f).
  STROP_LANE Split split(V x) {
    const Mask small = x < F::smallest_normal;
    constexpr T lift = F::whole;
    const V y = small ? x * lift : x;
    const Int shifted = Base::plus(Base::bits(y), F::one - F::root_half);
    const V m = Base::from_bits((shifted & F::mantissa) + F::root_half);
    const V zero = small ? Base::splat(L::counter + F::bias + F::digits) : Base::splat(L::counter + F::bias);
    return {Base::from_bits(Base::down(shifted, F::digits) | Base::bits(Base::splat(L::counter))) - zero, m - T(1)};
  }
  /// A biased exponent as a number.
  STROP_LANE V exponent(Int e, T zero) { return Base::from_bits(e | Base::bits(Base::splat(L::counter))) - zero; }
  /// log(1 + f) as f − rest.
  STROP_LANE V rest(V f) {
    if constexpr (sizeof(T) == 4) {
      const V q = polynomial(f, 0x1.555554p-2f, -0x1.000228p-2f, 0x1.99a034p-3f, -0x1.547214p-3f, 0x1.22d5e6p-3f,
                             -0x1.0d82ecp-3f, 0x1.0579f4p-3f, -0x1.391192p-4f);
      const V square = f * f;
      return fma(square * f, -q, square * 0.5f);
    } else {
      // 2 artanh s = 2 s + s³ q(s²), and 2 s = f − s f
      const V s = f / (f + 2.0), z = s * s;
      const V q = polynomial(z, 0x1.5555555555592p-1, 0x1.999999997fef0p-2, 0x1.24924941e50f0p-2, 0x1.c71c521067811p-3,
                             0x1.74663de0e3247p-3, 0x1.39a1ccf2b246bp-3, 0x1.2f04f04b0a259p-3);
      const V half = f * f * 0.5;
      return fma(-s, fma(z, q, half), half);
    }
  }
  STROP_LANE V together(V k, V f) {
    return fma(k, Base::splat(L::ln2_high), f - fma(k, Base::splat(-L::ln2_low), rest(f)));
  }
  /// k · high + k · low + log(1 + f) · factor.
  STROP_LANE V together_scaled(Split s, T high, T low, T factor) {
    return fma(s.k, Base::splat(high), fma(s.f - rest(s.f), Base::splat(factor), s.k * low));
  }
  /// The logarithm where x is positive and finite.
  STROP_LANE V domain(V x, V logarithm) {
    const V low = x == T(0) ? -Base::infinity() : Base::nan();
    const V positive = x > T(0) ? logarithm : low;
    return x < Base::infinity() ? positive : x;
  }
};

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LANE
#endif
