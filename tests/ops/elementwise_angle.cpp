// SPDX-License-Identifier: Apache-2.0
#include <strop/ops/elementwise/hyperbolic.hpp>
#include <strop/ops/elementwise/trigonometric.hpp>
#include "elementwise_rows.hpp"

using namespace ops_test;

TEST_CASE("trigonometric and hyperbolic functions") {
  row(strop::sin, {-2.5, -1.25, 0, 0.4, 0, 3}, {-0.5984721, -0.9489846, 0, 0.38941833, 0, 0.14112},
      {0, -1, 0, NaN, 100, -1000}, {0, -0.84147096, 0, NaN, -0.50636566, -0.82687956},
      [](double x) { return std::sin(x); });
  row(strop::cos, {-2.5, -1.25, 0, 0.4, 0, 3}, {-0.8011436, 0.31532237, 1, 0.921061, 1, -0.9899925},
      {0, -1, 0, NaN, 100, -1000}, {1, 0.5403023, 1, NaN, 0.8623189, 0.56237906}, [](double x) { return std::cos(x); });
  row(strop::tan, {-2.5, -1.25, 0, 0.4, 0, 3}, {0.74702233, -3.0095696, 0, 0.42279324, 0, -0.14254655},
      {0, -1, 0, NaN, 100, -1000}, {0, -1.5574077, 0, NaN, -0.58721393, -1.4703242},
      [](double x) { return std::tan(x); });
  row(strop::arcsin, {-0.9, -0.5, 0, 0.2, 0, 0.95}, {-1.1197695, -0.5235988, 0, 0.20135793, 0, 1.2532358},
      {0, -1, 0, NaN, 1, 2}, {0, -1.5707964, 0, NaN, 1.5707964, NaN}, [](double x) { return std::asin(x); });
  row(strop::arccos, {-0.9, -0.5, 0, 0.2, 0, 0.95}, {2.6905658, 2.0943952, 1.5707964, 1.3694384, 1.5707964, 0.31756046},
      {0, -1, 0, NaN, 1, 2}, {1.5707964, 3.1415927, 1.5707964, NaN, 0, NaN}, [](double x) { return std::acos(x); });
  row(strop::arctan, {-2.5, -1.25, 0, 0.4, 0, 3}, {-1.19029, -0.8960554, 0, 0.3805064, 0, 1.2490457},
      {0, -1, 0, NaN, Inf, -Inf}, {0, -0.7853982, 0, NaN, 1.5707964, -1.5707964},
      [](double x) { return std::atan(x); });
  row(strop::degrees, {-2.5, -1.25, 0, 0.4, 0, 3}, {-143.23944, -71.61972, 0, 22.91831, 0, 171.88733},
      {0, -1, 0, NaN, Inf, -Inf}, {0, -57.295776, 0, NaN, Inf, -Inf},
      [](double x) { return x * (180 / 3.14159265358979323846); });
  row(strop::radians, {-2.5, -1.25, 0, 0.4, 0, 3}, {-0.04363323, -0.021816615, 0, 0.006981317, 0, 0.05235988},
      {0, -1, 0, NaN, Inf, -Inf}, {0, -0.017453292, 0, NaN, Inf, -Inf},
      [](double x) { return x * (3.14159265358979323846 / 180); });
  row(strop::sinh, {-2.5, -1.25, 0, 0.4, 0, 3}, {-6.0502048, -1.6019192, 0, 0.41075233, 0, 10.017875},
      {0, -1, 0, NaN, Inf, -Inf}, {0, -1.1752012, 0, NaN, Inf, -Inf}, [](double x) { return std::sinh(x); });
  row(strop::cosh, {-2.5, -1.25, 0, 0.4, 0, 3}, {6.1322894, 1.8884238, 1, 1.0810723, 1, 10.067662},
      {0, -1, 0, NaN, Inf, -Inf}, {1, 1.5430806, 1, NaN, Inf, Inf}, [](double x) { return std::cosh(x); });
  row(strop::tanh, {-2.5, -1.25, 0, 0.4, 0, 3}, {-0.9866143, -0.84828365, 0, 0.37994897, 0, 0.9950548},
      {0, -1, 0, NaN, Inf, -Inf}, {0, -0.7615942, 0, NaN, 1, -1}, [](double x) { return std::tanh(x); });
  row(strop::arcsinh, {-2.5, -1.25, 0, 0.4, 0, 3}, {-1.6472312, -1.047593, 0, 0.39003533, 0, 1.8184465},
      {0, -1, 0, NaN, Inf, -Inf}, {0, -0.8813736, 0, NaN, Inf, -Inf}, [](double x) { return std::asinh(x); });
  row(strop::arccosh, {1.05, 1.25, 1.5, 2, 5, 40}, {0.31492463, 0.6931472, 0.9624237, 1.316958, 2.2924316, 4.3818703},
      {1, 0, 0, NaN, Inf, -1}, {0, NaN, NaN, NaN, Inf, NaN}, [](double x) { return std::acosh(x); });
  row(strop::arctanh, {-0.9, -0.5, 0, 0.2, 0, 0.95}, {-1.4722193, -0.54930615, 0, 0.20273255, 0, 1.8317807},
      {0, -1, 0, NaN, 1, 2}, {0, -Inf, 0, NaN, Inf, NaN}, [](double x) { return std::atanh(x); });
  check_covered(strop::TrigonometricOps{});
  check_covered(strop::HyperbolicOps{});
}
