// SPDX-License-Identifier: Apache-2.0
/// \file
/// How operations are submitted, executed and completed.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <source_location>
#include <string_view>
#include <strop/core/error.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/failure.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/variable.hpp>
#include <utility>

namespace strop::inline v0::detail {

// --- submitting -----------------------------------------------------------------------------------------------------

inline void Core::submit(Operation* operation) {
  count_pushed();
  Link* const links = operation->links();
  const std::size_t n = operation->uses;
  lock_uses(links, n);
  std::int32_t waits = 0;
  for (std::size_t i = 0; i < n; ++i) waits += links[i].var->append(&links[i]) ? 0 : 1;
  operation->waits.store(waits, std::memory_order_relaxed);
  for (std::size_t i = 0; i < n; ++i) links[i].var->lock.unlock();
  if (waits == 0) make_ready(operation);
}

inline bool Core::try_enter(Link* links, std::size_t uses) {
  lock_uses(links, uses);
  bool free = true;
  for (std::size_t i = 0; i < uses; ++i) free = free && links[i].var->free_for(links[i].mode);
  if (free) {
    count_pushed();
    for (std::size_t i = 0; i < uses; ++i) links[i].var->append(&links[i]);
  }
  for (std::size_t i = 0; i < uses; ++i) links[i].var->lock.unlock();
  return free;
}

inline void Core::leave(Link* links, std::size_t uses, FailureState* failure) {
  ReadyList ready;
  release(links, uses, failure, ready);
  if (failure != nullptr) failure->drop();
  count_completed();
  if (ready.first != nullptr) make_ready(ready);
  tell_waiters();
}

inline void Core::make_ready(Operation* operation) {
  switch (kind()) {
    case EngineKind::naive:
      execute_chain(*this, operation);
      break;
    case EngineKind::simulated:
      workers_.queue().push(operation);
      gate_.fetch_add(1, std::memory_order_seq_cst);
      gate_.notify_all();
      break;
    default:
      workers_.push(operation);
      // the end of the process has closed this engine in between: nobody else is going to look
      if (kind() == EngineKind::naive)
        while (Operation* left = workers_.queue().pop()) execute_chain(*this, left);
  }
}

inline void Core::make_ready(ReadyList& ready) {
  while (Operation* operation = ready.take()) make_ready(operation);
}

// --- executing ------------------------------------------------------------------------------------------------------

/// Runs the operation, then on this thread one that it made ready, and so on; the others go to the queue.
inline void Core::execute_chain(Core& core, Operation* operation) {
  ReadyList ready;
  for (int length = 1;; ++length) {
    core.execute(operation, ready);
    const EngineKind kind = core.kind();
    operation = kind == EngineKind::simulated ? nullptr : ready.take();
    if (kind != EngineKind::naive) {
      core.make_ready(ready);
      if (operation != nullptr && length % 64 == 0) {  // let others have a turn
        core.make_ready(operation);
        operation = nullptr;
      }
    }
    if (operation == nullptr) break;
  }
  core.tell_waiters();
}

inline void Core::execute(Operation* operation, ReadyList& ready) {
  FailureState* failure = inherited(operation->links(), operation->uses);
  const bool asynchronous = operation->table->asynchronous;
  if (failure == nullptr) {
    std::exception_ptr error;
    {
      const Running here(this, operation->links(), operation->uses, operation->name, std::string_view::npos);
      try {
        operation->table->run(*operation);
      } catch (...) {
        error = std::current_exception();
      }
    }
    if (asynchronous) {
      const auto before = operation->state.fetch_or(async_returned, std::memory_order_acq_rel);
      if (error) {
        if ((before & async_done) != 0)
          failed(error, operation->name, operation->where)->drop();  // too late for its variables, but not lost
        else
          done(operation, std::move(error));
      }
      if ((before & async_done) != 0)
        if (FailureState* const late = destroy_function(operation, nullptr)) late->drop();
      drop(operation);
      return;
    }
    if (error) failure = failed(std::move(error), operation->name, operation->where);
  }
  failure = destroy_function(operation, failure);
  finish(operation, failure, ready);
  operation->free();
  count_completed();
}

/// A destructor that throws is a failure as well; the one that there is already has precedence for the variables.
inline FailureState* Core::destroy_function(Operation* operation, FailureState* failure) {
  if (operation->table->destroy == nullptr) return failure;
  try {
    operation->table->destroy(*operation);
  } catch (...) {
    FailureState* const thrown = failed(std::current_exception(), {}, operation->where);
    if (failure == nullptr) return thrown;
    thrown->drop();
  }
  return failure;
}

/// Ends every use. Takes over the caller's share of the failure.
inline void Core::finish(Operation* operation, FailureState* failure, ReadyList& ready) {
  release(operation->links(), operation->uses, failure, ready);
  if (failure != nullptr) failure->drop();
}

inline void Core::release(Link* links, std::size_t uses, FailureState* failure, ReadyList& ready) {
  bool wake = false;
  const auto grant = [&ready](Operation* operation) {
    if (operation->waits.fetch_sub(1, std::memory_order_acq_rel) == 1) ready.add(operation);
  };
  for (std::size_t i = 0; i < uses; ++i) {
    Var* const var = links[i].var;
    FailureState* healed = nullptr;
    Link* granted = nullptr;
    bool wakes = false;
    var->lock.lock();
    if (links[i].mode == Mode::read) {
      granted = var->end_read();
      wakes = var->watched && var->readers == 0;
    } else {
      healed = var->failure.load(std::memory_order_relaxed);
      // an update keeps the failure that it inherits from its own variable
      if (healed == failure || (links[i].mode == Mode::update && healed != nullptr)) {
        healed = nullptr;
      } else {
        if (failure != nullptr) failure->retain();
        var->failure.store(failure, std::memory_order_release);
      }
      var->version.store(var->version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
      granted = var->end_write();
      wakes = var->watched;
    }
    if (wakes) {
      var->watched = false;
      wake = true;
    }
    const bool unused = var->orphan && var->uses.load(std::memory_order_relaxed) == 0;
    var->lock.unlock();
    if (healed != nullptr) healed->drop();
    if (granted != nullptr && granted->mode != Mode::read) {
      grant(granted->operation);
    } else {
      while (granted != nullptr) {
        Link* const next = granted->next;  // the granted operation may end, and its block with it
        grant(granted->operation);
        granted = next;
      }
    }
    if (unused) var->free();
  }
  if (wake) {
    gate_.fetch_add(1, std::memory_order_seq_cst);
    gate_.notify_all();
  }
}

// --- failures -------------------------------------------------------------------------------------------------------

inline FailureState* Core::failed(std::exception_ptr error, std::string_view name, std::source_location where) {
  FailureState* const made = FailureState::make(std::move(error), name, where);
  Hold hold(failures_lock_);
  if (made->immortal) {
    out_of_memory_ = true;
    return made;
  }
  made->retain();
  (first_unraised_ == nullptr ? first_unraised_ : last_unraised_->next_unraised) = made;
  last_unraised_ = made;
  return made;
}

inline FailureState* Core::inherited(const Link* links, std::size_t uses) {
  for (std::size_t i = 0; i < uses; ++i) {
    if (links[i].mode == Mode::write) continue;
    // no writer is at work on a variable that is granted to this operation: the failure stays
    if (FailureState* const failure = links[i].var->failure.load(std::memory_order_acquire)) {
      failure->retain();
      return failure;
    }
  }
  return nullptr;
}

inline FailureState* Core::failure_of(Var* var) {
  if (var->failure.load(std::memory_order_acquire) == nullptr) return nullptr;
  Hold hold(var->lock);
  FailureState* const failure = var->failure.load(std::memory_order_relaxed);
  if (failure != nullptr) failure->retain();
  return failure;
}

// --- asynchronous completion ----------------------------------------------------------------------------------------

inline void Core::done(Operation* operation, std::exception_ptr error) noexcept {
  const auto before = operation->state.fetch_or(async_done, std::memory_order_acq_rel);
  if ((before & async_done) != 0) return;
  Core& core = *operation->core;
  core.visitors_.fetch_add(1, std::memory_order_seq_cst);
  FailureState* failure = error ? core.failed(std::move(error), operation->name, operation->where) : nullptr;
  if ((before & async_returned) != 0) failure = core.destroy_function(operation, failure);  // the name may go with it
  ReadyList ready;
  core.finish(operation, failure, ready);
  core.count_completed();
  core.make_ready(ready);
  core.tell_waiters();
  core.visitors_.fetch_sub(1, std::memory_order_seq_cst);  // the engine may be gone from here on
}

inline void Core::drop(Operation* operation) noexcept {
  if (operation->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if ((operation->state.load(std::memory_order_acquire) & async_done) == 0) {
    std::exception_ptr error;
    try {
      fail("an asynchronous operation let go of its Done without calling it");
    } catch (...) {
      error = std::current_exception();
    }
    done(operation, std::move(error));
  }
  operation->free();
}

// --- completion of everything ---------------------------------------------------------------------------------------

/// Whether everything that has been pushed is complete. Completions are counted first: a sum of pushes that is taken
/// later and equals theirs proves a moment between the two at which nothing was pending.
inline bool Core::quiet() const {
  std::uint64_t completed = 0, pushed = 0;
  for (const Count& count : count_) completed += count.completed.load(std::memory_order_seq_cst);
  for (const Count& count : count_) pushed += count.pushed.load(std::memory_order_seq_cst);
  return completed == pushed;
}

/// After every completion: wakes those who wait for all, where that was the last one.
inline void Core::tell_waiters() {
  if (waiting_for_all_.load(std::memory_order_seq_cst) == 0 || !quiet()) return;
  gate_.fetch_add(1, std::memory_order_seq_cst);
  gate_.notify_all();
}

}  // namespace strop::inline v0::detail
