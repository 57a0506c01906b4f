// SPDX-License-Identifier: Apache-2.0
#include <strop/ops/elementwise/exponential.hpp>
#include <strop/ops/elementwise/power.hpp>
#include <strop/ops/elementwise/special.hpp>
#include "elementwise_rows.hpp"

using namespace ops_test;

TEST_CASE("exponentials, powers and special functions") {
  row(strop::exp, {-2.5, -1.25, -0.3, 0.4, 1.5, 3}, {0.082085, 0.2865048, 0.7408182, 1.4918247, 4.481689, 20.085537},
      {0, -1, 0, NaN, Inf, -Inf}, {1, 0.36787945, 1, NaN, Inf, 0}, [](double x) { return std::exp(x); });
  row(strop::expm1, {-2.5, -1.25, -0.3, 0.4, 1.5, 3},
      {-0.917915, -0.7134952, -0.2591818, 0.4918247, 3.481689, 19.085537}, {0, -1, 0, NaN, Inf, -Inf},
      {0, -0.63212055, 0, NaN, Inf, -1}, [](double x) { return std::expm1(x); });
  row(strop::log, {0.125, 0.3, 0.75, 1.5, 2.25, 9},
      {-2.0794415, -1.2039728, -0.2876821, 0.4054651, 0.8109302, 2.1972246}, {0, -1, 0, NaN, Inf, -Inf},
      {-Inf, NaN, -Inf, NaN, Inf, NaN}, [](double x) { return std::log(x); });
  row(strop::log10, {0.125, 0.3, 0.75, 1.5, 2.25, 9},
      {-0.90309, -0.5228787, -0.12493875, 0.17609125, 0.3521825, 0.9542425}, {0, -1, 0, NaN, Inf, -Inf},
      {-Inf, NaN, -Inf, NaN, Inf, NaN}, [](double x) { return std::log10(x); });
  row(strop::log2, {0.125, 0.3, 0.75, 1.5, 2.25, 9}, {-3, -1.7369655, -0.4150375, 0.5849625, 1.169925, 3.169925},
      {0, -1, 0, NaN, Inf, -Inf}, {-Inf, NaN, -Inf, NaN, Inf, NaN}, [](double x) { return std::log2(x); });
  row(strop::log1p, {0.125, 0.3, 0.75, 1.5, 2.25, 9},
      {0.11778303, 0.26236427, 0.5596158, 0.91629076, 1.178655, 2.3025851}, {0, -1, 0, NaN, Inf, -2},
      {0, -Inf, 0, NaN, Inf, NaN}, [](double x) { return std::log1p(x); });
  row(strop::reciprocal, {-2.5, -1.25, -0.3, 0.4, 1.5, 3}, {-0.4, -0.8, -3.3333333, 2.5, 0.6666667, 0.33333334},
      {0, -4, 0, NaN, Inf, -Inf}, {Inf, -0.25, Inf, NaN, 0, -0}, [](double x) { return 1 / x; });
  row(strop::square, {-2.5, -1.25, 0, 0.4, 0, 3}, {6.25, 1.5625, 0, 0.16000001, 0, 9}, {0, -1, 0, NaN, Inf, -Inf},
      {0, 1, 0, NaN, Inf, Inf}, [](double x) { return x * x; });
  row(strop::sqrt, {0.125, 0.3, 0.75, 1.5, 2.25, 9}, {0.35355338, 0.5477226, 0.8660254, 1.2247449, 1.5, 3},
      {0, -1, 0, NaN, Inf, -Inf}, {0, NaN, 0, NaN, Inf, NaN}, [](double x) { return std::sqrt(x); });
  row(strop::rsqrt, {0.125, 0.3, 0.75, 1.5, 2.25, 9},
      {2.828427, 1.8257418, 1.1547005, 0.81649655, 0.6666667, 0.33333334}, {0, -1, 0, NaN, Inf, 4},
      {Inf, NaN, Inf, NaN, 0, 0.5}, [](double x) { return 1 / std::sqrt(x); });
  row(strop::cbrt, {-2.5, -1.25, -0.3, 0.4, 1.5, 3},
      {-1.3572088, -1.0772173, -0.66943294, 0.73680633, 1.1447142, 1.4422495}, {0, -1, 0, NaN, Inf, -Inf},
      {0, -1, 0, NaN, Inf, -Inf}, [](double x) { return std::cbrt(x); });
  row(strop::rcbrt, {-2.5, -1.25, -0.3, 0.4, 1.5, 3},
      {-0.7368063, -0.9283178, -1.4938016, 1.3572087, 0.87358046, 0.6933613}, {0, -1, 0, NaN, Inf, -8},
      {Inf, -1, Inf, NaN, 0, -0.5}, [](double x) { return 1 / std::cbrt(x); });
  row(strop::erf, {-2.5, -1.25, 0, 0.4, 0, 3}, {-0.999593, -0.92290014, 0, 0.42839235, 0, 0.9999779},
      {0, -1, 0, NaN, Inf, -Inf}, {0, -0.8427008, 0, NaN, 1, -1}, [](double x) { return std::erf(x); });
  row(strop::erfinv, {-0.9, -0.5, 0, 0.2, 0, 0.95}, {-1.1630871, -0.47693628, 0, 0.17914346, 0, 1.3859037},
      {0, -1, 0, NaN, 1, 0.999}, {0, -Inf, 0, NaN, Inf, 2.3267562}, nullptr);
  row(strop::gamma, {-2.5, -1.25, 0.5, 1.5, 4, 9.5},
      {-0.9453086, 3.9213338, 1.7724538, 0.88622695, 6.0000005, 119292.46}, {0.001, 1, 2, NaN, Inf, 3},
      {999.4237, 1, 1, NaN, Inf, 2.0000002}, [](double x) { return std::tgamma(x); });
  row(strop::gammaln, {-2.5, -1.25, 0.5, 1.5, 4, 9.5},
      {-0.056243714, 1.3664318, 0.5723649, -0.120782234, 1.7917595, 11.689333}, {0.001, 1, 2, NaN, Inf, 100000},
      {6.907179, 0, 0, NaN, Inf, 1051287.6}, [](double x) { return std::lgamma(x); });
  check_covered(strop::ExponentialOps{});
  check_covered(strop::PowerOps{});
  check_covered(strop::SpecialOps{});
}
