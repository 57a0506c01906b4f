// SPDX-License-Identifier: Apache-2.0
/// \file
/// How operations are prepared and pushed again and again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/engine/bulk.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/step.hpp>
#include <strop/engine/uses.hpp>

namespace strop::inline v0::detail {

STROP_IMPL StepState::StepState(Core& core_, Run run_, bool asynchronous_, bool takes_a_done_, const EngineUses& said,
                                std::source_location where_)
    : core(core_),
      run(run_),
      asynchronous(asynchronous_),
      takes_a_done(takes_a_done_),
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
    blocks = new OwnBlocks;
  } catch (...) {
    delete[] links;
    throw;
  }
  for (std::size_t i = 0; i < uses; ++i) links[i].var->retain();
}

STROP_IMPL void StepState::let_go() {
  for (std::size_t i = 0; i < uses; ++i) links[i].var->drop();
  delete[] links;
  blocks->drop();
}

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
  template <class F>
  static constexpr bool asynchronous = Asynchronous;
  void operator()(StepShare& share, Operation& operation) const { share.run(operation); }
};

STROP_IMPL void StepState::push() {
  if (core.kind() == EngineKind::naive && !takes_a_done && uses <= InlineRun::max_uses) {
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
  Operation* const operation = Operation::make(&core, table, uses, {}, where, blocks);
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

}  // namespace strop::inline v0::detail
