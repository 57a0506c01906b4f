// SPDX-License-Identifier: Apache-2.0
/// \file
/// CUDA behind the interfaces of memory/: device and pinned memory, copies, streams. For .cu files; a program has it
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
                                              make_stream,
                                              destroy_stream,
                                              make_event,
                                              destroy_event,
                                              record,
                                              follow,
                                              wait,
                                              passed,
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

  static void copy(Device to, void* target, Device from, const void* source, std::int64_t bytes, void* stream) {
    const bool to_gpu = to.kind == DeviceKind::gpu, from_gpu = from.kind == DeviceKind::gpu;
    const Device device = to_gpu ? to : from;
    const OnDevice here(device);
    const auto size = static_cast<std::size_t>(bytes);
    if (to_gpu && from_gpu && to.id != from.id)
      check(cudaMemcpyPeerAsync(target, to.id, source, from.id, size, as_stream(stream)), device,
            "a copy between devices");
    else
      check(cudaMemcpyAsync(target, source, size, cudaMemcpyDefault, as_stream(stream)), device, "a copy");
  }
  static void clear(Device device, void* target, std::int64_t bytes, void* stream) {
    const OnDevice here(device);
    check(cudaMemsetAsync(target, 0, static_cast<std::size_t>(bytes), as_stream(stream)), device,
          "setting memory to 0");
  }
  static void add(Device device, Dtype dtype, const void* a, const void* b, void* sum, std::int64_t n, void* stream) {
    Launcher::launch(device, as_stream(stream), nullptr, AddElements{dtype, a, b, sum, n});
  }
  static void convert(Device device, Dtype from, const void* source, Dtype to, void* target, std::int64_t n,
                      void* stream) {
    Launcher::launch(device, as_stream(stream), nullptr, ConvertElements{from, source, to, target, n});
  }

  static void* make_stream(Device device) {
    const OnDevice here(device);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), device, "making a stream");
    return stream;
  }
  static void destroy_stream(Device, void* stream) noexcept { (void)cudaStreamDestroy(as_stream(stream)); }
  static void* make_event(Device device) {
    const OnDevice here(device);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), device, "making an event");
    return event;
  }
  static void destroy_event(Device, void* event) noexcept { (void)cudaEventDestroy(as_event(event)); }
  static void record(Device device, void* event, void* stream) {
    check(cudaEventRecord(as_event(event), as_stream(stream)), device, "marking a place in a stream");
  }
  static void follow(Device device, void* stream, void* event) {
    check(cudaStreamWaitEvent(as_stream(stream), as_event(event), 0), device, "following another stream");
  }
  static void wait(Device device, void* event) {
    check(cudaEventSynchronize(as_event(event)), device, "the work so far");
  }
  static bool passed(Device, void* event) noexcept {
    const cudaError_t status = cudaEventQuery(as_event(event));
    if (status == cudaErrorNotReady) (void)cudaGetLastError();  // no failure, though CUDA keeps it as the last one
    return status != cudaErrorNotReady;
  }

 private:
  static cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }
  static cudaEvent_t as_event(void* event) { return static_cast<cudaEvent_t>(event); }
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
