// SPDX-License-Identifier: Apache-2.0
/// \file
/// Trigonometric functions of double lanes and their inverses.
///
/// As of float lanes; π in three parts, so that a fused x − n π is as exact as x itself. All polynomials are minimax
/// fits of our own (Remez' algorithm).
#pragma once
#include <strop/number/lanes_hyperbolic.hpp>

#ifndef STROP_NO_LANES
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

struct CircularDoubleLanes : HyperbolicLanes<double> {
  using Base = HyperbolicLanes<double>;
  using Each = EachLane<double>;

  STROP_LANE V sin(V x) {
    if constexpr (!fused) return Each::sin(x);
    const Turn t = turn(x);
    const V y = (t.quarters & 1) != 0 ? t.cosine : t.sine;
    const V result = from_bits(bits(y) ^ (up(t.quarters, 62) & F::sign));
    const Mask far = beyond(x);
    if (any(far)) [[unlikely]]
      return far ? Each::sin(far ? x : splat(0)) : result;
    return result;
  }
  STROP_LANE V cos(V x) {
    if constexpr (!fused) return Each::cos(x);
    const Turn t = turn(x);
    const V y = (t.quarters & 1) != 0 ? t.sine : t.cosine;
    const V result = from_bits(bits(y) ^ (up(t.quarters + 1, 62) & F::sign));
    const Mask far = beyond(x);
    if (any(far)) [[unlikely]]
      return far ? Each::cos(far ? x : splat(0)) : result;
    return result;
  }
  STROP_LANE V sinc(V x) {
    return sinc_by(x, [](V angle) { return sin(angle); });
  }
  STROP_LANE V tan(V x) {
    if constexpr (!fused) return Each::tan(x);
    const Turn t = turn(x);
    const Mask odd = (t.quarters & 1) != 0;
    const V result = (odd ? -t.cosine : t.sine) / (odd ? t.sine : t.cosine);
    const Mask far = beyond(x);
    if (any(far)) [[unlikely]]
      return far ? Each::tan(far ? x : splat(0)) : result;
    return result;
  }

  STROP_LANE V atan(V x) {
    const V a = abs(x);
    // atan a is π/4 more than that of (a − 1) / (a + 1), and π/2 more than that of −1 / a
    const Mask large = a > 1 + root_two, middle = (a > root_two - 1) & ~large;
    const V above = large ? splat(-1) : (middle ? a - 1.0 : a), below = large ? a : (middle ? a + 1.0 : splat(1));
    return copysign(turned(arc_tangent(above / below), middle, large), x);
  }
  STROP_LANE V atan2(V y, V x) {
    const V a = abs(y), b = abs(x);
    const Mask steep = a > b, left = bits(x) < 0;
    const V large = steep ? a : b, small = steep ? b : a;
    const V ratio = large == small ? splat(1) : small / large;  // equal infinities are an angle of 45 degrees
    const V between = (small - large) / (small + large);
    // small numbers keep their quotient: their sum may have lost its digits
    const Mask middle = (ratio > root_two - 1) & (large < 0x1p1022) & (large > 0x1p-1020);
    const V even = ratio > root_two - 1 ? (ratio - 1.0) / (ratio + 1.0) : ratio;
    const V t = turned(arc_tangent(large == 0.0 ? splat(0) : (middle ? between : even)),
                       (ratio > root_two - 1) & (large != 0.0), Mask{});
    const V first = steep ? (half_pi_low - t) + half_pi : t;
    const V result = copysign(left ? (2 * half_pi_low - first) + 2 * half_pi : first, y);
    return ((x != x) | (y != y)) ? x + y : result;
  }
  STROP_LANE V asin(V x) {
    const V a = abs(x);
    const Mask large = a > 0.5;
    // asin a = π/2 − 2 asin √((1 − a) / 2)
    const V z = large ? fma(a, splat(-0.5), splat(0.5)) : a * a;
    const V s = large ? root(z) : a, y = arc_sine(s, z);
    return copysign(large ? half_pi - (y + y - half_pi_low) : y, x);
  }
  STROP_LANE V acos(V x) {
    const V a = abs(x);
    const Mask large = a > 0.5, negative = bits(x) < 0;
    const V z = large ? fma(a, splat(-0.5), splat(0.5)) : a * a;
    const V s = large ? root(z) : a, y = arc_sine(s, z);
    const V twice = y + y;
    const V outer = negative ? 2 * half_pi - (twice - 2 * half_pi_low) : twice;
    const V inner = half_pi - (copysign(y, x) - half_pi_low);
    return large ? outer : inner;
  }

