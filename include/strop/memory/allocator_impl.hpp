// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the allocator does where the thread's own blocks do not suffice, and its switches.
#pragma once
#include <strop/core/config.hpp>
#include <strop/memory/allocator.hpp>
#include <strop/memory/pool_system.hpp>

#include <cstdint>
#include <mutex>
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

[[gnu::noinline]] STROP_IMPL void* allocate_central(Device device, std::int64_t bytes) {
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
  if (device.kind == DeviceKind::cpu) unpoison(data, bytes);
  return data;
}

[[gnu::noinline]] STROP_IMPL void release_central(Device device, void* data, std::int64_t bytes) noexcept {
  if (data == nullptr || bytes <= 0) return;
  const int c = class_of(bytes);
  if (device.kind == DeviceKind::cpu) poison(data, class_bytes(c));
  Pool& pool = pool_of(device);
  ThreadCache* const cache = device.kind == DeviceKind::cpu && c < cached_classes ? attach() : nullptr;
  if (cache != nullptr)
    pool.spill(*cache, c, data);
  else
    pool.release(c, data);
}

}  // namespace detail

STROP_IMPL Statistics statistics(Device device) { return detail::pool_of(device).statistics(); }

STROP_IMPL void reset_peak(Device device) { detail::pool_of(device).reset_peak(); }

STROP_IMPL void release_cached(Device device) {
  detail::Pool& pool = detail::pool_of(device);
  if (const auto reclaim = detail::root.reclaim.load(std::memory_order_acquire);
      reclaim != nullptr && device.kind == DeviceKind::gpu)
    reclaim(device);
  pool.release_cached();
}

STROP_IMPL void set_limit(Device device, std::int64_t bytes) {
  if (bytes < 0)
    fail("memory::set_limit: a limit of ", bytes, " bytes for ", detail::name_of(device), ", expected at least 0");
  detail::pool_of(device).set_limit(bytes);
}

STROP_IMPL void set_pooling(Device device, bool pooled) { detail::pool_of(device).set_pooling(pooled); }

STROP_IMPL Backend set_backend(DeviceKind kind, Backend backend) {
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

STROP_IMPL void inject_failures(std::int64_t nth, std::int64_t count) {
  const std::lock_guard lock(detail::root.mutex);
  detail::root.injected_skip = nth > 0 ? nth - 1 : 0;
  detail::root.injected_failures = nth > 0 ? count : 0;
}

}  // namespace strop::inline v0::memory
