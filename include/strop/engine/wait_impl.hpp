// SPDX-License-Identifier: Apache-2.0
/// \file
/// How threads wait for variables and for everything, and what they do meanwhile.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/execute_impl.hpp>
#include <strop/engine/failure.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/threads.hpp>
#include <strop/engine/variable.hpp>
#include <strop/engine/workers.hpp>

namespace strop::inline v0::detail {

STROP_IMPL void Core::check_waitable(const Var* var) const {
  for (const Running* at = Running::current(); at != nullptr; at = at->outer)
    for (std::size_t i = 0; i < at->uses; ++i)
      if (at->links[i].var == var)
        fail("wait: operation '", at->said_name(), "' waits for a variable that it uses itself");
}

/// An operation that must run before var's first writer is complete, that is ready and that nobody runs yet: the writer
/// itself, or one that it waits for in turn, as far as `looks` go. Under var's lock, so what becomes ready by the way
/// is only noted: making it so may start a thread.
STROP_IMPL Operation* Core::claim(Var* var, int& looks, ReadyList& ready) {
  if (kind() != EngineKind::threaded || !var->writing || var->first->operation == nullptr) return nullptr;
  Operation* const writer = var->first->operation;  // it cannot end without var's lock
  // what belongs to another device is left to that device's threads
  if (writer->lane == 0 && workers_.queue().claim(writer)) return writer;
  // One more wait keeps it from running, and so its variables from going away, while this thread looks at them.
  std::int32_t waits = writer->waits.load(std::memory_order_relaxed);
  do {
    if (waits <= 0) return nullptr;
  } while (!writer->waits.compare_exchange_weak(waits, waits + 1, std::memory_order_acquire));
  Operation* found = nullptr;
  for (std::size_t i = 0; i < writer->uses && found == nullptr && looks > 0; ++i) {
    Var* const other = writer->links()[i].var;
    // locks are held against their order here: never wait for one
    if (other == var || --looks < 0 || !other->lock.try_lock()) continue;
    if (other->writing && other->first->operation != writer) found = claim(other, looks, ready);
    other->lock.unlock();
  }
  if (writer->waits.fetch_sub(1, std::memory_order_acq_rel) != 1) return found;
  // everything else was granted meanwhile, so it is for this thread to see that it runs
  if (writer->traced) [[unlikely]]
    trace_ready(writer->record);
  if (writer->lane == 0 && found == nullptr) return writer;
  ready.add(writer);
  return found;
}

/// Simulated: the next operation, or null.
STROP_IMPL Operation* Core::pick() {
  return workers_.queue().pick([this](std::size_t ready) -> std::size_t {
    if (options_.choose != nullptr) return options_.choose(options_.choose_context, ready);
    std::uint64_t x = random_.fetch_add(0x9e3779b97f4a7c15u, std::memory_order_relaxed);  // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::size_t>((x ^ (x >> 31)) >> 16);
  });
}

/// Sleeps until the gate moves. A worker, of whichever engine, lends its place meanwhile: what it waits for may need
/// it.
STROP_IMPL void Core::sleep_at_gate(std::uint32_t seen) {
  Workers* const own = Workers::of_this_thread();
  if (own != nullptr) own->lend_place();
  gate_.wait(seen, std::memory_order_seq_cst);
  if (own != nullptr) own->reclaim_place();
}

STROP_IMPL FailureState* Core::wait(Var* var, bool all) {
  if (var->uses.load(std::memory_order_acquire) == 0) return failure_of(var);
  var->lock.lock();
  const std::uint64_t writes = var->writes_pushed.load(std::memory_order_relaxed);
  bool checked = false;
  for (int round = 0;; ++round) {
    if (var->reached(writes, all)) {
      FailureState* const failure = var->failure.load(std::memory_order_relaxed);
      if (failure != nullptr) failure->retain();
      var->lock.unlock();
      return failure;
    }
    int looks = 32;
    ReadyList ready;
    Operation* const own = checked ? claim(var, looks, ready) : nullptr;
    if (own == nullptr && round >= 2) var->watched = true;
    const auto seen = gate_.load(std::memory_order_seq_cst);
    const std::uint64_t version = var->version.load(std::memory_order_relaxed);
    var->lock.unlock();
    make_ready(ready);
    if (!checked) {
      check_waitable(var);
      checked = true;
    } else if (own != nullptr) {
      // what the caller waits for it may as well do; nothing else, because it may hold locks that others need
      const BusyScope busy;
      execute(own, ready);
      make_ready(ready);
      tell_waiters();
      round = 0;
    } else if (Operation* const next = kind() == EngineKind::simulated ? pick() : nullptr) {
      execute_chain(*this, next);
    } else if (round < 2) {
      for (int spin = 0; spin < 300 && var->version.load(std::memory_order_acquire) == version &&
                         var->uses.load(std::memory_order_acquire) > 0;
           ++spin)
        spin_once(spin);
    } else {
      sleep_at_gate(seen);
    }
    var->lock.lock();
  }
}

/// Waits until nothing is pending, and helps. Never throws.
STROP_IMPL void Core::quiesce() {
  if (quiet()) return;
  waiting_for_all_.fetch_add(1, std::memory_order_seq_cst);
  for (;;) {
    const auto seen = gate_.load(std::memory_order_seq_cst);
    if (kind() == EngineKind::simulated) {
      while (Operation* const next = pick()) execute_chain(*this, next);
    } else {
      for (int spin = 0; spin < 300 && !quiet(); ++spin) {
        if (Operation* next = workers_.queue().pop()) {
          const BusyScope busy;
          do execute_chain(*this, next);
          while ((next = workers_.queue().pop()) != nullptr);
          spin = 0;
        }
        spin_once(spin);
      }
    }
    if (quiet()) break;
    sleep_at_gate(seen);
  }
  waiting_for_all_.fetch_sub(1, std::memory_order_seq_cst);
}

STROP_IMPL void Core::help() {
  // What has threads is left to them: an operation may wait for a thread that this one holds back.
  if (kind() != EngineKind::simulated) return;
  if (Operation* const next = pick()) execute_chain(*this, next);
}

STROP_IMPL void Core::forget_threads() noexcept {
  waiting_for_all_.store(0, std::memory_order_relaxed);
  visitors_.store(0, std::memory_order_relaxed);
  // Nothing was pending; a push that the fork held back may have been counted, and its thread is not here to count it
  // as completed. What this thread is in the middle of is pending, and completes.
  if (inside_operation_of(this)) return;
  for (Count& count : count_)
    count.completed.store(count.pushed.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

STROP_IMPL void Core::wait_all() {
  if (inside_operation_of(this)) fail("wait_all: called inside an operation, which would wait for itself");
  quiesce();
  FailureState* first = nullptr;
  {
    Hold hold(failures_lock_);
    first = first_unraised_;
    if (first != nullptr) {
      first_unraised_ = first->next_unraised;
      --unraised_;
    } else if (out_of_memory_) {
      out_of_memory_ = false;
      first = FailureState::out_of_memory();
    }
  }
  FailureState::raise_share(first);
}

}  // namespace strop::inline v0::detail
