// SPDX-License-Identifier: Apache-2.0
/// \file
/// The derivatives of sinc x = sin πx / πx, which are finite everywhere.
#pragma once
#include <strop/number/rep.hpp>

namespace strop::inline v0::number {

/// The n-th derivative of sin πx / πx, n ≥ 0, to some 1e-15 of πⁿ; 0 at the infinities.
///
/// With z = πx and g(z) = sin z / z it is πⁿ g⁽ⁿ⁾(z). Near 0 its series, Σ (−1)ᵏ zʲ / ((2k + 1) j!) where 2k = n + j;
/// elsewhere z g⁽ⁿ⁾ + n g⁽ⁿ⁻¹⁾ = sin⁽ⁿ⁾ z.
constexpr double sinc_derivative(int n, double x) {
  constexpr double pi = 3.14159265358979323846;
  using R = Rep<double>;
  if (x != x) return x;
  if (x - x != 0) return 0;
  const double z = pi * x;
  double power = 1;
  for (int i = 0; i < n; ++i) power *= pi;
  if (z > -3 && z < 3) {
    double sum = 0, term = n % 2 == 0 ? 1 : z;
    for (int j = n % 2; j < 36; j += 2) {
      const int twice = n + j;
      sum += (twice % 4 == 0 ? term : -term) / (twice + 1);
      term *= z * z / ((j + 1) * (j + 2));
    }
    return power * sum;
  }
  const double whole = R::rint(x), rest = pi * (x - whole), half = whole / 2;
  const double sign = R::rint(half) == half ? 1 : -1;
  const double sine = sign * R::sin(rest), cosine = sign * R::cos(rest);
  double g = sine / z;
  for (int m = 1; m <= n; ++m) {
    const double plain = m % 2 == 0 ? sine : cosine;
    g = ((m % 4 < 2 ? plain : -plain) - m * g) / z;
  }
  return power * g;
}

}  // namespace strop::inline v0::number
