// SPDX-License-Identifier: Apache-2.0
/// \file
/// GPUs as the library uses them: the driver, the streams, blocks of memory and who uses them, copies.
#pragma once
#include <strop/memory/gpu_block.hpp>
#include <strop/memory/gpu_driver.hpp>
#include <strop/memory/gpu_stream.hpp>

#include <cstdint>

namespace strop::inline v0::memory {

/// Sets the driver of all GPUs and returns what was set before; nullptr takes it away. Waits for what the one before
/// has been asked for, and destroys its streams: no array of a GPU may be in use.
const GpuDriver* set_gpu_driver(const GpuDriver* driver);

namespace detail {

/// Copies on the current stream; where one side is the host it has happened when the call returns.
void copy_on_stream(Device to, void* target, Device from, const void* source, std::int64_t bytes);
void clear_on_stream(Device device, void* target, std::int64_t bytes);

/// Copies bytes between any two devices.
inline void copy_bytes(Device to, void* target, Device from, const void* source, std::int64_t bytes) {
  if (bytes == 0) return;
  if (to.kind == DeviceKind::cpu && from.kind == DeviceKind::cpu)
    __builtin_memcpy(target, source, static_cast<std::size_t>(bytes));
  else
    copy_on_stream(to, target, from, source, bytes);
}

/// Sets bytes on any device to zero.
inline void clear_bytes(Device device, void* target, std::int64_t bytes) {
  if (bytes == 0) return;
  if (device.kind == DeviceKind::cpu)
    __builtin_memset(target, 0, static_cast<std::size_t>(bytes));
  else
    clear_on_stream(device, target, bytes);
}

}  // namespace detail
}  // namespace strop::inline v0::memory

#if !defined(STROP_COMPILED)
#include <strop/memory/gpu_impl.hpp>
#endif
