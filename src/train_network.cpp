// SPDX-License-Identifier: Apache-2.0
/// \file
/// The networks of `strop train`, each written once, for arrays and for symbols.
#include "train_network.hpp"

#include <strop/ops/convolution.hpp>
#include <strop/ops/fully_connected.hpp>
#include <strop/ops/pooling.hpp>
#include <strop/ops/shape/reshape.hpp>
#include <strop/ops/softmax_output.hpp>
#include <strop/ops/sparse_optimizer.hpp>
#include <strop/strop.hpp>

#include <array>
#include <cmath>

namespace strop::command {
namespace {
constexpr int hidden_of_mlp = 256, hidden_of_lenet = 500, first_filters = 20, second_filters = 50, kernel = 5;
}

Network::Network(const TrainOptions& options, const Entry& activation, const Images& batch, int classes)
    : lenet_(options.net == "lenet"), activation_(activation), batch_(batch), classes_(classes) {
  const std::int64_t pixels = batch.pixels.shape()[1];
  if (lenet_) {
    side_ = std::llround(std::sqrt(static_cast<double>(pixels)));
    const std::int64_t after = ((side_ - kernel + 1) / 2 - kernel + 1) / 2;  // two convolutions, each halved
    if (side_ * side_ != pixels || after < 1)
      fail("train: images have ", pixels, " pixels, and lenet takes square ones of 16 × 16 or more");
    add({first_filters, 1, kernel, kernel});
    add({second_filters, first_filters, kernel, kernel});
    add({hidden_of_lenet, second_filters * after * after});
    add({classes, hidden_of_lenet});
    title_ = "LeNet";
  } else {
    add({hidden_of_mlp, pixels});
    add({classes, hidden_of_mlp});
    title_ = cat(pixels, '-', hidden_of_mlp, '-', classes);
  }
  if (options.mode != "graph") return;
  std::vector<Symbol> variables;
  NamedArrays arrays{{"data", batch_.pixels}, {"label", batch_.classes}}, gradients;
  for (const Parameter& parameter : parameters_) {
    const std::string name = cat("parameter", variables.size());
    variables.push_back(var(name));
    arrays.emplace_back(name, parameter.value);
    gradients.emplace_back(name, parameter.value.grad());
  }
  graph_ = softmax_output(scores(var("data"), variables), var("label")).bind(cpu(), arrays, gradients);
}

/// A layer: its weight, drawn so that what it gives is as large as what it is given, and its bias.
void Network::add(const Shape& weight) {
  const double inputs = static_cast<double>(weight.size(1, weight.ndim()));
  for (const NDArray& value : {random::normal(weight, 0, std::sqrt(2.0 / inputs)), zeros({weight[0]})}) {
    value.attach_grad();
    parameters_.push_back({value, zeros(value.shape())});
  }
}

NDArray Network::activated(const NDArray& x) const {
  return detail::invoke_entry(activation_, std::array<NDArray, 1>{x}, {}, {})[0];
}
Symbol Network::activated(const Symbol& x) const { return compose(activation_.snake, {x}); }

/// Arrays give arrays, and symbols the graph. p: weight and bias of each layer.
template <class X>
X Network::scores(const X& x, const std::vector<X>& p) const {
  if (!lenet_) {
    const X hidden = activated(fully_connected(x, p[0], p[1], {.num_hidden = hidden_of_mlp}));
    return fully_connected(hidden, p[2], p[3], {.num_hidden = classes_});
  }
  const auto halved = [](const X& image) { return pooling(image, {.kernel = {2, 2}, .stride = {2, 2}}); };
  const Shape window{kernel, kernel};
  const X image = reshape(x, {.shape = {-1, 1, side_, side_}});
  const X first = halved(activated(convolution(image, p[0], p[1], {.kernel = window, .num_filter = first_filters})));
  const X second = halved(activated(convolution(first, p[2], p[3], {.kernel = window, .num_filter = second_filters})));
  const X hidden = activated(fully_connected(second, p[4], p[5], {.num_hidden = hidden_of_lenet}));
  return fully_connected(hidden, p[6], p[7], {.num_hidden = classes_});
}

std::vector<NDArray> Network::parameters() const {
  std::vector<NDArray> all;
  for (const Parameter& parameter : parameters_) all.push_back(parameter.value);
  return all;
}

NDArray Network::gradients() {
  NDArray probabilities;
  if (graph_) {
    probabilities = graph_->forward(true)[0];
    graph_->backward();
  } else {
    {
      record scope;
      probabilities = softmax_output(scores(batch_.pixels, parameters()), batch_.classes);
    }
    probabilities.backward();
  }
  return probabilities;
}

void Network::step(float rate, float momentum) const {
  const float rescale = 1.0F / static_cast<float>(batch_.pixels.shape()[0]);
  for (const Parameter& p : parameters_)
    sgd_mom_update(p.value, p.value.grad(), p.momentum, {.lr = rate, .momentum = momentum, .rescale_grad = rescale},
                   into(p.value));
}

NDArray Network::recognise() { return graph_ ? graph_->forward(false)[0] : scores(batch_.pixels, parameters()); }

double rate_of(const TrainOptions& options, int epoch) {
  return options.rate * (0.525 + 0.475 * std::cos(3.14159265358979 * epoch / options.epochs));
}

}  // namespace strop::command
