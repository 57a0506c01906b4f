// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the uses of an operation are collected and checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/engine/context.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/trace_record.hpp>
#include <strop/engine/uses.hpp>
#include <strop/engine/variable.hpp>

namespace strop::inline v0::detail {

STROP_IMPL std::size_t Access::gather(const Core* core, const EngineUses& uses, Link* links) {
  Link* to = links;
  for (std::size_t i = 0; i < uses.reads.size_; ++i) {
    check(core, uses.reads.vars_[i], uses, "reads", i);
    *to++ = {uses.reads.vars_[i], nullptr, nullptr, Mode::read};
  }
  for (std::size_t i = 0; i < uses.writes.size_; ++i) {
    check(core, uses.writes.vars_[i], uses, "writes", i);
    *to++ = {uses.writes.vars_[i], nullptr, nullptr, Mode::write};
  }
  return merge_uses(links, static_cast<std::size_t>(to - links));
}

STROP_IMPL void Access::refuse(const Var* var, const EngineUses& uses, const char* list, std::size_t i) {
  fail("push of operation '", uses.name, "': variable ", i, " of ", list,
       var == nullptr ? " is empty" : " belongs to another engine");
}

STROP_IMPL Operation* new_operation(Core& core, const FunctionTable& table, const EngineUses& uses,
                                    std::source_location where) {
  const std::size_t n = Access::count(uses);
  if (n > most_uses) fail("push of operation '", uses.name, "': expected at most ", most_uses, " variables, got ", n);
  Operation* const operation = Operation::make(&core, table, n, uses.name, where);
  try {
    Link* const links = operation->links();
    operation->uses = static_cast<std::uint16_t>(Access::gather(&core, uses, links));
    for (std::size_t i = 0; i < operation->uses; ++i) links[i].operation = operation;
    if (uses.device != cpu()) {
      operation->lane = lane_of(uses.device, uses.copies);
      core.open_lane(operation->lane);
    }
  } catch (...) {
    operation->free();
    throw;
  }
  if (is_tracing()) [[unlikely]]
    operation->trace(
        trace_push(core.number(), uses.name, trace_notes(uses.notes), where, operation->lane, table.asynchronous));
  if (uses.priority != 0) operation->level = level_of(uses.priority);
  return operation;
}

STROP_IMPL InlineTrace::~InlineTrace() {
  if (record_ == nullptr) return;
  if (runs_) trace_return(record_);
  trace_end(record_, scope_.failure(), runs_);
  trace_keep(record_);
}

}  // namespace strop::inline v0::detail
