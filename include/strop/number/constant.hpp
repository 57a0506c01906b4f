// SPDX-License-Identifier: Apache-2.0
/// \file
/// The functions of the vocabulary in double, for constant evaluation: static_asserts on a body of forward, and what
/// the framework derives from it while it compiles.
///
/// Within one unit in the last place of the mathematical value (sqrt, fmod, hypot and the roundings exactly rounded);
/// NaN, infinities, signed zeros, poles and domains as in the C standard. They work at run time too, slowly.
#pragma once
#include <strop/number/constant_gamma.hpp>
#include <strop/number/constant_pair.hpp>

namespace strop::inline v0::number::inline STROP_ISA::constant {

constexpr double abs(double x) { return detail::magnitude(x); }
constexpr double copysign(double x, double y) { return detail::with_sign(x, detail::negative(y)); }
constexpr bool isnan(double x) { return x != x; }

// --- roundings ----------------------------------------------------------------------------------------------------

/// Towards zero.
constexpr double trunc(double x) {
  if (!(abs(x) < 0x1p52)) return x;
  return copysign(static_cast<double>(static_cast<std::int64_t>(x)), x);
}
constexpr double floor(double x) {
  const double t = trunc(x);
  return t > x ? t - 1 : t;
}
constexpr double ceil(double x) {
  const double t = trunc(x);
  return t < x ? copysign(t + 1, x) : t;
}
/// To the nearest integer, halves away from zero.
constexpr double round(double x) {
  const double t = trunc(x);
  if (!(abs(x) < 0x1p52)) return x;
  return abs(x - t) >= 0.5 ? t + copysign(1, x) : t;
}
/// To the nearest integer, halves to even.
constexpr double rint(double x) {
  if (!(abs(x) < 0x1p52)) return x;
  const double t = trunc(x), rest = abs(x - t);
  const bool odd = (static_cast<std::int64_t>(t) & 1) != 0;
  return rest > 0.5 || (rest == 0.5 && odd) ? t + copysign(1, x) : t;
}

// --- exponentials and logarithms ----------------------------------------------------------------------------------

constexpr double exp(double x) {
  if (x != x) return x;
  if (x > 710) return detail::infinity;
  if (x < -746) return 0;
  const detail::Exponential e = detail::exponential(x);
  return detail::scale(e.value.hi, e.n);
}
constexpr double exp2(double x) {
  if (x != x) return x;
  if (x > 1024) return detail::infinity;
  if (x < -1076) return 0;
  const double n = detail::nearest(x);
  const detail::Pair r = detail::ln2 * detail::Pair(x - n);
  return detail::scale((detail::Pair(1) + r * detail::exponential_series(r)).hi, static_cast<int>(n));
}
constexpr double expm1(double x) {
  if (x != x || abs(x) < 0x1p-60) return x;
  if (x > 50) return exp(x);
  if (x < -39) return -1;
  return detail::exponential_minus_1(x).hi;
}
constexpr double log(double x) {
  if (x != x || x == detail::infinity) return x;
  if (x == 0) return -detail::infinity;
  return x < 0 ? detail::nan : detail::logarithm(x).hi;
}
constexpr double log1p(double x) {
  if (x != x || x == detail::infinity || abs(x) < 0x1p-60) return x;
  if (x == -1) return -detail::infinity;
  return x < -1 ? detail::nan : detail::logarithm_1_plus(x).hi;
}
constexpr double log2(double x) {
  if (!(x > 0) || x == detail::infinity) return log(x);
  detail::Parts p = detail::parts(x);
  if (p.m > 1.5) p = {p.m / 2, p.n + 1};
  return (detail::Pair(p.n) + detail::logarithm(p.m) * detail::log2_e).hi;
}
constexpr double log10(double x) {
  return !(x > 0) || x == detail::infinity ? log(x) : (detail::logarithm(x) * detail::log10_e).hi;
}
/// 1 / (1 + e⁻ˣ).
constexpr double sigmoid(double x) {
  if (x != x) return x;
  if (x < -40) return exp(x);
  if (x > 40) return 1;
  const detail::Pair e = detail::exponential_minus_1(-x);
  return (detail::Pair(1) / (e + detail::Pair(2))).hi;
}

/// log(1 + eˣ).
constexpr double softplus(double x) {
  if (x != x || x > 40) return x;
  if (x < -40) return exp(x);
  const detail::Exponential e = detail::exponential(-abs(x));
  const detail::Pair power = detail::scaled(e.value, detail::power_of_two(e.n));
  return (detail::Pair(x > 0 ? x : 0) + detail::logarithm_1_plus(power)).hi;
}
/// log(1 / (1 + e⁻ˣ)).
constexpr double log_sigmoid(double x) { return 0 - softplus(-x); }
/// log(eˣ + eʸ). Where that is close to 0, terms cancel: then to some 1e-16 of the larger of x and y.
constexpr double logaddexp(double x, double y) {
  if (x != x || y != y) return x != x ? x : y;
  const double large = x > y ? x : y, small = x > y ? y : x;
  if (large == detail::infinity || small == -detail::infinity || large / 2 - small / 2 > 373) return large;
  return x == y ? (detail::Pair(x) + detail::ln2).hi : large + softplus(small - large);
}
/// x log y, 0 where x is 0.
constexpr double xlogy(double x, double y) {
  if (x == 0 && y == y) return 0;
  if (x != x || y != y || y < 0 || (abs(x) == detail::infinity && y == 1)) return detail::nan;
  if (y == 0 || abs(x) == detail::infinity || y == detail::infinity) return x * log(y);
  const double scale = abs(x) > 1 ? 0x1p-200 : 0x1p200;  // no product of halves is out of range
  return (detail::logarithm(y) * detail::Pair(x * scale)).hi / scale;
}

// --- powers -------------------------------------------------------------------------------------------------------

constexpr double sqrt(double x) {
  if (x != x || x == 0 || x == detail::infinity) return x;
  if (x < 0) return detail::nan;
  const detail::Parts p = detail::parts(x);
  return detail::root(p.n % 2 == 0 ? p.m : p.m * 2).hi * detail::power_of_two(p.n >> 1);
}
/// 1 / √x.
constexpr double rsqrt(double x) {
  if (x == 0) return copysign(detail::infinity, x);
  if (!(x > 0)) return x != x ? x : detail::nan;
  if (x == detail::infinity) return 0;
  const detail::Parts p = detail::parts(x);
  const detail::Pair m = p.n % 2 == 0 ? p.m : p.m * 2;
  return (detail::Pair(1) / detail::root(m)).hi * detail::power_of_two(-(p.n >> 1));
}
constexpr double cbrt(double x) {
  if (x != x || x == 0 || abs(x) == detail::infinity) return x;
  const detail::Parts p = detail::parts(abs(x));
  const int third = (p.n + 3000) / 3 - 1000;
  const double m = p.m * detail::power_of_two(p.n - 3 * third);
  double y = 0.9 + m / 7;
  for (int i = 0; i < 8; ++i) y = (2 * y + m / (y * y)) / 3;
  const detail::Pair square = detail::exact_product(y, y);
  const detail::Pair rest = (detail::Pair(m) - square * detail::Pair(y)) / (square * detail::Pair(3));
  return copysign((detail::Pair(y) + rest).hi * detail::power_of_two(third), x);
}
constexpr double hypot(double x, double y) {
  double a = abs(x), b = abs(y);
  if (a == detail::infinity || b == detail::infinity) return detail::infinity;
  if (x != x || y != y) return detail::nan;
  if (a < b) {
    const double t = a;
    a = b;
    b = t;
  }
  if (b == 0) return a;
  const detail::Parts p = detail::parts(a), q = detail::parts(b);
  if (p.n - q.n > 60) return a;
  const double small = q.m * detail::power_of_two(q.n - p.n);
  return detail::scale(detail::root(detail::exact_product(p.m, p.m) + detail::exact_product(small, small)).hi, p.n);
}
constexpr double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return detail::nan;
  const double a = abs(x);
  const bool whole = abs(y) >= 0x1p53 || trunc(y) == y;
  const bool odd = whole && abs(y) < 0x1p53 && (static_cast<std::int64_t>(y) & 1) != 0;
  const bool minus = detail::negative(x) && odd;
  if (abs(y) == detail::infinity) {
    if (a == 1) return 1;
    return (a > 1) == (y > 0) ? detail::infinity : 0;
  }
  if (a == 0 || a == detail::infinity) return copysign((a == 0) == (y < 0) ? detail::infinity : 0, minus ? -1 : 1);
  if (x < 0 && !whole) return detail::nan;
  const detail::Pair l = detail::logarithm(a);
  double result = 1;
  if (l.hi != 0) {
    const bool grows = (l.hi > 0) == (y > 0);
    if (abs(y) > 0x1p64 || abs(y) * abs(l.hi) > 746) {  // |log a| ≥ 2⁻⁵³
      result = grows ? detail::infinity : 0;
    } else {
      const detail::Exponential e = detail::exponential(l * detail::Pair(y));
      result = detail::scale(e.value.hi, e.n);
    }
  }
  return copysign(result, minus ? -1 : 1);
}
/// x − n · y with n = trunc(x / y), exactly.
constexpr double fmod(double x, double y) {
  if (x != x || y != y || y == 0 || abs(x) == detail::infinity) return detail::nan;
  if (abs(x) < abs(y) || x == 0) return x;
  const detail::Parts p = detail::parts(abs(x)), q = detail::parts(abs(y));
  double rest = p.m;
  for (int n = p.n;; --n) {
    if (rest >= q.m) rest -= q.m;
    if (n == q.n) break;
    rest *= 2;
  }
  return copysign(rest == 0 ? 0 : detail::scale(rest, q.n), x);
}

