// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operations that are ready to run: pushed without a lock, taken in order of priority, first come first served.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <strop/engine/operation.hpp>
#include <strop/engine/sync.hpp>

namespace strop::inline v0::detail {

/// The level of a priority: -7 to 7 are told apart, beyond that their magnitudes are. 0 has level 16.
inline std::uint8_t level_of(int priority) {
  const auto size = priority < 0 ? 0u - static_cast<unsigned>(priority) : static_cast<unsigned>(priority);
  const int steps = static_cast<int>(size < 8 ? size : 4u + static_cast<unsigned>(std::bit_width(size)));
  const int level = priority < 0 ? 16 - steps : 16 + steps;
  return static_cast<std::uint8_t>(level < 0 ? 0 : level > 31 ? 31 : level);
}

class ReadyQueue {
 public:
  /// From any thread. A sequentially consistent exchange: who looks for sleepers after it misses none.
  void push(Operation* operation) {
    operation->next = inbox_.load(std::memory_order_relaxed);
    while (
        !inbox_.compare_exchange_weak(operation->next, operation, std::memory_order_seq_cst, std::memory_order_relaxed))
      pause();
  }

  bool empty() const {
    return inbox_.load(std::memory_order_seq_cst) == nullptr && levels_.load(std::memory_order_seq_cst) == 0;
  }

  /// As empty, and never mistaken while another thread sorts what has come in: for who is about to sleep.
  bool empty_for_sure() {
    Hold hold(lock_);
    return empty();
  }

  /// The first of the highest level, or null.
  Operation* pop() {
    if (empty()) return nullptr;
    Hold hold(lock_);
    drain();
    const std::uint32_t levels = levels_.load(std::memory_order_relaxed);
    if (levels == 0) return nullptr;
    Operation* operation = level_[31 - std::countl_zero(levels)].first;
    unlink(operation);
    return operation;
  }

  /// Takes this one, where it is here.
  bool claim(Operation* operation) {
    if (empty()) return false;
    Hold hold(lock_);
    drain();
    if (!operation->queued) return false;
    unlink(operation);
    return true;
  }

  /// Takes the one that `choose(how many there are)` says, or null. Those of one priority are counted in the order in
  /// which they became ready.
  template <class Choose>
  Operation* pick(Choose choose) {
    Hold hold(lock_);
    drain();
    std::size_t n = 0;
    for (const Level& level : level_)
      for (const Operation* at = level.first; at != nullptr; at = at->next) ++n;
    if (n == 0) return nullptr;
    std::size_t k = choose(n) % n;
    for (const Level& level : level_)
      for (Operation* at = level.first; at != nullptr; at = at->next)
        if (k-- == 0) {
          unlink(at);
          return at;
        }
    return nullptr;
  }

  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

 private:
  struct Level {
    Operation* first = nullptr;
    Operation* last = nullptr;
  };

  void drain() {
    if (inbox_.load(std::memory_order_relaxed) == nullptr) return;
    Operation* newest = inbox_.exchange(nullptr, std::memory_order_acquire);
    Operation* oldest = nullptr;
    while (newest != nullptr) {
      Operation* const before = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = before;
    }
    std::uint32_t levels = levels_.load(std::memory_order_relaxed);
    while (oldest != nullptr) {
      Operation* const after = oldest->next;
      Level& level = level_[oldest->level];
      oldest->queued = true;
      oldest->next = nullptr;
      oldest->previous = level.last;
      (level.last == nullptr ? level.first : level.last->next) = oldest;
      level.last = oldest;
      levels |= 1u << oldest->level;
      oldest = after;
    }
    levels_.store(levels, std::memory_order_seq_cst);
  }

  void unlink(Operation* operation) {
    Level& level = level_[operation->level];
    (operation->previous == nullptr ? level.first : operation->previous->next) = operation->next;
    (operation->next == nullptr ? level.last : operation->next->previous) = operation->previous;
    operation->queued = false;
    if (level.first == nullptr)
      levels_.store(levels_.load(std::memory_order_relaxed) & ~(1u << operation->level), std::memory_order_seq_cst);
  }

  alignas(64) std::atomic<Operation*> inbox_{nullptr};  // newest first
  alignas(64) SpinLock lock_;
  std::atomic<std::uint32_t> levels_{0};  // which have something
  Level level_[32];
};

}  // namespace strop::inline v0::detail
