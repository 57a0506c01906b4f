// SPDX-License-Identifier: Apache-2.0
/// \file
/// The threads of an engine: they start when they are needed, look for work a little while, then sleep.
#pragma once
#include <atomic>
#include <cstdint>
#include <strop/engine/ready.hpp>
#include <strop/engine/sync.hpp>
#include <strop/engine/threads.hpp>

namespace strop::inline v0::detail {

/// How many threads run what is in a queue, and where they come from.
struct WorkersOptions {
  int threads = 1;
  bool computes = true;  // they count as busy while they run something; those of other devices mostly wait
  bool (*spawn)(void* context, void (*task)(void*), void* argument) = nullptr;  // the host's pool
  void* spawn_context = nullptr;
};

/// Threads that run what is in a ready queue.
///
/// A thread is running, searching (awake without work), sleeping, not yet started, or retired (asleep and not to be
/// woken). Pushing wakes at most one thread, and none while another one searches; the last thread that stops searching
/// because it found work wakes the next one where more work is left. So a burst of pushes costs few wake-ups, and no
/// work is left lying while a thread sleeps. An operation that blocks in a wait lends its place to one more thread.
class Workers {
 public:
  using Execute = void (*)(Core& core, Operation* operation);
  using Idle = void (*)(Core& core);

  Workers(Core& core, const WorkersOptions& options, Execute execute, Idle idle)
      : core_(core),
        execute_(execute),
        idle_(idle),
        options_(options),
        state_(unstarted * static_cast<unsigned>(options.threads)) {}

  ReadyQueue& queue() { return queue_; }

  /// Makes an operation ready.
  void push(Operation* operation) {
    queue_.push(operation);
    call();
  }

  /// Has somebody look at the queue, where somebody is needed for that.
  void call() {
    const std::uint64_t state = state_.load(std::memory_order_seq_cst);
    if (count(state, searching) == 0 && (count(state, sleeping) > 0 || count(state, unstarted) > 0)) wake_one();
  }

  /// Those that this thread is one of, or null.
  static Workers* of_this_thread() { return worker_of; }

  /// Around a blocking wait of one of these threads: another thread takes its place.
  void lend_place();
  void reclaim_place();

  /// Ends the threads. Nothing is ready and nothing becomes ready any more.
  void stop();

  /// Around a fork. Only the forking thread lives on in the child; the others start again there when they are needed.
  void before_fork();
  void after_fork(bool child);

 private:
  // The counts, twelve bits each. `excess` threads are to retire as soon as they notice.
  static constexpr std::uint64_t searching = 1, sleeping = 1 << 12, unstarted = 1 << 24,
                                 retired = std::uint64_t{1} << 36, excess = std::uint64_t{1} << 48;
  static constexpr int max_started = 2 * max_threads;
  static constexpr int most_patience = 400, least_patience = 12;  // looks of about 25 ns each
  static constexpr std::int64_t soon = 20'000;                    // nanoseconds asleep that were not worth it

  static int count(std::uint64_t state, std::uint64_t unit) { return static_cast<int>(state / unit & 0xfff); }

  /// Makes one sleeping thread search, or starts one, unless somebody searches already.
  void wake_one();

  void start_one();

  static void host_task(void* argument);

  void work();

  /// Called while this thread counts as searching; null: stop. Afterwards it counts as running.
  ///
  /// A thread that searches keeps a core from others, who pushes next among them, so it is patient only where work has
  /// lately come soon.
  Operation* search(int& patience);

  /// From searching to not started: the host has its thread back. True, and searching, where something came in between.
  bool stays();

  Operation* leave();

  /// From searching to asleep and back to searching.
  void sleep();

  static inline constinit thread_local Workers* worker_of = nullptr;

  Core& core_;
  const Execute execute_;
  const Idle idle_;
  const WorkersOptions options_;
  std::atomic<bool> stopping_{false};
  SpinLock start_lock_;
  int started_ = 0;
  std::atomic<int> tasks_{0};  // that the host's pool has
  alignas(64) std::atomic<std::uint64_t> state_;
  Semaphore wake_;
  ReadyQueue queue_;
  Thread threads_[max_started];
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/engine/workers_impl.hpp>
#endif
