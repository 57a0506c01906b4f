// SPDX-License-Identifier: Apache-2.0
/// \file
/// pow, cbrt, erf and erfinv of double lanes. All polynomials are minimax fits of our own (Remez' algorithm).
///
/// A template, so that only a program that calls a function has its polynomials instantiated.
#pragma once
#include <strop/number/lanes_trig_double.hpp>

#ifndef STROP_NO_LANES
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

template <class T>
struct PowerDoubleLanes : CircularDoubleLanes {
  using Base = CircularDoubleLanes;
  using V = Vec<T>;
  using Mask = decltype(V() < V());

  /// 2 to the power y log2 |x|, both in pairs of doubles; then the special cases. Within 0.9 ulp.
  STROP_LANE V pow(V x, V y) {
    if constexpr (!exact) return EachLane<T>::pow(x, y);
    const V a = Base::abs(x);
    const Mask ordinary = (a > T(0)) & (a < Base::infinity());
    Pair l = log2_pair(ordinary ? a : Base::splat(1));
    l.high = ordinary ? l.high : (a == T(0) ? -Base::infinity() : a);
    const V high = y * l.high, magnitude = Base::abs(high);
    const V low = fma(y, l.low, fma(y, l.high, -high));
    const V power = power_of_pair(high, magnitude < T(1100) ? low : Base::splat(0));
    const V result = ((a == T(1)) | (y == T(0))) ? Base::splat(1) : power;
    // Of a negative number integer powers exist; the odd ones are negative.
    const Mask minus = Base::bits(x) < 0;
    if (!Base::any(minus)) return result;
    const V half = y * T(0.5);
    const Mask whole = Base::rint(y) == y, odd = whole & (Base::rint(half) != half);
    const V with_sign = Base::from_bits(Base::bits(result) | (minus & odd & F::sign));
    return ((x < T(0)) & (a < Base::infinity()) & ~whole) ? Base::nan() : with_sign;
  }

  /// b^−⅓ from a third of the exponent and the upper digits by two steps of fourth order, without a division; b times
  /// its square is corrected once more by Newton's method. Within 0.6 ulp where products are exact, else 1.2.
  STROP_LANE V cbrt(V x) {
    const V a = Base::abs(x);
    const Mask small = a < T(0x1p-900);
    const V b = a * (small ? Base::splat(0x1p300) : Base::splat(0x1p-3));
    // As an integer the upper half is nearly a logarithm; the constant balances the error, 3 %.
    constexpr T counter = 0x1p52;
    const V upper = Base::from_bits(Base::down(Base::bits(b), 32) | Base::bits(Base::splat(counter))) - counter;
    const V third = fma(upper, Base::splat(-1.0 / 3), Base::splat(counter + 1430186361.0));
    V r = Base::from_bits(Base::up(Base::bits(third), 32));
    r = inverse_root_step(r, b);
    r = inverse_root_step(r, b);
    const V inverse_square = r * r, y = (b * r) * r, square = y * y, rest = fma(y, y, -square);
    const V difference = fma(-rest, y, fma(-square, y, b));
    const V root = fma(difference * T(1.0 / 3), inverse_square, y) * (small ? Base::splat(0x1p-100) : Base::splat(2));
    return ((a > T(0)) & (a < Base::infinity())) ? Base::copysign(root, x) : x;
  }

