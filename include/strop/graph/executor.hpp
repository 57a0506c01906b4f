// SPDX-License-Identifier: Apache-2.0
/// \file
/// Executor: a symbolic graph with its arrays. Every node runs by itself, in an order fixed when the graph is bound.
#pragma once
#include <strop/graph/gradient.hpp>
#include <strop/graph/passes/passes.hpp>
#include <strop/graph/plan.hpp>
#include <strop/graph/symbol.hpp>

#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// What bind() and simple_bind() return. The arrays of arguments, gradients, states and outputs stay the same from call
/// to call. One thread at a time may run it. Copies share it.
class Executor {
 public:
  /// Computes the outputs. In training, operators behave as such (Dropout drops, BatchNorm uses the batch).
  const std::vector<NDArray>& forward(bool train = false);
  /// The same after these arrays were copied into the arguments of their names. Throws Error where a shape differs.
  const std::vector<NDArray>& forward(bool train, const NamedArrays& inputs);

  /// Gradients of all arguments that asked for one, of the last forward. One head gradient per output; those of loss
  /// heads may be empty, and where all outputs are loss heads none is needed.
  ///
  /// It may run again after the same forward. Where it has written over what it reads, as plan() lets it, forward's
  /// nodes run first once more; throws Error where one of them draws random numbers, writes a state or keeps one.
  void backward(const std::vector<NDArray>& heads = {});
  void backward(const NDArray& head);

  const std::vector<NDArray>& outputs() const;
  /// The array of an argument, of its gradient (without array where none is made), of an auxiliary state. Throws Error
  /// for a name that is none of them.
  const NDArray& arg(std::string_view name) const;
  const NDArray& grad(std::string_view name) const;
  const NDArray& aux(std::string_view name) const;
  const NamedArrays& args() const;
  const NamedArrays& grads() const;
  const NamedArrays& aux_states() const;
  const Symbol& symbol() const;
  /// Another executor of the same symbol, for arguments of these shapes: another size of the batch. Arrays whose shapes
  /// stay are shared with this one, gradients and states included; the others are new, of zeros. Throws Error where the
  /// shape of an argument that is not named would change.
  Executor reshape(const NamedShapes& shapes) const;
  /// Where the values in between lie: `fmt::print("{}", run.plan())`. Forward and backward share one block of memory.
  MemoryPlan plan() const;

  // For the layers above.
  explicit Executor(detail::Ref<detail::BoundGraph> graph);
  Executor(const Executor&);
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor) noexcept;
  ~Executor();

 private:
  detail::Ref<detail::BoundGraph> graph_;
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/graph/control/run_impl.hpp>
#include <strop/graph/executor_gradient_impl.hpp>
#include <strop/graph/executor_impl.hpp>
#include <strop/graph/executor_plan_impl.hpp>
#endif
