// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rare half of the pool: growth, release to the system, limits, statistics, and how a pool is made and found.
#pragma once
#include <strop/core/fork.hpp>
#include <strop/memory/pool.hpp>

#include <new>

namespace strop::inline v0::memory::detail {

inline std::uintptr_t address(void* data) noexcept { return reinterpret_cast<std::uintptr_t>(data); }

/// Leaves at least one block in free_[c], or throws; everything cached is given back once before that.
inline void Pool::grow(std::unique_lock<std::mutex>& lock, int c, std::int64_t bytes) {
  const std::int64_t block = class_bytes(c);
  std::int64_t region = pooled_ && block <= span_block_bytes ? span_bytes : block;
  for (bool again = false;; again = true) {
    if (region <= limit_ - held_) {
      held_ += region;  // before the lock is dropped, so that threads cannot pass the limit together
      ++system_calls_;
      lock.unlock();
      Backend source;
      void* data = nullptr;
      try {
        data = root.acquire(device_, region, source);
      } catch (...) {
        lock.lock();
        held_ -= region;
        throw;
      }
      lock.lock();
      if (data != nullptr) {
        if (adopt(data, region, c, source)) return;
        ++system_calls_;
        source.give_back(device_, data, region);
      }
      held_ -= region;
    }
    if (!free_[c].empty()) return;  // released by another thread meanwhile
    if (again) break;
    Regions gone;
    collect(gone);
    lock.unlock();
    give_back(gone);
    lock.lock();
    if (!free_[c].empty()) return;  // what this thread held in its cache
    region = block;
  }
  std::int64_t live = live_;
  for (const ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) live += cache->live.get();
  const std::int64_t cached = held_ - live, limit = limit_;
  lock.unlock();
  const std::string held = cat(live, " bytes are live, ", cached, " cached, ");
  if (limit == no_limit) {
    fail("memory::allocate: ", name_of(device_), " is out of memory for ", bytes, " bytes: ", held,
         "and no limit is set");
  }
  fail("memory::allocate: ", name_of(device_), " is out of memory for ", bytes, " bytes: ", held, "and the limit is ",
       limit, " bytes");
}

/// Cuts a region into blocks. False, with nothing changed, when there is no memory to remember it by.
inline bool Pool::adopt(void* data, std::int64_t bytes, int c, const Backend& source) noexcept {
  const std::int64_t block = class_bytes(c), count = bytes / block;
  try {
    const auto needed = static_cast<std::size_t>(blocks_[c] + count);
    if (free_[c].capacity() < needed) free_[c].reserve(needed + free_[c].capacity());
    regions_.insert({address(data), Region{bytes, count, 0, c, source.give_back}});
  } catch (const std::bad_alloc&) {
    return false;
  }
  blocks_[c] += count;
  if (device_.kind == DeviceKind::cpu) poison(data, bytes);
  for (std::int64_t i = count; i-- > 0;) free_[c].push_back(static_cast<std::byte*>(data) + i * block);
  return true;
}

inline Pool::Regions::iterator Pool::region_of(void* data) noexcept { return --regions_.upper_bound(address(data)); }

inline void Pool::retire(Regions::iterator region, Regions& gone) noexcept {
  held_ -= region->second.bytes;
  blocks_[region->second.block_class] -= region->second.blocks;
  ++system_calls_;
  gone.insert(regions_.extract(region));
}

inline void Pool::release(int c, void* data) noexcept {
  Regions gone;
  {
    const std::lock_guard lock(mutex_);
    live_ -= class_bytes(c);
    ++releases_;
    const auto region = pooled_ ? regions_.end() : regions_.find(address(data));
    if (region == regions_.end() || region->second.blocks > 1) {
      free_[c].push_back(data);
    } else {
      retire(region, gone);
    }
  }
  give_back(gone);
}

/// Moves every region of which no block is in use to `gone`.
inline void Pool::collect(Regions& gone) noexcept {
  ++epoch_;
  if (mine() != nullptr) collect_counts(*mine());
  for (auto& [start, region] : regions_) region.idle = 0;
  for (int c = 0; c < class_count; ++c) {
    std::vector<void*>& blocks = free_[c];
    for (void* data : blocks) ++region_of(data)->second.idle;
    std::size_t kept = 0;
    for (void* data : blocks) {
      const Region& region = region_of(data)->second;
      if (region.idle != region.blocks) blocks[kept++] = data;
    }
    blocks.resize(kept);
  }
  for (auto at = regions_.begin(); at != regions_.end();) {
    const auto region = at++;
    if (region->second.idle == region->second.blocks) retire(region, gone);
  }
}

inline void Pool::give_back(Regions& gone) const noexcept {
  for (auto& [start, region] : gone) {
    void* const data = reinterpret_cast<void*>(start);  // NOLINT(performance-no-int-to-ptr): came from this pointer
    if (device_.kind == DeviceKind::cpu) unpoison(data, region.bytes);
    region.give_back(device_, data, region.bytes);
  }
}

inline void Pool::release_cached() {
  Regions gone;
  {
    const std::lock_guard lock(mutex_);
    collect(gone);
  }
  give_back(gone);
}

inline void Pool::set_limit(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

inline void Pool::set_pooling(bool pooled) {
  {
    const std::lock_guard lock(mutex_);
    pooled_ = pooled;
  }
  release_cached();
}

inline void Pool::reset_peak() {
  const std::lock_guard lock(mutex_);
  if (mine() != nullptr) collect_counts(*mine());
  peak_ = live_;
}

inline Statistics Pool::statistics() {
  const std::lock_guard lock(mutex_);
  if (mine() != nullptr) collect_counts(*mine());
  Statistics s{live_, 0, peak_, allocations_ - releases_, allocations_, system_calls_};
  for (const ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
    s.live_bytes += cache->live.get();
    s.live_blocks += cache->allocations.get() - cache->releases.get();
    s.allocations += cache->allocations.get();
  }
  if (s.live_bytes > s.peak_bytes) s.peak_bytes = peak_ = s.live_bytes;
  s.cached_bytes = held_ - s.live_bytes;
  return s;
}

/// A child of fork() finds every lock free. What other threads had cached stays theirs, and so unused, in the child.
inline void prepare_fork() noexcept {
  root.mutex.lock();
  for (auto& kind : root.pools)
    for (auto& pool : kind)
      if (pool != nullptr) pool.load()->mutex().lock();
}
inline void finish_fork(bool) noexcept {
  for (auto& kind : root.pools)
    for (auto& pool : kind)
      if (pool != nullptr) pool.load()->mutex().unlock();
  root.mutex.unlock();
}
inline constinit strop::detail::ForkPart forks{strop::detail::ForkPlace::memory, prepare_fork, finish_fork};

inline Pool& make_pool(Device device) {
  strop::detail::join_forks(forks);
  const std::lock_guard lock(root.mutex);
  std::atomic<Pool*>& slot = root.pools[static_cast<int>(device.kind)][device.id];
  if (slot.load(std::memory_order_acquire) == nullptr) slot.store(new Pool(device), std::memory_order_release);
  return *slot.load(std::memory_order_acquire);
}

/// The pool of a device. All CPU numbers are the same memory.
inline Pool& pool_of(Device device) {
  if (device.kind == DeviceKind::cpu) device.id = 0;
  const int kind = static_cast<int>(device.kind);
  if (kind < 1 || kind >= kind_count || device.id < 0 || device.id >= device_count) {
    fail("memory: there is no device of kind ", kind, " with number ", device.id, ": kinds are 1 to ", kind_count - 1,
         ", numbers 0 to ", device_count - 1);
  }
  Pool* const pool = root.pools[kind][device.id].load(std::memory_order_acquire);
  return pool != nullptr ? *pool : make_pool(device);
}

}  // namespace strop::inline v0::memory::detail
