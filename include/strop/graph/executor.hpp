// SPDX-License-Identifier: Apache-2.0
/// \file
/// Executor: a symbolic graph with its arrays. Every node runs by itself, in an order fixed when the graph is bound.
#pragma once
#include <strop/graph/gradient.hpp>
#include <strop/graph/infer.hpp>
#include <strop/graph/settle.hpp>
#include <strop/tensor/create.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// What bind() and simple_bind() return. The arrays of arguments, gradients, states and outputs stay the same from call to
/// call. One thread at a time may run it.
class Executor {
 public:
  /// Computes the outputs. In training, operators behave as such (Dropout drops, BatchNorm uses the batch).
  const std::vector<NDArray>& forward(bool train = false) {
    train_ = train;
    run(forward_);
    ran_ = true;
    return outputs_;
  }
  /// The same after these arrays were copied into the arguments of their names. Throws Error where a shape differs.
  const std::vector<NDArray>& forward(bool train, const NamedArrays& inputs);

  /// Gradients of all arguments that asked for one, of the last forward. One head gradient per output; those of loss heads
  /// may be empty, and where all outputs are loss heads none is needed.
  void backward(const std::vector<NDArray>& heads = {});
  void backward(const NDArray& head) { backward(std::vector<NDArray>{head}); }

  const std::vector<NDArray>& outputs() const { return outputs_; }
  /// The array of an argument, of its gradient (without array where none is made), of an auxiliary state. Throws Error for
  /// a name that is none of them.
  const NDArray& arg(std::string_view name) const { return named(args_, "argument", name); }
  const NDArray& grad(std::string_view name) const { return named(grads_, "argument", name); }
  const NDArray& aux(std::string_view name) const { return named(aux_, "auxiliary state", name); }
  const NamedArrays& args() const { return args_; }
  const NamedArrays& grads() const { return grads_; }
  const NamedArrays& aux_states() const { return aux_; }
  const Symbol& symbol() const { return symbol_; }

  Executor(Executor&&) = default;
  Executor& operator=(Executor&&) = default;

 private:
  friend class Symbol;

  struct Step {
    detail::Ref<detail::Node> node;
    std::vector<int> in, out;  // values; −1: an input that was left out
    std::vector<Request> requests;
  };
  /// A gradient on its way to the array that was asked for: it is computed elsewhere, or zero (value −1).
  struct Delivery {
    int value;
    std::size_t argument;
    Request request;
  };

  Executor(Symbol symbol, Device device) : symbol_(std::move(symbol)), device_(device) {}

  void take_arrays(const NamedArrays& args, const NamedArrays& aux);
  void take_gradients(const NamedArrays& grads, const GradRequests& requests, bool make);
  std::vector<detail::NodeOutput> gradient_nodes(const std::vector<detail::NodeOutput>& wanted);
  void plan(const std::vector<detail::NodeOutput>& gradients, const std::vector<std::size_t>& wanted, bool make);
  void place_gradients(const detail::Graph& graph, detail::Inference& inference, const std::vector<detail::NodeOutput>& gradients, const std::vector<std::size_t>& wanted, bool make,
                       std::vector<int>& uses);
  void run(const std::vector<Step>& steps);
  void deliver(const Delivery& delivery);
  const NDArray& named(const NamedArrays& arrays, const char* what, std::string_view name) const;

  Symbol symbol_;
  Device device_;
  NamedArrays args_, grads_, aux_;
  std::vector<Request> requests_;  // of the gradients
  std::vector<detail::NodeOutput> arg_nodes_, aux_nodes_, heads_;
  std::vector<NDArray> values_;    // of every value of the graph
  std::vector<NDArray> outputs_;
  std::vector<int> head_values_;   // of each output; −1: a loss head, or nothing depends on it
  std::vector<Step> forward_, backward_;
  std::vector<Delivery> deliveries_;
  std::string no_gradient_;        // why backward cannot run
  bool train_ = false, ran_ = false;
};

}  // namespace strop::inline v0

#include <strop/graph/executor_impl.hpp>
