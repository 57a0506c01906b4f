// SPDX-License-Identifier: Apache-2.0
/// \file
/// The central lists of one device: every block that no thread holds, and every region that the device was asked for.
#pragma once
#include <strop/memory/root.hpp>
#include <strop/memory/statistics.hpp>
#include <strop/memory/thread_cache.hpp>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace strop::inline v0::memory::detail {

/// Thread-safe. The backend is called while the pool is unlocked.
class Pool {
 public:
  explicit Pool(Device device) : device_(device), pooled_(!environment_says_unpooled(device.kind)) {}

  /// One block of class c, for a request of `bytes`.
  void* allocate(int c, std::int64_t bytes) {
    std::unique_lock lock(mutex_);
    if (free_[c].empty()) grow(lock, c, bytes);
    void* const data = free_[c].back();
    free_[c].pop_back();
    ++allocations_;
    rise(live_ + class_bytes(c));
    return data;
  }

  void release(int c, void* data) noexcept;

  /// Half fills an empty magazine and hands out one block of it.
  void* refill(ThreadCache& cache, int c, std::int64_t bytes) {
    {
      std::unique_lock lock(mutex_);
      collect_counts(cache);
      if (pooled_) {
        if (free_[c].empty()) grow(lock, c, bytes);
        Magazine& magazine = cache.magazines[c];
        const int wanted = magazine_capacity(c) / 2;
        while (magazine.count < wanted && !free_[c].empty()) {
          magazine.slots[magazine.count++] = free_[c].back();
          free_[c].pop_back();
        }
        return cache.pop(magazine);
      }
    }
    return allocate(c, bytes);
  }

  /// Half empties a full magazine and takes the block.
  void spill(ThreadCache& cache, int c, void* data) noexcept {
    {
      const std::lock_guard lock(mutex_);
      collect_counts(cache);
      Magazine& magazine = cache.magazines[c];
      if (magazine.capacity != 0) {
        while (magazine.count > magazine.capacity / 2) free_[c].push_back(magazine.slots[--magazine.count]);
        cache.push(magazine, data);
        return;
      }
    }
    release(c, data);
  }

  void attach(ThreadCache& cache) noexcept {
    const std::lock_guard lock(mutex_);
    cache.next = caches_;
    if (caches_ != nullptr) caches_->previous = &cache;
    caches_ = &cache;
    empty(cache);
  }

  void detach(ThreadCache& cache) noexcept {
    const std::lock_guard lock(mutex_);
    collect_counts(cache);
    empty(cache);
    (cache.previous != nullptr ? cache.previous->next : caches_) = cache.next;
    if (cache.next != nullptr) cache.next->previous = cache.previous;
  }

  Statistics statistics();
  void release_cached();
  void set_limit(std::int64_t bytes);
  void set_pooling(bool pooled);
  void reset_peak();
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  struct Region {
    std::int64_t bytes;
    std::int64_t blocks;  // of its class that it was cut into
    std::int64_t idle;    // of these, in free_; counted when needed
    int block_class;
    void (*give_back)(Device, void*, std::int64_t) noexcept;  // of the backend that acquired it
  };
  using Regions = std::map<std::uintptr_t, Region>;

  void grow(std::unique_lock<std::mutex>& lock, int c, std::int64_t bytes);
  bool adopt(void* data, std::int64_t bytes, int c, const Backend& source) noexcept;
  void retire(Regions::iterator region, Regions& gone) noexcept;
  void collect(Regions& gone) noexcept;
  void give_back(Regions& gone) const noexcept;
  Regions::iterator region_of(void* data) noexcept;

  ThreadCache* mine() const noexcept { return device_.kind == DeviceKind::cpu ? thread_cache : nullptr; }

  void rise(std::int64_t live) noexcept {
    live_ = live;
    if (live > peak_) peak_ = live;
  }

  /// Adds up what the thread did since the last time and empties its magazines where the pool was told to.
  void collect_counts(ThreadCache& cache) noexcept {
    if (live_ + cache.top > peak_) peak_ = live_ + cache.top;
    cache.top = 0;
    live_ += cache.live.take();
    allocations_ += cache.allocations.take();
    releases_ += cache.releases.take();
    if (cache.epoch != epoch_) empty(cache);
  }

  void empty(ThreadCache& cache) noexcept {
    cache.epoch = epoch_;
    for (int c = 0; c < cached_classes; ++c) {
      Magazine& magazine = cache.magazines[c];
      while (magazine.count != 0) free_[c].push_back(magazine.slots[--magazine.count]);
      magazine.capacity = static_cast<std::uint16_t>(pooled_ ? magazine_capacity(c) : 0);
    }
  }

  const Device device_;
  std::mutex mutex_;
  std::vector<void*> free_[class_count];   // with room for every block of the class: returning one never allocates
  std::int64_t blocks_[class_count] = {};  // of a class in all regions
  Regions regions_;
  ThreadCache* caches_ = nullptr;
  std::int64_t held_ = 0, limit_ = no_limit, live_ = 0, peak_ = 0;
  std::int64_t allocations_ = 0, releases_ = 0, system_calls_ = 0;
  std::uint64_t epoch_ = 1;
  bool pooled_;
};

}  // namespace strop::inline v0::memory::detail
