// SPDX-License-Identifier: Apache-2.0
/// \file
/// The functions for constant evaluation: known values and special values at compile time, units in the last place
/// against the C library's long double at run time.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <strop/number/constant.hpp>
#include <strop/number/rep.hpp>

namespace {

namespace constant = strop::number::constant;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double tiny = std::numeric_limits<double>::denorm_min();
constexpr double huge = std::numeric_limits<double>::max();

constexpr bool zero(double x, bool minus) {
  return x == 0 && std::bit_cast<std::uint64_t>(x) >> 63 == (minus ? 1u : 0u);
}

// --- values: the nearest doubles to the decimal expansions ----------------------------------------------------------
static_assert(constant::exp(1) == 2.71828182845904524);
static_assert(constant::exp(-745) == tiny && constant::exp(-746) == 0 && constant::exp(709.8) == inf);
static_assert(constant::exp(709.7) < huge && constant::exp(0) == 1 && constant::exp(-inf) == 0);
static_assert(constant::exp2(10) == 1024 && constant::exp2(-1074) == tiny && constant::exp2(1024) == inf);
static_assert(constant::expm1(1e-10) == 1.00000000005e-10 && constant::expm1(-50) == -1 && constant::expm1(inf) == inf);
static_assert(constant::log(10) == 2.30258509299404568 && constant::log(1) == 0 && constant::log(tiny) < -744.4);
static_assert(constant::log(0) == -inf && constant::isnan(constant::log(-1)) && constant::log(inf) == inf);
static_assert(constant::log1p(1e-20) == 1e-20 && constant::log1p(-1) == -inf && constant::isnan(constant::log1p(-2)));
static_assert(constant::log2(8) == 3 && constant::log2(0x1p-1074) == -1074 && constant::log10(1000) == 3);
static_assert(constant::sqrt(2) == 1.41421356237309505 && constant::sqrt(tiny) == 0x1p-537 &&
              constant::sqrt(inf) == inf);
static_assert(constant::isnan(constant::sqrt(-1)) && zero(constant::sqrt(-0.0), true));
static_assert(constant::rsqrt(0.25) == 2 && constant::rsqrt(0.0) == inf && constant::rsqrt(-0.0) == -inf);
static_assert(constant::cbrt(-27) == -3 && constant::cbrt(0x1p-1074) == 0x1p-358 && constant::cbrt(-inf) == -inf);
static_assert(constant::sin(1) == 0.841470984807896507 && constant::sin(1e22) == -0.852200849767188802);
static_assert(constant::cos(1) == 0.54030230586813972 && constant::cos(0) == 1 &&
              constant::tan(1) == 1.5574077246549022);
static_assert(constant::isnan(constant::sin(inf)) && constant::isnan(constant::cos(-inf)) &&
              zero(constant::sin(-0.0), true));
static_assert(constant::asin(1) == 1.57079632679489662 && constant::acos(-1) == 3.14159265358979324);
static_assert(constant::isnan(constant::asin(1.5)) && constant::isnan(constant::acos(-1.5)) && constant::acos(1) == 0);
static_assert(constant::atan(1) == 0.785398163397448310 && constant::atan(-inf) == -1.57079632679489662);
static_assert(constant::atan2(0, -1) == 3.14159265358979324 && constant::atan2(-0.0, -1) == -3.14159265358979324);
static_assert(constant::atan2(inf, -inf) == 2.35619449019234493 && constant::atan2(1, 1) == 0.785398163397448310);
static_assert(constant::sinh(1) == 1.17520119364380146 && constant::cosh(1) == 1.54308063481524378);
static_assert(constant::cosh(710.4) < inf && constant::cosh(-inf) == inf && constant::sinh(-800) == -inf);
static_assert(constant::tanh(0.5) == 0.462117157260009758 && constant::tanh(-inf) == -1 &&
              zero(constant::tanh(-0.0), true));
static_assert(constant::asinh(1) == 0.881373587019543025 && constant::acosh(2) == 1.31695789692481671);
static_assert(constant::acosh(1) == 0 && constant::isnan(constant::acosh(0.5)) && constant::asinh(-inf) == -inf);
static_assert(constant::atanh(0.5) == 0.549306144334054846 && constant::atanh(-1) == -inf);
static_assert(constant::sigmoid(0) == 0.5 && constant::sigmoid(-745) == tiny && constant::sigmoid(50) == 1);
static_assert(constant::softplus(0) == 0.693147180559945309 && constant::softplus(1000) == 1000 &&
              constant::softplus(-745) == tiny && constant::softplus(-inf) == 0 && constant::softplus(inf) == inf);
static_assert(constant::log_sigmoid(0) == -0.693147180559945309 && constant::log_sigmoid(-1000) == -1000 &&
              zero(constant::log_sigmoid(inf), false) && constant::log_sigmoid(-inf) == -inf);
static_assert(constant::logaddexp(0, 0) == 0.693147180559945309 && constant::logaddexp(1000, -1000) == 1000 &&
              constant::logaddexp(-inf, -inf) == -inf && constant::logaddexp(inf, -inf) == inf);
static_assert(constant::isnan(constant::logaddexp(nan, inf)) && constant::logaddexp(-inf, 3) == 3);
static_assert(constant::xlogy(0, 0) == 0 && constant::xlogy(0, inf) == 0 && constant::xlogy(2, 0) == -inf &&
              constant::isnan(constant::xlogy(0, nan)) && constant::isnan(constant::xlogy(1, -1)));
static_assert(constant::sinc(0) == 1 && constant::sinc(0.5) == 0.636619772367581343 && constant::sinc(3) == 0 &&
              constant::sinc(inf) == 0 && constant::sinc(-1.5) == -0.212206590789193781 &&
              constant::isnan(constant::sinc(nan)));
static_assert(constant::erf(0.5) == 0.520499877813046538 && constant::erf(inf) == 1 && constant::erf(tiny) == tiny);
static_assert(constant::erfinv(0.5) == 0.476936276204469873 && constant::erfinv(1) == inf &&
              constant::erfinv(-1) == -inf);
static_assert(constant::isnan(constant::erfinv(1.5)) && zero(constant::erfinv(-0.0), true));
static_assert(constant::lgamma(0.5) == 0.572364942924700087 && constant::lgamma(1) == 0 && constant::lgamma(2) == 0);
static_assert(constant::lgamma(-0.5) == 1.26551212348464540 && constant::lgamma(-3) == inf &&
              constant::lgamma(0) == inf);
static_assert(constant::tgamma(5) == 24 && constant::tgamma(-0.5) == -3.54490770181103205 &&
              constant::tgamma(172) == inf);
static_assert(constant::tgamma(-0.0) == -inf && constant::isnan(constant::tgamma(-2)) && constant::tgamma(171) < inf);
static_assert(constant::digamma(1) == -0.577215664901532861 && constant::digamma(0.5) == -1.96351002602142348);
static_assert(constant::digamma(-0.5) == 0.0364899739785765206 && constant::isnan(constant::digamma(-1)));
static_assert(constant::digamma(0.0) == -inf && constant::digamma(inf) == inf);
static_assert(constant::pow(2, 0.5) == 1.41421356237309505 && constant::pow(10, 308) == 1e308 &&
              constant::pow(-2, 3) == -8);
static_assert(constant::pow(0, 0) == 1 && constant::pow(nan, 0) == 1 && constant::pow(1, nan) == 1);
static_assert(constant::isnan(constant::pow(-2, 0.5)) && constant::pow(-0.0, -3) == -inf &&
              constant::pow(-inf, 0.5) == inf);
static_assert(constant::pow(-1, inf) == 1 && constant::pow(0.5, inf) == 0 && constant::pow(2, -1074) == tiny);
static_assert(constant::fmod(5.5, 2) == 1.5 && constant::fmod(-5.5, 2) == -1.5 &&
              constant::isnan(constant::fmod(1, 0)));
static_assert(constant::fmod(1e300, 7) < 7 && constant::fmod(3, inf) == 3 && zero(constant::fmod(-4, 2), true));
static_assert(constant::hypot(3e300, 4e300) == 5e300 && constant::hypot(nan, inf) == inf &&
              constant::hypot(tiny, 0) == tiny);
static_assert(constant::floor(-1.5) == -2 && constant::ceil(-1.5) == -1 && constant::trunc(-1.5) == -1);
static_assert(constant::round(2.5) == 3 && constant::round(-0.5) == -1 && constant::round(0.49999999999999994) == 0);
static_assert(constant::rint(2.5) == 2 && constant::rint(3.5) == 4 && constant::rint(0x1p51 + 0.5) == 0x1p51);
static_assert(zero(constant::ceil(-0.5), true) && zero(constant::rint(-0.5), true) && constant::floor(-inf) == -inf);
static_assert(constant::abs(-2) == 2 && constant::copysign(3, -0.0) == -3);
static_assert(constant::isnan(constant::exp(nan)) && constant::isnan(constant::lgamma(nan)) &&
              constant::isnan(constant::sin(nan)));

// --- Rep of plain numbers uses them ---------------------------------------------------------------------------------
template <class T>
using Rep = strop::number::Rep<T>;
static_assert(Rep<double>::tanh(0.5) == 0.462117157260009758);
static_assert(Rep<float>::exp(1.0f) == 2.71828183f && Rep<float>::exp(100.0f) > std::numeric_limits<float>::max());
static_assert(Rep<float>::select(Rep<float>::isnan(Rep<float>::log(-1.0f)), 1.0f, 2.0f) == 1.0f);
static_assert(Rep<int>::abs(-3) == 3 && Rep<int>::select(true, 1, 2) == 1 && Rep<int>::lanes == 1);

// --- units in the last place ----------------------------------------------------------------------------------------
double ulps(double got, long double want) {
  const auto nearest = static_cast<double>(want);
  if (std::isnan(got) || std::isnan(nearest)) return std::isnan(got) && std::isnan(nearest) ? 0 : 1e9;
  if (std::isinf(got) || std::isinf(nearest)) return got == nearest ? 0 : 1e9;
  int exponent = 0;
  std::frexp(nearest, &exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want)) /
         std::ldexp(1.0, std::max(exponent - 53, -1074));
}

