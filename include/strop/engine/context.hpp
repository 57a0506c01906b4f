// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a function may ask to be called with: the device that it works for and a stream of that device.
#pragma once
#include <cstdint>
#include <strop/core/device.hpp>
#include <strop/core/error.hpp>
#include <strop/memory/gpu.hpp>

namespace strop::inline v0 {

namespace detail {
class StreamScope;
}

/// A pushed function that takes one is called with it. What the function, and the calls on arrays in it, queue on the
/// stream comes after what earlier functions queued there; the operation is complete when that is done. An asynchronous
/// one is complete when its Done is called.
class EngineContext {
 public:
  Device device() const { return device_; }
  /// The device's stream for work, or the one for copies, as the driver's kernels take it; null on the processor and in
  /// a program without a GPU.
  void* stream() const { return stream_; }

 private:
  friend class detail::StreamScope;
  EngineContext(Device device, void* stream) : device_(device), stream_(stream) {}
  Device device_;
  void* stream_;
};

namespace detail {

/// The number of a device's queue in an engine: 0 is the processor's, whichever its number; every other device has two,
/// for work and for copies.
inline constexpr int max_devices = 16;
inline constexpr int max_lanes = 2 * max_devices;  // beside lane 0
constexpr Device device_of_lane(unsigned lane) { return lane == 0 ? cpu() : gpu(static_cast<int>((lane - 1) / 2)); }
inline std::uint8_t lane_of(Device device, bool copies) {
  if (device.kind == DeviceKind::cpu) return 0;
  if (device.id < 0 || device.id >= max_devices)
    fail("push: expected a device below gpu(", max_devices, "), got ", to_text(device));
  return static_cast<std::uint8_t>(1 + 2 * device.id + (copies ? 1 : 0));
}

/// The stream of a lane, the thread's current one for the call of one function.
class StreamScope {
 public:
  /// Error where there is no such device.
  explicit StreamScope(unsigned lane)
      : current_(find(lane)), context_(device_of_lane(lane), stream() == nullptr ? nullptr : stream()->handle()) {}
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

  const EngineContext& context() const { return context_; }
  /// Null where the function has none.
  memory::detail::GpuStream* stream() const { return current_.stream(); }

 private:
  static memory::detail::GpuStream* find(unsigned lane) {
    if (lane == 0 || memory::gpu_driver.load(std::memory_order_acquire) == nullptr) return nullptr;
    const bool copies = lane % 2 == 0;
    return copies ? &memory::detail::copy_stream(device_of_lane(lane))
                  : &memory::detail::compute_stream(device_of_lane(lane));
  }
  memory::detail::CurrentStream current_;
  EngineContext context_;
};

}  // namespace detail
}  // namespace strop::inline v0
