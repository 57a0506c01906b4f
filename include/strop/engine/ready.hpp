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
std::uint8_t level_of(int priority);

class ReadyQueue {
 public:
  /// From any thread. A sequentially consistent exchange: who looks for sleepers after it misses none.
  void push(Operation* operation);

  bool empty() const {
    return inbox_.load(std::memory_order_seq_cst) == nullptr && levels_.load(std::memory_order_seq_cst) == 0;
  }

  /// As empty, and never mistaken while another thread sorts what has come in: for who is about to sleep.
  bool empty_for_sure();

  /// The first of the highest level, or null.
  Operation* pop();

  /// Takes this one, where it is here.
  bool claim(Operation* operation);

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

  void drain();

  void unlink(Operation* operation);

  alignas(64) std::atomic<Operation*> inbox_{nullptr};  // newest first
  alignas(64) SpinLock lock_;
  std::atomic<std::uint32_t> levels_{0};  // which have something
  Level level_[32];
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/engine/ready_impl.hpp>
#endif
