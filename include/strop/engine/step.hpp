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
  const bool asynchronous;
  std::source_location where;
  std::string name, notes;
  std::uint8_t level, lane;
  std::uint16_t uses = 0;
  Link* links = nullptr;

  StepState(Core& core_, Run run_, bool asynchronous_, const EngineUses& said, std::source_location where_)
      : core(core_),
        run(run_),
        asynchronous(asynchronous_),
        where(where_),
        name(said.name),
        notes(trace_notes(said.notes)),
        level(level_of(said.priority)),
        lane(lane_of(said.device, said.copies)) {
    core_.open_lane(lane);
    const std::size_t n = Access::count(said);
    if (n > most_uses) fail("prepare of operation '", name, "': expected at most ", most_uses, " variables, got ", n);
    links = new Link[n];
    try {
      uses = static_cast<std::uint16_t>(Access::gather(&core, said, links));
    } catch (...) {
      delete[] links;
      throw;
    }
    for (std::size_t i = 0; i < uses; ++i) links[i].var->retain();
  }
  virtual ~StepState() {
    for (std::size_t i = 0; i < uses; ++i) links[i].var->drop();
    delete[] links;
  }
  StepState(const StepState&) = delete;
  StepState& operator=(const StepState&) = delete;

  void retain() { owners.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void push();
};

template <class F>
struct StepOf final : StepState {
  static constexpr bool takes_done = CallWithDone::takes<F> && !std::is_invocable_v<F&>;
  F function;

  template <class G>
  StepOf(Core& core_, G&& g, const EngineUses& said, std::source_location where_)
      : StepState(core_, call, takes_done, said, where_), function(std::forward<G>(g)) {}
  static void call(StepState& state, Operation* operation) {
    F& f = static_cast<StepOf&>(state).function;
    if constexpr (takes_done)
      CallWithDone()(f, *operation);
    else
      static_cast<void>(operation), CallPlain::call(f, state.core, state.lane);
  }
};

/// The function of a pushed step: a share of its state.
class StepShare {
 public:
  explicit StepShare(StepState& state) : state_(state) { state_.retain(); }
  ~StepShare() { state_.drop(); }
  StepShare(const StepShare&) = delete;
  StepShare& operator=(const StepShare&) = delete;
  void run(Operation& operation) { state_.run(state_, &operation); }

 private:
  StepState& state_;
};
template <bool Asynchronous>
struct CallStep {
  static constexpr bool asynchronous = Asynchronous;
  void operator()(StepShare& share, Operation& operation) const { share.run(operation); }
};

inline void StepState::push() {
  if (core.kind() == EngineKind::naive && !asynchronous && uses <= InlineRun::max_uses) {
    Link own[InlineRun::max_uses];
    for (std::size_t i = 0; i < uses; ++i) own[i] = links[i];
    TraceRecord* const record =
        is_tracing() ? trace_push(core.number(), name, notes, where, lane, asynchronous) : nullptr;
    if (core.try_enter(own, uses)) {
      InlineRun scope(core, own, uses, name, where);
      const InlineTrace trace(record, scope, own, uses);
      if (!scope.clean()) return;
      try {
        run(*this, nullptr);
      } catch (...) {
        scope.failed();
      }
      return;
    }
    if (record != nullptr) trace_discard(record);
  }
  const FunctionTable& table = asynchronous ? FunctionTableOf<StepShare, CallStep<true>>::value
                                            : FunctionTableOf<StepShare, CallStep<false>>::value;
  Operation* const operation = Operation::make(&core, table, uses, {}, where);
  ::new (operation->function()) StepShare(*this);
  operation->text = name.c_str();  // alive as long as the share
  operation->level = level;
  operation->lane = lane;
  if (is_tracing()) [[unlikely]]
    operation->trace(trace_push(core.number(), name, notes, where, lane, asynchronous));
  operation->uses = uses;
  Link* const to = operation->links();
  for (std::size_t i = 0; i < uses; ++i) to[i] = {links[i].var, operation, nullptr, links[i].mode};
  enqueue(core, operation);
}

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
