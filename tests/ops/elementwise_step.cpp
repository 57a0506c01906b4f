// SPDX-License-Identifier: Apache-2.0
#include <strop/ops/elementwise/activation.hpp>
#include <strop/ops/elementwise/exponential.hpp>
#include <strop/ops/elementwise/hyperbolic.hpp>
#include <strop/ops/elementwise/identity.hpp>
#include <strop/ops/elementwise/power.hpp>
#include <strop/ops/elementwise/rounding.hpp>
#include <strop/ops/elementwise/scalar.hpp>
#include <strop/ops/elementwise/trigonometric.hpp>
#include "elementwise_rows.hpp"

using namespace ops_test;

TEST_CASE("rounding, activations and identities") {
  row(strop::negative, {-2.5, -1.25, 0, 0.4, 0, 3}, {2.5, 1.25, -0, -0.4, -0, -3}, {0, -1, 0, NaN, Inf, -Inf},
      {-0, 1, -0, NaN, -Inf, Inf}, [](double x) { return -x; });
  row(strop::abs, {-2.5, -1.25, -0.3, 0.4, 1.5, 3}, {2.5, 1.25, 0.3, 0.4, 1.5, 3}, {0, -1, 0, NaN, Inf, -Inf},
      {0, 1, 0, NaN, Inf, Inf}, [](double x) { return std::abs(x); });
  row(strop::sign, {-2.5, -1.25, -0.3, 0.4, 1.5, 3}, {-1, -1, -1, 1, 1, 1}, {0, -1, 0, NaN, Inf, -Inf},
      {0, -1, 0, 0, 1, -1}, nullptr);
  row(strop::round, {-2.4, -1.2, -0.3, 0.4, 1.6, 2.9}, {-2, -1, -0, 0, 2, 3}, {0.5, 1.5, -0.5, -2.5, 0, Inf},
      {1, 2, -1, -3, 0, Inf}, [](double x) { return std::round(x); });
  row(strop::rint, {-2.4, -1.2, -0.3, 0.4, 1.6, 2.9}, {-2, -1, -0, 0, 2, 3}, {0.5, 1.5, -0.5, -2.5, 0, Inf},
      {0, 1, -1, -3, 0, Inf}, nullptr);
  row(strop::ceil, {-2.4, -1.2, -0.3, 0.4, 1.6, 2.9}, {-2, -1, -0, 1, 2, 3}, {0.5, 1.5, -0.5, -2.5, 0, Inf},
      {1, 2, -0, -2, 0, Inf}, [](double x) { return std::ceil(x); });
  row(strop::floor, {-2.4, -1.2, -0.3, 0.4, 1.6, 2.9}, {-3, -2, -1, 0, 1, 2}, {0.5, 1.5, -0.5, -2.5, 0, Inf},
      {0, 1, -1, -3, 0, Inf}, [](double x) { return std::floor(x); });
  row(strop::trunc, {-2.4, -1.2, -0.3, 0.4, 1.6, 2.9}, {-2, -1, -0, 0, 1, 2}, {0.5, 1.5, -0.5, -2.5, 0, Inf},
      {0, 1, -0, -2, 0, Inf}, [](double x) { return std::trunc(x); });
  row(strop::fix, {-2.4, -1.2, -0.3, 0.4, 1.6, 2.9}, {-2, -1, -0, 0, 1, 2}, {0.5, 1.5, -0.5, -2.5, 0, Inf},
      {0, 1, -0, -2, 0, Inf}, [](double x) { return std::trunc(x); });
  row(strop::relu, {-2.5, -1.25, -0.3, 0.4, 1.5, 3}, {0, 0, 0, 0.4, 1.5, 3}, {0, -1, 0, NaN, Inf, -Inf},
      {0, 0, 0, NaN, Inf, 0}, [](double x) { return x > 0 ? x : 0.0; });
  row(strop::sigmoid, {-2.5, -1.25, 0, 0.4, 0, 3}, {0.075858176, 0.22270013, 0.5, 0.59868765, 0.5, 0.95257413},
      {0, -100, 0, NaN, 100, -1}, {0.5, 0, 0.5, NaN, 1, 0.26894143}, [](double x) { return 1 / (1 + std::exp(-x)); });
  row(strop::hard_sigmoid, {-3.5, -1.25, 0, 0.4, 1, 3}, {0, 0.25, 0.5, 0.58, 0.7, 1}, {0, -2.75, 2.5, NaN, Inf, -Inf},
      {0.5, 0, 1, NaN, 1, 0}, nullptr);
  row(strop::softsign, {-2.5, -1.25, 0, 0.4, 0, 3}, {-0.71428573, -0.5555556, 0, 0.2857143, 0, 0.75},
      {0, -1, 0, NaN, 10000000000, -10000000000}, {0, -0.5, 0, NaN, 1, -1},
      [](double x) { return x / (1 + std::abs(x)); });
  row(strop::smooth_l1, {-2.5, -1.25, -0.3, 0, 1.5, 3}, {2, 0.75, 0.045, 0, 1, 2.5}, {0, -1, 1, NaN, Inf, -Inf},
      {0, 0.5, 0.5, NaN, Inf, Inf}, [](double x) { return std::abs(x) > 1 ? std::abs(x) - 0.5 : 0.5 * x * x; });
  row(strop::identity, {-2.5, -1.25, 0, 0.4, 0, 3}, {-2.5, -1.25, 0, 0.4, 0, 3}, {0, -1, 0, NaN, Inf, -Inf},
      {0, -1, 0, NaN, Inf, -Inf}, [](double x) { return x; });
  check_covered(strop::RoundingOps{});
}

