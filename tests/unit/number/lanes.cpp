// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lanes: units in the last place over the whole range of every function, special values, independence of the lanes.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <strop/number/lanes.hpp>
#include <vector>

#include "special_values.hpp"

namespace {

namespace constant = strop::number::constant;
using strop::number::Rep;
using strop::number::Vec;
template <class T>
using Lanes = Rep<Vec<T>>;
#ifdef STROP_NO_LANES
constexpr bool fused = false;
#else
using strop::number::detail_lanes::fused;  // a · b + c with one rounding
#endif
template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T nan = std::numeric_limits<T>::quiet_NaN();

/// The distance of a result to the true value. A true value beyond the largest number may come out as infinity or as
/// that number; zeros count whatever their sign.
template <class T>
double ulps(T got, long double want) {
  const T nearest = static_cast<T>(want);
  if (std::isnan(got) || std::isnan(nearest)) return std::isnan(got) && std::isnan(nearest) ? 0 : 1e9;
  if (std::isinf(nearest) && !std::isinf(got))
    return std::fabs(got) > std::numeric_limits<T>::max() * T(0.9999999) ? 1 : 1e9;
  if (std::isinf(got)) return got == nearest ? 0 : 1e9;
  constexpr int digits = std::numeric_limits<T>::digits, lowest = sizeof(T) == 4 ? -149 : -1074;
  int exponent = 0;
  std::frexp(nearest, &exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) /
                             std::ldexp(1.0L, std::max(exponent - digits, lowest)));
}

/// f over an array, through registers; what is left at the end is padded.
template <class T>
std::vector<T> map(const std::vector<T>& x, Vec<T> (*f)(Vec<T>)) {
  constexpr std::size_t lanes = Lanes<T>::lanes;
  std::vector<T> y(x.size() + lanes), padded = x;
  padded.resize(x.size() + lanes);
  for (std::size_t i = 0; i < x.size(); i += lanes) Lanes<T>::store(&y[i], f(Lanes<T>::load(&padded[i])));
  y.resize(x.size());
  return y;
}

template <class T>
T from_bits(std::uint64_t bits) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else {
    return std::bit_cast<double>(bits);
  }
}

/// Every k-th float, or as many doubles; densely where something happens: around ±1, small integers, the ends of exp.
template <class T>
const std::vector<T>& arguments() {
  static const std::vector<T> all = [] {
    std::vector<T> x{T(0),
                     T(-0.0),
                     inf<T>,
                     -inf<T>,
                     nan<T>,
                     std::numeric_limits<T>::max(),
                     std::numeric_limits<T>::min(),
                     std::numeric_limits<T>::denorm_min(),
                     -std::numeric_limits<T>::denorm_min()};
    const std::uint64_t step = sizeof(T) == 4 ? 40961 : 0x0002300000001237;
    for (std::uint64_t b = 0, n = 0; n < (sizeof(T) == 4 ? 104851u : 29000u); b += step, ++n)
      x.push_back(from_bits<T>(b));
    std::mt19937_64 random(5);
    const double bounds[][2] = {{-1, 1},    {-0.01, 0.01}, {0.5, 2},   {-20, 20},     {87, 90},   {-105, -86},
                                {-40, 0},   {3.9, 4},      {8.9, 9.1}, {-1000, 1000}, {709, 711}, {-747, -707},
                                {128, 129}, {-152, -148},  {1, 1.001}, {0.999, 1},    {1e3, 1e5}};
    for (const auto& b : bounds) {
      std::uniform_real_distribution<double> uniform(b[0], b[1]);
      for (int i = 0; i < 3000; ++i) x.push_back(static_cast<T>(uniform(random)));
    }
    for (int i = -20; i <= 20; ++i) {  // multiples of π/2 and their neighbours
      const T a = static_cast<T>(i * 1.5707963267948966);
      for (const T b :
           {a, std::nextafter(a, T(100)), std::nextafter(a, T(-100)), static_cast<T>(i), static_cast<T>(i) / 2})
        x.push_back(b);
    }
    return x;
  }();
  return all;
}

