// SPDX-License-Identifier: Apache-2.0
/// \file
/// A device for tests, apart from the program's own: its memory is the host's, counted, and can run out.
#pragma once
#include <strop/memory/allocator.hpp>
#include <unit/sentence.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace fake {

inline std::atomic<std::int64_t> regions{0}, bytes{0}, capacity{INT64_MAX};

inline void* acquire(strop::Device, std::int64_t n) {
  if (bytes + n > capacity) return nullptr;
  ++regions;
  bytes += n;
  return std::aligned_alloc(64, static_cast<std::size_t>(n));
}

inline void give_back(strop::Device, void* data, std::int64_t n) noexcept {
  --regions;
  bytes -= n;
  std::free(data);
}

inline constexpr strop::DeviceKind kind{6};
inline constexpr strop::Device device{kind, 3};

/// The device exists as long as this does; in the end nothing of it may be left.
struct Scope {
  Scope() {
    capacity = INT64_MAX;
    strop::memory::set_backend(kind, {acquire, give_back});
  }
  Scope(const Scope&) = delete;
  ~Scope() {
    strop::memory::set_limit(device, strop::memory::no_limit);
    strop::memory::set_pooling(device, true);
    strop::memory::release_cached(device);
    CHECK(strop::memory::statistics(device).live_blocks == 0);
    CHECK(strop::memory::statistics(device).live_bytes == 0);
    CHECK(strop::memory::statistics(device).cached_bytes == 0);
    CHECK(regions == 0);
    CHECK(bytes == 0);
    strop::memory::set_backend(kind, {});
  }
};

using testing::sentence;

}  // namespace fake
