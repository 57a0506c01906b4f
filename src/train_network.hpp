// SPDX-License-Identifier: Apache-2.0
/// \file
/// What `strop train` trains: a network with its parameters, run call by call or as a bound graph.
#pragma once
#include "command.hpp"

#include <strop/graph/executor.hpp>
#include <strop/op/entry.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strop::command {

/// A batch of images, and which class each is of: (batch, pixels) and (batch,), float32.
struct Images {
  NDArray pixels, classes;
};

class Network {
 public:
  /// `activation` takes one array. Throws Error where the network has no place for images of so many pixels.
  Network(const TrainOptions& options, const Entry& activation, const Images& batch, int classes);

  /// "784-256-10", "LeNet": what the lines and the picture call it.
  const std::string& title() const { return title_; }
  /// The probabilities of the classes for what is in the batch; the parameters have their gradients then.
  NDArray gradients();
  /// A step along them.
  void step(float rate, float momentum) const;
  /// Weight and bias of each layer.
  std::vector<NDArray> parameters() const;
  /// What the batch is recognised by: the greatest is that of the class.
  NDArray recognise();

 private:
  struct Parameter {
    NDArray value, momentum;
  };
  void add(const Shape& weight);
  template <class X>
  X scores(const X& x, const std::vector<X>& p) const;
  NDArray activated(const NDArray& x) const;
  Symbol activated(const Symbol& x) const;

  bool lenet_;
  const Entry& activation_;
  Images batch_;
  int classes_;
  std::int64_t side_ = 0;  // of square images
  std::string title_;
  std::vector<Parameter> parameters_;  // weight and bias of each layer
  std::optional<Executor> graph_;
};

/// The learning rate of an epoch, from 0 on: it falls along a cosine to a twentieth of itself.
double rate_of(const TrainOptions& options, int epoch);

}  // namespace strop::command
