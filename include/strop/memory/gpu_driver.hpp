// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a GPU's runtime does for arrays besides giving memory: streams, events, copies. A program without CUDA has
/// none.
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
/// Which streams there are, and who waits for whom, is the library's to say (memory/gpu_stream.hpp): the driver makes
/// them and queues on the one that it is given. All functions may be called from any thread and throw Error with one
/// sentence where the device refuses.
struct GpuDriver {
  /// Queues a copy of bytes to, from or within GPUs, on a stream of `to` where that is a GPU, else of `from`.
  void (*copy)(Device to, void* target, Device from, const void* source, std::int64_t bytes, void* stream) = nullptr;
  /// Sets bytes to zero.
  void (*clear)(Device device, void* target, std::int64_t bytes, void* stream) = nullptr;
  /// sum = a + b on n elements; all three lie on the device, and sum may be a or b.
  void (*add)(Device device, Dtype dtype, const void* a, const void* b, void* sum, std::int64_t n,
              void* stream) = nullptr;
  /// Converts n elements that lie on the device to another type, as the CPU does.
  void (*convert)(Device device, Dtype from, const void* source, Dtype to, void* target, std::int64_t n,
                  void* stream) = nullptr;
  /// A new stream, as the driver's kernels take it: work on one is done in the order in which it was queued.
  void* (*make_stream)(Device device) = nullptr;
  void (*destroy_stream)(Device device, void* stream) noexcept = nullptr;
  /// A new event: a place in a stream.
  void* (*make_event)(Device device) = nullptr;
  void (*destroy_event)(Device device, void* event) noexcept = nullptr;
  /// Moves the event to behind all that is queued on the stream. Who waits for its earlier place goes on doing so.
  void (*record)(Device device, void* event, void* stream) = nullptr;
  /// What is queued on the stream from now on runs after the event, which may be another device's.
  void (*follow)(Device device, void* stream, void* event) = nullptr;
  /// Returns when the event has passed; throws what failed on the device since the last time.
  void (*wait)(Device device, void* event) = nullptr;
  /// Whether the event has passed, or never will as the device has failed.
  bool (*passed)(Device device, void* event) noexcept = nullptr;
  /// How many devices there are.
  int (*count)() = nullptr;
};

inline constinit std::atomic<const GpuDriver*> gpu_driver{nullptr};

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

}  // namespace detail
}  // namespace strop::inline v0::memory

namespace strop::inline v0 {
using memory::gpu_count;
}  // namespace strop::inline v0