template <class T>
void check(const char* name, double allowed, Vec<T> (*lanes)(Vec<T>), T (*plain)(T), long double (*reference)(T)) {
  const std::vector<T>& x = arguments<T>();
  const std::vector<T> y = map<T>(x, lanes);
  double worst = 0, worst_plain = 0;
  T at = 0, at_plain = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double want = reference(x[i]);
    const double u = ulps(y[i], want), v = ulps(plain(x[i]), want);
    if (u > worst) worst = u, at = x[i];
    if (v > worst_plain) worst_plain = v, at_plain = x[i];
  }
  INFO(std::string(name), " lanes at ", at, ", plain at ", at_plain);
  CHECK(worst <= allowed);
  CHECK(worst_plain <= 4);
}

long double reference_sigmoid(long double x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
long double reference_softplus(long double x) { return std::fmax(x, 0.0L) + log1pl(expl(-std::fabs(x))) + 0 * x; }
long double reference_sinc(long double x) {
  if (std::isinf(x)) return 0;
  if (x == 0) return 1;
  // x modulo 2 is exact, and near an integer the sine is that of the rest
  const long double turn = std::remainder(x, 2.0L), pi = 3.14159265358979323846264338327950288L;
  const long double rest = turn - std::rint(turn);
  return (std::rint(turn) == 0 ? 1 : -1) * sinl(rest * pi) / (x * pi);
}

#define STROP_CHECK(T, f, allowed, reference) \
  check<T>(#f, allowed, [](Vec<T> x) { return Lanes<T>::f(x); }, [](T x) { return Rep<T>::f(x); }, reference)
// The references: of float the C library's double, of double its long double.
#define STROP_FLOAT(f, allowed) \
  STROP_CHECK(float, f, allowed, [](float x) -> long double { return std::f(static_cast<double>(x)); })
#define STROP_DOUBLE(f, allowed) \
  STROP_CHECK(double, f, allowed, [](double x) { return std::f(static_cast<long double>(x)); })

TEST_CASE("float lanes are within 4 units in the last place") {
  STROP_FLOAT(exp, 1.5);
  STROP_FLOAT(exp2, 1.5);
  STROP_FLOAT(expm1, 2);
  STROP_FLOAT(log, 1);
  STROP_FLOAT(log1p, 2);
  STROP_FLOAT(log2, 2);
  STROP_FLOAT(log10, 2.5);
  STROP_FLOAT(tanh, 4);
  STROP_FLOAT(sinh, 2.5);
  STROP_FLOAT(cosh, 2);
  STROP_FLOAT(asinh, 3);
  STROP_FLOAT(acosh, 3);
  STROP_FLOAT(atanh, 3);
  STROP_FLOAT(sin, 2.5);
  STROP_FLOAT(cos, 2.5);
  STROP_FLOAT(tan, 4);
  STROP_FLOAT(asin, 3);
  STROP_FLOAT(acos, 2);
  STROP_FLOAT(atan, 2);
  STROP_FLOAT(sqrt, 0.5);
  STROP_FLOAT(cbrt, 1.5);
  STROP_FLOAT(erf, 4);
  STROP_FLOAT(lgamma, 1);
  STROP_FLOAT(tgamma, 1);
  STROP_FLOAT(floor, 0);
  STROP_FLOAT(ceil, 0);
  STROP_FLOAT(round, 0);
  STROP_FLOAT(rint, 0);
  STROP_FLOAT(trunc, 0);
  STROP_CHECK(float, rsqrt, 2, [](float x) -> long double { return 1 / std::sqrt(static_cast<double>(x)); });
  STROP_CHECK(float, sigmoid, 3, [](float x) -> long double { return reference_sigmoid(x); });
  STROP_CHECK(float, softplus, 4,
              [](float x) -> long double { return std::isinf(x) ? std::fmax(x, float(0)) : reference_softplus(x); });
  STROP_CHECK(float, log_sigmoid, 4,
              [](float x) -> long double { return std::isinf(x) ? std::fmin(x, float(0)) : -reference_softplus(-x); });
  STROP_CHECK(float, sinc, 4, [](float x) -> long double { return reference_sinc(x); });
  STROP_CHECK(float, erfinv, 4, [](float x) -> long double { return Rep<double>::erfinv(static_cast<double>(x)); });
  STROP_CHECK(float, digamma, 1, [](float x) -> long double { return Rep<double>::digamma(static_cast<double>(x)); });
}

TEST_CASE("double lanes are within 4 units in the last place") {
  STROP_DOUBLE(exp, 1.5);
  STROP_DOUBLE(exp2, 1.5);
  STROP_DOUBLE(expm1, 2);
  STROP_DOUBLE(log, 1);
  STROP_DOUBLE(log1p, 2);
  STROP_DOUBLE(log2, 2);
  STROP_DOUBLE(log10, 2.5);
  STROP_DOUBLE(tanh, 3);
  STROP_DOUBLE(sinh, 2.5);
  STROP_DOUBLE(cosh, 2);
  STROP_DOUBLE(asinh, 3);
  STROP_DOUBLE(acosh, 3);
  STROP_DOUBLE(atanh, 3);
  STROP_DOUBLE(sin, 2);
  STROP_DOUBLE(cos, 2);
  STROP_DOUBLE(tan, 4);
  STROP_DOUBLE(asin, 3);
  STROP_DOUBLE(acos, 2);
  STROP_DOUBLE(atan, 3);
  STROP_DOUBLE(sqrt, 0.5);
  STROP_DOUBLE(cbrt, strop::number::lane_bytes == 0 ? 4 : 1.2);  // 0: the C library's
  STROP_DOUBLE(erf, 1.5);
  STROP_DOUBLE(floor, 0);
  STROP_DOUBLE(ceil, 0);
  STROP_DOUBLE(round, 0);
  STROP_DOUBLE(rint, 0);
  STROP_DOUBLE(trunc, 0);
  STROP_CHECK(double, rsqrt, 1.5, [](double x) -> long double { return 1 / sqrtl(x); });
  STROP_CHECK(double, sigmoid, 3, [](double x) -> long double { return reference_sigmoid(x); });
  STROP_CHECK(double, softplus, 4,
              [](double x) -> long double { return std::isinf(x) ? std::fmax(x, double(0)) : reference_softplus(x); });
  STROP_CHECK(double, log_sigmoid, 4, [](double x) -> long double {
    return std::isinf(x) ? std::fmin(x, double(0)) : -reference_softplus(-x);
  });
  STROP_CHECK(double, sinc, 4, [](double x) -> long double { return reference_sinc(x); });
}

/// The distance of lanes and of the plain function to a table's values, where T holds the argument.
template <class T>
void check_table(const char* name, double allowed, std::span<const SpecialValue> table, Vec<T> (*lanes)(Vec<T>),
                 T (*plain)(T)) {
  for (const auto& [x, value] : table) {
    const T a = static_cast<T>(x);
    if (static_cast<double>(a) != x) continue;
    INFO(std::string(name), " at ", x);
    CHECK(ulps(map<T>({a}, lanes)[0], value) <= allowed);
    CHECK(ulps(plain(a), value) <= allowed);
  }
}

TEST_CASE_TEMPLATE("erfinv and the gamma functions against values of 21 digits", T, float, double) {
#define STROP_TABLE(f, allowed) \
  check_table<T>(#f, allowed, f##_values, [](Vec<T> x) { return Lanes<T>::f(x); }, [](T x) { return Rep<T>::f(x); })
  STROP_TABLE(erfinv, 4);
  STROP_TABLE(lgamma, 4);
  STROP_TABLE(tgamma, 4);
  STROP_TABLE(digamma, sizeof(T) == 8 ? 32 : 4);  // in double: terms cancel around its zero, 1.46
#undef STROP_TABLE
}

// --- two arguments --------------------------------------------------------------------------------------------------

template <class T, class F, class H>
double worst_of_two(double low, double high, double low2, double high2, F f, H reference) {
  constexpr int lanes = Lanes<T>::lanes;
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> first(low, high), second(low2, high2);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    T x[lanes], y[lanes], z[lanes];
    for (int j = 0; j < lanes; ++j) {
      x[j] = static_cast<T>(first(random));
      y[j] = static_cast<T>(second(random));
    }
    Lanes<T>::store(z, f(Lanes<T>::load(x), Lanes<T>::load(y)));
    for (int j = 0; j < lanes; ++j) worst = std::max(worst, ulps(z[j], reference(x[j], y[j])));
  }
  return worst;
}

TEST_CASE("functions of two arguments on lanes") {
  const auto pow = [](auto x, auto y) { return Rep<decltype(x)>::pow(x, y); };
  const auto atan2 = [](auto x, auto y) { return Rep<decltype(x)>::atan2(x, y); };
  const auto hypot = [](auto x, auto y) { return Rep<decltype(x)>::hypot(x, y); };
  const auto reference_pow = [](auto x, auto y) { return powl(x, y); };
  const auto reference_atan2 = [](auto x, auto y) { return atan2l(x, y); };
  const auto reference_hypot = [](auto x, auto y) { return hypotl(x, y); };
  CHECK(worst_of_two<float>(0, 3, -100, 100, pow, reference_pow) <= 1);
  CHECK(worst_of_two<float>(0.99, 1.01, -9000, 9000, pow, reference_pow) <= 1);
  CHECK(worst_of_two<float>(0, 1e-37, -1, 1.3, pow, reference_pow) <= 1);
  CHECK(worst_of_two<float>(-3, 3, -9, 9, atan2, reference_atan2) <= 3);
  CHECK(worst_of_two<float>(-3e38, 3e38, -9e-30, 9e30, atan2, reference_atan2) <= 3);
  CHECK(worst_of_two<float>(-3e38, 3e38, -2e38, 2e38, hypot, reference_hypot) <= 3);
  CHECK(worst_of_two<float>(-1e-38, 1e-38, -2e-38, 2e-38, hypot, reference_hypot) <= 3);
  CHECK(worst_of_two<double>(0, 3, -100, 100, pow, reference_pow) <= 1);
  CHECK(worst_of_two<double>(-3, 3, -9, 9, hypot, reference_hypot) <= 3);
  CHECK(worst_of_two<double>(-3, 3, -9, 9, atan2, reference_atan2) <= 3);
  CHECK(worst_of_two<double>(-1e308, 1e308, -1e308, 1e308, atan2, reference_atan2) <= 3);
  CHECK(worst_of_two<double>(-1e-308, 1e-308, -2e-308, 2e-308, atan2, reference_atan2) <= 3);
  CHECK(worst_of_two<double>(0.99, 1.01, -70000, 70000, pow, reference_pow) <= 1);
  CHECK(worst_of_two<double>(0, 1e-307, -1, 1, pow, reference_pow) <= 1);
  const auto xlogy = [](auto x, auto y) { return Rep<decltype(x)>::xlogy(x, y); };
  const auto reference_xlogy = [](auto x, auto y) { return x * logl(y); };
  CHECK(worst_of_two<float>(-3, 3, 0, 9, xlogy, reference_xlogy) <= 2);
  CHECK(worst_of_two<float>(-3e30, 3e30, 0, 1e-37, xlogy, reference_xlogy) <= 2);
  CHECK(worst_of_two<double>(-3, 3, 0, 9, xlogy, reference_xlogy) <= 2);
  CHECK(worst_of_two<double>(-3e-300, 3e-300, 0, 1e300, xlogy, reference_xlogy) <= 2);
  const auto logaddexp = [](auto x, auto y) { return Rep<decltype(x)>::logaddexp(x, y); };
  const auto reference_logaddexp = [](long double x, long double y) {
    return std::fmax(x, y) + log1pl(expl(-std::fabs(x - y)));
  };
  CHECK(worst_of_two<float>(0, 30, -30, 30, logaddexp, reference_logaddexp) <= 4);
  CHECK(worst_of_two<float>(-1e30, -10, -1000, -10, logaddexp, reference_logaddexp) <= 4);
  CHECK(worst_of_two<float>(0, 1e-30, -110, 0, logaddexp, reference_logaddexp) <= 4);
  CHECK(worst_of_two<double>(0, 30, -30, 30, logaddexp, reference_logaddexp) <= 4);
  CHECK(worst_of_two<double>(-1e30, -10, -1000, -10, logaddexp, reference_logaddexp) <= 4);
  CHECK(worst_of_two<double>(0, 1e-300, -750, 0, logaddexp, reference_logaddexp) <= 4);
  // powers of negative numbers, and all pairs of special values, as the C library has them
  const float values[] = {0.0f,        -0.0f,        1.0f,        -1.0f,      0.5f,        -0.5f,     2.0f,  -2.0f,
                          3.0f,        -3.0f,        2.5f,        -7.0f,      1e-45f,      -1e-45f,   3e38f, -3e38f,
                          16777215.0f, -16777217.0f, 33554432.0f, inf<float>, -inf<float>, nan<float>};
  for (const float x : values) {
    for (const float y : values) {
      CAPTURE(x);
      CAPTURE(y);
      const auto same = [](Vec<float> lanes, float want) {
        float got[Lanes<float>::lanes];
        Lanes<float>::store(got, lanes);
        return ulps(got[0], static_cast<long double>(want)) <= 2 &&
               (std::isnan(want) || std::signbit(got[0]) == std::signbit(want));
      };
      const Vec<float> a = Lanes<float>::splat(x), b = Lanes<float>::splat(y);
      CHECK(same(Lanes<float>::pow(a, b), std::pow(x, y)));
      CHECK(same(Lanes<float>::atan2(a, b), std::atan2(x, y)));
      CHECK(same(Lanes<float>::hypot(a, b), std::hypot(x, y)));
      CHECK(same(Lanes<float>::fmod(a, b), std::fmod(x, y)));
      CHECK(same(Lanes<float>::copysign(a, b), std::copysign(x, y)));
      const float large = x > y ? x : y;
      const float sum = std::isnan(x + y) ? (std::isnan(x) || std::isnan(y) ? nan<float> : inf<float>)
                        : x == y          ? x + 0.6931472F
                                          : large + std::log1p(std::exp(-std::fabs(x - y)));
      CHECK(ulps(Rep<float>::logaddexp(x, y), static_cast<long double>(sum)) <= 2);
      CHECK(same(Lanes<float>::logaddexp(a, b), Rep<float>::logaddexp(x, y)));
      CHECK(same(Lanes<float>::xlogy(a, b), x == 0 && !std::isnan(y) ? 0.0F : x * std::log(y)));
      CHECK(ulps(static_cast<float>(constant::xlogy(x, y)), static_cast<long double>(Rep<float>::xlogy(x, y))) <= 2);
      const double u = x, v = y;
      double got[Lanes<double>::lanes];
      Lanes<double>::store(got, Lanes<double>::atan2(Lanes<double>::splat(u), Lanes<double>::splat(v)));
      const double want = std::atan2(u, v);
      CHECK(ulps(got[0], atan2l(u, v)) <= 3);
      CHECK((std::isnan(want) || std::signbit(got[0]) == std::signbit(want)));
      Lanes<double>::store(got, Lanes<double>::pow(Lanes<double>::splat(u), Lanes<double>::splat(v)));
      const double power = std::pow(u, v);
      CHECK(ulps(got[0], powl(u, v)) <= 1);
      CHECK((std::isnan(power) || std::signbit(got[0]) == std::signbit(power)));
    }
  }
}

TEST_CASE("the gamma functions of positive doubles are within 4 units in the last place") {
  const auto lgamma = [](auto x, auto) { return Lanes<double>::lgamma(x); };
  const auto tgamma = [](auto x, auto) { return Lanes<double>::tgamma(x); };
  const auto reference_lgamma = [](double x, double) { return lgammal(x); };
  const auto reference_tgamma = [](double x, double) { return tgammal(x); };
  const double bounds[][2] = {{0, 0.5}, {0.5, 1.5}, {1.5, 3}, {3, 9}, {9, 171}};
  for (const auto& [low, high] : bounds) {
    CAPTURE(low);
    CHECK(worst_of_two<double>(low, high, 0, 1, lgamma, reference_lgamma) <= 4);
    // without fused multiply-adds the C library's
    CHECK(worst_of_two<double>(low, high, 0, 1, tgamma, reference_tgamma) <= (fused ? 4 : 5));
  }
}

TEST_CASE("square roots are rounded as the machine rounds them, also the doubles nearest to a tie") {
  std::vector<double> x;
  for (std::int64_t k = -401; k <= 401; ++k) {  // x 2¹⁰⁶ = m² + k with an odd m of 54 bits: √x is nearly m / 2⁵³
    if ((-k & 7) != 1) continue;
    const auto square = static_cast<std::uint64_t>(-k);
    std::uint64_t m = 1;
    for (int bit = 3; bit < 54; ++bit) m += ((m * m - square) >> bit & 1) << (bit - 1);
    for (std::uint64_t root : {m, 0 - m}) {
      root = (root & ((std::uint64_t{1} << 53) - 1)) | std::uint64_t{1} << 53;
      const auto wide = static_cast<long double>(root);
      const auto y = static_cast<double>(wide * wide * 0x1p-106L);
      x.push_back(y);
      x.push_back(std::ldexp(y, 500));
      x.push_back(std::ldexp(y, -800));
    }
  }
  CHECK(x.size() > 100);
  const std::vector<double> y = map<double>(x, [](Vec<double> v) { return Lanes<double>::sqrt(v); });
  int wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wrong += y[i] == std::sqrt(x[i]) ? 0 : 1;
  CHECK(wrong == 0);
}

template <class T>
void check_fmod() {
  constexpr int lanes = Lanes<T>::lanes;
  std::mt19937_64 random(23);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  for (int i = 0; i < 20000; ++i) {
    T x[lanes], y[lanes], z[lanes];
    const unsigned wide = i % 2 == 0 ? 20 : 80;  // quotients that lanes serve, and any
    for (int j = 0; j < lanes; ++j) {
      y[j] = static_cast<T>(std::ldexp(mantissa(random), static_cast<int>(random() % 60) - 30));
      x[j] = static_cast<T>(y[j] * std::ldexp(mantissa(random), static_cast<int>(random() % wide)));
      if (j % 3 == 0) x[j] = y[j] * static_cast<T>(static_cast<int>(random() % 100));  // often a multiple
    }
    Lanes<T>::store(z, Lanes<T>::fmod(Lanes<T>::load(x), Lanes<T>::load(y)));
    for (int j = 0; j < lanes; ++j) {
      const T want = std::fmod(x[j], y[j]);
      if (z[j] != want || std::signbit(z[j]) != std::signbit(want)) {
        INFO(x[j], " modulo ", y[j], " is ", want, ", came ", z[j]);
        REQUIRE(z[j] == want);
        REQUIRE(std::signbit(z[j]) == std::signbit(want));
      }
    }
  }
}
TEST_CASE("fmod of lanes is exact") {
  check_fmod<float>();
  check_fmod<double>();
}

// --- special values -------------------------------------------------------------------------------------------------

template <class T>
T one(Vec<T> lanes) {
  T t[Lanes<T>::lanes];
  Lanes<T>::store(t, lanes);
  return t[0];
}

template <class T>
void check_special() {
  using L = Lanes<T>;
#define STROP_ODD(f) \
  CHECK_MESSAGE((one<T>(L::f(L::splat(T(-0.0)))) == 0 && std::signbit(one<T>(L::f(L::splat(T(-0.0)))))), #f)
  STROP_ODD(expm1);
  STROP_ODD(log1p);
  STROP_ODD(tanh);
  STROP_ODD(sinh);
  STROP_ODD(asinh);
  STROP_ODD(atanh);
  STROP_ODD(sin);
  STROP_ODD(tan);
  STROP_ODD(asin);
  STROP_ODD(atan);
  STROP_ODD(cbrt);
  STROP_ODD(erf);
  STROP_ODD(erfinv);
  STROP_ODD(sqrt);
  STROP_ODD(floor);
  STROP_ODD(ceil);
  STROP_ODD(round);
  STROP_ODD(rint);
  STROP_ODD(trunc);
#undef STROP_ODD
  const auto at = [](auto f, T x) { return one<T>(f(L::splat(x))); };
  CHECK(at([](auto x) { return L::exp(x); }, inf<T>) == inf<T>);
  CHECK(at([](auto x) { return L::exp(x); }, -inf<T>) == 0);
  CHECK(at([](auto x) { return L::exp(x); }, T(0)) == 1);
  CHECK(at([](auto x) { return L::exp2(x); }, T(-10)) == T(0x1p-10));
  CHECK(at([](auto x) { return L::expm1(x); }, -inf<T>) == -1);
  CHECK(at([](auto x) { return L::log(x); }, T(0)) == -inf<T>);
  CHECK(at([](auto x) { return L::log(x); }, T(1)) == 0);
  CHECK(std::isnan(at([](auto x) { return L::log(x); }, T(-1))));
  CHECK(at([](auto x) { return L::log2(x); }, T(0x1p-100)) == -100);
  CHECK(at([](auto x) { return L::sigmoid(x); }, inf<T>) == 1);
  CHECK(at([](auto x) { return L::sigmoid(x); }, -inf<T>) == 0);
  CHECK(at([](auto x) { return L::tanh(x); }, T(100)) == 1);
  CHECK(at([](auto x) { return L::tanh(x); }, -inf<T>) == -1);
  CHECK(at([](auto x) { return L::erf(x); }, inf<T>) == 1);
  CHECK(at([](auto x) { return L::erfinv(x); }, T(-1)) == -inf<T>);
  CHECK(std::isnan(at([](auto x) { return L::erfinv(x); }, T(2))));
  CHECK(at([](auto x) { return L::cos(x); }, T(0)) == 1);
  CHECK(std::isnan(at([](auto x) { return L::sin(x); }, inf<T>)));
  CHECK(at([](auto x) { return L::round(x); }, T(-2.5)) == -3);
  CHECK(at([](auto x) { return L::rint(x); }, T(-2.5)) == -2);
  CHECK(at([](auto x) { return L::abs(x); }, -inf<T>) == inf<T>);
}
TEST_CASE_TEMPLATE("special values on lanes", T, float, double) { check_special<T>(); }

TEST_CASE("no float is a tanh or an erf beyond 1") {
  std::vector<float> x;
  for (std::uint32_t b = 0x3f800000; b < 0x41300000; b += 5) x.push_back(std::bit_cast<float>(b));
  const auto t = map<float>(x, [](Vec<float> v) { return Lanes<float>::tanh(v); });
  const auto e = map<float>(x, [](Vec<float> v) { return Lanes<float>::erf(v); });
  int beyond = 0;
  for (std::size_t i = 0; i < x.size(); ++i) beyond += (t[i] > 1 ? 1 : 0) + (e[i] > 1 ? 1 : 0);
  CHECK(beyond == 0);
}

// --- lanes ----------------------------------------------------------------------------------------------------------

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

/// The value at every position among strangers is the value in a register that holds nothing else.
template <class T>
void check_independence(const char* name, Vec<T> (*f)(Vec<T>)) {
  constexpr int lanes = Lanes<T>::lanes;
  const std::vector<T>& x = arguments<T>();
  std::mt19937_64 random(23);
  bool same = true;
  for (int i = 0; i < 3000; ++i) {
    T in[lanes], out[lanes];
    for (T& e : in) e = x[random() % x.size()];
    Lanes<T>::store(out, f(Lanes<T>::load(in)));
    for (int j = 0; j < lanes; ++j) same = same && same_bits(out[j], one<T>(f(Lanes<T>::splat(in[j]))));
  }
  CHECK_MESSAGE(same, std::string(name));
}

TEST_CASE_TEMPLATE("a lane does not depend on its neighbours", T, float, double) {
#define STROP_REAL(f) check_independence<T>(#f, [](Vec<T> x) { return Lanes<T>::f(x); });
#define STROP_STEP(f) check_independence<T>(#f, [](Vec<T> x) { return Lanes<T>::f(x); });
#define STROP_REAL2(f) check_independence<T>(#f, [](Vec<T> x) { return Lanes<T>::f(x, x * T(-0.75) + T(1)); });
#include <strop/number/vocabulary.def>
}

TEST_CASE_TEMPLATE("loading, choosing, asking", T, float, double) {
  using L = Lanes<T>;
  constexpr int lanes = L::lanes;
  T in[lanes + 1], out[lanes + 1];
  for (int i = 0; i <= lanes; ++i) in[i] = static_cast<T>(i);
  const Vec<T> x = L::load(in + 1);
  L::store(out + 1, L::select(x > T(1), x, L::splat(T(-1))));
  for (int i = 1; i <= lanes; ++i) CHECK(out[i] == (i > 1 ? in[i] : T(-1)));
  CHECK(L::any(x == T(lanes)));
  CHECK(!L::any(x == T(0)));
  CHECK(L::all(x > T(0)));
  CHECK((lanes == 1 || !L::all(x > T(1))));
  CHECK(L::all(L::isnan(L::splat(nan<T>))));
  CHECK(!L::any(L::isnan(x)));
  static_assert(lanes * static_cast<int>(sizeof(T)) ==
                (strop::number::lane_bytes == 0 ? sizeof(T) : strop::number::lane_bytes));
}

}  // namespace
