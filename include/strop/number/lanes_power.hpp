// SPDX-License-Identifier: Apache-2.0
/// \file
/// pow, cbrt, erf and erfinv of float lanes.
#pragma once
#include <strop/number/lanes_trig.hpp>
#include <strop/number/lanes_wide.hpp>

#ifndef STROP_NO_LANES
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

struct PowerLanes : CircularLanes {
  using Base = CircularLanes;

  /// 2 to the power y log2 |x| in double, whose digits and exponents suffice for all of float; then the special cases.
  STROP_LANE V pow(V x, V y) {
    const V a = abs(x);
    const Split s = split(a);
    const V finite = a < infinity() ? s.k : a;
    const Wide k = widen(a == 0.0f ? -infinity() : finite), f = widen(s.f), e = widen(y);
    const V power =
        narrow({power_of_two(log2_times(k.low, f.low, e.low)), power_of_two(log2_times(k.high, f.high, e.high))});
    const V result = ((a == 1.0f) | (y == 0.0f)) ? splat(1) : power;
    // Of a negative number integer powers exist; the odd ones are negative.
    const Mask minus = bits(x) < 0;
    if (!any(minus)) return result;
    const V half = y * 0.5f;
    const Mask whole = rint(y) == y, odd = whole & (rint(half) != half);
    const V with_sign = from_bits(bits(result) | (minus & odd & F::sign));
    return ((x < 0.0f) & (a < infinity()) & ~whole) ? nan() : with_sign;
  }

  /// Two steps, Halley's and Newton's, from a third of the exponent and the digits.
  STROP_LANE V cbrt(V x) {
    const V a = abs(x);
    const Mask small = a < 0x1p-100f;
    const V b = a * (small ? splat(0x1p24f) : splat(0x1p-3f));
    // as an integer the representation is nearly a logarithm; the constant balances the error, 3 %
    const V third = __builtin_convertvector(bits(b), V) * (1.0f / 3.0f) + 709953000.0f;
    const V g = from_bits(__builtin_convertvector(third, Int));
    const V cube = g * g * g;
    const V h = g * ((cube + b + b) / (cube + cube + b));
    const V square = h * h;
    const V y = h - fma(square, h, -b) / (3.0f * square);
    const V scaled = y * (small ? splat(0x1p-8f) : splat(2));
    return ((a > 0.0f) & (a < infinity())) ? copysign(scaled, x) : x;
  }

  STROP_LANE V erf(V x) {
    if constexpr (fused) {
      // erf x = 2t / (1 + t²), where t gets flat more slowly: an error of t counts by √(1 − erf² x) only. t √π is
      // x (1 + a) / (1 + e) with polynomials a and e in x², a fit of our own with that weight for |x| ≤ 3.93, to 2⁻²⁵;
      // beyond, erf rounds to 1.
      const V y = clamp(x, -3.93f, 3.93f), z = y * y;
      const V n = fma(y * z, polynomial(z, 0x1.24cb24p-3f, 0x1.22433ap-6f, 0x1.28aa60p-11f, -0x1.95ab86p-18f), y);
      const V e = z * polynomial(z, 0x1.438fa2p-3f, 0x1.24eae8p-5f, 0x1.2a2a86p-9f);
      const V w = fma(n * 0x1.45f304p-2f, n, fma(e, e, e + e));
      return clamp(fma(n, e, n) / (w + 1.0f) * 0x1.20dd74p+0f, -1.0f, 1.0f);
    } else {
      // That takes too many roundings without fused multiply-adds. Below 0.9 an odd polynomial, above 1 − e^−q with a
      // polynomial q; minimax fits of our own, to 2⁻²⁶ and 2⁻²⁵.
      const V a = abs(x), z = x * x;
      const V p = polynomial(z, -0x1.812710p-2f, 0x1.ce2048p-4f, -0x1.b6da32p-6f, 0x1.48fae6p-8f, -0x1.411f70p-11f);
      const V inner = fma(x, fma(z, p, splat(0x1.0429b6p-24f)), x * 0x1.20dd74p+0f);  // 2/√π in two parts
      const V q = polynomial(lesser(splat(3.93f), a), 0x1.ddd7a8p-10f, 0x1.1ed240p+0f, 0x1.4d08b2p-1f, 0x1.760c80p-4f,
                             -0x1.007056p-6f, 0x1.4aa318p-10f);
      constexpr float biased = X::magic + F::bias;
      const V shifted = fma(q, splat(-X::log2_e), splat(biased)), r = fma(shifted - biased, splat(-X::ln2), -q);
      const V e = fma(r * r, X::rest(r), r) + 1.0f;
      const V outer = fma(e, from_bits(up(bits(shifted), F::digits)), splat(-1));
      return a < 0.9f ? inner : copysign(outer, x);
    }
  }

