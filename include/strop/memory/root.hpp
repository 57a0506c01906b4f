// SPDX-License-Identifier: Apache-2.0
/// \file
/// What all pools share: the backends, the injection of failures for tests, and how a pool is found.
#pragma once
#include <strop/core/environment.hpp>
#include <strop/core/isa.hpp>
#include <strop/memory/backend.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <type_traits>

namespace strop::inline v0::memory::detail {

class Pool;

inline constexpr int kind_count = 8;  // MXNet numbers its kinds 1 to 5

/// Constant-initialised and never destroyed, as are the pools: memory may be released at any time of the program.
struct Root {
  std::mutex mutex;
  Backend backends[kind_count] = {{}, {acquire_from_system, give_back_to_system}};
  std::int64_t injected_skip = 0, injected_failures = 0;
  std::atomic<Pool*> pools[kind_count][device_count] = {};
  /// Waits for released blocks of a GPU that are still in use, and hands them to the pool; null without a driver.
  std::atomic<void (*)(Device) noexcept> reclaim{nullptr};

  /// Asks the device's backend; nullptr when it has none, or when a failure was injected.
  void* acquire(Device device, std::int64_t bytes, Backend& source) {
    {
      const std::lock_guard lock(mutex);
      source = backends[static_cast<int>(device.kind)];
      if (injected_skip > 0)
        --injected_skip;
      else if (injected_failures > 0)
        return --injected_failures, nullptr;
    }
    if (source.acquire == nullptr) {
      fail("memory::allocate: ", name_of(device), " was asked for ", bytes,
           " bytes, but there is no GPU in this program", " (no memory backend is set for this kind of device)");
    }
    void* const data = source.acquire(device, bytes);
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
      source.give_back(device, data, bytes);
      fail("memory::allocate: the memory backend of ", name_of(device),
           " returned an address that is not a multiple of ", alignment);
    }
    return data;
  }
};

inline constinit Root root;
static_assert(std::is_trivially_destructible_v<Backend>);

/// MXNet's switch: MXNET_GPU_MEM_POOL_TYPE=Unpooled gives every block back at once (also STROP_…, CPU and
/// PINNED).
inline bool environment_says_unpooled(DeviceKind kind) {
  const std::string_view name = kind == DeviceKind::cpu ? "CPU" : kind == DeviceKind::gpu ? "GPU" : "CPU_PINNED";
  return strop::detail::environment_word(
             {cat("STROP_", name, "_MEM_POOL_TYPE"), cat("MXNET_", name, "_MEM_POOL_TYPE")}) == "Unpooled";
}

}  // namespace strop::inline v0::memory::detail