/// The worst of uniformly spread arguments and, within the same bounds, of such with uniformly spread exponents.
template <class F, class G>
void check(const char* name, double low, double high, F f, G reference) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(low, high), exponents(-700, 700);
  double worst = 0, at = 0;
  for (int i = 0; i < 3000; ++i) {
    double x = uniform(random);
    if (i % 2 == 1) {
      x = std::copysign(std::exp(exponents(random)), x);
      if (x < low || x > high) continue;
    }
    const double u = ulps(f(x), reference(static_cast<long double>(x)));
    if (u > worst) {
      worst = u;
      at = x;
    }
  }
  CAPTURE(name);
  CAPTURE(at);
  CHECK(worst <= 1);
}
#define STROP_AGAINST_LONG_DOUBLE(f, low, high) \
  check(#f, low, high, [](double x) { return constant::f(x); }, [](long double x) { return f##l(x); })

TEST_CASE("constant evaluation is within one unit in the last place") {
  STROP_AGAINST_LONG_DOUBLE(exp, -746, 710);
  STROP_AGAINST_LONG_DOUBLE(exp2, -1076, 1024);
  STROP_AGAINST_LONG_DOUBLE(expm1, -50, 709);
  STROP_AGAINST_LONG_DOUBLE(log, 0, 100);
  STROP_AGAINST_LONG_DOUBLE(log1p, -1, 100);
  STROP_AGAINST_LONG_DOUBLE(log2, 0, 4);
  STROP_AGAINST_LONG_DOUBLE(log10, 0, 4);
  STROP_AGAINST_LONG_DOUBLE(sqrt, 0, 1e300);
  STROP_AGAINST_LONG_DOUBLE(cbrt, -1e300, 1e300);
  STROP_AGAINST_LONG_DOUBLE(sin, -1e6, 1e6);
  STROP_AGAINST_LONG_DOUBLE(cos, -1e300, 1e300);
  STROP_AGAINST_LONG_DOUBLE(tan, -100, 100);
  STROP_AGAINST_LONG_DOUBLE(asin, -1, 1);
  STROP_AGAINST_LONG_DOUBLE(acos, -1, 1);
  STROP_AGAINST_LONG_DOUBLE(atan, -10, 10);
  STROP_AGAINST_LONG_DOUBLE(sinh, -711, 711);
  STROP_AGAINST_LONG_DOUBLE(cosh, -711, 711);
  STROP_AGAINST_LONG_DOUBLE(tanh, -22, 22);
  STROP_AGAINST_LONG_DOUBLE(asinh, -100, 100);
  STROP_AGAINST_LONG_DOUBLE(acosh, 1, 100);
  STROP_AGAINST_LONG_DOUBLE(atanh, -1, 1);
  STROP_AGAINST_LONG_DOUBLE(erf, -7, 7);
  STROP_AGAINST_LONG_DOUBLE(lgamma, 0, 100);
  STROP_AGAINST_LONG_DOUBLE(lgamma, -20, 0);
  STROP_AGAINST_LONG_DOUBLE(tgamma, -180, 172);
  check("rsqrt", 0, 1e300, [](double x) { return constant::rsqrt(x); }, [](long double x) { return 1 / sqrtl(x); });
  check(
      "sigmoid", -745, 45, [](double x) { return constant::sigmoid(x); },
      [](long double x) { return 1 / (1 + expl(-x)); });
}

TEST_CASE("constant evaluation of softplus and its like is within one unit in the last place") {
  check(
      "softplus", -745, 800, [](double x) { return constant::softplus(x); },
      [](long double x) { return std::fmax(x, 0.0L) + log1pl(expl(-std::fabs(x))); });
  check(
      "log_sigmoid", -800, 745, [](double x) { return constant::log_sigmoid(x); },
      [](long double x) { return std::fmin(x, 0.0L) - log1pl(expl(-std::fabs(x))); });
  check(
      "sinc", -1000, 1000, [](double x) { return constant::sinc(x); },
      [](long double x) {
        const long double pi = 3.14159265358979323846264338327950288L, n = std::rint(x);
        return (std::fmod(n, 2.0L) == 0 ? 1 : -1) * sinl(pi * (x - n)) / (pi * x);
      });
  std::mt19937_64 random(31);
  std::uniform_real_distribution<double> up(0, 50), any(-50, 50), exponents(-600, 600);
  for (int i = 0; i < 3000; ++i) {
    const double a = up(random), b = any(random), c = b * std::exp(exponents(random)), d = std::exp(exponents(random));
    CHECK(ulps(constant::logaddexp(a, b),
               std::fmax(a, b) + log1pl(expl(-std::fabs(a - static_cast<long double>(b))))) <= 1);
    CHECK(ulps(constant::xlogy(c, d), c * logl(d)) <= 1);
  }
}

TEST_CASE("constant evaluation of two arguments is within one unit in the last place") {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> x(-6, 6), y(-90, 90);
  for (int i = 0; i < 3000; ++i) {
    const double a = std::exp(x(random)), b = y(random), c = std::ldexp(b, static_cast<int>(b) * 4);
    CHECK(ulps(constant::pow(a, b), powl(a, b)) <= 1);
    CHECK(ulps(constant::hypot(a, c), hypotl(a, c)) <= 1);
    CHECK(ulps(constant::atan2(c, b), atan2l(c, b)) <= 1);
    CHECK(constant::fmod(c, a) == std::fmod(c, a));
    CHECK(constant::round(c) == std::round(c));
    CHECK(constant::rint(c) == std::nearbyint(c));
    CHECK(constant::floor(c) == std::floor(c));
    CHECK(constant::ceil(c) == std::ceil(c));
  }
}

TEST_CASE("erfinv undoes erf, digamma follows its recurrence") {
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> unit(-1, 1), wide(-20, 20);
  for (int i = 0; i < 2000; ++i) {
    const double x =
        i % 2 == 0 ? unit(random) : std::copysign(1 - std::exp(-std::fabs(wide(random)) * 1.8), unit(random));
    if (std::fabs(x) >= 1) continue;
    // the step from y to the true value, by Newton, in units of y
    const auto y = static_cast<long double>(constant::erfinv(x));
    const long double rest = x < -0.5 ? erfcl(-y) - (1.0L + x) : x > 0.5 ? (1.0L - x) - erfcl(y) : erfl(y) - x;
    CHECK(ulps(static_cast<double>(y), y - rest * expl(y * y) / 1.1283791670955126L) <= 1);

    const double z = wide(random);
    const double sum = constant::digamma(z) + 1 / z, next = constant::digamma(z + 1);
    CHECK(std::fabs(sum - next) <= 1e-14 * (1 + std::fabs(sum) + std::fabs(1 / z) + std::fabs(constant::digamma(z))) *
                                       (z < 0 ? 1 + 1 / std::fabs(z - std::rint(z)) : 1));
  }
  // ψ(1/4) = −γ − π/2 − 3 ln 2
  CHECK(ulps(constant::digamma(0.25), -4.2274535333762654080895301460966835L) <= 1);
  CHECK(ulps(constant::digamma(1e10), 23.02585092989045684017908121351L) <= 1);
}

/// What a program computes and what its compiler computes.
template <class T>
void check_plain() {
  const double allowed = 4;
  const auto units = [](T got, double want) {
    int exponent = 0;
    std::frexp(static_cast<T>(want), &exponent);
    return std::fabs(static_cast<double>(got) - want) / std::ldexp(1.0, exponent - (sizeof(T) == 4 ? 24 : 53));
  };
  for (int i = 1; i < 400; ++i) {
    const T x = static_cast<T>(i) / 401, big = static_cast<T>(i) / 10;
    CAPTURE(x);
#define STROP_BOTH(f, x) CHECK_MESSAGE(units(Rep<T>::f(x), constant::f(static_cast<double>(x))) <= allowed, #f)
    STROP_BOTH(exp, -big);
    STROP_BOTH(log, big);
    STROP_BOTH(sigmoid, -big);
    STROP_BOTH(sigmoid, big);
    STROP_BOTH(rsqrt, big);
    STROP_BOTH(erfinv, x);
    STROP_BOTH(erfinv, -x * x);
    STROP_BOTH(tgamma, 10 * x);
#undef STROP_BOTH
    CHECK(std::fabs(static_cast<double>(Rep<T>::digamma(big)) - constant::digamma(static_cast<double>(big))) <=
          1e-14 + std::numeric_limits<T>::epsilon() * std::fabs(constant::digamma(static_cast<double>(big))));
    CHECK(std::fabs(static_cast<double>(Rep<T>::digamma(-x)) - constant::digamma(static_cast<double>(-x))) <=
          1e-11 + std::numeric_limits<T>::epsilon() * std::fabs(constant::digamma(static_cast<double>(-x))));
  }
  CHECK(Rep<T>::erfinv(T(1)) == std::numeric_limits<T>::infinity());
  CHECK(Rep<T>::erfinv(T(-1)) == -std::numeric_limits<T>::infinity());
  CHECK(std::isnan(Rep<T>::erfinv(T(1.5))));
  CHECK(std::isnan(Rep<T>::digamma(T(-2))));
  CHECK(Rep<T>::digamma(T(0)) == -std::numeric_limits<T>::infinity());
}
TEST_CASE_TEMPLATE("plain numbers at run time agree with constant evaluation", T, float, double) { check_plain<T>(); }

}  // namespace
