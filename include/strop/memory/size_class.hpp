// SPDX-License-Identifier: Apache-2.0
/// \file
/// The block sizes of the pool: multiples of 64 bytes up to 1 KiB, then eight to every doubling.
#pragma once
#include <strop/core/config.hpp>

#include <bit>
#include <cstdint>

namespace strop::inline v0::memory {

/// Every block starts at a multiple of this many bytes: a cache line, and an AVX-512 register.
inline constexpr std::int64_t alignment = 64;

namespace detail {

inline constexpr std::int64_t largest_block = std::int64_t{1} << 48;
inline constexpr int class_count = 16 + (48 - 10) * 8;

/// The class that serves `bytes`, 1 to largest_block. A block is less than 64 bytes or at most 12.5 % larger than
/// asked.
constexpr int class_of(std::int64_t bytes) {
  const auto last = static_cast<std::uint64_t>(bytes - 1);
  if (last < 1024) return static_cast<int>(last >> 6);
  const int k = 63 - std::countl_zero(last);
  return 16 + (k - 10) * 8 + static_cast<int>((last >> (k - 3)) & 7);
}

constexpr std::int64_t class_bytes(int c) {
  if (c < 16) return (c + 1) * std::int64_t{64};
  const int k = 10 + (c - 16) / 8;
  return static_cast<std::int64_t>(9 + (c - 16) % 8) << (k - 3);
}

/// Blocks up to here wait in the caches of threads; those up to span_block_bytes are cut from spans.
inline constexpr std::int64_t cached_block_bytes = 32 * 1024;
inline constexpr int cached_classes = class_of(cached_block_bytes) + 1;
inline constexpr std::int64_t span_block_bytes = 4096;
inline constexpr std::int64_t span_bytes = 64 * 1024;

/// Blocks of a class that one thread keeps: 64 KiB worth, at least 2, at most 64.
constexpr int magazine_capacity(int c) {
  const std::int64_t fit = 64 * 1024 / class_bytes(c);
  return static_cast<int>(fit < 2 ? 2 : fit > 64 ? 64 : fit);
}

/// class_of for cached sizes, one load instead of a count of leading zeros.
struct SmallClasses {
  std::uint8_t of[cached_block_bytes / 64] = {};
  constexpr SmallClasses() {
    for (std::int64_t i = 0; i < cached_block_bytes / 64; ++i)
      of[i] = static_cast<std::uint8_t>(class_of((i + 1) * 64));
  }
};
inline constexpr SmallClasses small_classes;

}  // namespace detail
}  // namespace strop::inline v0::memory
