// SPDX-License-Identifier: Apache-2.0
/// \file
/// CUDA's devices: which there are, the thread's stream of each, and the sentences of what fails on them. For .cu
/// files.
#pragma once
#if defined(__CUDACC__)
#include <strop/memory/gpu.hpp>
#include <strop/op/entry.hpp>

#include <cuda_runtime_api.h>

#include <atomic>

namespace strop::inline v0::cuda {

/// The devices of the machine, asked for once.
struct Machine {
  int count = 0;
  cudaError_t status = cudaSuccess;
  static const Machine& get() {
    static const Machine machine = [] {
      Machine m;
      m.status = cudaGetDeviceCount(&m.count);
      if (m.status != cudaSuccess) m.count = 0;
      return m;
    }();
    return machine;
  }
};

/// Refuses a device that the machine lacks.
inline void check_device(Device device) {
  const Machine& machine = Machine::get();
  if (machine.count == 0)
    fail(
        "strop: ", to_text(device), " was asked for, but there is no CUDA device",
        machine.status == cudaSuccess || machine.status == cudaErrorNoDevice ? "" : " that can be used: ",
        machine.status == cudaSuccess || machine.status == cudaErrorNoDevice ? "" : cudaGetErrorString(machine.status));
  if (device.id < 0 || device.id >= machine.count)
    fail("strop: ", to_text(device), " was asked for, but there ", machine.count == 1 ? "is " : "are ", machine.count,
         " CUDA device", machine.count == 1 ? "" : "s", ", the last is gpu(", machine.count - 1, ')');
}

/// What the library knows of a device in use.
struct DeviceState {
  std::atomic<const Entry*> last{nullptr};  // the operator whose kernel was launched last
};
inline DeviceState device_states[memory::detail::device_count];
inline DeviceState& state_of(Device device) { return device_states[device.id]; }

/// Throws what a call on the device answered, unless it is success. Kernels fail later than they are launched, so the
/// operator is the last of those that it may have been.
inline void check(cudaError_t status, Device device, std::string_view doing) {
  if (status == cudaSuccess) return;
  const Entry* const last = state_of(device).last.load(std::memory_order_relaxed);
  const std::string after = last == nullptr ? std::string() : cat(", at or before operator ", last->snake);
  fail("strop: ", to_text(device), ": ", doing, " failed with '", cudaGetErrorString(status), "'", after);
}

/// While it lives the device is the thread's current one.
class OnDevice {
 public:
  explicit OnDevice(Device device) {
    check_device(device);
    check(cudaGetDevice(&before_), device, "choosing the device");
    if (before_ != device.id) {
      check(cudaSetDevice(device.id), device, "choosing the device");
      changed_ = true;
    }
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (changed_) (void)cudaSetDevice(before_);
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// The stream that this thread's work on the device goes to: the device's own, or that of a strop::stream_scope.
inline cudaStream_t stream_of(Device device) {
  return static_cast<cudaStream_t>(memory::detail::current_stream(device).handle());
}

}  // namespace strop::inline v0::cuda
#endif
