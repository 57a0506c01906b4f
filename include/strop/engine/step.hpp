// SPDX-License-Identifier: Apache-2.0
/// \file
/// Prepared operations: checked and sorted once, pushed often.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <strop/core/error.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/done.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/uses.hpp>
#include <type_traits>
#include <utility>

namespace strop::inline v0 {

class EngineStep;

namespace detail {

/// Everything of a prepared operation but its function. Owned by its steps and by its pending pushes.
struct StepState {
  using Run = void (*)(StepState& state, Operation* operation);  // null: at once, in the push

  std::atomic<int> owners{1};
  Core& core;
  const Run run;
  const bool asynchronous, takes_a_done;  // the latter says itself when it is complete
  std::source_location where;
  std::string name, notes;
  std::uint8_t level, lane;
  std::uint16_t uses = 0;
  Link* links = nullptr;
  OwnBlocks* blocks = nullptr;  // of pushes whose uses do not fit into the common ones

  StepState(Core& core_, Run run_, bool asynchronous_, bool takes_a_done_, const EngineUses& said,
            std::source_location where_);
  virtual ~StepState() { let_go(); }
  StepState(const StepState&) = delete;
  StepState& operator=(const StepState&) = delete;

  void retain() { owners.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void push();

 private:
  void let_go();
};

template <class F>
struct StepOf final : StepState {
  static constexpr bool takes_done = CallWithDone::takes<F> && !std::is_invocable_v<F&>;
  F function;

  template <class G>
  StepOf(Core& core_, G&& g, const EngineUses& said, std::source_location where_)
      : StepState(core_, call, takes_done || CallPlain::asynchronous<F>, takes_done, said, where_),
        function(std::forward<G>(g)) {}
  static void call(StepState& state, Operation* operation) {
    F& f = static_cast<StepOf&>(state).function;
    if constexpr (takes_done)
      CallWithDone()(f, *operation);
    else if (operation != nullptr)
      CallPlain::again(f, *operation);
    else
      CallPlain::call(f, state.lane);
  }
};

}  // namespace detail

/// A prepared operation. Copies are the same one. It may be let go of while pushes of it are pending.
class EngineStep {
 public:
  EngineStep(const EngineStep& other) : state_(other.state_) {
    if (state_ != nullptr) state_->retain();
  }
  EngineStep(EngineStep&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  EngineStep& operator=(EngineStep other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~EngineStep() {
    if (state_ != nullptr) state_->drop();
  }

  /// As Engine::push of what was prepared.
  void push() const { state_->push(); }

 private:
  friend class Engine;
  explicit EngineStep(detail::StepState* state) : state_(state) {}
  detail::StepState* state_;
};

}  // namespace strop::inline v0
