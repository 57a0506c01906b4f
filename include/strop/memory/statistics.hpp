// SPDX-License-Identifier: Apache-2.0
/// \file
/// What can be asked of a pool.
#pragma once
#include <strop/core/config.hpp>

#include <cstdint>

namespace strop::inline v0::memory {

/// What the pool of a device holds. Bytes are those of blocks, rounding included.
struct Statistics {
  std::int64_t live_bytes = 0;    ///< handed out and not yet released
  std::int64_t cached_bytes = 0;  ///< taken from the backend and ready for reuse
  std::int64_t peak_bytes = 0;    ///< the most that was live at once; small blocks of other threads count with a delay
  std::int64_t live_blocks = 0;   ///< handed out and not yet released
  std::int64_t allocations = 0;   ///< blocks ever handed out
  std::int64_t system_calls = 0;  ///< calls of the backend: acquire, refused ones included, and give_back
};

/// As a limit: none.
inline constexpr std::int64_t no_limit = INT64_MAX;

}  // namespace strop::inline v0::memory
