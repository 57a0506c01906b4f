// SPDX-License-Identifier: Apache-2.0
/// \file
/// What one thread keeps of the CPU pool: a stack of free blocks per small class, and its share of the statistics.
#pragma once
#include <strop/memory/size_class.hpp>

#include <atomic>
#include <cstdint>

namespace strop::inline v0::memory::detail {

/// Written by its thread alone, so plain loads and stores suffice; atomic because statistics() reads it from elsewhere.
class Count {
 public:
  std::int64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }
  std::int64_t add(std::int64_t n) noexcept {
    const std::int64_t sum = get() + n;
    value_.store(sum, std::memory_order_relaxed);
    return sum;
  }
  std::int64_t take() noexcept {
    const std::int64_t all = get();
    value_.store(0, std::memory_order_relaxed);
    return all;
  }

 private:
  std::atomic<std::int64_t> value_{0};
};

struct Magazine {
  std::uint16_t count = 0, capacity = 0;
  std::int32_t block = 0;  // bytes
  void** slots = nullptr;
};

/// The sum of all capacities.
constexpr int slot_count() {
  int sum = 0;
  for (int c = 0; c < cached_classes; ++c) sum += magazine_capacity(c);
  return sum;
}

struct ThreadCache {
  Magazine magazines[cached_classes];
  Count live, allocations, releases;  // since the pool last looked
  std::int64_t top = 0;               // the highest `live` since then
  std::uint64_t epoch = 0;            // of the pool, when the magazines were last in step with it
  ThreadCache *previous = nullptr, *next = nullptr;
  void* slots[slot_count()];

  ThreadCache() {
    void** at = slots;
    for (int c = 0; c < cached_classes; ++c) {
      magazines[c].block = static_cast<std::int32_t>(class_bytes(c));
      magazines[c].slots = at;
      at += magazine_capacity(c);
    }
  }

  void* pop(Magazine& magazine) noexcept {
    const std::int64_t now = live.add(magazine.block);
    if (now > top) top = now;
    allocations.add(1);
    return magazine.slots[--magazine.count];
  }
  void push(Magazine& magazine, void* data) noexcept {
    live.add(-magazine.block);
    releases.add(1);
    magazine.slots[magazine.count++] = data;
  }
};

/// This thread's cache; null before its first small block and after its thread_local objects began to be destroyed.
/// Trivial on purpose: it may be read at any time, also by destructors that run after the thread's last.
inline constinit thread_local ThreadCache* thread_cache = nullptr;
inline constinit thread_local bool thread_ended = false;

}  // namespace strop::inline v0::memory::detail
