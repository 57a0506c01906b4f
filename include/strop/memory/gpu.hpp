// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a GPU does for arrays besides giving memory: copies, a stream, waiting. A program without CUDA has no driver.
#pragma once
#include <strop/core/dtype.hpp>
#include <strop/core/span.hpp>
#include <strop/memory/backend.hpp>

#include <atomic>
#include <cstdint>

namespace strop::inline v0::memory {

/// The work of one kind of device, as function pointers. strop/cuda/provider.hpp plugs CUDA's in; memory itself comes
/// from the Backend of DeviceKind::gpu.
///
/// Every device has one stream. Copies, sums and kernels are done in the order in which they were asked for, so that a
/// block that is released may be handed out again at once. All functions may be called from any thread and throw Error
/// with one sentence where the device refuses.
struct GpuDriver {
  /// Copies bytes to, from or within GPUs. Where one side is the host it has happened when the call returns.
  void (*copy)(Device to, void* target, Device from, const void* source, std::int64_t bytes) = nullptr;
  /// Sets bytes to zero.
  void (*clear)(Device device, void* target, std::int64_t bytes) = nullptr;
  /// sum = a + b on n elements; all three lie on the device, and sum may be a or b.
  void (*add)(Device device, Dtype dtype, const void* a, const void* b, void* sum, std::int64_t n) = nullptr;
  /// Converts n elements that lie on the device to another type, as the CPU does.
  void (*convert)(Device device, Dtype from, const void* source, Dtype to, void* target, std::int64_t n) = nullptr;
  /// The stream, as the driver's kernels take it.
  void* (*stream)(Device device) = nullptr;
  /// Returns when everything that was asked for before is done; throws what failed since the last time.
  void (*wait)(Device device) = nullptr;
  /// How many devices there are.
  int (*count)() = nullptr;
};

inline constinit std::atomic<const GpuDriver*> gpu_driver{nullptr};

/// Sets the driver of all GPUs and returns what was set before; nullptr takes it away.
inline const GpuDriver* set_gpu_driver(const GpuDriver* driver) {
  return gpu_driver.exchange(driver, std::memory_order_acq_rel);
}

/// How many GPUs this program can use: none where it has no driver.
inline int gpu_count() {
  const GpuDriver* const driver = gpu_driver.load(std::memory_order_acquire);
  return driver != nullptr && driver->count != nullptr ? driver->count() : 0;
}

namespace detail {

/// The driver, for work on this device; Error where the program has none.
inline const GpuDriver& driver_for(Device device) {
  const GpuDriver* const driver = gpu_driver.load(std::memory_order_acquire);
  if (driver == nullptr || device.kind != DeviceKind::gpu)
    fail("strop: ", name_of(device), " was asked for, but this program has no GPU: no .cu file with strop is in it");
  return *driver;
}

/// Copies bytes between any two devices.
inline void copy_bytes(Device to, void* target, Device from, const void* source, std::int64_t bytes) {
  if (bytes == 0) return;
  if (to.kind == DeviceKind::cpu && from.kind == DeviceKind::cpu)
    __builtin_memcpy(target, source, static_cast<std::size_t>(bytes));
  else
    driver_for(to.kind == DeviceKind::gpu ? to : from).copy(to, target, from, source, bytes);
}

/// Sets bytes on any device to zero.
inline void clear_bytes(Device device, void* target, std::int64_t bytes) {
  if (bytes == 0) return;
  if (device.kind == DeviceKind::cpu)
    __builtin_memset(target, 0, static_cast<std::size_t>(bytes));
  else
    driver_for(device).clear(device, target, bytes);
}

}  // namespace detail
}  // namespace strop::inline v0::memory

namespace strop::inline v0 {
using memory::gpu_count;
}  // namespace strop::inline v0
