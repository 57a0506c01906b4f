// SPDX-License-Identifier: Apache-2.0
/// \file
/// The storage allocator: memory of every device, recycled.
#pragma once
#include <strop/memory/pool_system.hpp>

#include <cstdint>
#include <new>
#include <utility>

namespace strop::inline v0::memory {
namespace detail {

/// The thread's cache, made at the thread's first small block; null when the thread is ending.
inline ThreadCache* attach() noexcept {
  if (thread_cache == nullptr && !thread_ended) {
    struct Sentry {
      ~Sentry() {
        thread_ended = true;
        if (ThreadCache* const cache = thread_cache; cache != nullptr) {
          thread_cache = nullptr;
          pool_of(cpu()).detach(*cache);
          delete cache;
        }
      }
    };
    static thread_local Sentry sentry;
    thread_cache = new (std::nothrow) ThreadCache;
    if (thread_cache != nullptr) pool_of(cpu()).attach(*thread_cache);
  }
  return thread_cache;
}

[[gnu::noinline]] inline void* allocate_central(Device device, std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes < 0) fail("memory::allocate: a block of ", bytes, " bytes was asked for, expected at least 0");
  Pool& pool = pool_of(device);
  if (bytes > largest_block) {
    fail("memory::allocate: ", name_of(device), " is out of memory for ", bytes, " bytes: a block has at most ",
         largest_block, " bytes");
  }
  const int c = class_of(bytes);
  ThreadCache* const cache = device.kind == DeviceKind::cpu && c < cached_classes ? attach() : nullptr;
  void* const data = cache != nullptr ? pool.refill(*cache, c, bytes) : pool.allocate(c, bytes);
  if (device.kind == DeviceKind::cpu) unpoison(data, static_cast<std::size_t>(bytes));
  return data;
}

[[gnu::noinline]] inline void release_central(Device device, void* data, std::int64_t bytes) noexcept {
  if (data == nullptr || bytes <= 0) return;
  const int c = class_of(bytes);
  if (device.kind == DeviceKind::cpu) poison(data, static_cast<std::size_t>(class_bytes(c)));
  Pool& pool = pool_of(device);
  ThreadCache* const cache = device.kind == DeviceKind::cpu && c < cached_classes ? attach() : nullptr;
  if (cache != nullptr)
    pool.spill(*cache, c, data);
  else
    pool.release(c, data);
}

/// The thread's magazine for a request on the CPU of 1 to cached_block_bytes; null for any other, or without a cache.
inline Magazine* magazine_for(Device device, std::int64_t bytes, ThreadCache* cache) noexcept {
  const auto last = static_cast<std::uint64_t>(bytes - 1);
  if (device.kind != DeviceKind::cpu || last >= static_cast<std::uint64_t>(cached_block_bytes) || cache == nullptr) {
    return nullptr;
  }
  return &cache->magazines[small_classes.of[last / 64]];
}

}  // namespace detail

/// Memory for `bytes` bytes on `device`, uninitialised, at a multiple of 64 (of 2 MiB from 2 MiB on, where huge pages
/// are asked for); nullptr for 0 bytes. Thread-safe. Blocks that were released are handed out again. Errors: the device
/// has no memory left or its limit is reached, after everything cached was given back and the request repeated; `bytes`
/// is negative; no backend is set for this kind of device.
inline void* allocate(Device device, std::int64_t bytes) {
  detail::ThreadCache* const cache = detail::thread_cache;
  detail::Magazine* const magazine = detail::magazine_for(device, bytes, cache);
  if (magazine != nullptr && magazine->count != 0) [[likely]] {
    void* const data = cache->pop(*magazine);
    detail::unpoison(data, static_cast<std::size_t>(bytes));
    return data;
  }
  return detail::allocate_central(device, bytes);
}

/// Hands a block back for reuse, from any thread; `device` and `bytes` are those it was allocated with. nullptr is
/// ignored. Works at any time, also in destructors of static and thread_local objects.
inline void release(Device device, void* data, std::int64_t bytes) noexcept {
  detail::ThreadCache* const cache = detail::thread_cache;
  detail::Magazine* const magazine = detail::magazine_for(device, bytes, cache);
  if (magazine != nullptr && magazine->count < magazine->capacity && data != nullptr) [[likely]] {
    detail::poison(data, static_cast<std::size_t>(magazine->block));
    cache->push(*magazine, data);
    return;
  }
  detail::release_central(device, data, bytes);
}

/// What the pool of the device holds. All CPU numbers share one pool.
inline Statistics statistics(Device device) { return detail::pool_of(device).statistics(); }

/// Makes the peak of the statistics start again at what is live now.
inline void reset_peak(Device device) { detail::pool_of(device).reset_peak(); }

/// Gives everything that is cached back to the backend: the central lists and the calling thread's cache at once; other
/// threads empty theirs, at most 4 MiB each, into the central lists when they next come by.
inline void release_cached(Device device) { detail::pool_of(device).release_cached(); }

/// The most bytes, live and cached together, that the pool may take from its backend; `no_limit` ends it. What is held
/// beyond a new limit stays until it is released.
inline void set_limit(Device device, std::int64_t bytes) {
  if (bytes < 0)
    fail("memory::set_limit: a limit of ", bytes, " bytes for ", detail::name_of(device), ", expected at least 0");
  detail::pool_of(device).set_limit(bytes);
}

/// With false every released block goes back to the backend at once and every allocation comes from it, in the calling
/// thread at once and in other threads when their caches are next empty or full: for tools that look for memory errors.
inline void set_pooling(Device device, bool pooled) { detail::pool_of(device).set_pooling(pooled); }

/// Sets where memory of a kind of device comes from, from now on, gives back what is cached, and returns what was set
/// before. Blocks return to the backend that made them. An empty Backend takes the device away; for the CPU it restores
/// the system's. Errors: there is no such kind; only half of a backend.
inline Backend set_backend(DeviceKind kind, Backend backend) {
  const int k = static_cast<int>(kind);
  if (k < 1 || k >= detail::kind_count) fail("memory::set_backend: there is no kind of device ", k);
  if ((backend.acquire == nullptr) != (backend.give_back == nullptr)) {
    fail("memory::set_backend: a backend needs both acquire and give_back, or neither");
  }
  if (kind == DeviceKind::cpu && backend.acquire == nullptr) {
    backend = {detail::acquire_from_system, detail::give_back_to_system};
  }
  {
    const std::lock_guard lock(detail::root.mutex);
    std::swap(detail::root.backends[k], backend);
  }
  for (auto& pool : detail::root.pools[k]) {
    if (detail::Pool* const p = pool.load(std::memory_order_acquire); p != nullptr) p->release_cached();
  }
  return backend;
}

/// For tests: of the requests to backends that follow, on any device, the nth (1 is the next) and the count - 1 after
/// it are refused as if there were no memory. Two in a row make an allocation fail, as it is tried twice. nth 0 ends
/// it.
inline void inject_failures(std::int64_t nth, std::int64_t count = 2) {
  const std::lock_guard lock(detail::root.mutex);
  detail::root.injected_skip = nth > 0 ? nth - 1 : 0;
  detail::root.injected_failures = nth > 0 ? count : 0;
}

}  // namespace strop::inline v0::memory