TEST_CASE("activations by name") {
  const Numbers x{-2.5, -1.25, -0.3, 0.4, 1.5, 3}, edges{0, -30, 0, NaN, 30, -1};
  using A = strop::Activation;
  row(strop::activation, x, {0, 0, 0, 0.4, 1.5, 3}, edges, {0, 0, 0, NaN, 30, 0}, nullptr, A{A::relu});
  row(strop::activation, x, {0.07585818, 0.22270013, 0.4255575, 0.59868765, 0.8175745, 0.95257413}, edges,
      {0.5, 9.357623e-14, 0.5, NaN, 1, 0.26894143}, nullptr, A{A::sigmoid});
  row(strop::activation, x, {-0.9866143, -0.84828365, -0.29131263, 0.37994897, 0.90514827, 0.9950548}, edges,
      {0, -1, 0, NaN, 1, -0.7615942}, nullptr, A{A::tanh});
  row(strop::activation, x, {0.07888985, 0.25192904, 0.55435526, 0.9130153, 1.7014132, 3.0485873}, edges,
      {0.69314724, 9.3576e-14, 0.69314724, NaN, 30, 0.31326175}, nullptr, A{A::softrelu});
  row(strop::activation, x, {-0.71428573, -0.5555556, -0.23076925, 0.2857143, 0.6, 0.75}, edges,
      {0, -0.9677419, 0, NaN, 0.9677419, -0.5}, nullptr, A{A::softsign});
  CHECK(error_of([] { (void)strop::activation(strop::array({1})); }) ==
        "activation: parameter 'act_type' ({'relu', 'sigmoid', 'tanh', 'softrelu', 'softsign'}) is required");
  CHECK(strop::invoke("Activation", {strop::array({-1, 2})}, {{"act_type", "relu"}}).to_vector<float>() ==
        std::vector<float>{0, 2});
}

TEST_CASE("parameters of quadratic, smooth_l1 and hard_sigmoid") {
  row(
      strop::quadratic, {-2.5, -1.25, 0, 0.4, 0, 3}, {4.25, 2.0625, 3, 3.96, 3, 18}, {0, -1, 0, NaN, Inf, -Inf},
      {3, 2, 3, NaN, Inf, Inf}, [](double x) { return (x + 2) * x + 3; }, strop::Quadratic{1, 2, 3});
  static_assert(strop::check::storage(strop::Quadratic{1, 2, 0}, strop::csr) == strop::csr);
  static_assert(strop::check::storage(strop::Quadratic{1, 2, 3}, strop::csr) == strop::dense);
  check_sparse(subject(strop::quadratic, {grid({-2.5, -1.25, 0, 0.4, 0, 3})}, {1, 2, 0}));
  const Subject l1 = subject(strop::smooth_l1, {grid({-2.5, -1.25, -0.1, 0.2, 1.5, 3})}, {.scalar = 2});
  check_values(l1, {2.375, 1.125, 0.02, 0.08, 1.375, 2.875});
  check_gradient(l1);
  const Subject hard =
      subject(strop::hard_sigmoid, {grid({-3.5, -1.25, 0, 0.4, 1, 3})}, {.alpha = 0.5f, .beta = 0.25f});
  check_values(hard, {0, 0, 0.25, 0.45, 0.75, 1});
  check_gradient(hard);
  check_covered(strop::ActivationOps{});
}

TEST_CASE("BlockGrad lets no gradient pass") {
  const Subject block = subject(strop::block_grad, {grid({-2.5, -1.25, 0, 0.4, 0, 3})});
  saw(block);
  check_values(block, {-2.5, -1.25, 0, 0.4, 0, 3});
  battery(block, {.gradient = false});
  static_assert(strop::check::gradient(strop::BlockGrad{}, 2) == 0);
  const NDArray x = strop::array({1, 2});
  x.attach_grad();
  NDArray y;
  {
    strop::record scope;
    y = strop::stop_gradient(x * 3) + x;
  }
  y.backward(strop::array({5, 7}));
  CHECK(values(x.grad()) == Numbers{5, 7});
  check_covered(strop::IdentityOps{});
}

TEST_CASE("at a kink the gradient is MXNet's") {
  using strop::check::gradient;
  static_assert(gradient(strop::Relu{}, 0) == 0 && gradient(strop::Relu{}, 2) == 1 && gradient(strop::Relu{}, -2) == 0);
  static_assert(gradient(strop::Abs{}, 0) == 0 && gradient(strop::Abs{}, -2) == -1);
  static_assert(gradient(strop::HardSigmoid{}, 5) == 0 && gradient(strop::HardSigmoid{1, 0}, 0) == 0);
  static_assert(strop::check::keeps(strop::Degrees{}) == strop::Keeps::none &&
                strop::check::keeps(strop::Tanh{}) == strop::Keeps::out);
}

TEST_CASE("functions of the library take numbers") {
  static_assert(strop::relu(-1.0) == 0 && strop::relu(2.0f) == 2.0f && strop::square(3.0) == 9.0 &&
                strop::rint(2.5) == 2.0);
  static_assert(std::is_same_v<decltype(strop::exp(1.0f)), float> && std::is_same_v<decltype(strop::exp(1.0)), double>);
  CHECK(strop::exp(0.0) == 1.0);
}
