// SPDX-License-Identifier: Apache-2.0
/// \file
/// Executor: a symbolic graph with its arrays. Its nodes run in an order fixed when the graph is bound.
#pragma once
#include <strop/graph/gradient.hpp>
#include <strop/graph/passes/passes.hpp>
#include <strop/graph/plan.hpp>
#include <strop/graph/symbol.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// Who is shown the values of a graph while it runs.
struct Monitor : Counted {
  bool inputs = false;
  virtual ~Monitor() = default;
  virtual void see(const std::string& name, const NDArray& value) = 0;
};
template <class F>
struct MonitorOf final : Monitor {
  F function;
  explicit MonitorOf(F f) : function(std::move(f)) {}
  void see(const std::string& name, const NDArray& value) override { function(name, value); }
};

}  // namespace detail

/// What bind() and simple_bind() return. The arrays of arguments, gradients, states and outputs stay the same from call
/// to call. Copies share it.
///
/// Members may be called from several threads: forward(), backward(), reshape(), copy_params_from(), set_monitor() and
/// plan() wait for each other. Each computes on what the last one has left, and their arrays are read and written as
/// any others: who needs results that go together runs his forward and backward in a lock of his own.
class Executor {
 public:
  /// Computes the outputs. In training, operators behave as such (Dropout drops, BatchNorm uses the batch).
  const std::vector<NDArray>& forward(bool train = false);
  /// The same after these arrays were copied into the arguments of their names. Throws Error where a shape differs.
  const std::vector<NDArray>& forward(bool train, const NamedArrays& inputs);

  /// Gradients of all arguments that asked for one, of the last forward. One head gradient per output; those of loss
  /// heads may be empty, and where all outputs are loss heads none is needed.
  ///
  /// It may run again after the same forward, and after another executor has run in the memory that both share. Where
  /// what it reads has been written over, as plan() lets it, forward's nodes run first once more, on the arguments as
  /// they are then; outputs() stays as forward left it. Throws Error where one of these nodes draws random numbers,
  /// writes a state or keeps one.
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
  /// stay are shared with this one, gradients and states included; the others are new, of zeros. Both lie in one arena,
  /// and so run one after the other. Throws Error where the shape of an argument that is not named would change.
  Executor reshape(const NamedShapes& shapes) const;
  /// Copies arrays into the arguments and auxiliary states of their names, of any type and device. Throws Error, and
  /// copies nothing, where a shape differs or, unless `allow_extra`, a name is none.
  void copy_params_from(const NamedArrays& args, const NamedArrays& aux = {}, bool allow_extra = false);

  /// Has forward and backward show what they compute: `callback(name, array)` for each result of each node, such as
  /// "fc1_output", once it is there; with `inputs` also for each input before the node runs: a variable by its own
  /// name, and then every input as "fc1_data". The arrays are copies. The nodes run one by one as the symbol says them,
  /// neither fused nor merged, in memory that this takes besides, with the same results. The next run is a forward.
  template <class F>
    requires(!std::is_null_pointer_v<F>)
  void set_monitor(F callback, bool inputs = false) {
    static_assert(std::is_invocable_v<F&, const std::string&, const NDArray&>,
                  "strop: a monitor is a function of a name and an array");
    const detail::Ref<detail::Monitor> monitor(new detail::MonitorOf<F>(std::move(callback)));
    monitor->inputs = inputs;
    watch(monitor);
  }
  /// As without a monitor again: nothing of it is left to be paid for.
  void set_monitor(std::nullptr_t) { watch({}); }

  /// Where the values in between lie: `fmt::print("{}", run.plan())`. Forward and backward share one block of memory,
  /// on each device.
  MemoryPlan plan() const;

  // For the layers above.
  explicit Executor(detail::Ref<detail::BoundGraph> graph);
  Executor(const Executor&);
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor) noexcept;
  ~Executor();

 private:
  friend class Symbol;
  friend struct detail::BoundGraph;
  void watch(const detail::Ref<detail::Monitor>& monitor);

  detail::Ref<detail::BoundGraph> graph_;
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/graph/control/run_impl.hpp>
#include <strop/graph/executor_bind_impl.hpp>
#include <strop/graph/executor_gradient_impl.hpp>
#include <strop/graph/executor_memory_impl.hpp>
#include <strop/graph/executor_run_impl.hpp>
#include <strop/graph/executor_steps_impl.hpp>
#endif
