// SPDX-License-Identifier: Apache-2.0
#if !defined(__clang__)
#pragma GCC optimize("O0")  // duals three deep of every function, each run on a few numbers
#endif
#include <doctest/doctest.h>
#include <strop/number/dual.hpp>
#include <strop/number/jet.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

using namespace strop;

namespace {

using number::Jet;
using One = number::Dual<number::Num<double>>;
using Two = number::Dual<One>;
using Three = number::Dual<Two>;

/// Sixteen places, one per lane, between `low` and `high`.
std::array<double, Jet::lanes> places(double low, double high) {
  std::array<double, Jet::lanes> out;
  for (int i = 0; i < Jet::lanes; ++i) out[static_cast<std::size_t>(i)] = low + (high - low) * (i + 0.5) / Jet::lanes;
  return out;
}

/// The coefficients of a number three duals deep, in the order of Jet's.
std::array<double, 8> coefficients(const Three& a) {
  return {a.v.v.v.v, a.v.v.d.v, a.v.d.v.v, a.v.d.d.v, a.d.v.v.v, a.d.v.d.v, a.d.d.v.v, a.d.d.d.v};
}
/// x₀ moved along three directions, with a product of two of them, at places x.
Jet moved(const std::array<double, Jet::lanes>& x, double slope) {
  Jet a;
  for (int i = 0; i < Jet::lanes; ++i) a.c[0][i] = x[static_cast<std::size_t>(i)];
  a = a.moved_along(0).moved_along(1).moved_along(2);
  for (int i = 0; i < Jet::lanes; ++i) a.c[1][i] = slope, a.c[6][i] = 0.25;
  a.present |= 1U << 6;
  return a;
}
Three moved(double x, double slope) {
  Three a;
  a.v.v = One(x, slope);
  a.v.d = One(1, 0);
  a.d.v = One(1, 0);
  a.d.d = One(0.25, 0);
  return a;
}

bool same(double got, double wanted) {
  return got == wanted || (std::isnan(got) && std::isnan(wanted)) ||
         std::abs(got - wanted) <= 1e-11 * (1 + std::abs(wanted));
}
/// f of jets against f of duals, all coefficients in all lanes.
template <class F>
void compare(const char* name, double low, double high, F f) {
  const auto x = places(low, high), y = places(0.3, 2.2);
  const Jet got = f(moved(x, 1), moved(y, -0.5));
  CAPTURE(name);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto wanted = coefficients(f(moved(x[i], 1), moved(y[i], -0.5)));
    for (int m = 0; m < 8; ++m) {
      CAPTURE(x[i]);
      CAPTURE(m);
      const double is = m < got.count() ? got.c[m][i] : 0.0, should = wanted[static_cast<std::size_t>(m)];
      if (!same(is, should)) CHECK(is == should);
    }
  }
  CHECK(got.c[0][0] == doctest::Approx(coefficients(f(moved(x[0], 1), moved(y[0], -0.5)))[0]));
}

}  // namespace

TEST_CASE("a jet computes what duals three deep compute") {
  const auto low = [](std::string_view f) { return f == "acosh" ? 1.5 : 0.05; };
  const auto high = [](std::string_view f) { return f == "acosh" ? 4.0 : 0.95; };
#define STROP_REAL(f) compare(#f, low(#f), high(#f), [](const auto& x, const auto&) { return f(x); });
#define STROP_REAL2(f) compare(#f, 0.05, 0.95, [](const auto& x, const auto& y) { return f(x, y); });
#define STROP_STEP(f) compare(#f, -3.1, 3.3, [](const auto& x, const auto&) { return f(x); });
  STROP_STEP(abs)
  STROP_STEP(sign)
  STROP_REAL2(max)
  STROP_REAL2(min)
#include <strop/number/vocabulary.def>
  compare("polygamma", 0.1, 3.0, [](const auto& x, const auto&) { return polygamma(1, x); });
  compare("sinc_derivative", 0.1, 3.0, [](const auto& x, const auto&) { return sinc_derivative(1, x); });
  compare("sum", -2, 2, [](const auto& x, const auto& y) { return x + y - 0.5 * x + (3 - y) - -x; });
  compare("product", -2, 2, [](const auto& x, const auto& y) { return x * y * (2 * x) * (y * 0.5); });
  compare("quotient", -2, 2, [](const auto& x, const auto& y) { return x / y + 1 / y + x / 4; });
  compare("choice", -2, 2, [](const auto& x, const auto& y) {
    return where(x > y || x <= -1, x * y, where(!(x < 0) && x != 2 && x == x, y, 0.5)) + where(isnan(x), x, 1);
  });
}

TEST_CASE("a jet of fewer directions is a constant in the others") {
  const auto x = places(0.5, 2);
  Jet inner = moved(x, 1), constant = 3;
  CHECK(constant.level == 0);
  CHECK((constant * constant).level == 0);
  CHECK((inner * constant).level == 3);
  inner = constant.moved_along(0);
  CHECK(inner.level == 1);
  const Jet outer = constant.moved_along(2), product = inner * outer, ratio = inner / outer;
  CHECK(product.level == 3);
  const double wanted[8] = {9, 3, 0, 0, 3, 1, 0, 0};
  for (int m = 0; m < 8; ++m) CHECK(product.c[m][5] == wanted[m]);
  CHECK(ratio.c[5][5] == doctest::Approx(-1.0 / 9));
  CHECK(product.along(2).level == 2);
  CHECK(inner.along(2).c[0][0] == 0);
  // An infinite factor of what does not move stays out of the derivatives.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Jet infinite = infinity;
  CHECK((inner.along(0) * infinite).c[0][3] == infinity);
  CHECK((infinite * Jet(2).moved_along(0)).c[1][3] == infinity);
}

TEST_CASE("a jet knows which of its coefficients are 0 as a matter of course") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Jet x = Jet::input(), infinite = Jet(infinity) * x, zero = 0;
  CHECK(zero.is_zero());
  CHECK(!Jet::input().is_zero());
  CHECK((zero * infinite).is_zero());
  CHECK((zero / (x - x)).is_zero());
  CHECK(!(x - x).is_zero());  // what is 0 by chance is not left out
  CHECK(std::isnan(((x - x) * infinite).c[0][0]));
  CHECK(std::isnan((Jet(0) / Jet(0)).c[0][0]));  // a constant is computed
  CHECK((Jet(1) - Jet(1)).is_zero());
  CHECK(exp(zero).known);
  CHECK(where(zero < 1, zero, infinite).is_zero());
  CHECK(!where(x < 2, zero, infinite).known);
  CHECK(xlogy(zero, x - x).is_zero());
  // x moves along 0, y along 1: no coefficient of one alone meets the other's infinite value
  const Jet along_x = x.moved_along(0), along_y = infinite.moved_along(1), product = along_x * along_y;
  CHECK(product.c[0][2] == infinity);
  CHECK(product.c[1][2] == infinity);
  CHECK(product.c[2][2] == 1);
  CHECK(product.c[3][2] == 1);
  CHECK(pow(along_x, zero).along(0).is_zero());
}
