// SPDX-License-Identifier: Apache-2.0
/// \file
/// How engines begin and end, and what a fork does to them.
#pragma once
#include <atomic>
#include <strop/core/config.hpp>
#include <strop/core/fork.hpp>
#include <strop/engine/blocks.hpp>
#include <strop/engine/bulk.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/execute_impl.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/options_impl.hpp>
#include <strop/engine/sync.hpp>
#include <strop/engine/threads.hpp>
#include <strop/engine/wait_impl.hpp>

namespace strop::inline v0::detail {

/// Every engine, for forks.
struct AllCores {
  SpinLock lock;
  Core* newest = nullptr;
  std::atomic<unsigned> made{0};

  void add(Core* core);
  void remove(Core* core);
  /// An engine where something is pending that this thread is not in the middle of, or null. Under the lock.
  Core* busy() const;
  void help();
  void before_fork();
  void after_fork(bool child);
};
inline constinit AllCores all_cores;

/// Pending operations run in the parent alone: a fork waits for them. It runs those of simulated engines itself, which
/// have no threads.
inline constinit ForkPart engines_in_forks{ForkPlace::engine, []() noexcept { all_cores.before_fork(); },
                                           [](bool child) noexcept { all_cores.after_fork(child); },
                                           []() noexcept {
                                             Gathering::flush_current();
                                             Hold hold(all_cores.lock);
                                             return all_cores.busy() == nullptr;
                                           },
                                           []() noexcept { all_cores.help(); }};

STROP_IMPL void AllCores::add(Core* core) {
  join_forks(engines_in_forks);
  Hold hold(lock);
  core->older_ = newest;
  if (newest != nullptr) newest->newer_ = core;
  newest = core;
}

STROP_IMPL Core* AllCores::busy() const {
  Core* at = newest;
  while (at != nullptr && (at->quiet() || Core::inside_operation_of(at))) at = at->older_;
  return at;
}

STROP_IMPL void AllCores::help() {
  Gathering::flush_current();
  lock.lock();
  Core* const core = busy();
  if (core != nullptr) core->visitors_.fetch_add(1, std::memory_order_seq_cst);
  lock.unlock();
  if (core == nullptr) return;
  core->help();
  core->visitors_.fetch_sub(1, std::memory_order_seq_cst);
}

STROP_IMPL void AllCores::before_fork() {
  lock.lock();
  for (Core* at = newest; at != nullptr; at = at->older_) {
    at->workers_.before_fork();
    at->lanes_lock_.lock();
    at->each_lane([](Lane& lane) {
      lane.workers.before_fork();
      lane.waiter.before_fork();
    });
    at->failures_lock_.lock();
  }
  Blocks<64>::lock_all();
  Operation::Block::lock_all();
}

STROP_IMPL void AllCores::after_fork(bool child) {
  if (child) busy_threads.store(counted_busy ? 1 : 0, std::memory_order_relaxed);
  Operation::Block::unlock_all();
  Blocks<64>::unlock_all();
  for (Core* at = newest; at != nullptr; at = at->older_) {
    at->failures_lock_.unlock();
    at->each_lane([child](Lane& lane) {
      lane.waiter.after_fork(child);
      lane.workers.after_fork(child);
    });
    at->lanes_lock_.unlock();
    at->workers_.after_fork(child);
    if (child) at->forget_threads();
  }
  lock.unlock();
}

STROP_IMPL void AllCores::remove(Core* core) {
  Hold hold(lock);
  (core->newer_ == nullptr ? newest : core->newer_->older_) = core->older_;
  if (core->older_ != nullptr) core->older_->newer_ = core->newer_;
}

STROP_IMPL Core::Core(const EngineOptions& options)
    : options_(with_defaults(options)),
      number_(all_cores.made.fetch_add(1, std::memory_order_relaxed) + 1),
      kind_(options_.kind),
      random_(options_.seed * 0xd1342543de82ef95u + 1),
      workers_(*this, {options_.threads, true, options_.spawn, options_.spawn_context}, &Core::execute_chain,
               [](Core& core) { core.tell_waiters(); }) {
  all_cores.add(this);
  trace_asked.install(ask_tracing);
}

STROP_IMPL void Core::open_lane(unsigned lane) {
  if (lane == 0 || lane_at(lane) != nullptr) return;
  Hold hold(lanes_lock_);
  if (lane_at(lane) != nullptr) return;
  const bool copies = lane % 2 == 0;
  lanes_[lane - 1].store(new Lane{Workers(*this, {copies ? options_.copy_threads : options_.device_threads, false},
                                          &Core::execute_chain, [](Core& core) { core.tell_waiters(); }),
                                  {}},
                         std::memory_order_release);
}

STROP_IMPL void Core::close() noexcept {
  if (inside_operation_of(this)) return;
  quiesce();
  kind_.store(EngineKind::naive, std::memory_order_seq_cst);
  quiesce();
  workers_.stop();
  each_lane([](Lane& lane) {
    lane.workers.stop();
    lane.waiter.stop();
  });
  tell_unseen();
}

STROP_IMPL void Core::tell_unseen() noexcept {
  FailureState* first = nullptr;
  std::size_t more = 0;
  {
    Hold hold(failures_lock_);
    for (FailureState* at = first_unraised_; at != nullptr; at = at->next_unraised) {
      if (at->seen.load(std::memory_order_relaxed)) continue;
      first == nullptr ? static_cast<void>(first = at) : static_cast<void>(++more);
    }
    if (first != nullptr)
      first->retain();
    else if (out_of_memory_)
      first = FailureState::out_of_memory();
  }
  if (first == nullptr) return;
  first->tell(more);
  first->drop();
}

STROP_IMPL Core::~Core() {
  all_cores.remove(this);
  for (Backoff wait; visitors_.load(std::memory_order_seq_cst) > 0;) wait();
  while (FailureState* const failure = first_unraised_) {
    first_unraised_ = failure->next_unraised;
    failure->drop();
  }
  each_lane([](Lane& lane) { delete &lane; });
}

}  // namespace strop::inline v0::detail