// --- circular functions -------------------------------------------------------------------------------------------

constexpr double sin(double x) {
  if (x != x || abs(x) < 0x1p-30) return x;
  return abs(x) == detail::infinity ? detail::nan : detail::sine(detail::reduce(x)).hi;
}
/// sin πx / πx, 1 at 0 and 0 at the infinities.
constexpr double sinc(double x) {
  if (x != x) return x;
  if (abs(x) < 0x1p-30) return 1;
  if (abs(x) == detail::infinity || rint(x) == x) return 0;
  const detail::Angle a = detail::half_turns(x - 2 * rint(x / 2));
  return (detail::sine(a) / (detail::pi * detail::Pair(x))).hi;
}
constexpr double cos(double x) {
  if (x != x) return x;
  if (abs(x) == detail::infinity) return detail::nan;
  const detail::Angle a = detail::reduce(x);
  return detail::sine({a.r, (a.quarter + 1) & 3}).hi;
}
constexpr double tan(double x) {
  if (x != x || abs(x) < 0x1p-30) return x;
  if (abs(x) == detail::infinity) return detail::nan;
  const detail::Angle a = detail::reduce(x);
  return (detail::sine(a) / detail::sine({a.r, (a.quarter + 1) & 3})).hi;
}
constexpr double atan(double x) {
  if (x != x || abs(x) < 0x1p-30) return x;
  return copysign(abs(x) > 0x1p60 ? detail::half_pi.hi : detail::arc_tangent(abs(x)).hi, x);
}
constexpr double asin(double x) {
  if (x != x || abs(x) < 0x1p-30) return x;
  const double a = abs(x);
  if (a >= 1) return a > 1 ? detail::nan : copysign(detail::half_pi.hi, x);
  const detail::Pair other = detail::root((detail::Pair(1) - detail::Pair(a)) * (detail::Pair(1) + detail::Pair(a)));
  return copysign(detail::arc_tangent(detail::Pair(a) / other).hi, x);
}
constexpr double acos(double x) {
  if (x != x) return x;
  if (abs(x) >= 1) return abs(x) > 1 ? detail::nan : (x > 0 ? 0 : detail::pi.hi);
  const detail::Pair one(1);
  return detail::scaled(detail::arc_tangent(detail::root((one - detail::Pair(x)) / (one + detail::Pair(x)))), 2).hi;
}
/// The angle of the point (x, y).
constexpr double atan2(double y, double x) {
  if (x != x || y != y) return detail::nan;
  const double a = abs(y), b = abs(x);
  const bool left = detail::negative(x);
  if (a == 0) return copysign(left ? detail::pi.hi : 0, y);
  if (b == 0 || (a == detail::infinity && b < a)) return copysign(detail::half_pi.hi, y);
  if (b == detail::infinity) {
    const double quarter = detail::half_pi.hi / 2;
    return copysign(a < b ? (left ? detail::pi.hi : 0) : (left ? 3 * quarter : quarter), y);
  }
  const detail::Parts p = detail::parts(a), q = detail::parts(b);
  if (p.n - q.n > 60) return copysign(detail::half_pi.hi, y);
  const detail::Pair ratio = detail::Pair(p.m) / detail::Pair(q.m);
  if (p.n - q.n < -60) return copysign(left ? detail::pi.hi : detail::scale(ratio.hi, p.n - q.n), y);
  const detail::Pair angle = detail::arc_tangent(detail::scaled(ratio, detail::power_of_two(p.n - q.n)));
  return copysign((left ? detail::pi - angle : angle).hi, y);
}

