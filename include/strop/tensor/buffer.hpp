// SPDX-License-Identifier: Apache-2.0
/// \file
/// A block of memory that arrays share: from the pool, or foreign with a release function.
#pragma once
#include <strop/core/device.hpp>
#include <strop/core/ref.hpp>
#include <strop/memory/allocator.hpp>
#include <strop/memory/small.hpp>

#include <atomic>
#include <cstdint>

namespace strop::inline v0::detail {

/// Memory with its owner's way to give it back. Counts the live bytes of pooled memory through the allocator.
class Buffer : public Counted, public memory::Recycled<Buffer> {
 public:
  using Release = void (*)(void* context, void* data) noexcept;

  Buffer(Device device, std::int64_t bytes) : device_(device), bytes_(bytes), data_(memory::allocate(device, bytes)) {}
  Buffer(Device device, std::int64_t bytes, void* data, Release release, void* context)
      : device_(device), bytes_(bytes), data_(data), release_(release), context_(context) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (release_ != nullptr)
      release_(context_, data_);
    else
      memory::release(device_, data_, bytes_);
  }

  Device device() const { return device_; }
  std::int64_t bytes() const { return bytes_; }
  std::byte* data() const { return static_cast<std::byte*>(data_); }

  /// Goes up with every completed write: what backward kept can be checked against it.
  std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void written() { version_.store(version() + 1, std::memory_order_relaxed); }

 private:
  Device device_;
  std::int64_t bytes_;
  void* data_;
  Release release_ = nullptr;
  void* context_ = nullptr;
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace strop::inline v0::detail
