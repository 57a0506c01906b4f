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
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/failure.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/variable.hpp>
#include <utility>

namespace strop::inline v0::detail {

// --- submitting -----------------------------------------------------------------------------------------------------

STROP_IMPL void Core::submit(Operation* operation) {
  while (!may_push()) wait_for_fork();
  Link* const links = operation->links();
  const std::size_t n = operation->uses;
  lock_uses(links, n);
  std::int32_t waits = 0;
  for (std::size_t i = 0; i < n; ++i) waits += links[i].var->append(&links[i]) ? 0 : 1;
  operation->waits.store(waits, std::memory_order_relaxed);
  if (operation->traced) [[unlikely]] {
    trace_order(operation->record, links, n);
    if (waits == 0) trace_ready(operation->record);
  }
  for (std::size_t i = 0; i < n; ++i) links[i].var->lock.unlock();
  if (waits == 0) make_ready(operation);
}

STROP_IMPL bool Core::try_enter(Link* links, std::size_t uses) {
  for (;;) {
    lock_uses(links, uses);
    bool free = true;
    for (std::size_t i = 0; i < uses; ++i) free = free && links[i].var->free_for(links[i].mode);
    const bool pushes = free && may_push();
    if (pushes)
      for (std::size_t i = 0; i < uses; ++i) links[i].var->append(&links[i]);
    for (std::size_t i = 0; i < uses; ++i) links[i].var->lock.unlock();
    if (pushes || !free) return free;
    wait_for_fork();
  }
}

STROP_IMPL void Core::leave(Link* links, std::size_t uses, FailureState* failure) {
  ReadyList ready;
  release<false>(links, uses, &failure, ready);
  if (failure != nullptr) failure->drop();
  count_completed();
  if (ready.first != nullptr) make_ready(ready);
  tell_waiters();
}

STROP_IMPL void Core::make_ready(Operation* operation) {
  switch (kind()) {
    case EngineKind::naive:
      execute_chain(*this, operation);
      break;
    case EngineKind::simulated:
      workers_.queue().push(operation);
      gate_.fetch_add(1, std::memory_order_seq_cst);
      gate_.notify_all();
      break;
    default: {
      Workers& workers = workers_of(operation->lane);
      workers.push(operation);
      // the end of the process has closed this engine in between: nobody else is going to look
      if (kind() == EngineKind::naive)
        while (Operation* left = workers.queue().pop()) execute_chain(*this, left);
    }
  }
}

STROP_IMPL void Core::make_ready(ReadyList& ready) {
  while (Operation* operation = ready.take()) make_ready(operation);
}

// --- executing ------------------------------------------------------------------------------------------------------

/// Runs the operation, then on this thread one that it made ready, and so on; the others go to the queue.
STROP_IMPL void Core::execute_chain(Core& core, Operation* operation) {
  ReadyList ready;
  const std::uint8_t lane = operation->lane;
  for (int length = 1;; ++length) {
    core.execute(operation, ready);
    const EngineKind kind = core.kind();
    operation = kind == EngineKind::simulated ? nullptr : ready.take();
    if (kind != EngineKind::naive) {
      core.make_ready(ready);
      if (operation != nullptr && (length % 64 == 0 || operation->lane != lane)) {  // let others have a turn
        core.make_ready(operation);
        operation = nullptr;
      }
    }
    if (operation == nullptr) break;
  }
  core.tell_waiters();
}

STROP_IMPL void Core::execute(Operation* operation, ReadyList& ready) {
  const ForkPass pass;  // also what lets go of the function may push
  if (operation->table->whole != nullptr) {
    operation->table->whole(*operation, ready);
    return;
  }
  FailureState* failure = inherited(operation->links(), operation->uses);
  const bool asynchronous = operation->table->asynchronous;
  if (failure == nullptr) {
    std::exception_ptr error;
    if (operation->traced) [[unlikely]]
      trace_start(operation->record);
    {
      const Running here(this, operation->links(), operation->uses, operation->name(), std::string_view::npos);
      try {
        operation->table->run(*operation);
      } catch (...) {
        error = std::current_exception();
      }
    }
    if (operation->traced) [[unlikely]]
      trace_return(operation->record);
    if (asynchronous) {
      if (error) {
        FailureState* const thrown = failed(std::move(error), operation->name(), operation->where);
        if ((operation->state.fetch_or(async_done, std::memory_order_acq_rel) & async_done) == 0) {
          operation->state.fetch_or(async_returned, std::memory_order_relaxed);
          complete(operation, thrown);
          drop(operation);
          return;
        }
        thrown->drop();  // too late for its variables, but not lost
      }
      if ((operation->state.fetch_or(async_returned, std::memory_order_acq_rel) & async_completed) != 0) {
        if (FailureState* const late = destroy_function(operation, nullptr)) late->drop();
        if (operation->traced) [[unlikely]]
          trace_keep(operation->record);
      }
      drop(operation);
      return;
    }
    if (error) failure = failed(std::move(error), operation->name(), operation->where);
    if (operation->traced) [[unlikely]]
      trace_end(operation->record, failure, true);
  } else if (operation->traced) [[unlikely]] {
    trace_end(operation->record, failure, false);
  }
  failure = destroy_function(operation, failure);
  if (operation->traced) [[unlikely]]
    trace_keep(operation->record);
  finish(operation, failure, ready);
  operation->free();
  count_completed();
}

/// A destructor that throws is a failure as well; the one that there is already has precedence for the variables.
STROP_IMPL FailureState* Core::destroy_function(Operation* operation, FailureState* failure) {
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
STROP_IMPL void Core::finish(Operation* operation, FailureState* failure, ReadyList& ready) {
  release<false>(operation->links(), operation->uses, &failure, ready);
  if (failure != nullptr) failure->drop();
}

/// Every write leaves the failure; those of a bulk each leave their own.
template <bool Bulk>
void Core::release(Link* links, std::size_t uses, FailureState* const* failures, ReadyList& ready) {
  bool wake = false;
  FailureState* const only = Bulk ? nullptr : *failures;
  const auto grant = [&ready](Operation* operation) {
    if (operation->waits.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (operation->traced) [[unlikely]]
      trace_ready(operation->record);
    ready.add(operation);
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
      FailureState* const left = Bulk ? failures[i] : only;
      // an update keeps the failure that it inherits from its own variable
      if (healed == left || (!Bulk && links[i].mode == Mode::update && healed != nullptr)) {
        healed = nullptr;
      } else {
        if (left != nullptr) left->retain();
        var->failure.store(left, std::memory_order_release);
      }
      var->version.store(var->version.load(std::memory_order_relaxed) + (Bulk ? links[i].writes : 1),
                         std::memory_order_release);
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

// --- bulks -----------------------------------------------------------------------------------------------------------

/// `now` is the failure of each use as the operations go, in the place of the variables that they hold.
STROP_IMPL void Core::execute_bulk(Operation* whole, Operation* first, FailureState** now, ReadyList& ready) {
  Link* const links = whole->links();
  const auto put = [](FailureState*& at, FailureState* failure) {
    if (failure != nullptr) failure->retain();
    if (at != nullptr) at->drop();
    at = failure;
  };
  for (std::size_t i = 0; i < whole->uses; ++i)
    now[i] = links[i].mode == Mode::write ? nullptr : failure_of(links[i].var);
  for (Operation* at = first; at != nullptr;) {
    Operation* const operation = at;
    at = at->next;
    FailureState* failure = nullptr;
    for (std::size_t i = 0; i < operation->uses && failure == nullptr; ++i)
      if (const Link& use = operation->links()[i]; use.mode != Mode::write) put(failure, now[use.next - links]);
    const bool runs = failure == nullptr;
    if (runs) {
      if (operation->traced) [[unlikely]]
        trace_start(operation->record);
      const Running here(this, links, whole->uses, operation->name(), std::string_view::npos);
      try {
        operation->table->run(*operation);
      } catch (...) {
        failure = failed(std::current_exception(), operation->name(), operation->where);
      }
    }
    if (operation->traced) [[unlikely]] {
      if (runs) trace_return(operation->record);
      trace_end(operation->record, failure, runs);
    }
    failure = destroy_function(operation, failure);
    if (operation->traced) [[unlikely]]
      trace_keep(operation->record);
    for (std::size_t i = 0; i < operation->uses; ++i) {
      const Link& use = operation->links()[i];
      FailureState*& own = now[use.next - links];
      if (use.mode == Mode::write || (use.mode == Mode::update && own == nullptr)) put(own, failure);
    }
    put(failure, nullptr);
    operation->free();
  }
  release<true>(links, whole->uses, now, ready);
  for (std::size_t i = 0; i < whole->uses; ++i) put(now[i], nullptr);
  count_completed();
}

// --- failures -------------------------------------------------------------------------------------------------------

STROP_IMPL FailureState* Core::failed(std::exception_ptr error, std::string_view name, std::source_location where) {
  FailureState* const made = FailureState::make(std::move(error), name, where);
  FailureState* oldest = nullptr;
  {
    Hold hold(failures_lock_);
    if (made->immortal) {
      out_of_memory_ = true;
      return made;
    }
    made->retain();
    (first_unraised_ == nullptr ? first_unraised_ : last_unraised_->next_unraised) = made;
    last_unraised_ = made;
    if (++unraised_ > most_unraised) {
      oldest = std::exchange(first_unraised_, first_unraised_->next_unraised);
      --unraised_;
    }
  }
  if (oldest != nullptr) {
    if (!oldest->seen.load(std::memory_order_relaxed)) oldest->tell();
    oldest->drop();
  }
  return made;
}

STROP_IMPL FailureState* Core::inherited(const Link* links, std::size_t uses) {
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

STROP_IMPL FailureState* Core::failure_of(Var* var) {
  if (var->failure.load(std::memory_order_acquire) == nullptr) return nullptr;
  Hold hold(var->lock);
  FailureState* const failure = var->failure.load(std::memory_order_relaxed);
  if (failure != nullptr) failure->retain();
  return failure;
}

// --- asynchronous completion ----------------------------------------------------------------------------------------

STROP_IMPL void Core::done(Operation* operation, std::exception_ptr error) noexcept {
  if ((operation->state.fetch_or(async_done, std::memory_order_acq_rel) & async_done) != 0) return;
  Core& core = *operation->core;
  core.visitors_.fetch_add(1, std::memory_order_seq_cst);
  core.complete(operation, error ? core.failed(std::move(error), operation->name(), operation->where) : nullptr);
  core.visitors_.fetch_sub(1, std::memory_order_seq_cst);  // the engine may be gone from here on
}

/// The second half of done. Takes over the caller's share of the failure.
STROP_IMPL void Core::complete(Operation* operation, FailureState* failure) noexcept {
  const ForkPass pass;
  if (operation->traced) [[unlikely]]
    trace_end(operation->record, failure, true);
  // the name may go with the function: nothing asks for it after this
  if ((operation->state.fetch_or(async_completed, std::memory_order_acq_rel) & async_returned) != 0) {
    failure = destroy_function(operation, failure);
    if (operation->traced) [[unlikely]]
      trace_keep(operation->record);
  }
  ReadyList ready;
  finish(operation, failure, ready);
  count_completed();
  make_ready(ready);
  tell_waiters();
}

STROP_IMPL void Core::drop(Operation* operation) noexcept {
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

STROP_IMPL void Core::complete_after(Operation* operation, memory::detail::GpuStream& stream, std::uint64_t mark) {
  lane_at(operation->lane)->waiter.add(operation, stream, mark);
}

// --- completion of everything ---------------------------------------------------------------------------------------

/// Whether everything that has been pushed is complete. Completions are counted first: a sum of pushes that is taken
/// later and equals theirs proves a moment between the two at which nothing was pending.
STROP_IMPL bool Core::quiet() const {
  std::uint64_t completed = 0, pushed = 0;
  for (const Count& count : count_) completed += count.completed.load(std::memory_order_seq_cst);
  for (const Count& count : count_) pushed += count.pushed.load(std::memory_order_seq_cst);
  return completed == pushed;
}

/// After every completion: wakes those who wait for all, where that was the last one.
STROP_IMPL void Core::tell_waiters() {
  if (waiting_for_all_.load(std::memory_order_seq_cst) == 0 || !quiet()) return;
  gate_.fetch_add(1, std::memory_order_seq_cst);
  gate_.notify_all();
}

}  // namespace strop::inline v0::detail
