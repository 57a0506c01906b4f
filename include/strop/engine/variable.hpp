// SPDX-License-Identifier: Apache-2.0
/// \file
/// The queue of one variable: who may use what it stands for, and who comes next.
#pragma once
#include <atomic>
#include <cstdint>
#include <strop/engine/blocks.hpp>
#include <strop/engine/failure.hpp>
#include <strop/engine/sync.hpp>
#include <strop/engine/trace_record.hpp>

namespace strop::inline v0::detail {

class Core;
struct Operation;
struct Var;

/// How an operation uses a variable. Reads share; the others exclude.
enum class Mode : std::uint8_t { read, write, update };

/// One use of one variable by one operation, an element of the variable's queue while it waits or writes.
struct Link {
  Var* var;
  Operation* operation;  // null: it runs on its pusher's stack
  Link* next;
  Mode mode;
  std::uint8_t unused = 0;
  std::uint16_t writes = 1;  // that its operation stands for, if it writes
};

/// The state behind Engine::Variable. One cache line; whatever is not atomic is guarded by `lock`.
///
/// Granted readers are only counted. The queue holds the writer that is at work, if any, then all who wait, in the
/// order in which they were pushed.
struct alignas(64) Var {
  SpinLock lock;
  bool writing = false;                // the first of the queue is at work
  bool watched = false;                // somebody sleeps until this changes
  bool orphan = false;                 // the last handle is gone: the last use frees it
  std::atomic<std::uint32_t> uses{0};  // granted and waiting
  std::uint32_t readers = 0;           // granted
  std::atomic<std::uint32_t> handles{1};
  Link* first = nullptr;
  Link* last = nullptr;
  std::atomic<std::uint64_t> writes_pushed{0};  // changed under the lock, read by whoever wants to
  std::atomic<std::uint64_t> version{0};        // writes completed, failed and inherited ones included
  std::atomic<FailureState*> failure{nullptr};
  Core* core = nullptr;

  /// Appends a use, under the lock; true where it is granted at once.
  bool append(Link* link);

  /// Whether append would grant at once. Under the lock.
  bool free_for(Mode mode) const { return first == nullptr && (mode == Mode::read || readers == 0); }

  /// Ends a granted read, under the lock. Returns those that are granted by it, linked by `next`.
  Link* end_read();

  /// Ends the write at work, under the lock. Returns those that are granted by it: one writer, or a list of readers.
  Link* end_write();

  /// Every write that was pushed before `writes` was read is complete; and every read, for `all`. Under the lock.
  bool reached(std::uint64_t writes, bool all) const {
    const std::uint64_t done = version.load(std::memory_order_relaxed);
    return done > writes || (done == writes && (!all || writing || readers == 0));
  }

  static Var* make(Core* core);
  void free();
  void retain() { handles.fetch_add(1, std::memory_order_relaxed); }
  /// Gives a handle back; what is still pending with the variable runs on.
  void drop();
};
static_assert(sizeof(Var) == 64);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/engine/variable_impl.hpp>
#endif