// --- hyperbolic functions -----------------------------------------------------------------------------------------

constexpr double sinh(double x) {
  const double a = abs(x);
  if (x != x || a == detail::infinity || a < 0x1p-30) return x;
  if (a > 720) return copysign(detail::infinity, x);
  if (a > 40) {
    const detail::Exponential e = detail::exponential(a);
    return copysign(detail::scale(e.value.hi, e.n - 1), x);
  }
  const detail::Pair e = detail::exponential_minus_1(a);
  return copysign(detail::scaled(e + e / (e + detail::Pair(1)), 0.5).hi, x);
}
constexpr double cosh(double x) {
  const double a = abs(x);
  if (x != x || a == detail::infinity) return a;
  if (a > 720) return detail::infinity;
  const detail::Exponential e = detail::exponential(a);
  if (a > 40) return detail::scale(e.value.hi, e.n - 1);
  const detail::Pair p = detail::scaled(e.value, detail::power_of_two(e.n));
  return detail::scaled(p + detail::Pair(1) / p, 0.5).hi;
}
constexpr double tanh(double x) {
  const double a = abs(x);
  if (x != x || a < 0x1p-30) return x;
  if (a > 20) return copysign(1, x);
  const detail::Pair e = detail::exponential_minus_1(2 * a);
  return copysign((e / (e + detail::Pair(2))).hi, x);
}
constexpr double asinh(double x) {
  const double a = abs(x);
  if (x != x || a == detail::infinity || a < 0x1p-30) return x;
  if (a > 0x1p40) return copysign((detail::logarithm(a) + detail::ln2).hi, x);
  const detail::Pair square = detail::exact_product(a, a), one(1);
  return copysign(detail::logarithm_1_plus(detail::Pair(a) + square / (one + detail::root(one + square))).hi, x);
}
constexpr double acosh(double x) {
  if (x != x || x == detail::infinity) return x;
  if (x < 1) return detail::nan;
  if (x > 0x1p40) return (detail::logarithm(x) + detail::ln2).hi;
  const detail::Pair t = detail::exact_sum(x, -1);
  return x == 1 ? 0 : detail::logarithm_1_plus(t + detail::root(t * (t + detail::Pair(2)))).hi;
}
constexpr double atanh(double x) {
  const double a = abs(x);
  if (x != x || a < 0x1p-30) return x;
  if (a >= 1) return a > 1 ? detail::nan : copysign(detail::infinity, x);
  const detail::Pair t = detail::Pair(2 * a) / (detail::Pair(1) - detail::Pair(a));
  return copysign(detail::logarithm_1_plus(t).hi / 2, x);
}

}  // namespace strop::inline v0::number::inline STROP_ISA::constant
