// SPDX-License-Identifier: Apache-2.0
/// \file
/// Row-sparse gradients and weights: lazy updates touch stored rows, others every row; states are stored as their
/// weight.
#include <unit/sentence.hpp>
#include "training.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace strop::optim;
using namespace optim_test;
using strop::dense;
using strop::NDArray;
using strop::row_sparse;
using testing::sentence;

namespace {

constexpr std::size_t rows = 4, width = 2;
const strop::Shape shape{4, 2};

/// Rows that the gradient of update t stores: they change, and row 3 is in none.
std::vector<std::size_t> stored(int t) {
  return t % 2 == 1 ? std::vector<std::size_t>{0, 2} : std::vector<std::size_t>{1, 2};
}
NDArray sparse_gradient(int t) {
  Numbers values;
  std::vector<std::int64_t> indices;
  for (std::size_t row : stored(t)) {
    indices.push_back(static_cast<std::int64_t>(row));
    for (std::size_t j = 0; j < width; ++j) values.push_back(gradient(row * width + j, t));
  }
  return strop::row_sparse_array(as_array(values, {2, 2}), strop::array(indices), shape);
}

/// Trains by both for four updates. A lazy formula is given the elements of stored rows, others all of them, with
/// gradient 0 where none is stored.
template <class Element>
void follows_sparse(const Optimizer& optimizer, bool lazy, std::size_t states, strop::Storage storage,
                    Element element) {
  Formula at{first_weight(rows * width), {}, std::vector<Numbers>(states, Numbers(rows * width, 0.0)), 0};
  NDArray weight = as_array(at.w, shape).to(storage);
  const NDArray handle = weight;
  Updater updater(optimizer);
  while (at.t < 4) {
    ++at.t;
    at.g.assign(rows * width, 0.0);
    std::vector<bool> touched(rows, !lazy);
    for (std::size_t row : stored(at.t)) {
      touched[row] = true;
      for (std::size_t j = 0; j < width; ++j) at.g[row * width + j] = gradient(row * width + j, at.t);
    }
    for (std::size_t i = 0; i < at.w.size(); ++i)
      if (touched[i / width]) element(at, i);
    updater("w", sparse_gradient(at.t), weight);
    CHECK(handle.storage() == storage);
    check_close(handle, at.w, 2e-5, std::string(optimizer.name()).c_str());
  }
}

const auto sgd = [](Formula& at, std::size_t i) { at.w[i] -= 0.1 * (0.5 * at.g[i] + 0.05 * at.w[i]); };
const auto sgd_mom = [](Formula& at, std::size_t i) {
  double& mom = at.states[0][i];
  mom = 0.9 * mom - 0.1 * (0.5 * at.g[i] + 0.05 * at.w[i]);
  at.w[i] += mom;
};
const auto adam = [](Formula& at, std::size_t i) {
  double &mean = at.states[0][i], &var = at.states[1][i];
  const double g = 0.5 * at.g[i] + 0.05 * at.w[i];
  mean = 0.9 * mean + 0.1 * g;
  var = 0.999 * var + 0.001 * g * g;
  at.w[i] -= 0.1 * std::sqrt(1 - std::pow(0.999, at.t)) / (1 - std::pow(0.9, at.t)) * mean / (std::sqrt(var) + 1e-8);
};
const auto adagrad = [](Formula& at, std::size_t i) {
  double& history = at.states[0][i];
  history += 0.25 * at.g[i] * at.g[i];
  at.w[i] -= 0.1 * 0.5 * at.g[i] / std::sqrt(history + 1e-7);
};

}  // namespace

TEST_CASE("lazy updates of dense and row_sparse weights, and such of every row") {
  for (const strop::Storage storage : {dense, row_sparse})
    for (const bool lazy : {true, false}) {
      CAPTURE(lazy);
      CAPTURE(strop::name_of(storage));
      follows_sparse(Sgd{.learning_rate = 0.1, .lazy_update = lazy, .wd = 0.05, .rescale_grad = 0.5}, lazy, 0, storage,
                     sgd);
      follows_sparse(Sgd{.learning_rate = 0.1, .momentum = 0.9, .lazy_update = lazy, .wd = 0.05, .rescale_grad = 0.5},
                     lazy, 1, storage, sgd_mom);
      follows_sparse(Adam{.learning_rate = 0.1, .lazy_update = lazy, .wd = 0.05, .rescale_grad = 0.5}, lazy, 2, storage,
                     adam);
    }
}

TEST_CASE("adagrad and ftrl touch stored rows") {
  for (const strop::Storage storage : {dense, row_sparse})
    follows_sparse(AdaGrad{.learning_rate = 0.1, .rescale_grad = 0.5}, true, 1, storage, adagrad);
  follows_sparse(Ftrl{.learning_rate = 0.1}, true, 2, row_sparse, [](Formula& at, std::size_t i) {
    double &z = at.states[0][i], &n = at.states[1][i];
    const double g = at.g[i];
    z += g - (std::sqrt(n + g * g) - std::sqrt(n)) * at.w[i] / 0.1;
    n += g * g;
    at.w[i] = std::fabs(z) <= 0.01 ? 0 : (sign(z) * 0.01 - z) / ((1 + std::sqrt(n)) / 0.1);
  });
  Updater decaying(AdaGrad{.wd = 0.1});
  NDArray weight = strop::zeros(shape);
  CHECK(sentence([&] { decaying("w", sparse_gradient(1), weight), weight.wait(); }).find("wd is") != std::string::npos);
}

TEST_CASE("lars touches stored rows at the rate that its norms give") {
  const auto rule = [](double rate) { return [rate](Formula& at, std::size_t i) { at.w[i] -= rate * at.g[i]; }; };
  const double norm = [] {
    double sum = 0;
    for (double w : first_weight(rows * width)) sum += w * w;
    return std::sqrt(sum);
  }();
  // One update: the norm of the gradient is that of its stored rows.
  double sum = 0;
  for (std::size_t row : stored(1))
    for (std::size_t j = 0; j < width; ++j) sum += std::pow(gradient(row * width + j, 1), 2);
  Formula at{first_weight(rows * width), Numbers(rows * width, 0.0), {}, 1};
  for (std::size_t row : stored(1))
    for (std::size_t j = 0; j < width; ++j) {
      at.g[row * width + j] = gradient(row * width + j, 1);
      rule(0.5 * 0.1 * norm / std::sqrt(sum))(at, row * width + j);
    }
  for (const bool lazy : {true, false}) {
    Updater updater(Lars{.learning_rate = 0.5, .lazy_update = lazy, .eta = 0.1});
    NDArray weight = as_array(first_weight(rows * width), shape);
    updater("w", sparse_gradient(1), weight);
    check_close(weight, at.w, 2e-5, "lars");
  }
}

TEST_CASE("a rule takes a row_sparse gradient as a dense one") {
  strop::set_fallback(strop::Fallback::silent);
  follows_sparse(AdaDelta{.wd = 0.05}, false, 2, dense, [](Formula& at, std::size_t i) {
    double &n = at.states[0][i], &steps = at.states[1][i];
    n = 0.9 * n + 0.1 * at.g[i] * at.g[i];
    const double d = std::sqrt(steps + 1e-5) / std::sqrt(n + 1e-5) * at.g[i];
    steps = 0.9 * steps + 0.1 * d * d;
    at.w[i] -= d + 0.05 * at.w[i];
  });
  strop::set_fallback(strop::Fallback::warn);
}
