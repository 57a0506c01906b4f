// SPDX-License-Identifier: Apache-2.0
/// \file
/// A weight that an optimizer trains on made-up gradients, and the same in double by a formula.
#pragma once
#include <strop/strop.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace optim_test {

using Numbers = std::vector<double>;

/// Gradient i of update t: of either sign, some of them beyond the bound that tests clip at.
inline double gradient(std::size_t i, int t) {
  return 2 * std::sin(1.7 * static_cast<double>(i) + 0.9 * static_cast<double>(t));
}
inline Numbers gradients(std::size_t n, int t) {
  Numbers g(n);
  for (std::size_t i = 0; i < n; ++i) g[i] = gradient(i, t);
  return g;
}
inline Numbers first_weight(std::size_t n) {
  Numbers w(n);
  for (std::size_t i = 0; i < n; ++i) w[i] = std::cos(0.8 * static_cast<double>(i)) + 0.125;
  return w;
}
inline strop::NDArray as_array(const Numbers& values, const strop::Shape& shape, strop::Dtype dtype = strop::f32) {
  return strop::array(values, shape).to(dtype);
}
inline void check_close(const strop::NDArray& got, const Numbers& wanted, double relative, const char* what) {
  const Numbers values = got.to_vector<double>();
  REQUIRE(values.size() == wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO(what << ", element " << i);
    CHECK(values[i] == doctest::Approx(wanted[i]).epsilon(relative));
  }
}

/// What a formula knows of an update: everything is written where it is.
struct Formula {
  Numbers w, g;
  std::vector<Numbers> states;
  int t = 0;
};

/// Trains a weight of 7 elements for five updates by both; they agree after each.
template <class Rule>
void follows(const strop::optim::Optimizer& optimizer, std::size_t states, Rule rule, const std::string& key = "w",
             strop::Dtype dtype = strop::f32, double relative = 2e-5) {
  constexpr std::size_t n = 7;
  Formula at{first_weight(n), {}, std::vector<Numbers>(states, Numbers(n, 0.0)), 0};
  strop::NDArray weight = as_array(at.w, {7}, dtype);
  const strop::NDArray handle = weight;
  strop::optim::Updater updater(optimizer);
  while (at.t < 5) {
    ++at.t;
    at.g = gradients(n, at.t);
    rule(at);
    updater(key, as_array(at.g, {7}, dtype), weight);
    check_close(handle, at.w, relative, std::string(optimizer.name()).c_str());
  }
}

/// The rule of one element as that of all: f(w, g, states…).
template <class Element>
auto each(Element f) {
  return [f](Formula& at) {
    for (std::size_t i = 0; i < at.w.size(); ++i) f(at, i);
  };
}

inline double clipped(double x, double bound) { return x > bound ? bound : x < -bound ? -bound : x; }
inline double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

}  // namespace optim_test