  /// As in libm.hpp.
  STROP_LANE V erfinv(V x) {
    const V a = abs(x), product = (1.0f - a) * (1.0f + a);
    const Split s = split(product);
    const V w = -together(s.k, s.f);
    const V near = polynomial(w, 0x1.c5bf88p-1f, 0x1.db2a10p-3f, 0x1.7a6d22p-7f, -0x1.31f5fcp-9f, -0x1.0b5932p-13f,
                              0x1.75d73ap-15f, 0x1.0b4eacp-18f, -0x1.094632p-19f, 0x1.daa7aep-23f, -0x1.2e0d9ep-27f);
    const V far =
        polynomial(root(w) - 3.0f, 0x1.6a9efcp+1f, 0x1.006dc2p+0f, 0x1.357880p-7f, -0x1.f45056p-8f, 0x1.753f2cp-8f,
                   -0x1.d95c1cp-9f, 0x1.7fa61ap-10f, -0x1.002660p-15f, -0x1.328a9ap-12f, 0x1.99af90p-14f);
    const V y = (w < 5.0f ? near : far) * x;
    const V outside = a == 1.0f ? copysign(infinity(), x) : nan();
    return a < 1.0f ? y : outside;
  }

 private:
  using D = Vec<double>;
  /// y log2 x with x = 2ᵏ (1 + f), to 2⁻³⁵ of itself; out of the range of float it stops at ±200.
  STROP_LANE D log2_times(D k, D f, D y) {
    const D q = polynomial(f, 0x1.71547652a1eb0p+0, -0x1.7154765a92e88p-1, 0x1.ec709eb4d04e0p-2, -0x1.715469d842e5ep-2,
                           0x1.277653c3ebf18p-2, -0x1.ec75c0fe9aa0fp-3, 0x1.a64017d3b94dap-3, -0x1.70f89ff363af8p-3,
                           0x1.44f092bf01955p-3, -0x1.2836e77970b16p-3, 0x1.2c2b0f322efc6p-3, -0x1.18966202092e3p-3,
                           0x1.164ad76a356bap-4);
    return HyperbolicLanes<double>::clamp(fma(f, q, k) * y, -200, 200);
  }
  /// 2ᵗ for |t| ≤ 200, to 2⁻²⁹.
  STROP_LANE D power_of_two(D t) {
    constexpr double magic_sum = 0x1.8p52 + 1023;
    const D shifted = t + magic_sum, r = t - (shifted - magic_sum);
    const D e = polynomial(r, 0x1.0000000265f68p+0, 0x1.62e430c93056ap-1, 0x1.ebfbdad50371cp-3, 0x1.c6aed2fa2e8fap-5,
                           0x1.3b2dbec6126b3p-7, 0x1.5f464d4fc2f06p-10, 0x1.41d29ef2356e3p-13);
    return e * pun<D>(pun<HyperbolicLanes<double>::Int>(shifted) << 52);
  }
};

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LANE
#endif
