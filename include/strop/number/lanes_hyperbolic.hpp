// SPDX-License-Identifier: Apache-2.0
/// \file
/// Hyperbolic functions of lanes, their inverses, and hypot.
#pragma once
#include <strop/number/lanes_log.hpp>

#ifndef STROP_NO_LANES
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

template <class T>
struct HyperbolicLanes : LogLanes<T> {
  using Base = LogLanes<T>;
  using typename Base::F;
  using typename Base::Mask;
  using typename Base::V;
  using X = ExpFormat<T>;

  STROP_LANE V tanh(V x) {
    if constexpr (sizeof(T) == 4) {
      // tanh(x / 2) ≈ n / (2 d), so tanh x ≈ n d / (n² / 4 + d²): an error of n / d counts less and less where tanh
      // gets flat. n / x and d = 1 + e are polynomials in x², a minimax fit of our own for |x| ≤ 9.02 with the weight
      // 1 / cosh x, to 2⁻²⁸; beyond, tanh rounds to 1.
      const V y = Base::clamp(x, -9.02f, 9.02f), z = y * y;
      const V n = fma(y * z, polynomial(z, 0x1.e9f8b2p-6f, 0x1.eb5b9cp-14f), y);
      const V e = z * polynomial(z, 0x1.cfd37ep-4f, 0x1.3feb98p-10f, 0x1.5aab7ep-20f);
      const V w = fma(n * 0.25f, n, fma(e, e, e + e));
      const V t = fma(n, e, n) / (w + 1.0f);
      return fused ? t : Base::clamp(t, -1.0f, 1.0f);
    } else {
      const V e = Base::expm1(lesser(Base::splat(20), Base::abs(x)) * T(2));
      return Base::copysign(e / (e + T(2)), x);
    }
  }
  STROP_LANE V cosh(V x) {
    const V h = half_exp(Base::abs(x));
    return h + T(0.25) / h;
  }
  STROP_LANE V sinh(V x) {
    // x + x³ q(x²) below 1, a minimax fit of our own
    const V a = Base::abs(x), h = half_exp(a), z = a * a;
    V q;
    if constexpr (sizeof(T) == 4)
      q = polynomial(z, 0x1.555598p-3f, 0x1.10f760p-7f, 0x1.ab4290p-13f);
    else
      q = polynomial(z, 0x1.5555555555556p-3, 0x1.111111111101ep-7, 0x1.a01a01a037269p-13, 0x1.71de3a3b06b8ep-19,
                     0x1.ae646ff51ac64p-26, 0x1.6116f4917e890p-33, 0x1.b5c8a013a180dp-41);
    return Base::copysign(a < T(1) ? fma(a * z, q, a) : h - T(0.25) / h, x);
  }
  STROP_LANE V asinh(V x) {
    const V a = Base::abs(x), square = a * a;
    const V y = a + square / (root(square + T(1)) + T(1));
    return Base::copysign(log1p_or_double(a, y), x);
  }
  STROP_LANE V acosh(V x) {
    const V t = x - T(1);
    const V y = log1p_or_double(x, t + root(t * (t + T(2))));
    return x < T(1) ? Base::nan() : y;
  }
  STROP_LANE V atanh(V x) {
    const V a = Base::abs(x);
    return Base::copysign(Base::log1p((a + a) / (T(1) - a)) * T(0.5), x);
  }
  STROP_LANE V hypot(V x, V y) {
    const V a = Base::abs(x), b = Base::abs(y);
    const V large = a > b ? a : b, small = a > b ? b : a, t = small / large;
    const V h = large * root(fma(t, t, Base::splat(1)));
    const Mask infinite = (a == Base::infinity()) | (b == Base::infinity());
    return infinite ? Base::infinity() : (large == T(0) ? small + large : h);
  }

 private:
  /// eˣ / 2.
  STROP_LANE V half_exp(V x) {
    return Base::template power<-1>(Base::clamp(x, X::smallest, X::largest + T(1)), Base::splat(X::log2_e),
                                    Base::remainder);
  }
  /// log(1 + y), or log 2x where x is so large that its square need not fit.
  STROP_LANE V log1p_or_double(V x, V y) {
    const Mask large = x > T(sizeof(T) == 4 ? 0x1p28 : 0x1p58);
    return Base::log1p(large ? x : y) + (large ? Base::splat(X::ln2) : Base::splat(0));
  }
};

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LANE
#endif
