// SPDX-License-Identifier: Apache-2.0
/// \file
/// Two models of sparse data. Every batch touches a few of the weight's rows: its gradient has those rows alone, and
/// the update goes over nothing else.
#pragma once
#include "packages.hpp"
#include "sharing.hpp"

#include <strop/strop.hpp>

namespace sparse_models {

using strop::NDArray;

constexpr std::int64_t batch = 128;

/// A weight of which a batch changes some rows, with AdaGrad's sums of squares.
struct Weight {
  std::string name;
  NDArray value, history;
  Weight(std::string key, NDArray from, strop::Storage gradient = strop::row_sparse)
      : name(std::move(key)), value(std::move(from)), history(strop::zeros(value.shape())) {
    value.attach_grad(strop::GradRequest::write, gradient);
  }
  void add_part(Sharing& sharing) const { sharing.add(name, value.grad()); }
  void step(float rate, Sharing& sharing) const {
    strop::sparse_adagrad_update(value, sharing.sum(name), history, {.lr = rate, .rescale_grad = 1.0f / batch},
                                 strop::into(value));
  }
};

/// scores = x · W + b: multinomial logistic regression.
struct Linear {
  Weight weight;
  NDArray bias;
  Linear(std::int64_t words, std::int64_t classes, strop::Storage gradient = strop::row_sparse)
      : weight("weight", strop::zeros({words, classes}), gradient), bias(strop::zeros({classes})) {
    bias.attach_grad();
  }
  NDArray operator()(const NDArray& x) const { return strop::dot(x, weight.value) + bias; }
  void add_part(Sharing& sharing) const {
    weight.add_part(sharing);
    sharing.add("bias", bias.grad());
  }
  void step(float rate, Sharing& sharing) const {
    weight.step(rate, sharing);
    strop::sgd_update(bias, sharing.sum("bias"), {.lr = rate, .rescale_grad = 1.0f / batch}, strop::into(bias));
  }
};

/// score = x · w + b + ½ Σ ((x · V)² − x² · V²): a factorization machine, which also weighs pairs of words.
struct Factors {
  Linear linear;
  Weight factors;
  Factors(std::int64_t words, std::int64_t count)
      : linear(words, 1), factors("factors", strop::random::normal({words, count}, 0, 0.1)) {}
  NDArray operator()(const NDArray& x) const {
    const NDArray& v = factors.value;
    const NDArray pairs = strop::square(strop::dot(x, v)) - strop::dot(strop::square(x), strop::square(v));
    return linear(x) + strop::sum(pairs, {.axis = {1}, .keepdims = true}) * 0.5f;
  }
  void add_part(Sharing& sharing) const {
    linear.add_part(sharing);
    factors.add_part(sharing);
  }
  void step(float rate, Sharing& sharing) const {
    linear.step(rate, sharing);
    factors.step(rate, sharing);
  }
};

/// What a batch has to say about its loss, and the model about its gradients.
using Loss = double (*)(const NDArray& scores, const NDArray& labels);

/// The sum of −log p of the right class. The gradient is that of labels of which the other classes have a part, lest
/// the many words that occur a few times be learnt by heart.
inline double softmax_loss(const NDArray& scores, const NDArray& labels) {
  const NDArray p = strop::softmax_output(scores, labels, {.smooth_alpha = 0.3f});
  p.backward();
  return -strop::sum(strop::log(strop::pick(p, labels) + 1e-12f)).item<float>();
}
inline double logistic_loss(const NDArray& scores, const NDArray& labels) {
  const NDArray p = strop::logistic_regression_output(scores, labels);
  p.backward();
  const NDArray right = labels * p + (1 - labels) * (1 - p);
  return -strop::sum(strop::log(right + 1e-12f)).item<float>();
}

/// One pass over the data in batches, with `step()` after each. Gives the mean loss.
template <class Model, class Step>
double learn(const Model& model, const NDArray& words, const NDArray& labels, Loss loss, float rate, Sharing& sharing,
             Step step) {
  const std::int64_t batches = words.shape()[0] / batch, size = batch / sharing.parts();
  std::vector<std::vector<double>> losses(sharing.own_parts());  // of the batches
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::size_t part = 0; part < losses.size(); ++part) {
      const std::int64_t begin = b * batch + (sharing.first_part() + static_cast<std::int64_t>(part)) * size;
      const NDArray x = words.slice(begin, begin + size), y = labels.slice(begin, begin + size);
      {
        strop::record scope;
        losses[part].push_back(loss(model(x), y));
      }
      model.add_part(sharing);
    }
    model.step(rate, sharing);
    step();
  }
  for (const std::vector<double>& of_part : losses) sharing.add("losses", strop::array(of_part));
  double total = 0;
  for (const double one : sharing.sum("losses").to_vector<double>()) total += one;
  return total / static_cast<double>(batches * batch);
}

}  // namespace sparse_models
