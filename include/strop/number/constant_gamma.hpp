// SPDX-License-Identifier: Apache-2.0
/// \file
/// The error function, its inverse and the gamma functions for constant evaluation; see constant.hpp.
#pragma once
#include <strop/number/constant_pair.hpp>

namespace strop::inline v0::number::inline STROP_ISA::constant {

namespace detail {

inline constexpr Pair two_over_root_pi{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};

/// e^(−x²) for 0 ≤ x < 26.
constexpr Pair bell(double x) {
  const Exponential e = exponential(-exact_product(x, x));
  return scaled(e.value, power_of_two(e.n));
}
/// erf x = 2/√π e^(−x²) Σ (2x²)ⁿ x / (1 · 3 · … · (2n + 1)) for 0 < x < 3; no term is negative.
constexpr Pair error_series(double x) {
  const Pair step = scaled(exact_product(x, x), 2);
  Pair term = x, sum = x;
  for (int n = 3; term.hi > sum.hi * 0x1p-110; n += 2) {
    term = term * step / Pair(n);
    sum = sum + term;
  }
  return two_over_root_pi * bell(x) * sum;
}
/// 1 − erf x for 2 ≤ x < 26: its continued fraction.
constexpr double error_complement(double x) {
  double fraction = 0;
  for (int k = 120; k > 0; --k) fraction = (k / 2.0) / (x + fraction);
  return bell(x).hi * (two_over_root_pi.hi / 2) / (x + fraction);
}

/// B₂ₖ = numerator / denominator, k from 1 on (the Bernoulli numbers).
struct Fraction {
  double numerator, denominator;
};
inline constexpr Fraction bernoulli[] = {{1, 6},
                                         {-1, 30},
                                         {1, 42},
                                         {-1, 30},
                                         {5, 66},
                                         {-691, 2730},
                                         {7, 6},
                                         {-3617, 510},
                                         {43867, 798},
                                         {-174611, 330},
                                         {854513, 138},
                                         {-236364091, 2730},
                                         {8553103, 6},
                                         {-23749461029, 870},
                                         {8615841276005, 14322}};

/// log Γ(x) by Stirling's series, x ≥ 24 and not close to overflow.
constexpr Pair stirling(Pair x) {
  const Pair inverse = Pair(1) / x, square = inverse * inverse;
  Pair sum = 0;
  for (int k = 15; k > 0; --k) {
    const Fraction b = bernoulli[k - 1];
    sum = sum * square + Pair(b.numerator) / Pair(b.denominator * (2 * k) * (2 * k - 1));
  }
  const Pair half_log_2_pi{0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
  return (x - Pair(0.5)) * logarithm(x) - x + half_log_2_pi + sum * inverse;
}
/// log Γ(x), 0 < x < 2⁹⁰⁰.
constexpr Pair log_gamma(double x) {
  if (x >= 24) return stirling(x);
  // close to the zeros: Taylor's series, with ζ(2) / 2, ζ(3) / 3 and ζ(4) / 4
  const Pair from_1 = exact_sum(x, -1), from_2 = exact_sum(x, -2);
  const bool at_2 = magnitude(from_2.hi) < 0x1p-20;
  if (at_2 || magnitude(from_1.hi) < 0x1p-20) {
    const Pair t = at_2 ? from_2 : from_1;
    const Pair minus_euler{-0x1.2788cfc6fb619p-1, 0x1.6cb90701fbfabp-58};
    const double rest = t.hi * (0.8224670334241132 - t.hi * (0.4006856343865314 - t.hi * 0.27058080842778454));
    const Pair near_1 = t * (minus_euler + Pair(rest));
    return at_2 ? near_1 + logarithm_1_plus(t) : near_1;
  }
  Pair product = 1, y = x;
  for (; y.hi < 24; y = y + Pair(1)) product = product * y;
  return stirling(y) - logarithm(product);
}
/// The derivative of log Γ, x > 0.
constexpr Pair digamma_of_positive(double x) {
  Pair sum = 0, y = x;
  for (; y.hi < 24; y = y + Pair(1)) sum = sum - Pair(1) / y;
  const Pair inverse = Pair(1) / y, square = inverse * inverse;
  Pair series = 0;
  for (int k = 15; k > 0; --k) {
    const Fraction b = bernoulli[k - 1];
    series = series * square + Pair(b.numerator) / Pair(b.denominator * (2 * k));
  }
  return sum + logarithm(y) - scaled(inverse, 0.5) - series * square;
}
/// Whether x, negative and finite, is an integer. From 2⁵² on every double is.
constexpr bool whole_negative(double x) { return x <= -0x1p51 || nearest(x) == x; }

}  // namespace detail

constexpr double erf(double x) {
  const double a = detail::magnitude(x);
  if (x != x || x == 0) return x;
  if (a > 6) return x < 0 ? -1 : 1;
  if (a < 0x1p-30) {
    if (a > 0x1p-900) return (detail::two_over_root_pi * detail::Pair(x)).hi;
    return (detail::two_over_root_pi * detail::Pair(x * 0x1p100)).hi * 0x1p-100;
  }
  return detail::with_sign(a < 3 ? detail::error_series(a).hi : 1 - detail::error_complement(a), x < 0);
}

/// The y with erf(y) = x; ±1 gives ±∞, beyond is NaN.
constexpr double erfinv(double x) {
  using detail::Pair;
  const double a = detail::magnitude(x);
  if (x != x || x == 0) return x;
  if (a >= 1) return a > 1 ? detail::nan : detail::with_sign(detail::infinity, x < 0);
  if (a < 0x1p-30) {
    if (a > 0x1p-900) return (Pair(x) / detail::two_over_root_pi).hi;
    return (Pair(x * 0x1p100) / detail::two_over_root_pi).hi * 0x1p-100;
  }
  // S. Winitzki's approximation (2008), two digits; then Halley's method, which triples them.
  const double l = detail::logarithm((Pair(1) - Pair(a)) * (Pair(1) + Pair(a))).hi, b = 4.3307 + l / 2;
  double y = detail::root(detail::root(b * b - l / 0.147).hi - b).hi;
  for (int i = 0; i < 6; ++i) {
    const double difference = y < 2.5 ? (detail::error_series(y) - Pair(a)).hi : (1 - a) - detail::error_complement(y);
    const double newton = difference / (detail::two_over_root_pi.hi * detail::bell(y).hi);
    y -= newton / (1 + y * newton);
    if (detail::magnitude(newton) < y * 0x1p-26) break;
  }
  return detail::with_sign(y, x < 0);
}

/// log |Γ(x)|.
constexpr double lgamma(double x) {
  using detail::Pair;
  const double a = detail::magnitude(x);
  if (x != x) return x;
  if (a == detail::infinity || a == 0) return detail::infinity;
  if (a < 0x1p-60) return -detail::logarithm(a).hi;
  if (x > 0x1p900) {
    const double y = (x * 0x1p-20) * (detail::logarithm(x) - Pair(1)).hi;
    return y >= 0x1p1004 ? detail::infinity : y * 0x1p20;
  }
  if (x > 0) return detail::log_gamma(x).hi;
  if (detail::whole_negative(x)) return detail::infinity;
  // Γ(−a) Γ(a) a sin(πa) = −π
  const Pair sine = detail::sine(detail::half_turns(a));
  return (detail::logarithm(detail::pi / (Pair(a) * (sine.hi < 0 ? -sine : sine))) - detail::log_gamma(a)).hi;
}

/// Γ(x).
constexpr double tgamma(double x) {
  using detail::Pair;
  const double a = detail::magnitude(x);
  if (x != x || x == detail::infinity) return x;
  if (a == 0) return detail::with_sign(detail::infinity, detail::negative(x));
  if (a < 0x1p-60) return a < 0x1p-1024 ? detail::with_sign(detail::infinity, x < 0) : 1 / x;
  if (x > 172) return detail::infinity;
  if (x > 0) {
    const detail::Exponential e = detail::exponential(detail::log_gamma(x));
    return detail::scale(e.value.hi, e.n);
  }
  if (x == -detail::infinity || detail::whole_negative(x)) return detail::nan;
  const Pair sine = detail::sine(detail::half_turns(a));
  const bool minus = sine.hi > 0;
  if (a > 190) return detail::with_sign(0, minus);
  const Pair rest = detail::pi / (Pair(a) * (minus ? sine : -sine));
  const detail::Exponential e = detail::exponential(-detail::log_gamma(a));
  return detail::with_sign(detail::scale((rest * e.value).hi, e.n), minus);
}

/// The derivative of lgamma.
constexpr double digamma(double x) {
  using detail::Pair;
  const double a = detail::magnitude(x);
  if (x != x || x == detail::infinity) return x;
  if (a == 0) return detail::with_sign(detail::infinity, !detail::negative(x));
  if (a < 0x1p-60) return a < 0x1p-1024 ? detail::with_sign(detail::infinity, x > 0) : -1 / x;
  if (x > 0x1p60) return detail::logarithm(x).hi;
  if (x > 0) return detail::digamma_of_positive(x).hi;
  if (x == -detail::infinity || detail::whole_negative(x)) return detail::nan;
  detail::Angle angle = detail::half_turns(a);
  const Pair sine = detail::sine(angle);
  angle.quarter = (angle.quarter + 1) & 3;
  return (detail::digamma_of_positive(a) + Pair(1) / Pair(a) + detail::pi * detail::sine(angle) / sine).hi;
}

}  // namespace strop::inline v0::number::inline STROP_ISA::constant