  /// Below 0.9 an odd polynomial, above 1 − e^−q with a polynomial q, to 2⁻⁵⁶ and 2⁻⁵⁷; from 5.93 on erf rounds to 1.
  /// Within 1 ulp.
  STROP_LANE V erf(V x) {
    const V a = Base::abs(x);
    const V p =
        polynomial(x * x, 0x1.06eba8214db69p-3, -0x1.812746b037a26p-2, 0x1.ce2f21a0459fdp-4, -0x1.b82ce3135a6f2p-6,
                   0x1.565bcd2ce954ap-8, -0x1.c02db92429335p-11, 0x1.f9a3af8126149p-14, -0x1.f4db3c5750024p-17,
                   0x1.ba40c95c16368p-20, -0x1.615ef9d8c2234p-23, 0x1.00fe50ca4dd0ap-26, -0x1.2044371773491p-30);
    const V inner = fma(x, p, x);
    const V q =
        polynomial(lesser(Base::splat(5.93), a), 0x1.23bf8110dc4d6p-24, 0x1.20dd68e8189d7p+0, 0x1.45f37cfd5b1f1p-1,
                   0x1.a4ea010833d58p-4, -0x1.3911184d7f697p-6, -0x1.efe3e0a31214dp-13, 0x1.c2c6cbb2b93fep-10,
                   -0x1.3978f994fd930p-11, 0x1.f30fdee2f00b3p-17, 0x1.6c60c8d16663dp-14, -0x1.b6b9e2c04a9d4p-15,
                   0x1.3fbec59fd9bc5p-16, -0x1.51a8783ba7ad5p-18, 0x1.0d240c7ddd593p-20, -0x1.43afe9387880dp-23,
                   0x1.1e282ad531679p-26, -0x1.5fcead19e48aep-30, 0x1.0ce9c7adf22d2p-34, -0x1.810421bec5fc5p-40);
    const V outer = T(1) - Base::template power<0>(-q, Base::splat(X::log2_e), Base::remainder);
    return a < T(0.9) ? inner : Base::copysign(outer, x);
  }

  /// As in libm.hpp, with polynomials to 2⁻⁵² for w below 5, √w below 4, and up to 6.01, where the last double is.
  STROP_LANE V erfinv(V x) {
    const V a = Base::abs(x);
    const auto s = Base::split((T(1) - a) * (T(1) + a));
    const V w = -Base::together(s.k, s.f), r = root(w);
    const V near =
        polynomial(w, 0x1.c5bf891b4ef6bp-1, 0x1.db29fb2fee4dap-3, 0x1.7a72e72c3fd62p-7, -0x1.3211026474c80p-9,
                   -0x1.0c86b5ad666a6p-13, 0x1.870122dc06576p-15, 0x1.0f259f946a4fcp-19, -0x1.0fea1fb94b1a9p-20,
                   -0x1.3b7e7db55e7c5p-25, 0x1.7d5975f1ecd23p-26, 0x1.53a3c769bbebap-30, -0x1.c6219a44b0e61p-31,
                   0x1.21862f5542586p-33, -0x1.85ea116b1dfcfp-35, 0x1.2d73aadb5bda9p-36, -0x1.1e0f280891cf5p-38,
                   0x1.5747f7f9fcca7p-41, -0x1.0e3c8978a10aep-44, 0x1.12c5757ae7b7fp-48, -0x1.4ab6288baf748p-53,
                   0x1.687e7a986a529p-59);
    V p = near;
    if (!Base::all(w < T(5))) {
      const V middle =
          polynomial(r - T(3), 0x1.6a9efbd66eae6p+1, 0x1.006dca7a9c225p+0, 0x1.3582c81148debp-7, -0x1.f4f1c6f09b92dp-8,
                     0x1.7495888ff95c3p-8, -0x1.d2754fdb775b9p-9, 0x1.84f3ed01271c7p-10, -0x1.384306d61e7a3p-13,
                     -0x1.28e08f4e6ee81p-12, 0x1.aeff9486fcdabp-13, -0x1.85c03e2752112p-15, -0x1.7fb216672d612p-16,
                     0x1.701501a55a6efp-16, -0x1.8fd7fc5d868cep-18, -0x1.bdf9ac9357443p-20, 0x1.0f72a1efd3b85p-19,
                     -0x1.558b7b50d1f96p-21, -0x1.d4f8e8e9a7647p-24, 0x1.68d22d854b067p-23, -0x1.6dc9b1c60955bp-25,
                     -0x1.3c967687ace77p-27, 0x1.49009c69e984ep-28);
      const V far =
          polynomial(r - T(5), 0x1.3664ddd1ad7fbp+2, 0x1.02a30d1fba111p+0, -0x1.22ea5df0dadfap-13,
                     -0x1.c2f36aa393b65p-13, 0x1.3ebf4ec914c24p-14, -0x1.4a348f383dd90p-16, 0x1.2fbd1d72a6e48p-18,
                     -0x1.0a90a7b4f3453p-20, 0x1.ebcebb161ebacp-23, -0x1.221cd6b23d0f1p-24, 0x1.f45ced0d3e399p-26,
                     -0x1.065cf7efb005cp-26, 0x1.0698962f82115p-27, -0x1.dac132c33f701p-29, 0x1.99eefb849914ep-30,
                     -0x1.eb5eeca88b512p-32, -0x1.95f275cc660a6p-36, 0x1.8b962fe30ffdap-35);
      p = w < T(5) ? near : (r < T(4) ? middle : far);
    }
    const V outside = a == T(1) ? Base::copysign(Base::infinity(), x) : Base::nan();
    return a < T(1) ? p * x : outside;
  }

