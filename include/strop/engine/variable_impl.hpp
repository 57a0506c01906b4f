// SPDX-License-Identifier: Apache-2.0
/// \file
/// How uses enter and leave the queue of a variable.
#pragma once
#include <atomic>
#include <cstdint>
#include <new>
#include <strop/core/config.hpp>
#include <strop/engine/blocks.hpp>
#include <strop/engine/failure.hpp>
#include <strop/engine/trace_record.hpp>
#include <strop/engine/variable.hpp>

namespace strop::inline v0::detail {

STROP_IMPL bool Var::append(Link* link) {
  uses.store(uses.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  link->next = nullptr;
  if (link->mode == Mode::read) {
    if (first == nullptr) {
      ++readers;
      return true;
    }
  } else {
    writes_pushed.store(writes_pushed.load(std::memory_order_relaxed) + link->writes, std::memory_order_relaxed);
    if (first == nullptr && readers == 0) {
      writing = true;
      first = last = link;
      return true;
    }
  }
  if (first == nullptr)
    first = link;
  else
    last->next = link;
  last = link;
  return false;
}

STROP_IMPL Link* Var::end_read() {
  uses.store(uses.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  if (--readers > 0 || first == nullptr) return nullptr;
  writing = true;  // only a writer can have waited for readers
  return first;    // stays in the queue: the caller must not follow its `next`
}

STROP_IMPL Link* Var::end_write() {
  uses.store(uses.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  writing = false;
  Link* granted = first->next;
  first = granted;
  if (granted == nullptr) {
    last = nullptr;
    return nullptr;
  }
  if (granted->mode != Mode::read) {
    writing = true;
    return granted;
  }
  Link* end = granted;
  for (++readers; end->next != nullptr && end->next->mode == Mode::read; end = end->next) ++readers;
  first = end->next;
  if (first == nullptr) last = nullptr;
  end->next = nullptr;
  return granted;
}

STROP_IMPL Var* Var::make(Core* core) {
  Var* var = ::new (Blocks<64>::take()) Var;
  var->core = core;
  return var;
}

STROP_IMPL void Var::free() {
  if (is_tracing()) [[unlikely]]
    trace_forget(this);
  if (FailureState* const last_failure = failure.load(std::memory_order_acquire)) last_failure->drop();
  this->~Var();
  Blocks<64>::give(this);
}

STROP_IMPL void Var::drop() {
  if (handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  lock.lock();
  orphan = true;
  const bool idle = uses.load(std::memory_order_relaxed) == 0;
  lock.unlock();
  if (idle) free();
}

}  // namespace strop::inline v0::detail
