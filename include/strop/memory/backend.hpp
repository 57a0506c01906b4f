// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where the pool's memory comes from: the interface that a device or a host program plugs in, and the CPU's own.
#pragma once
#include <strop/core/device.hpp>
#include <strop/core/error.hpp>
#include <strop/memory/poison.hpp>
#include <strop/memory/size_class.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace strop::inline v0::memory {

/// A source of memory. `acquire` returns `bytes` bytes aligned to 64, or nullptr where there is none; an exception that
/// it throws passes through `allocate`. `give_back` receives exactly what `acquire` returned. Both are called from any
/// thread, never while the pool is locked.
struct Backend {
  void* (*acquire)(Device, std::int64_t bytes) = nullptr;
  void (*give_back)(Device, void* data, std::int64_t bytes) noexcept = nullptr;
};

/// Host memory that a GPU copies without staging; its backend comes with the CUDA side.
constexpr Device pinned(int id = 0) { return {static_cast<DeviceKind>(3), static_cast<std::int16_t>(id)}; }

namespace detail {

inline constexpr int device_count = 64;  // of one kind

inline std::string name_of(Device device) {
  return device.kind == pinned().kind ? cat("pinned(", device.id, ')') : to_text(device);
}

/// Blocks from here on are mapped one by one at a multiple of it, so that the kernel can back them by huge pages.
inline constexpr std::int64_t huge_page_bytes = std::int64_t{2} << 20;

inline bool is_mapped(std::int64_t bytes) {
#if defined(__linux__)
  return bytes >= huge_page_bytes && !guards_memory();  // the sanitizer guards what operator new returns, not mappings
#else
  return bytes < 0;
#endif
}

inline void* acquire_from_system(Device, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
#if defined(__linux__)
  if (is_mapped(bytes)) {
    // Map one huge page too many and unmap what lies before and after the aligned part.
    constexpr auto huge = static_cast<std::size_t>(huge_page_bytes);
    void* mapped = ::mmap(nullptr, size + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    auto* start = static_cast<std::byte*>(mapped);
    const std::size_t head = (huge - reinterpret_cast<std::uintptr_t>(start) % huge) % huge;
    if (head != 0) ::munmap(start, head);
    if (head != huge) ::munmap(start + head + size, huge - head);
#if defined(MADV_HUGEPAGE)
    ::madvise(start + head, size, MADV_HUGEPAGE);  // a hint: a kernel without huge pages may refuse it
#endif
    return start + head;
  }
#endif
  const auto aligned = std::align_val_t(bytes >= huge_page_bytes ? huge_page_bytes : alignment);
  return ::operator new(size, aligned, std::nothrow);
}

inline void give_back_to_system(Device, void* data, std::int64_t bytes) noexcept {
#if defined(__linux__)
  if (is_mapped(bytes)) {
    ::munmap(data, static_cast<std::size_t>(bytes));
    return;
  }
#endif
  ::operator delete(data, std::align_val_t(bytes >= huge_page_bytes ? huge_page_bytes : alignment));
}

}  // namespace detail
}  // namespace strop::inline v0::memory
