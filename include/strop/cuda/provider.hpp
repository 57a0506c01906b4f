// SPDX-License-Identifier: Apache-2.0
/// \file
/// CUDA behind the interfaces of memory/: device and pinned memory, copies, the stream. For .cu files; a program has it
/// as soon as one of its objects was made of one.
#pragma once
#if defined(__CUDACC__)
#include <strop/cuda/launch.hpp>
#include <strop/cuda/map.hpp>
#include <strop/memory/allocator.hpp>
#include <strop/memory/gpu.hpp>

namespace strop::inline v0::cuda {

/// Functions of GpuDriver and Backend.
struct Provider {
  Provider() {
    static constexpr memory::GpuDriver driver{copy,
                                              clear,
                                              add,
                                              convert,
                                              [](Device d) -> void* { return stream_of(d); },
                                              wait,
                                              [] { return Machine::get().count; }};
    memory::set_gpu_driver(&driver);
    memory::set_backend(DeviceKind::gpu, {acquire, give_back});
    memory::set_backend(memory::pinned().kind, {acquire_pinned, give_back_pinned});
  }

  static void* acquire(Device device, std::int64_t bytes) {
    const OnDevice here(device);
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, static_cast<std::size_t>(bytes));
    return answer(status, device, data);
  }
  static void give_back(Device device, void* data, std::int64_t) noexcept {
    int before = 0;
    (void)cudaGetDevice(&before);
    (void)cudaSetDevice(device.id);
    (void)cudaFree(data);  // waits for the device; refused while the process ends, where nothing is lost
    (void)cudaSetDevice(before);
  }
  static void* acquire_pinned(Device device, std::int64_t bytes) {
    check_device(gpu(device.id));
    void* data = nullptr;
    const cudaError_t status = cudaMallocHost(&data, static_cast<std::size_t>(bytes));
    return answer(status, gpu(device.id), data);
  }
  static void give_back_pinned(Device, void* data, std::int64_t) noexcept { (void)cudaFreeHost(data); }

  static void copy(Device to, void* target, Device from, const void* source, std::int64_t bytes) {
    const bool to_gpu = to.kind == DeviceKind::gpu, from_gpu = from.kind == DeviceKind::gpu;
    const Device device = to_gpu ? to : from;
    const OnDevice here(device);
    const cudaStream_t stream = stream_of(device);
    const auto size = static_cast<std::size_t>(bytes);
    if (to_gpu && from_gpu && to.id != from.id) {
      wait(from);
      check(cudaMemcpyPeerAsync(target, to.id, source, from.id, size, stream), device, "a copy between devices");
      wait(to);  // the source may be handed out again
      return;
    }
    check(cudaMemcpyAsync(target, source, size, cudaMemcpyDefault, stream), device, "a copy");
    if (!to_gpu || !from_gpu) wait(device);
  }
  static void clear(Device device, void* target, std::int64_t bytes) {
    const OnDevice here(device);
    check(cudaMemsetAsync(target, 0, static_cast<std::size_t>(bytes), stream_of(device)), device,
          "setting memory to 0");
  }
  static void add(Device device, Dtype dtype, const void* a, const void* b, void* sum, std::int64_t n) {
    Launcher::launch(device, stream_of(device), nullptr, AddElements{dtype, a, b, sum, n});
  }
  static void convert(Device device, Dtype from, const void* source, Dtype to, void* target, std::int64_t n) {
    Launcher::launch(device, stream_of(device), nullptr, ConvertElements{from, source, to, target, n});
  }
  static void wait(Device device) {
    const cudaStream_t stream = stream_of(device);
    check(cudaStreamSynchronize(stream), device, "the work so far");
  }

 private:
  /// Memory, or nullptr where there is none: the pool then gives back what it holds and asks again.
  static void* answer(cudaError_t status, Device device, void* data) {
    if (status == cudaErrorMemoryAllocation) return (void)cudaGetLastError(), nullptr;
    check(status, device, "allocation");
    return data;
  }
};

/// Plugs CUDA in when the program starts. No device is touched until an array asks for one.
inline const Provider provider{};

}  // namespace strop::inline v0::cuda
#endif