 protected:
  /// Whether fma gives what a product lost.
  static constexpr bool exact = fused;
  struct Pair {
    V high, low;
  };
  /// log2 x for finite x > 0, to 2⁻⁶⁶ of itself where exact: with s = f / (2 + f) it is k + 2 log2 e · s (1 + s²/3 +
  /// s⁴ q(s²)), where all but the last term are pairs.
  STROP_LANE Pair log2_pair(V x) {
    const auto [k, f] = Base::split(x);
    const V u = f + T(2), u_low = f - (u - T(2)), inverse = T(1) / u;
    const V s = f * inverse, s_low = fma(-s, u_low, fma(-s, u, f)) * inverse;
    const V z = s * s, z_low = fma(s + s, s_low, fma(s, s, -z));
    const V q = polynomial(z, 0x1.9999999999996p-3, 0x1.2492492492f53p-3, 0x1.c71c71c5962adp-4, 0x1.745d18299453ap-4,
                           0x1.3b1364b62380dp-4, 0x1.1120725e5cf6dp-4, 0x1.de3ce507207c9p-5, 0x1.eaca8d9e35db0p-5);
    constexpr T third = 0x1.5555555555555p-2, third_low = 0x1.5555555555555p-56;
    const V part = z * third,
            part_low = fma(z, Base::splat(third), -part) + fma(z_low, Base::splat(third), z * third_low);
    const V tail = z * z * q, t = part + tail, t_low = (part - t) + tail + part_low;
    constexpr T scale = 0x1.71547652b82fep+1, scale_low = 0x1.777d0ffda0d24p-55;  // 2 log2 e
    const V p = s * scale, p_low = fma(s, Base::splat(scale), -p) + fma(s_low, Base::splat(scale), s * scale_low);
    const V c = p * t, c_low = fma(p, t, -c) + fma(p, t_low, p_low * t);
    const V whole = k + p, whole_low = (k - whole) + p;
    const V sum = whole + c, sum_low = (whole - sum) + c;
    return {sum, whole_low + p_low + (sum_low + c_low)};
  }
  /// 2 to the sum of the two.
  STROP_LANE V power_of_pair(V high, V low) {
    const V y = Base::clamp(high, -1080, 1030);
    constexpr T magic = X::magic + 2 * F::bias;
    const V shifted = y + magic, n = shifted - magic, fraction = y - n;
    const V r = fraction + low, r_low = (fraction - r) + low;
    constexpr T ln2_low = 0x1.abc9e3b39803fp-56;
    const V v = r * X::ln2, v_low = fma(r, Base::splat(X::ln2), -v) + fma(r_low, Base::splat(X::ln2), r * ln2_low);
    const V e = (v + fma(v * v, X::rest(v), v_low)) + T(1);
#if STROP_X86_BYTES == 64
    return scale(e, n);
#else
    const auto sum = Base::bits(shifted), half = Base::down(sum, 1);
    return e * Base::from_bits(Base::up(half, F::digits)) *
           Base::from_bits(Base::up(Base::minus(sum, half), F::digits));
#endif
  }

 private:
  STROP_LANE V inverse_root_step(V r, V b) {
    const V e = fma(-(r * r), r * b, Base::splat(1));
    return fma(r * e, polynomial(e, 1.0 / 3, 2.0 / 9, 14.0 / 81), r);
  }
};

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LANE
#endif
