// SPDX-License-Identifier: Apache-2.0
/// \file
/// The gamma functions of lanes, of positive arguments; others go lane by lane. Float goes through double.
///
/// From where the argument is large on they are Stirling's series, its remainder a minimax fit of our own (Remez'
/// algorithm); below, recurrences lead to such fits around 2.
#pragma once
#include <strop/number/lanes_power.hpp>
#include <strop/number/lanes_power_double.hpp>

#ifndef STROP_NO_LANES
#define STROP_LANE [[gnu::always_inline]] static inline

namespace strop::inline v0::number {
inline namespace STROP_ISA {
namespace detail_lanes {

template <class T>
struct GammaDoubleLanes : PowerDoubleLanes<T> {
  using Base = PowerDoubleLanes<T>;
  using Each = EachLane<T>;
  using V = Vec<T>;
  using Mask = decltype(V() < V());

  /// Within 3 ulp, also around the zeros at 1 and 2.
  STROP_LANE V lgamma(V x) {
    const Mask special = other(x);
    if (Base::any(special)) [[unlikely]]
      return special ? Each::lgamma(special ? x : Base::splat(1)) : lgamma_of_positive(special ? Base::splat(1) : x);
    return lgamma_of_positive(x);
  }
  /// Within 4 ulp.
  STROP_LANE V tgamma(V x) {
    if constexpr (!Base::exact) return Each::tgamma(x);
    const Mask special = other(x);
    if (Base::any(special)) [[unlikely]]
      return special ? Each::tgamma(special ? x : Base::splat(1)) : tgamma_of_positive(special ? Base::splat(1) : x);
    return tgamma_of_positive(x);
  }
  /// An absolute error of some 1e-15; around its zero within 4 ulp.
  STROP_LANE V digamma(V x) {
    const Mask special = other(x);
    if (Base::any(special)) [[unlikely]]
      return special ? Each::digamma(special ? x : Base::splat(1)) : digamma_of_positive(special ? Base::splat(1) : x);
    return digamma_of_positive(x);
  }
  /// e to the power lgamma x, good for floats.
  STROP_LANE V tgamma_for_float(V x) { return Base::exp(lgamma_of_positive(lesser(Base::splat(40), x))); }

 private:
  STROP_LANE Mask other(V x) { return ~((x > T(0)) & (x < Base::infinity())); }
  STROP_LANE V log_of_positive(V x) {
    const auto s = Base::split(x);
    return Base::together(s.k, s.f);
  }

  /// Up to 4.5 log Γ(2 + t) = t (1 + t) q(t) with a polynomial q, −¾ ≤ t ≤ ½, and the logarithm of the factors that
  /// lead there; beyond, (x − ½)(log x − 1) + ½ log 2π − ½ + the remainder.
  STROP_LANE V lgamma_of_positive(V x) {
    const V one = Base::splat(1), near_two = Base::rint(x);
    const V n = ((x >= T(1.25)) & (x < T(2))) ? one + one : near_two, t = x - n;
    const Mask large = x > T(4.5), below = n < T(2);
    const V up = x * (n == T(0) ? x + one : one), down = (n == T(2) ? one : x - one) * (n == T(4) ? x - T(2) : one);
    const V logarithm = log_of_positive(large ? x : (below ? up : down));
    const V q = polynomial(t, 0x1.b0ee6072093cep-2, -0x1.9ae6509ea10a2p-4, 0x1.0e0c9df29364ap-5, -0x1.95ce223a9ba3bp-7,
                           0x1.4797485376016p-8, -0x1.145121fabbf3fp-9, 0x1.dfebcfc984c58p-11, -0x1.a96a3ef3aa03fp-12,
                           0x1.7ed72324e1e9ep-13, -0x1.5c8705df8e6f7p-14, 0x1.403198fd6e9bfp-15, -0x1.28432154760d9p-16,
                           0x1.13ad3e156a4cdp-17, -0x1.03835cbd93cf9p-18, 0x1.e9d622324dfc5p-20, -0x1.a1d0c13676ecfp-21,
                           0x1.ad22ed04e929ep-22, -0x1.7181f27da4ffep-22, 0x1.232d0d11235fep-26, 0x1.5f75492d068d6p-24,
                           0x1.27015446cf90ap-23);
    const V near = fma(t * (t + one), q, below ? -logarithm : logarithm);
    const V inverse = one / x;
    const V m = polynomial(inverse * inverse, 0x1.55555555554a6p-4, -0x1.6c16c16909e19p-9, 0x1.a019f7d2338c2p-11,
                           -0x1.380f8c784d27fp-11, 0x1.b867ec68784a6p-11, -0x1.e63ef30cdded4p-10, 0x1.4864595a839fep-8,
                           -0x1.470e28ac42edbp-7);
    const V far = fma(x - T(0.5), logarithm - one, fma(m, inverse, Base::splat(0x1.acfe390c97d69p-2)));
    return large ? far : near;
  }

  /// Up to 8.5 the product of what leads to 2 + t over 1 / Γ(2 + t), a polynomial; beyond, x to the power x − ½ over eˣ
  /// times √2π in a pair of doubles, times the exponential of the remainder.
  STROP_LANE V tgamma_of_positive(V x) {
    const V n = Base::rint(x), t = x - n, one = Base::splat(1);
    const auto factor = [&](T from) { return n > from ? x - (from - T(1)) : one; };
    const V below = n == T(0) ? x * (x + T(1)) : (n == T(1) ? x : one);
    const V reciprocal =
        polynomial(t, 0x1.0000000000000p+0, -0x1.b0ee6072093c8p-2, -0x1.dd603fb6ac10cp-3, 0x1.875ac57821d69p-3,
                   -0x1.92449b66f4116p-6, -0x1.21198510d1a06p-6, 0x1.06e8179e8e13cp-7, -0x1.a5b3522ae8662p-11,
                   -0x1.7a5da9e5520ecp-12, 0x1.3156907508c30p-13, -0x1.265f0cae336edp-16, -0x1.5bca2c0e1fb74p-19,
                   0x1.67620314c92cfp-20, -0x1.ac7cf53adf703p-23, -0x1.464b98de80fdep-30);
    const V a2 = factor(2), a3 = factor(3), a4 = factor(4), a5 = factor(5), a6 = factor(6), a7 = factor(7);
    const V two = a2 * a3, four = two * (a4 * a5), product = four * (a6 * a7), divisor = reciprocal * below;
    V near = product / divisor;
    if constexpr (fused) {  // each product rounds; what they and the quotient lost is added
      const auto lost = [](V a, V b, V ab) { return fma(a, b, -ab); };
      const V next = a4 * a5, last = a6 * a7;
      const V four_lost = lost(two, next, four) + fma(two, lost(a4, a5, next), next * lost(a2, a3, two));
      const V product_lost = lost(four, last, product) + fma(four, lost(a6, a7, last), last * four_lost);
      const V rest = fma(-near, divisor, product) + product_lost;
      near = near < Base::infinity() ? fma(rest, near / product, near) : near;
    }
    const Mask large = x > T(8.5);
    if (!Base::any(large)) return near;
    const V y = lesser(Base::splat(200), greater(Base::splat(8), x)), a = y - T(0.5);
    const auto l = Base::log2_pair(y);
    constexpr T log2_e_low = 0x1.777d0ffda0d24p-56;
    const V p = a * l.high, p_low = fma(a, l.low, fma(a, l.high, -p));
    const V q = y * X::log2_e, q_low = fma(y, Base::splat(X::log2_e), -q) + y * log2_e_low;
    const V difference = p - q, difference_low = ((p - difference) - q) + (p_low - q_low);
    constexpr T root = 0x1.536439a4c6efcp+0, root_low = -0x1.49e49a361efebp-54;  // log2 √2π
    const V sum = difference + root, sum_low = ((difference - sum) + root) + (difference_low + root_low);
    const V u = T(1) / y;
    const V s = polynomial(u, 0x1.55555555554dep-4, 0x1.c71c71c8444a6p-9, -0x1.5f72696bc17aep-9, -0x1.e13b402c7cadap-13,
                           0x1.9b03a70d75809p-11, 0x1.2b5c0110033e0p-14, -0x1.3fcb2fb7e245fp-11, 0x1.ea88f491d0aa9p-15,
                           0x1.12d84c9c16188p-11);
    const V power = Base::power_of_pair(sum, sum_low);
    return large ? fma(power, u * s, power) : near;
  }

  /// log y − 1 / 2y − the remainder from 6 on, and up to there the sum of 1 / x as one fraction; around the zero x₀ a
  /// polynomial times x − x₀, which keeps the digits that cancel in a sum.
  STROP_LANE V digamma_of_positive(V x) {
    V y = x, above = Base::splat(0), below = Base::splat(1);
    for (int i = 0; i < 6; ++i) {
      const Mask small = y < T(6);
      above = small ? fma(above, y, below) : above;
      below = small ? below * y : below;
      y = small ? y + T(1) : y;
    }
    const V inverse = T(1) / y, z = inverse * inverse;
    const V d = polynomial(z, 0x1.555555555533cp-4, -0x1.1111110d37cf3p-7, 0x1.041037718ac74p-8, -0x1.110b6317268fep-8,
                           0x1.eea8d9ce6211ep-8, -0x1.4463b95dac3c3p-6, 0x1.999daf6950751p-5);
    const V result = (log_of_positive(y) - fma(z, d, inverse * T(0.5))) - above / below;
    const Mask around = (x > T(1.25)) & (x < T(1.75));
    if (!Base::any(around)) return result;
    const V g = polynomial(x - T(1.5), 0x1.e6f0cbb873616p-1, -0x1.b1cb63005eedep-2, 0x1.eca189b8e708cp-3,
                           -0x1.2feeeb9892f28p-3, 0x1.8512e59004e1ep-4, -0x1.fb442061e8648p-5, 0x1.4de9aa4f53dd4p-5,
                           -0x1.b9f88ff7921e3p-6, 0x1.256454ab248c2p-6, -0x1.863f76b4af622p-7, 0x1.03c8a0e095a0dp-7,
                           -0x1.58650f54028d0p-8, 0x1.cab9ae68c318dp-9, -0x1.557a1ebbb68b3p-9, 0x1.c9490f5086465p-10);
    return around ? g * ((x - T(0x1.762d86356be3fp+0)) - T(0x1.b86a722197829p-54)) : result;
  }
  using X = typename Base::X;
};

/// The float lanes that remain to be served through double.
template <class T>
struct GammaLanes : PowerLanes {
  using Base = PowerLanes;
  using V = Vec<T>;
  using D = GammaDoubleLanes<double>;

  STROP_LANE V lgamma(V x) {
    const Wide w = widen(x);
    return narrow({D::lgamma(w.low), D::lgamma(w.high)});
  }
  STROP_LANE V digamma(V x) {
    const Wide w = widen(x);
    return narrow({D::digamma(w.low), D::digamma(w.high)});
  }
  STROP_LANE V tgamma(V x) {
    const auto special = ~(x > T(0));
    const Wide w = widen(special ? Base::splat(1) : x);
    const V result = narrow({D::tgamma_for_float(w.low), D::tgamma_for_float(w.high)});
    if (Base::any(special)) [[unlikely]]
      return special ? EachLane<T>::tgamma(special ? x : Base::splat(1)) : result;
    return result;
  }
};

}  // namespace detail_lanes
}  // namespace STROP_ISA
}  // namespace strop::inline v0::number

#undef STROP_LANE
#endif
