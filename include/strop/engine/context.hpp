// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a function may ask to be called with: the device that it works for and a stream of that device.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <strop/core/device.hpp>
#include <strop/core/error.hpp>
#include <strop/engine/sync.hpp>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// How streams of devices are made and waited for. A device's layer installs its own with set_streams.
struct EngineStreams {
  void* (*make)(Device device);                 ///< throws where there is no such device
  void (*finish)(Device device, void* stream);  ///< returns when all work on the stream is done; throws its failure
  void (*destroy)(Device device, void* stream) noexcept;
};

namespace detail {
inline constinit std::atomic<const EngineStreams*> engine_streams{nullptr};
class StreamScope;
}  // namespace detail

/// Installs how streams are made, for all engines; `streams` stays the caller's. Before the first push to a device that
/// has streams.
inline void set_streams(const EngineStreams* streams) {
  detail::engine_streams.store(streams, std::memory_order_release);
}

/// A pushed function that takes one is called with it. A stream is the function's alone while it runs, and the
/// operation is complete when what the function left on the stream is; an asynchronous one when its Done is called.
class EngineContext {
 public:
  Device device() const { return device_; }
  /// As EngineStreams::make made it; null on the processor and where no streams are installed.
  void* stream() const { return stream_; }

 private:
  friend class detail::StreamScope;
  EngineContext(Device device, void* stream) : device_(device), stream_(stream) {}
  Device device_;
  void* stream_;
};

namespace detail {

/// The number of a device's queue in an engine: 0 is the processor's, whichever its number; every other device has two,
/// for work and for copies.
inline constexpr int max_devices = 16;
inline constexpr int max_lanes = 2 * max_devices;  // beside lane 0
constexpr Device device_of_lane(unsigned lane) { return lane == 0 ? cpu() : gpu(static_cast<int>((lane - 1) / 2)); }
inline std::uint8_t lane_of(Device device, bool copies) {
  if (device.kind == DeviceKind::cpu) return 0;
  if (device.id < 0 || device.id >= max_devices)
    fail("push: expected a device below gpu(", max_devices, "), got ", to_text(device));
  return static_cast<std::uint8_t>(1 + 2 * device.id + (copies ? 1 : 0));
}

/// The streams of a lane that no function uses, the latest first.
class IdleStreams {
 public:
  IdleStreams() = default;
  IdleStreams(const IdleStreams&) = delete;
  IdleStreams& operator=(const IdleStreams&) = delete;

  void* take(const EngineStreams& streams, Device device) {
    {
      Hold hold(lock_);
      if (!idle_.empty()) {
        void* const stream = idle_.back();
        idle_.pop_back();
        return stream;
      }
    }
    return streams.make(device);
  }
  void give(const EngineStreams& streams, Device device, void* stream) noexcept {
    try {
      Hold hold(lock_);
      idle_.push_back(stream);
    } catch (...) {  // no memory for the list
      streams.destroy(device, stream);
    }
  }
  void destroy_all(Device device) noexcept {
    if (const EngineStreams* const streams = engine_streams.load(std::memory_order_acquire))
      for (void* stream : idle_) streams->destroy(device, stream);
    idle_.clear();
  }
  /// In the child of a fork no stream is good any more.
  void forget() noexcept { idle_.clear(); }
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

 private:
  SpinLock lock_;
  std::vector<void*> idle_;
};

/// A stream for the call of one function.
class StreamScope {
 public:
  /// `idle` is null for the processor.
  StreamScope(IdleStreams* idle, Device device)
      : idle_(idle),
        streams_(idle == nullptr ? nullptr : engine_streams.load(std::memory_order_acquire)),
        context_(device, streams_ == nullptr ? nullptr : idle->take(*streams_, device)) {}
  ~StreamScope() {
    if (streams_ == nullptr) return;
    try {
      if (!finished_) streams_->finish(context_.device_, context_.stream_);
    } catch (...) {
      // the function has thrown: its own exception tells more
    }
    idle_->give(*streams_, context_.device_, context_.stream_);
  }
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

  const EngineContext& context() const { return context_; }
  void finish() {
    finished_ = true;
    if (streams_ != nullptr) streams_->finish(context_.device_, context_.stream_);
  }
  /// The function is asynchronous: it knows itself when its work is done.
  void leave_running() { finished_ = true; }

 private:
  IdleStreams* idle_;
  const EngineStreams* streams_;
  EngineContext context_;
  bool finished_ = false;
};

}  // namespace detail
}  // namespace strop::inline v0
