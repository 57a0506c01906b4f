// SPDX-License-Identifier: Apache-2.0
/// \file
/// How ready operations are sorted and taken.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <strop/core/config.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/ready.hpp>
#include <strop/engine/sync.hpp>

namespace strop::inline v0::detail {

STROP_IMPL std::uint8_t level_of(int priority) {
  const auto size = priority < 0 ? 0u - static_cast<unsigned>(priority) : static_cast<unsigned>(priority);
  const int steps = static_cast<int>(size < 8 ? size : 4u + static_cast<unsigned>(std::bit_width(size)));
  const int level = priority < 0 ? 16 - steps : 16 + steps;
  return static_cast<std::uint8_t>(level < 0 ? 0 : level > 31 ? 31 : level);
}

STROP_IMPL void ReadyQueue::push(Operation* operation) {
  operation->next = inbox_.load(std::memory_order_relaxed);
  while (
      !inbox_.compare_exchange_weak(operation->next, operation, std::memory_order_seq_cst, std::memory_order_relaxed))
    pause();
}

STROP_IMPL bool ReadyQueue::empty_for_sure() {
  Hold hold(lock_);
  return empty();
}

STROP_IMPL Operation* ReadyQueue::pop() {
  if (empty()) return nullptr;
  Hold hold(lock_);
  drain();
  const std::uint32_t levels = levels_.load(std::memory_order_relaxed);
  if (levels == 0) return nullptr;
  Operation* operation = level_[31 - std::countl_zero(levels)].first;
  unlink(operation);
  return operation;
}

STROP_IMPL bool ReadyQueue::claim(Operation* operation) {
  if (empty()) return false;
  Hold hold(lock_);
  drain();
  if (!operation->queued) return false;
  unlink(operation);
  return true;
}

STROP_IMPL void ReadyQueue::drain() {
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

STROP_IMPL void ReadyQueue::unlink(Operation* operation) {
  Level& level = level_[operation->level];
  (operation->previous == nullptr ? level.first : operation->previous->next) = operation->next;
  (operation->next == nullptr ? level.last : operation->next->previous) = operation->previous;
  operation->queued = false;
  if (level.first == nullptr)
    levels_.store(levels_.load(std::memory_order_relaxed) & ~(1u << operation->level), std::memory_order_seq_cst);
}

}  // namespace strop::inline v0::detail
