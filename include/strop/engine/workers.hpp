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
  void lend_place() {
    std::uint64_t state = state_.load();
    std::uint64_t lent = 0;
    do {
      lent = count(state, excess) > 0    ? state - excess
             : count(state, retired) > 0 ? state - retired + sleeping
                                         : state + unstarted;
    } while (!state_.compare_exchange_weak(state, lent));
    if (!queue_.empty()) call();
  }
  void reclaim_place() {
    std::uint64_t state = state_.load();
    std::uint64_t own = 0;
    do {
      own = count(state, unstarted) > 0  ? state - unstarted
            : count(state, sleeping) > 0 ? state - sleeping + retired
                                         : state + excess;
    } while (!state_.compare_exchange_weak(state, own));
  }

  /// Ends the threads. Nothing is ready and nothing becomes ready any more.
  void stop() {
    int threads = 0;
    {
      Hold hold(start_lock_);  // no thread starts from here on
      stopping_.store(true);
      threads = started_;
    }
    wake_.release(static_cast<std::uint32_t>(threads));
    for (int i = 0; i < threads; ++i) threads_[i].is_this() ? threads_[i].detach() : threads_[i].join();
    for (Backoff wait; tasks_.load(std::memory_order_acquire) > 0;) wait();
    started_ = 0;
    state_.store(0);
  }

  /// Around a fork. Only the forking thread lives on in the child; the others start again there when they are needed.
  void before_fork() {
    start_lock_.lock();
    queue_.lock();
  }
  void after_fork(bool child) {
    queue_.unlock();
    if (child) {
      started_ = 0;
      tasks_.store(0);
      wake_.reset();
      state_.store(unstarted * static_cast<unsigned>(options_.threads));
      worker_of = nullptr;
    }
    start_lock_.unlock();
  }

 private:
  // The counts, twelve bits each. `excess` threads are to retire as soon as they notice.
  static constexpr std::uint64_t searching = 1, sleeping = 1 << 12, unstarted = 1 << 24,
                                 retired = std::uint64_t{1} << 36, excess = std::uint64_t{1} << 48;
  static constexpr int max_started = 2 * max_threads;
  static constexpr int most_patience = 400, least_patience = 12;  // looks of about 25 ns each
  static constexpr std::int64_t soon = 20'000;                    // nanoseconds asleep that were not worth it

  static int count(std::uint64_t state, std::uint64_t unit) { return static_cast<int>(state / unit & 0xfff); }

  /// Makes one sleeping thread search, or starts one, unless somebody searches already.
  void wake_one() {
    std::uint64_t state = state_.load();
    for (;;) {
      if (count(state, searching) > 0) return;
      if (count(state, sleeping) > 0) {
        if (!state_.compare_exchange_weak(state, state - sleeping + searching)) continue;
        wake_.release();
        return;
      }
      if (count(state, unstarted) == 0) return;
      if (!state_.compare_exchange_weak(state, state - unstarted + searching)) continue;
      start_one();
      return;
    }
  }

  void start_one() {
    bool alone = false;
    {
      Hold hold(start_lock_);
      if (stopping_.load()) return;
      if (options_.spawn != nullptr) {
        if (tasks_.fetch_add(1), options_.spawn(options_.spawn_context, host_task, this)) return;
        alone = tasks_.fetch_sub(1) == 1;
      } else if (started_ < max_started && threads_[started_].start(
                                               [](void* workers) -> void* {
                                                 static_cast<Workers*>(workers)->work();
                                                 return nullptr;
                                               },
                                               this)) {
        ++started_;
        return;
      } else {
        alone = started_ == 0;
      }
    }
    // The system has no more threads: those that run do everything, or, where there is none, this one does it now and
    // the next push tries again.
    state_.fetch_sub(searching);
    if (alone)
      while (Operation* operation = queue_.pop()) execute_(core_, operation);
    if (alone || options_.spawn != nullptr) state_.fetch_add(unstarted);
  }

  static void host_task(void* argument) {
    Workers& own = *static_cast<Workers*>(argument);
    Workers* const outer = worker_of;
    own.work();
    worker_of = outer;
    own.tasks_.fetch_sub(1, std::memory_order_release);  // the engine may be gone from here on
  }

  void work() {
    worker_of = this;
    int patience = most_patience;
    while (Operation* operation = search(patience)) {
      {
        const BusyScope busy(options_.computes);
        do execute_(core_, operation);
        while (count(state_.load(std::memory_order_relaxed), excess) == 0 && (operation = queue_.pop()) != nullptr);
      }
      idle_(core_);
      state_.fetch_add(searching);
    }
  }

  /// Called while this thread counts as searching; null: stop. Afterwards it counts as running.
  ///
  /// A thread that searches keeps a core from others, who pushes next among them, so it is patient only where work has
  /// lately come soon.
  Operation* search(int& patience) {
    for (;;) {
      for (int round = 0; round < patience; ++round) {
        if (stopping_.load(std::memory_order_relaxed)) return leave();
        if (count(state_.load(std::memory_order_relaxed), excess) > 0) break;
        if (Operation* operation = queue_.pop()) {
          const std::uint64_t before = state_.fetch_sub(searching);
          if (count(before, searching) == 1 && !queue_.empty()) wake_one();
          return operation;
        }
        spin_once(round);
      }
      if (options_.spawn != nullptr) {
        if (!stays()) return nullptr;
        continue;
      }
      const std::int64_t before = nanoseconds();
      sleep();
      patience = nanoseconds() - before < soon   ? most_patience
                 : patience / 2 > least_patience ? patience / 2
                                                 : least_patience;
    }
  }

  /// From searching to not started: the host has its thread back. True, and searching, where something came in between.
  bool stays() {
    std::uint64_t state = state_.load();
    bool retires = false;
    do {
      retires = count(state, excess) > 0;
    } while (!state_.compare_exchange_weak(state, state - searching + (retires ? 0 - excess : unstarted)));
    if (queue_.empty_for_sure()) return false;
    if (!retires) {
      state = state_.load();
      while (count(state, unstarted) > 0)
        if (state_.compare_exchange_weak(state, state - unstarted + searching)) return true;
    }
    call();
    return false;
  }

  Operation* leave() {
    state_.fetch_sub(searching);
    return nullptr;
  }

  /// From searching to asleep and back to searching.
  void sleep() {
    std::uint64_t state = state_.load();
    bool retires = false;
    do {
      retires = count(state, excess) > 0;
    } while (!state_.compare_exchange_weak(state, state - searching + (retires ? retired - excess : sleeping)));
    if (retires) {
      // whoever saw this thread search left the work to it
      if (!queue_.empty_for_sure()) call();
    } else if (!queue_.empty_for_sure() || stopping_.load()) {
      // something came in between: awake again, unless somebody has just sent a permit for that
      state = state_.load();
      while (count(state, sleeping) > 0)
        if (state_.compare_exchange_weak(state, state - sleeping + searching)) return;
      call();
    }
    wake_.acquire();
  }

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
