// SPDX-License-Identifier: Apache-2.0
/// \file
/// Circular functions of float lanes and their inverses.
///
/// sin and cos: x − n π is reduced to |r| ≤ π/2, one polynomial, and n gives the sign. π is subtracted in parts (W.
/// Cody, W. Waite, Software Manual for the Elementary Functions, 1980): three where there is a fused multiply-add, else
/// five so short that their products with n are exact. All polynomials are minimax fits of our own (Remez' algorithm).
#pragma once
#include <strop/number/lanes_hyperbolic.hpp>

#ifndef STROP_NO_LANES
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

struct CircularLanes : HyperbolicLanes<float> {
  using Base = HyperbolicLanes<float>;
  using Each = EachLane<float>;

  STROP_LANE V sin(V x) {
    const V shifted = fma(x, splat(one_over_pi), splat(magic)), n = shifted - magic;
    const V r = reduce(x, n, 2), y = sign_of_zero(sine(r), r);
    const V result = from_bits(bits(y) ^ up(bits(shifted), 31));
    const Mask far = beyond(x);
    if (any(far)) [[unlikely]]
      return far ? Each::sin(far ? x : splat(0)) : result;
    return result;
  }
  STROP_LANE V cos(V x) {
    // the zeros are at n + 1/2 times π
    const V shifted = fma(x, splat(one_over_pi), splat(-0.5f)) + magic, n = (shifted - magic) + 0.5f;
    const V result = from_bits(bits(sine(reduce(x, n, 2))) ^ up(~bits(shifted), 31));
    const Mask far = beyond(x);
    if (any(far)) [[unlikely]]
      return far ? Each::cos(far ? x : splat(0)) : result;
    return result;
  }
  STROP_LANE V sinc(V x) {
    return sinc_by(x, [](V angle) { return sin(angle); });
  }
  STROP_LANE V tan(V x) {
    // modulo π/2: a polynomial, and its negative reciprocal where n is odd
    const V shifted = fma(x, splat(2 * one_over_pi), splat(magic)), n = shifted - magic;
    const V r = reduce(x, n, 1), z = r * r;
    const V q = polynomial(z, 0x1.555560p-2f, 0x1.110d9cp-3f, 0x1.bada44p-5f, 0x1.5cbae4p-6f, 0x1.62eb6cp-7f,
                           0x1.874b38p-14f, 0x1.1ebaf0p-8f);
    const V t = sign_of_zero(fma(r * z, q, r), r);
    const V result = (bits(shifted) & 1) != 0 ? -1.0f / t : t;
    const Mask far = beyond(x);
    if (any(far)) [[unlikely]]
      return far ? Each::tan(far ? x : splat(0)) : result;
    return result;
  }

  STROP_LANE V atan(V x) {
    const V a = abs(x);
    const Mask large = a > 1.0f;
    const V t = (large ? splat(-1) : a) / (large ? a : splat(1));
    const V y = arc_tangent(t);
    return copysign(large ? (y + half_pi_low) + half_pi : y, x);
  }
  STROP_LANE V atan2(V y, V x) {
    const V a = abs(y), b = abs(x);
    const Mask steep = a > b, left = bits(x) < 0;
    const V large = steep ? a : b, small = steep ? b : a;
    // equal infinities are an angle of 45 degrees
    const V ratio = large == small ? splat(1) : small / large;
    const V t = arc_tangent(large == 0.0f ? splat(0) : ratio);
    const V first = steep ? (half_pi_low - t) + half_pi : t;
    const V result = copysign(left ? (2 * half_pi_low - first) + 2 * half_pi : first, y);
    return ((x != x) | (y != y)) ? x + y : result;
  }
  STROP_LANE V asin(V x) {
    const V a = abs(x);
    const Mask large = a > 0.5f;
    // asin a = π/2 − 2 asin √((1 − a) / 2)
    const V z = large ? fma(a, splat(-0.5f), splat(0.5f)) : a * a;
    const V s = large ? root(z) : a, y = arc_sine(s, z);
    return copysign(large ? half_pi - (y + y - half_pi_low) : y, x);
  }
  STROP_LANE V acos(V x) {
    const V a = abs(x);
    const Mask large = a > 0.5f, negative = bits(x) < 0;
    const V z = large ? fma(a, splat(-0.5f), splat(0.5f)) : a * a;
    const V s = large ? root(z) : a, y = arc_sine(s, z);
    const V twice = y + y;
    const V outer = negative ? 2 * half_pi - (twice - 2 * half_pi_low) : twice;
    const V inner = half_pi - (copysign(y, x) - half_pi_low);
    return large ? outer : inner;
  }

 private:
  static constexpr float magic = 0x1.8p23f, one_over_pi = 0x1.45f306p-2f;
  static constexpr float half_pi = 0x1.921fb6p+0f, half_pi_low = -0x1.777a5cp-25f;

  /// Where n is too large for the parts of π; also infinities and NaN. The C library has these.
  STROP_LANE Mask beyond(V x) { return ~(abs(x) <= 25000.0f); }
  /// x − n π (whole = 2) or x − n π/2 (whole = 1). No part is negative, so that −0 stays.
  STROP_LANE V reduce(V x, V n, float whole) {
    if constexpr (fused) {
      return fma(n, splat(whole * -0x1.846988p-48f),
                 fma(n, splat(whole * -0x1.4442dp-24f), fma(n, splat(whole * -0x1.921fb4p+0f), x)));
    } else {
      x = x - n * (whole * 0x1.92p+0f);
      x = x - n * (whole * 0x1.fbp-12f);
      x = x - n * (whole * 0x1.51p-22f);
      return x - (n * (whole * 0x1.0bp-34f) + n * (whole * 0x1.184698p-44f));
    }
  }
  /// sin r for |r| ≤ π/2, to 2⁻²⁷.
  STROP_LANE V sine(V r) {
    const V z = r * r;
    return fma(r * z, polynomial(z, -0x1.55554cp-3f, 0x1.110edap-7f, -0x1.9f70eap-13f, 0x1.5dc84ap-19f), r);
  }
  /// atan t for |t| ≤ 1, to 2⁻²⁵.
  STROP_LANE V arc_tangent(V t) {
    const V z = t * t;
    const V q = polynomial(z, -0x1.5554dcp-2f, 0x1.9978ecp-3f, -0x1.230a9cp-3f, 0x1.b4df5cp-4f, -0x1.355360p-4f,
                           0x1.61f758p-5f, -0x1.0c25bcp-6f, 0x1.7ec894p-9f);
    return fma(t * z, q, t);
  }
  /// asin s for 0 ≤ s ≤ 1/2 with z = s², to 2⁻²⁷.
  STROP_LANE V arc_sine(V s, V z) {
    const V q = polynomial(z, 0x1.5555c8p-3f, 0x1.3301fcp-4f, 0x1.747d04p-5f, 0x1.8c2daap-6f, 0x1.596d34p-5f);
    return fma(s * z, q, s);
  }
};

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LANE
#endif
