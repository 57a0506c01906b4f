// SPDX-License-Identifier: Apache-2.0
/// \file
/// How kernels are launched. For .cu files.
#pragma once
#if defined(__CUDACC__)
#include <strop/cuda/block.hpp>
#include <strop/cuda/device.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#if defined(__NVCC__) && !defined(__CUDACC_RELAXED_CONSTEXPR__)
#error "strop: compile .cu files with --expt-relaxed-constexpr: an operator's body is an ordinary constexpr function"
#endif

namespace strop::inline v0::cuda {

/// Any kernel: a struct that is called with the number of the thread and the number of threads.
template <class Kernel>
__global__ void run_kernel(const __grid_constant__ Kernel kernel) {
  kernel(static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
         static_cast<std::int64_t>(gridDim.x) * blockDim.x);
}

/// Launches kernels on the stream of a context, one thread for each piece of work.
struct Launcher {
  static constexpr int threads = 256;

  /// Error, with the operator's name, where the device refuses the launch.
  template <class Kernel>
  static void run(Cuda& ctx, const Entry& entry, const Kernel& kernel) {
    launch(ctx.device(), static_cast<cudaStream_t>(ctx.stream()), &entry, kernel);
  }

  /// Calls f, which launches kernels on the context's stream in any way, with the context's device as the current one.
  template <class F>
  static void within(Cuda& ctx, const Entry& entry, const F& f) {
    const OnDevice here(ctx.device());
    f();
    launched(ctx.device(), &entry);
  }

  /// Queues a kernel in the words of cuda/block.hpp, within `within`.
  template <class Kernel>
  static void blocks(Cuda& ctx, const Entry&, const Kernel& kernel) {
    check(launch_blocks(kernel, static_cast<cudaStream_t>(ctx.stream())), ctx.device(), "a kernel");
  }

  template <class Kernel>
  static void launch(Device device, cudaStream_t stream, const Entry* entry, const Kernel& kernel) {
    static_assert(std::is_trivially_copyable_v<Kernel>);
    if (kernel.work() <= 0) return;
    const OnDevice here(device);
    const std::int64_t blocks = std::min<std::int64_t>((kernel.work() + threads - 1) / threads, INT32_MAX);
    run_kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(kernel);
    launched(device, entry);
  }

 private:
  static void launched(Device device, const Entry* entry) {
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess)
      fail(entry != nullptr ? entry->snake : "strop", ": ", to_text(device),
           " refused the kernel, or failed before it: ", cudaGetErrorString(status));
    if (entry != nullptr) state_of(device).last.store(entry, std::memory_order_relaxed);
  }
};

/// Runs a kernel of one's own inside forward(strop::Cuda& ctx, …): a trivially copyable struct that is called with the
/// number of the thread and the number of threads, one thread for each piece of `work()`. Error where the device
/// refuses the launch. A kernel in CUDA's own spelling is launched on `stream_of(ctx.device())`.
template <class Kernel>
void launch(Cuda& ctx, const Kernel& kernel) {
  Launcher::launch(ctx.device(), static_cast<cudaStream_t>(ctx.stream()), nullptr, kernel);
}

}  // namespace strop::inline v0::cuda
#endif
