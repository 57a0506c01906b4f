// SPDX-License-Identifier: Apache-2.0
/// \file
/// The storage allocator: memory of every device, recycled.
#pragma once
#include <strop/memory/backend.hpp>
#include <strop/memory/poison.hpp>
#include <strop/memory/statistics.hpp>
#include <strop/memory/thread_cache.hpp>

#include <cstdint>

namespace strop::inline v0::memory {
namespace detail {

void* allocate_central(Device device, std::int64_t bytes);

void release_central(Device device, void* data, std::int64_t bytes) noexcept;

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
    detail::unpoison(data, bytes);
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
    detail::poison(data, magazine->block);
    cache->push(*magazine, data);
    return;
  }
  detail::release_central(device, data, bytes);
}

/// What the pool of the device holds. All CPU numbers share one pool.
Statistics statistics(Device device);

/// Makes the peak of the statistics start again at what is live now.
void reset_peak(Device device);

/// Gives everything that is cached back to the backend: the central lists and the calling thread's cache at once; other
/// threads empty theirs, at most 4 MiB each, into the central lists when they next come by.
void release_cached(Device device);

/// The most bytes, live and cached together, that the pool may take from its backend; `no_limit` ends it. What is held
/// beyond a new limit stays until it is released.
void set_limit(Device device, std::int64_t bytes);

/// With false every released block goes back to the backend at once and every allocation comes from it, in the calling
/// thread at once and in other threads when their caches are next empty or full: for tools that look for memory errors.
void set_pooling(Device device, bool pooled);

/// Sets where memory of a kind of device comes from, from now on, gives back what is cached, and returns what was set
/// before. Blocks return to the backend that made them. An empty Backend takes the device away; for the CPU it restores
/// the system's. Errors: there is no such kind; only half of a backend.
Backend set_backend(DeviceKind kind, Backend backend);

/// For tests: of the requests to backends that follow, on any device, the nth (1 is the next) and the count - 1 after
/// it are refused as if there were no memory. Two in a row make an allocation fail, as it is tried twice. nth 0 ends
/// it.
void inject_failures(std::int64_t nth, std::int64_t count = 2);

}  // namespace strop::inline v0::memory

#if !defined(STROP_COMPILED)
#include <strop/memory/allocator_impl.hpp>
#endif
