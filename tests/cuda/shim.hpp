// SPDX-License-Identifier: Apache-2.0
/// \file
/// A GPU for tests, played by the CPU. Memory of the device faults when anything but a kernel or a copy touches it.
/// What is queued on a stream runs as late as it may, or at times that a seed decides.
#pragma once
#include <strop/cuda/emulate.hpp>
#include <strop/cuda/launches.hpp>
#include <strop/memory/allocator.hpp>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <vector>

namespace shim {

inline constexpr strop::Device device = strop::gpu(5), second = strop::gpu(6);

/// What has been asked of the device.
struct Counts {
  int launches = 0, copies = 0, waits = 0;
};
inline Counts counts;

/// Guards all that follows: calls come from any thread.
inline std::recursive_mutex machine;

/// What is queued on a stream, and how much of it is done. Nothing runs before somebody waits for it, or for what
/// follows it, or `seed` says so: a wait that is missing gives wrong numbers.
struct Stream {
  struct Piece {
    std::function<void()> run;
    const Stream* first = nullptr;  // this piece follows `place` of that stream
    std::uint64_t place = 0;
  };
  std::deque<Piece> pieces;
  std::uint64_t queued = 0, done = 0;
};
struct Event {
  Stream* stream = nullptr;
  std::uint64_t place = 0;
};
inline std::vector<Stream*> streams;

/// Runs the stream up to a place, and what that follows before.
inline void run_until(Stream& stream, std::uint64_t place) {
  while (stream.done < place) {
    const Stream::Piece next = stream.pieces.front();
    if (next.first != nullptr) {
      for (Stream* other : streams)  // one that has been destroyed is done
        if (other == next.first) run_until(*other, next.place);
    } else {
      next.run();
    }
    stream.pieces.pop_front();
    ++stream.done;
  }
}
inline void run_all() {
  for (Stream* stream : streams) run_until(*stream, stream->queued);
}
/// Faults of a device, or of who forgets to ask it, that a test plants to see that they are found.
struct Faults {
  bool follows_nobody = false, passes_at_once = false;
};
inline Faults faults;
/// The order in which things happen that nobody waits for; 0: they do not.
inline std::uint32_t seed = 0;
inline std::mt19937 order;
inline void run_some() {
  if (seed == 0 || streams.empty()) return;
  Stream& any = *streams[order() % streams.size()];
  if (any.done < any.queued) run_until(any, any.done + order() % (any.queued - any.done + 1));
}
inline void queue(void* stream, std::function<void()> run) {
  Stream& to = *static_cast<Stream*>(stream);
  to.pieces.push_back({std::move(run)});
  ++to.queued;
  run_some();
}

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
  const std::lock_guard lock(machine);
  void* const data = ::mmap(nullptr, pages(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  regions[static_cast<char*>(data)] = pages(bytes);
  return data;
}
inline void give_back(strop::Device, void* data, std::int64_t bytes) noexcept {
  const std::lock_guard lock(machine);
  run_all();  // as cudaFree does
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
void run_threads(void* stream, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);  // as it goes to a device
  const std::lock_guard lock(machine);
  ++counts.launches;
  queue(stream, [kernel] {
    const Open open;
    const std::int64_t threads = kernel.work() / 2 + 1;
    for (std::int64_t thread = threads; thread-- > 0;) kernel(thread, threads);
  });
}

/// In the place of strop::cuda::launch.
template <class Kernel>
void launch(strop::Cuda& ctx, const Kernel& kernel) {
  CHECK(ctx.stream() == strop::memory::detail::current_stream(ctx.device()).handle());
  if (kernel.work() > 0) run_threads(ctx.stream(), kernel);
}
struct Launcher {
  template <class Kernel>
  static void run(strop::Cuda& ctx, const strop::Entry&, const Kernel& kernel) {
    launch(ctx, kernel);
  }
  template <class Kernel>
  static void blocks(strop::Cuda& ctx, const strop::Entry&, const Kernel& kernel) {
    const std::lock_guard lock(machine);
    ++counts.launches;
    queue(ctx.stream(), [kernel] {
      const Open open;
      strop::cuda::emulate(kernel, {.order = strop::cuda::Order::descending});
    });
  }
  template <class F>
  static void within(strop::Cuda&, const strop::Entry&, const F& f) {
    f();
  }
};

inline void copy(strop::Device to, void* target, strop::Device from, const void* source, std::int64_t bytes,
                 void* stream) {
  const std::lock_guard lock(machine);
  ++counts.copies;
  CHECK((to.kind == strop::DeviceKind::gpu) == inside(target));
  CHECK((from.kind == strop::DeviceKind::gpu) == inside(source));
  queue(stream, [=] {
    const Open open;
    std::memmove(target, source, static_cast<std::size_t>(bytes));
  });
}
inline void clear(strop::Device, void* target, std::int64_t bytes, void* stream) {
  const std::lock_guard lock(machine);
  queue(stream, [=] {
    const Open open;
    std::memset(target, 0, static_cast<std::size_t>(bytes));
  });
}
inline void* make_stream(strop::Device) {
  const std::lock_guard lock(machine);
  streams.push_back(new Stream);
  return streams.back();
}
inline void destroy_stream(strop::Device, void* stream) noexcept {
  const std::lock_guard lock(machine);
  auto* const gone = static_cast<Stream*>(stream);
  run_until(*gone, gone->queued);
  std::erase(streams, gone);
  delete gone;
}
inline void record(strop::Device, void* event, void* stream) {
  const std::lock_guard lock(machine);
  auto* const at = static_cast<Stream*>(stream);
  *static_cast<Event*>(event) = {at, at->queued};
}
inline void follow(strop::Device, void* stream, void* event) {
  const std::lock_guard lock(machine);
  if (faults.follows_nobody) return;
  const Event& first = *static_cast<Event*>(event);
  auto* const at = static_cast<Stream*>(stream);
  at->pieces.push_back({{}, first.stream, first.place});
  ++at->queued;
}
inline void wait(strop::Device, void* event) {
  const std::lock_guard lock(machine);
  ++counts.waits;
  run_some();
  const Event& at = *static_cast<Event*>(event);
  run_until(*at.stream, at.place);
}
inline bool passed(strop::Device, void* event) noexcept {
  const std::lock_guard lock(machine);
  const Event& at = *static_cast<Event*>(event);
  return faults.passes_at_once || at.stream->done >= at.place;
}

inline constexpr strop::memory::GpuDriver driver{
    copy,
    clear,
    [](strop::Device, strop::Dtype dtype, const void* a, const void* b, void* sum, std::int64_t n, void* stream) {
      run_threads(stream, strop::cuda::AddElements{dtype, a, b, sum, n});
    },
    [](strop::Device, strop::Dtype from, const void* source, strop::Dtype to, void* target, std::int64_t n,
       void* stream) { run_threads(stream, strop::cuda::ConvertElements{from, source, to, target, n}); },
    make_stream,
    destroy_stream,
    [](strop::Device) -> void* { return new Event; },
    [](strop::Device, void* event) noexcept { delete static_cast<Event*>(event); },
    record,
    follow,
    wait,
    passed,
    [] { return 1; }};

/// The device is there as long as this is; in the end nothing of it may be left.
class Device {
 public:
  explicit Device(std::uint32_t order_seed = 0)
      : driver_(strop::memory::set_gpu_driver(&driver)),
        backend_(strop::memory::set_backend(strop::DeviceKind::gpu, {acquire, give_back})) {
    counts = {};
    faults = {};
    seed = order_seed;
    order.seed(seed);
  }
  Device(const Device&) = delete;
  ~Device() {
    for (const strop::Device each : {device, second}) {
      strop::memory::release_cached(each);
      CHECK(strop::memory::statistics(each).live_blocks == 0);
    }
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
