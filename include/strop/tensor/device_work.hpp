// SPDX-License-Identifier: Apache-2.0
/// \file
/// Work on arrays of a GPU: it follows what other streams do with them, and they wait for it.
#pragma once
#include <strop/core/list.hpp>
#include <strop/memory/gpu.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// What this thread queues on the current stream of a device while this lives. Before it is queued, say which arrays it
/// reads and writes; what is made meanwhile may be said until the end. Keeps their memory. Nothing on the CPU.
class DeviceWork {
 public:
  explicit DeviceWork(Device device)
      : stream_(device.kind == DeviceKind::gpu ? &memory::detail::current_stream(device) : nullptr) {}
  ~DeviceWork() {
    if (stream_ != nullptr) end();
  }
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;

  void reads(const NDArray& a) { each_part(a, false); }
  void writes(const NDArray& a) { each_part(a, true); }
  void uses(const Ref<Buffer>& buffer, bool writes);

 private:
  void each_part(const NDArray& a, bool writes);
  void end() noexcept;

  struct Use {
    Ref<Buffer> buffer;
    bool writes;
  };
  memory::detail::GpuStream* stream_;
  List<Use, 8> uses_;
};

/// Copies bytes between arrays on any devices, from and to the places given.
void copy_between(const NDArray& to, std::byte* target, const NDArray& from, const std::byte* source,
                  std::int64_t bytes);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/device_work_impl.hpp>
#endif
