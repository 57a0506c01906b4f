// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the threads of an engine start, look for work, sleep and end.
#pragma once
#include <atomic>
#include <cstdint>
#include <strop/core/config.hpp>
#include <strop/core/sanitizer.hpp>
#include <strop/engine/ready.hpp>
#include <strop/engine/sync.hpp>
#include <strop/engine/threads.hpp>
#include <strop/engine/workers.hpp>

namespace strop::inline v0::detail {

STROP_IMPL void Workers::lend_place() {
  std::uint64_t state = state_.load();
  std::uint64_t lent = 0;
  do {
    lent = count(state, excess) > 0    ? state - excess
           : count(state, retired) > 0 ? state - retired + sleeping
                                       : state + unstarted;
  } while (!state_.compare_exchange_weak(state, lent));
  if (!queue_.empty()) call();
}

STROP_IMPL void Workers::reclaim_place() {
  std::uint64_t state = state_.load();
  std::uint64_t own = 0;
  do {
    own = count(state, unstarted) > 0  ? state - unstarted
          : count(state, sleeping) > 0 ? state - sleeping + retired
                                       : state + excess;
  } while (!state_.compare_exchange_weak(state, own));
}

STROP_IMPL void Workers::stop() {
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

STROP_IMPL void Workers::before_fork() {
  start_lock_.lock();
  queue_.lock();
}

STROP_IMPL void Workers::after_fork(bool child) {
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

STROP_IMPL void Workers::wake_one() {
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

STROP_IMPL void Workers::start_one() {
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

STROP_IMPL void Workers::host_task(void* argument) {
  Workers& own = *static_cast<Workers*>(argument);
  Workers* const outer = worker_of;
  own.work();
  worker_of = outer;
  own.tasks_.fetch_sub(1, std::memory_order_release);  // the engine may be gone from here on
}

STROP_IMPL void Workers::work() {
  const UnwatchedScope unwatched;
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

STROP_IMPL Operation* Workers::search(int& patience) {
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

STROP_IMPL bool Workers::stays() {
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

STROP_IMPL Operation* Workers::leave() {
  state_.fetch_sub(searching);
  return nullptr;
}

STROP_IMPL void Workers::sleep() {
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

}  // namespace strop::inline v0::detail
