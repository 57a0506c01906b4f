// SPDX-License-Identifier: Apache-2.0
/// \file
/// The words of cuda/block.hpp as nvcc compiles them: intrinsics, which cost what they do. For .cu files.
#pragma once
#if defined(__CUDACC__)
#include <strop/cuda/pack.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0::cuda {
inline namespace on_device {

/// An array of the device.
template <class T>
class Global {
 public:
  using Element = std::remove_const_t<T>;
  Global() = default;
  constexpr Global(T* data, std::int64_t size) : data_(data), size_(size) {}
  constexpr T* data() const { return data_; }
  constexpr std::int64_t size() const { return size_; }
  /// Whether there is memory: an array that a caller leaves out has none.
  constexpr explicit operator bool() const { return data_ != nullptr; }
  constexpr T& operator[](std::int64_t i) const { return data_[i]; }
  /// The pack of elements i, i + 1, …, at a multiple of 16 bytes.
  constexpr Pack<Element> load(std::int64_t i) const {
    return __builtin_bit_cast(Pack<Element>, *reinterpret_cast<const uint4*>(data_ + i));
  }
  constexpr void store(std::int64_t i, const Pack<Element>& pack) const {
    *reinterpret_cast<uint4*>(data_ + i) = __builtin_bit_cast(uint4, pack);
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// N elements that the threads of a block share. What they hold at first is not known.
template <class T, int N>
class Shared {
 public:
  static constexpr int size() { return N; }
  __device__ T& operator[](int i) { return data_[i]; }
  __device__ Pack<T> load(int i) const { return *reinterpret_cast<const Pack<T>*>(data_ + i); }
  __device__ void store(int i, const Pack<T>& pack) { *reinterpret_cast<Pack<T>*>(data_ + i) = pack; }

 private:
  alignas(16) T data_[static_cast<std::size_t>(N)];
};

/// A thread, in its block and its grid.
class Block {
 public:
  static constexpr std::uint32_t all_lanes = 0xffffffffU;

  __device__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ int threads() const { return static_cast<int>(blockDim.x); }
  __device__ std::int64_t index() const { return blockIdx.x; }
  __device__ std::int64_t blocks() const { return gridDim.x; }
  __device__ int lane() const { return thread() % 32; }
  __device__ int warp() const { return thread() / 32; }

  __device__ void sync() const { __syncthreads(); }
  __device__ void sync_warp() const { __syncwarp(); }

  template <class T>
  __device__ T shuffle_down(T v, int by, std::uint32_t mask = all_lanes) const {
    return shuffled(v, [=](auto word) { return __shfl_down_sync(mask, word, static_cast<unsigned>(by)); });
  }
  template <class T>
  __device__ T shuffle_xor(T v, int with, std::uint32_t mask = all_lanes) const {
    return shuffled(v, [=](auto word) { return __shfl_xor_sync(mask, word, with); });
  }
  template <class T>
  __device__ T broadcast(T v, int lane, std::uint32_t mask = all_lanes) const {
    return shuffled(v, [=](auto word) { return __shfl_sync(mask, word, lane); });
  }
  __device__ std::uint32_t ballot(bool yes, std::uint32_t mask = all_lanes) const { return __ballot_sync(mask, yes); }

  template <class T>
  __device__ T atomic_add(T& to, std::type_identity_t<T> v) const {
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t>)
      return static_cast<T>(atomicAdd(wide(to), static_cast<unsigned long long>(v)));
    else
      return atomicAdd(&to, v);
  }
  /// NaN, where one takes part, is the result.
  template <class T>
  __device__ T atomic_max(T& to, std::type_identity_t<T> v) const {
    if constexpr (std::is_same_v<T, std::int64_t>)
      return atomicMax(reinterpret_cast<long long*>(&to), static_cast<long long>(v));
    else if constexpr (std::is_integral_v<T>)
      return atomicMax(&to, v);
    else
      return replaced(to, v, [v](T old) { return old == old && !(v <= old); });
  }
  template <class T>
  __device__ T atomic_min(T& to, std::type_identity_t<T> v) const {
    if constexpr (std::is_same_v<T, std::int64_t>)
      return atomicMin(reinterpret_cast<long long*>(&to), static_cast<long long>(v));
    else if constexpr (std::is_integral_v<T>)
      return atomicMin(&to, v);
    else
      return replaced(to, v, [v](T old) { return old == old && !(v >= old); });
  }
  /// Stores v where the element's bits are those of `expected`; the element as it was.
  template <class T>
  __device__ T atomic_cas(T& to, std::type_identity_t<T> expected, std::type_identity_t<T> v) const {
    if constexpr (sizeof(T) == 8)
      return as<T>(atomicCAS(wide(to), as<unsigned long long>(expected), as<unsigned long long>(v)));
    else
      return as<T>(atomicCAS(reinterpret_cast<unsigned*>(&to), as<unsigned>(expected), as<unsigned>(v)));
  }

  /// Copies the pack at from[i] to to[at] while the thread goes on; a processor before sm_80 waits for it.
  template <class T, int N, class From>
  __device__ void copy_async(Shared<T, N>& to, int at, const Global<From>& from, std::int64_t i) const {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&to[at]))),
        "l"(__cvta_generic_to_global(&from[i]))
        : "memory");
#else
    to.store(at, from.load(i));
#endif
  }
  /// The copies that this thread began since the last call become a group.
  __device__ void commit_copies() const {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  /// Waits until at most `Pending` of this thread's groups are under way. Others see the copies behind a barrier.
  template <int Pending = 0>
  __device__ void wait_copies() const {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
  }

 private:
  template <class To, class From>
  static __device__ To as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, from);
  }
  template <class T>
  static __device__ unsigned long long* wide(T& to) {
    return reinterpret_cast<unsigned long long*>(&to);
  }
  template <class T, class F>
  static __device__ T shuffled(T v, F shuffle) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "strop: lanes exchange numbers of 4 or 8 bytes");
    if constexpr (sizeof(T) == 8)
      return as<T>(shuffle(as<unsigned long long>(v)));
    else
      return as<T>(shuffle(as<unsigned>(v)));
  }
  template <class T, class F>
  __device__ T replaced(T& to, T v, F better) const {
    using Bits = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
    T old = *const_cast<const volatile T*>(&to);
    while (better(old)) {
      const T now = atomic_cas(to, old, v);
      if (as<Bits>(now) == as<Bits>(old)) break;
      old = now;
    }
    return old;
  }
};

/// One thread of a kernel.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads) run_blocks(const __grid_constant__ Kernel kernel) {
  __shared__ typename Kernel::Memory memory;
  const Block block;
  kernel(block, memory);
}

/// Queues a kernel on a stream of the device that is the thread's current one; what the device said of it.
template <class Kernel>
cudaError_t launch_blocks(const Kernel& kernel, cudaStream_t stream) {
  static_assert(std::is_trivially_copyable_v<Kernel>,
                "strop: a kernel is copied to the device: it must be trivially copyable");
  static_assert(Kernel::threads > 0 && Kernel::threads <= 1024 && Kernel::threads % 32 == 0,
                "strop: a block has a multiple of 32 threads, at most 1024");
  const std::int64_t blocks = kernel.blocks();
  if (blocks == 0) return cudaSuccess;
  if (blocks < 0 || blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
  run_blocks<<<static_cast<unsigned>(blocks), static_cast<unsigned>(Kernel::threads), 0, stream>>>(kernel);
  return cudaGetLastError();
}

}  // namespace on_device
}  // namespace strop::inline v0::cuda
#endif
