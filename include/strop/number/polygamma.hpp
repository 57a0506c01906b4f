// SPDX-License-Identifier: Apache-2.0
/// \file
/// The derivatives of the digamma function, as gradients of gradients of the gamma functions need them.
#pragma once
#include <strop/number/constant.hpp>

namespace strop::inline v0::number {

namespace detail {

/// The n-th derivative of cot(πx) in x, n from 1 to 4, x not an integer.
constexpr double cotangent_derivative(int n, double x) {
  constexpr double pi = 3.14159265358979323846;
  // An odd function of period 1: x − round(x) is exact.
  const double c = 1 / constant::tan(pi * (x - constant::rint(x))), square = c * c, slope = 1 + square;
  switch (n) {
    case 1:
      return -pi * slope;
    case 2:
      return 2 * pi * pi * c * slope;
    case 3:
      return -2 * pi * pi * pi * slope * (1 + 3 * square);
    default:
      return 8 * pi * pi * pi * pi * c * slope * (2 + 3 * square);
  }
}

/// ψ⁽ⁿ⁾(x) · (−1)ⁿ⁺¹ for x > 0, n ≥ 1: n! Σ 1/(x + k)ⁿ⁺¹, the first terms as they stand, the rest by Euler and
/// Maclaurin.
constexpr double polygamma_of_positive(int n, double x) {
  const auto power = [](double base, int exponent) {
    double p = 1;
    for (int i = 0; i < exponent; ++i) p *= base;
    return p;
  };
  double factorial = 1;  // (n − 1)!
  for (int i = 2; i < n; ++i) factorial *= i;
  double head = 0, y = x;
  for (; y < 24; y += 1) head += factorial * n / power(y, n + 1);
  const double inverse = 1 / y;
  // Σ B₂ₖ (2k + n − 1)! / (2k)! / y²ᵏ, its factors built up from one k to the next
  double tail = 1 + n * 0.5 * inverse, ratio = 1;
  for (int k = 1; k <= 12; ++k) {
    const double i = 2 * k;
    ratio *= (i + n - 2) * (i + n - 1) / ((i - 1) * i) * (inverse * inverse);
    const constant::detail::Fraction b = constant::detail::bernoulli[k - 1];
    tail += b.numerator / b.denominator * ratio;
  }
  return head + factorial * power(inverse, n) * tail;
}

}  // namespace detail

/// ψ⁽ⁿ⁾(x), the n-th derivative of digamma, n from 0 to 4. At 0 and the negative integers it is +∞ for odd n and NaN
/// for even n (at ±0 the limit from that side); NaN for another n.
constexpr double polygamma(int n, double x) {
  if (n == 0) return constant::digamma(x);
  constexpr double infinity = constant::detail::infinity, nan = constant::detail::nan;
  const bool odd = n % 2 != 0;
  if (x != x || n < 0 || n > 4 || x == -infinity) return nan;
  const double sign = odd ? 1 : -1;
  if (x == infinity) return sign * 0;
  if (x > 0) return sign * detail::polygamma_of_positive(n, x);
  if (x == 0) return odd ? infinity : constant::copysign(infinity, -x);
  if (constant::rint(x) == x) return odd ? infinity : nan;
  // ψ(1 − x) − ψ(x) = π cot πx, n times differentiated
  return -detail::polygamma_of_positive(n, 1 - x) - 3.14159265358979323846 * detail::cotangent_derivative(n, x);
}

}  // namespace strop::inline v0::number
