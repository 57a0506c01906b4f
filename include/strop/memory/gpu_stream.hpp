// SPDX-License-Identifier: Apache-2.0
/// \file
/// The streams of GPUs: one for the work of each device, one for copies, and those of stream_scope. All are made here.
#pragma once
#include <strop/core/fork.hpp>
#include <strop/core/list.hpp>
#include <strop/memory/gpu_driver.hpp>

#include <atomic>
#include <cstdint>

namespace strop::inline v0::memory::detail {

class GpuBlock;

/// A stream and the marks in it, numbered from 1: a mark has passed when all that was queued before it is done. Lives
/// as long as the program, as blocks of memory refer to it; once its driver is gone everything on it has passed.
/// Safe from any thread.
class GpuStream {
 public:
  GpuStream(Device device, const GpuDriver& driver);
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;

  Device device() const { return device_; }
  /// As the driver's kernels take it.
  void* handle() const { return handle_; }

  /// Marks what has been queued so far. Throws where the device has failed.
  std::uint64_t mark();
  bool passed(std::uint64_t mark) noexcept;
  /// Returns when the mark has passed; throws what failed.
  void wait(std::uint64_t mark);
  /// Returns when all that is queued is done, or nothing is done there any more.
  void settle() noexcept;
  /// Whether what is queued here now runs after the other stream's mark.
  bool has_followed(const GpuStream& other, std::uint64_t mark);
  /// What is queued here from now on runs after the other stream's mark. The host does not wait.
  void follow(GpuStream& other, std::uint64_t mark);

 private:
  friend struct GpuDevice;
  friend class GpuBlock;
  struct Followed {
    const GpuStream* stream;
    std::uint64_t mark;
  };
  /// The event of the mark, or of the oldest later one that still has one: that passes later. Under the lock.
  std::uint64_t kept_mark(std::uint64_t mark) const { return mark + kept > marks_ ? mark : marks_ - (kept - 1); }
  void close() noexcept;

  static constexpr std::uint64_t kept = 64;  // the last marks have an event each

  const Device device_;
  const GpuDriver* driver_;  // null once it is gone
  void* handle_;
  strop::detail::ForkMutex mutex_;
  void* events_[kept] = {};
  std::uint64_t marks_ = 0, passed_ = 0;
  strop::detail::List<Followed, 2> followed_;
  // Guarded by the device.
  GpuStream* next_ = nullptr;       // of all streams of the device
  GpuStream* next_idle_ = nullptr;  // of those of scopes that have ended
  GpuBlock* free_ = nullptr;        // blocks that go round on this stream alone
  bool in_use_ = true;              // false: its scope has ended
};

/// What the library knows of a device. Constant-initialised and never destroyed: memory may be released at any time.
struct GpuDevice {
  strop::detail::ForkMutex mutex;
  std::atomic<GpuStream*> compute{nullptr}, copies{nullptr};
  GpuStream *all = nullptr, *idle = nullptr;
  GpuBlock* later = nullptr;  // blocks that were released and are still in use
  std::atomic<bool> waiting{false};

  /// Error where the program, or the machine, has no such device.
  static GpuDevice& of(Device device);
  GpuStream& make(Device device);
  GpuStream& fixed(Device device, std::atomic<GpuStream*>& which);
  GpuStream& take_idle(Device device);
  void give_idle(GpuStream& stream) noexcept;

  void release_later(GpuBlock* block) noexcept;
  /// Releases what is no longer in use.
  void collect() noexcept;
  /// The same, and waits for what is in use; streams give up their blocks. Whether there was anything.
  bool reclaim() noexcept;
  void close() noexcept;

 private:
  void take_free(GpuStream& stream) noexcept;
  void wait_for(GpuBlock* block, GpuStream& stream) noexcept;
  friend class GpuBlock;
};
inline constinit GpuDevice gpu_devices[device_count];

/// The stream of the device's work, and the one of its copies beside it.
GpuStream& compute_stream(Device device);
GpuStream& copy_stream(Device device);

/// While it lives, the thread's work on the stream's device goes there. Null changes nothing.
class CurrentStream {
 public:
  explicit CurrentStream(GpuStream* stream) : stream_(stream), outer_(innermost) {
    if (stream != nullptr) innermost = this;
  }
  ~CurrentStream() {
    if (stream_ != nullptr) innermost = outer_;
  }
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;

  GpuStream* stream() const { return stream_; }
  static GpuStream* find(Device device) {
    for (const CurrentStream* at = innermost; at != nullptr; at = at->outer_)
      if (at->stream_->device() == device) return at->stream_;
    return nullptr;
  }

 private:
  static inline constinit thread_local const CurrentStream* innermost = nullptr;
  GpuStream* const stream_;
  const CurrentStream* const outer_;
};

/// The stream that this thread's work on the device goes to. Error where there is no such device.
inline GpuStream& current_stream(Device device) {
  GpuStream* const own = CurrentStream::find(device);
  return own != nullptr ? *own : compute_stream(device);
}

}  // namespace strop::inline v0::memory::detail

namespace strop::inline v0 {

/// While it lives, this thread's calls on the device go to a stream of their own, beside the device's and those of
/// other scopes; scopes nest. Arrays may go from stream to stream: a call that reads what another stream writes follows
/// it on the device, and memory that a stream still uses is not handed out again. The scope's end waits for nothing.
///
/// Error where the program, or the machine, has no such device.
class stream_scope {
 public:
  [[nodiscard("the stream is the thread's while it lives: give it a name")]] explicit stream_scope(Device device)
      : current_(&memory::detail::GpuDevice::of(device).take_idle(device)) {}
  ~stream_scope() {
    memory::detail::GpuStream& stream = *current_.stream();
    memory::detail::gpu_devices[stream.device().id].give_idle(stream);
  }
  stream_scope(const stream_scope&) = delete;
  stream_scope& operator=(const stream_scope&) = delete;

  /// The stream, as the driver's kernels take it (a cudaStream_t).
  void* stream() const { return current_.stream()->handle(); }

 private:
  memory::detail::CurrentStream current_;
};

}  // namespace strop::inline v0
