// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <strop/op/loops.hpp>

#include <cmath>
#include <tuple>
#include <vector>

using namespace strop;

namespace {

bool same(double got, double wanted) {
  return got == wanted || std::abs(got - wanted) <= 1e-11 * (1 + std::abs(wanted));
}

struct Curve {
  float a = 2;
  constexpr auto forward(auto x) const { return tanh(a * x) * x + 0.5; }
};
struct Several {
  constexpr auto forward(auto x, auto y) const { return std::tuple(x * exp(y), where(x > y, x * x * y, 1)); }
};
struct Stated {
  constexpr auto forward(auto x, auto y) const { return x * sin(y); }
  constexpr auto grad_use_in(auto dy, auto x, auto y) const { return std::tuple(dy * sin(y), dy * (x * cos(y))); }
};
struct FromOutput {
  constexpr auto forward(auto x) const { return sigmoid(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * (y * (1 - y)); }
};

/// The loop of jets over 2 · 16 + 5 elements against one with the order in the type.
template <class T>
void loops_agree() {
  constexpr std::size_t inputs = arity<T>, outputs = detail::results<T>, n = 2 * number::Jet::lanes + 5;
  std::vector<std::vector<double>> from(inputs), jets(outputs), duals(outputs);
  std::vector<const void*> in;
  std::vector<void*> to[2];
  double x = 0.3;
  for (auto& v : from) {
    for (std::size_t i = 0; i < n; ++i) v.push_back(x = std::fmod(x * 1.7 + 0.37, 1.9) + 0.05);
    in.push_back(v.data());
  }
  for (std::size_t k = 0; k < outputs; ++k) {
    jets[k].resize(n + 1, -77);
    duals[k].resize(n + 1, -77);
    to[0].push_back(jets[k].data());
    to[1].push_back(duals[k].data());
  }
  const T op{};
  detail::jet_loop<T>(&op, in.data(), to[0].data(), n);
  detail::scalar_loop<T, double, double>(&op, in.data(), to[1].data(), n);
  for (std::size_t k = 0; k < outputs; ++k) {
    CHECK(jets[k][n] == -77);
    CAPTURE(k);
    for (std::size_t i = 0; i < n; ++i)
      if (!same(jets[k][i], duals[k][i])) CHECK(jets[k][i] == duals[k][i]);
  }
  // An element alone is the same to the bit.
  std::vector<double> alone(outputs);
  std::vector<void*> there;
  std::vector<const void*> here;
  for (double& e : alone) there.push_back(&e);
  for (auto& v : from) here.push_back(&v[n - 1]);
  detail::jet_loop<T>(&op, here.data(), there.data(), 1);
  for (std::size_t k = 0; k < outputs; ++k) CHECK(alone[k] == jets[k][n - 1]);
}
template <class T>
void orders_agree() {
  loops_agree<Gradient<Gradient<T>>>();
  loops_agree<Gradient<Gradient<Gradient<T>>>>();
}

}  // namespace

TEST_CASE("gradients of order 2 and 3 through jets are those of nested duals") {
  orders_agree<Curve>();
  orders_agree<Several>();
  orders_agree<Stated>();
  orders_agree<FromOutput>();
  loops_agree<Gradient<Tangent<Curve>>>();
  loops_agree<Gradient<Tangent<Stated>>>();
}
