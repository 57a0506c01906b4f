// SPDX-License-Identifier: Apache-2.0
/// \file
/// Halves that follow a copy in float32, by operators that know both and by the rule of the copy.
#include "training.hpp"

#include <cstddef>
#include <vector>

using namespace strop::optim;
using namespace optim_test;
using strop::NDArray;

namespace {

/// The same training in float32 on the gradients as halves have them: the half is its weight, rounded.
void follows_float(const Optimizer& mixed, const Optimizer& single, strop::Dtype dtype) {
  constexpr std::size_t n = 33;  // more than a register of lanes
  NDArray half = as_array(first_weight(n), {33}, dtype), wide = half.to(strop::f32);
  Updater by_half(mixed), by_float(single);
  for (int t = 1; t <= 6; ++t) {
    const NDArray g = as_array(gradients(n, t), {33}, dtype);
    by_half("w", g, half);
    by_float("w", g.to(strop::f32), wide);
    CAPTURE(mixed.name());
    CHECK(half.dtype() == dtype);
    CHECK(half.to_vector<float>() == wide.to(dtype).to_vector<float>());
  }
}
template <class T>
void both(T optimizer) {
  const T single = optimizer;
  optimizer.multi_precision = true;
  for (strop::Dtype dtype : {strop::f16, strop::bf16}) follows_float(optimizer, single, dtype);
}

}  // namespace

TEST_CASE("a half is its float32 copy, rounded") {
  both(Sgd{.learning_rate = 1e-3, .wd = 0.01});
  both(Sgd{.learning_rate = 1e-3, .momentum = 0.9, .wd = 0.01});
  both(Nag{.learning_rate = 1e-3});
  both(Nag{.learning_rate = 1e-3, .momentum = 0.9});
  both(Adam{.wd = 0.01});
  both(Lamb{.wd = 0.01});
  both(Lars{.learning_rate = 0.1, .momentum = 0.9});
  both(AdaGrad{});
  both(AdaDelta{});
  both(RMSProp{});
  both(RMSProp{.centered = true});
  both(Ftrl{});
  both(Signum{});
}

TEST_CASE("small steps are lost without the copy, and add up with it") {
  const auto trained = [](bool multi_precision) {
    Updater updater(Sgd{.learning_rate = 1e-4, .multi_precision = multi_precision});
    NDArray w = strop::array({1}).to(strop::f16);
    for (int t = 0; t < 100; ++t) updater("w", strop::array({1}).to(strop::f16), w);
    return w.item<float>();
  };
  CHECK(trained(false) == 1);
  CHECK(trained(true) == doctest::Approx(0.99).epsilon(1e-3));
}

TEST_CASE("multi_precision leaves other types as they are") {
  for (const strop::Dtype dtype : {strop::f32, strop::f64}) {
    Updater updater(Sgd{.learning_rate = 0.5, .multi_precision = true});
    NDArray w = strop::array({1}).to(dtype);
    updater("w", strop::array({1}).to(dtype), w);
    CHECK(w.dtype() == dtype);
    CHECK(w.item<double>() == 0.5);
  }
}

TEST_CASE("row_sparse gradients of halves touch their rows of half and copy") {
  for (const bool lazy : {true, false}) {
    Updater updater(Sgd{.learning_rate = 0.5, .momentum = 0.5, .lazy_update = lazy, .multi_precision = true});
    NDArray w = strop::array({{1, 1}, {2, 2}}).to(strop::f16);
    const auto gradient = [](double value, std::int64_t row) {
      return strop::row_sparse_array(strop::full({1, 2}, value), strop::array(std::vector<std::int64_t>{row}), {2, 2})
          .to(strop::f16);
    };
    updater("w", gradient(2, 1), w);
    CHECK(w.to_vector<float>() == std::vector<float>{1, 1, 1, 1});
    updater("w", gradient(1, 0), w);  // the momentum of row 1 goes on only where every row is updated
    const float second = lazy ? 1.0f : 0.5f;
    CHECK(w.to_vector<float>() == std::vector<float>{0.5, 0.5, second, second});
  }
}