 private:
  static constexpr double magic = 0x1.8p52, one_over_pi = 0x1.45f306dc9c883p-2, root_two = 0x1.6a09e667f3bcdp+0;
  static constexpr double half_pi = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;

  /// Where n is too large for the parts of π; also infinities and NaN. The C library has these.
  STROP_LANE Mask beyond(V x) { return ~(abs(x) <= 0x1p30); }
  /// x = n π/2 + r: sine and cosine of r, to 2⁻⁵⁷ and 2⁻⁶⁴, and n in the low bits.
  struct Turn {
    V sine, cosine;
    Int quarters;
  };
  STROP_LANE Turn turn(V x) {
    const V shifted = fma(x, splat(2 * one_over_pi), splat(magic)), n = shifted - magic;
    // no part is negative, so that −0 stays
    const V r = fma(n, splat(-0x1.c1cd129024e09p-106 / 2),
                    fma(n, splat(-0x1.1a62633145c06p-53 / 2), fma(n, splat(-0x1.921fb54442d18p+1 / 2), x)));
    const V z = r * r;
    const V s = polynomial(z, -0x1.5555555555548p-3, 0x1.111111110f7cdp-7, -0x1.a01a019bfd7c8p-13,
                           0x1.71de35676d8f1p-19, -0x1.ae5e5a3fc6976p-26, 0x1.5d8fb95e56441p-33);
    const V c = polynomial(z, 0x1.555555555554bp-5, -0x1.6c16c16c14f8dp-10, 0x1.a01a019c83ed1p-16,
                           -0x1.27e4f7ea7c1cdp-22, 0x1.1ee9d7826c949p-29, -0x1.8fa47f572f071p-37);
    return {sign_of_zero(fma(r * z, s, r), r), fma(z * z, c, fma(z, splat(-0.5), splat(1))), bits(shifted)};
  }
  /// atan t for |t| ≤ √2 − 1, to 2⁻⁵⁹.
  STROP_LANE V arc_tangent(V t) {
    const V z = t * t;
    const V q = polynomial(z, -0x1.555555555553dp-2, 0x1.99999999957bep-3, -0x1.24924922a9eb9p-3, 0x1.c71c70e4e5c54p-4,
                           -0x1.745cf8beb522cp-4, 0x1.3b11173da5e5ap-4, -0x1.10eba4c6bf3a3p-4, 0x1.df0e44454a4eap-5,
                           -0x1.9cce6a7f9fc5ap-5, 0x1.37cb523e605a4p-5, -0x1.2554fba0a3128p-6);
    return fma(t * z, q, t);
  }
  /// y + π/4 or π/2, with their low parts.
  STROP_LANE V turned(V y, Mask quarter, Mask half) {
    const V high = half ? splat(half_pi) : (quarter ? splat(half_pi / 2) : splat(0));
    const V low = half ? splat(half_pi_low) : (quarter ? splat(half_pi_low / 2) : splat(0));
    return (y + low) + high;
  }
  /// asin s for 0 ≤ s ≤ 1/2 with z = s², to 2⁻⁵⁹.
  STROP_LANE V arc_sine(V s, V z) {
    const V q = polynomial(z, 0x1.5555555555577p-3, 0x1.333333332e100p-4, 0x1.6db6db72143cbp-5, 0x1.f1c71a945ee07p-6,
                           0x1.6e8bdeee7d99cp-6, 0x1.1c49ef77a22bbp-6, 0x1.ca1fa106743b9p-7, 0x1.7584f5773355dp-7,
                           0x1.613f94654489ap-7, 0x1.e5ca67dfa410ap-9, 0x1.63a8e082813bfp-6, -0x1.580e3ec83ed31p-6,
                           0x1.0b4bc15fd947dp-5);
    return fma(s * z, q, s);
  }
};

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LANE
#endif
