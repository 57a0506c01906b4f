// SPDX-License-Identifier: Apache-2.0
/// \file
/// A GPU for tests, played by the CPU: kernels run one thread after the other, and memory of the device faults when it
/// is touched by anything but a kernel or a copy.
#pragma once
#include <strop/cuda/launches.hpp>
#include <strop/memory/allocator.hpp>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>

namespace shim {

inline constexpr strop::Device device = strop::gpu(5);

/// What has been asked of the device.
struct Counts {
  int launches = 0, copies = 0, waits = 0;
};
inline Counts counts;
inline int stream = 0;  // its address is the stream

/// The device's memory.
inline std::map<char*, std::size_t> regions;
inline void protect(int how) {
  for (const auto& [at, size] : regions) REQUIRE(::mprotect(at, size, how) == 0);
}
/// While it lives, the memory can be touched.
struct Open {
  Open() { protect(PROT_READ | PROT_WRITE); }
  Open(const Open&) = delete;
  ~Open() { protect(PROT_NONE); }
};
inline std::size_t pages(std::int64_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (static_cast<std::size_t>(bytes) + page - 1) / page * page;
}
inline void* acquire(strop::Device, std::int64_t bytes) {
  void* const data = ::mmap(nullptr, pages(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  regions[static_cast<char*>(data)] = pages(bytes);
  return data;
}
inline void give_back(strop::Device, void* data, std::int64_t bytes) noexcept {
  regions.erase(static_cast<char*>(data));
  ::munmap(data, pages(bytes));
}
inline bool inside(const void* p) {
  const auto after = regions.upper_bound(static_cast<char*>(const_cast<void*>(p)));
  if (after == regions.begin()) return false;
  const auto& [at, size] = *std::prev(after);
  return p < at + size;
}

/// Calls a kernel for every thread, the last first, with fewer threads than work where there is more than one piece.
template <class Kernel>
void run_threads(const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);  // as it goes to a device
  ++counts.launches;
  const Open open;
  const std::int64_t threads = kernel.work() / 2 + 1;
  for (std::int64_t thread = threads; thread-- > 0;) kernel(thread, threads);
}

/// In the place of strop::cuda::launch.
template <class Kernel>
void launch(strop::Cuda& ctx, const Kernel& kernel) {
  CHECK(ctx.stream() == &stream);
  CHECK(ctx.device() == device);
  if (kernel.work() > 0) run_threads(kernel);
}
struct Launcher {
  template <class Kernel>
  static void run(strop::Cuda& ctx, const strop::Entry&, const Kernel& kernel) {
    launch(ctx, kernel);
  }
  template <class F>
  static void within(strop::Cuda&, const strop::Entry&, const F& f) {
    f();
  }
};

inline constexpr strop::memory::GpuDriver driver{
    [](strop::Device to, void* target, strop::Device from, const void* source, std::int64_t bytes) {
      ++counts.copies;
      CHECK((to.kind == strop::DeviceKind::gpu) == inside(target));
      CHECK((from.kind == strop::DeviceKind::gpu) == inside(source));
      const Open open;
      std::memmove(target, source, static_cast<std::size_t>(bytes));
    },
    [](strop::Device, void* target, std::int64_t bytes) {
      const Open open;
      std::memset(target, 0, static_cast<std::size_t>(bytes));
    },
    [](strop::Device, strop::Dtype dtype, const void* a, const void* b, void* sum, std::int64_t n) {
      run_threads(strop::cuda::AddElements{dtype, a, b, sum, n});
    },
    [](strop::Device, strop::Dtype from, const void* source, strop::Dtype to, void* target, std::int64_t n) {
      run_threads(strop::cuda::ConvertElements{from, source, to, target, n});
    },
    [](strop::Device) -> void* { return &stream; },
    [](strop::Device) { ++counts.waits; },
    [] { return 1; }};

/// The device is there as long as this is; in the end nothing of it may be left.
class Device {
 public:
  Device()
      : driver_(strop::memory::set_gpu_driver(&driver)),
        backend_(strop::memory::set_backend(strop::DeviceKind::gpu, {acquire, give_back})) {
    counts = {};
  }
  Device(const Device&) = delete;
  ~Device() {
    CHECK(strop::memory::statistics(device).live_blocks == 0);
    strop::memory::release_cached(device);
    CHECK(regions.empty());
    strop::memory::set_backend(strop::DeviceKind::gpu, backend_);
    strop::memory::set_gpu_driver(driver_);
  }

 private:
  const strop::memory::GpuDriver* driver_;
  strop::memory::Backend backend_;
};

/// The kernels of operator T run on this device as long as this is there.
template <class T>
class Kernels {
 public:
  Kernels() : before_(strop::detail::slot<T>.cuda.exchange(&launches)) {}
  Kernels(const Kernels&) = delete;
  ~Kernels() { strop::detail::slot<T>.cuda.store(before_); }

 private:
  static constexpr strop::detail::Kernels launches = strop::cuda::launches_of<T, Launcher>();
  const strop::detail::Kernels* before_;
};

}  // namespace shim
