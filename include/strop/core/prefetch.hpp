// SPDX-License-Identifier: Apache-2.0
/// \file
/// Cache lines on their way before they are needed.
#pragma once
#include <strop/core/config.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// Asks for the cache lines of `bytes` bytes from `from` on, which will be read soon, or written (`Write`).
///
/// Inline by force: g++ takes a function that does nothing else for one without effect, and drops the calls of it.
template <bool Write = false>
[[gnu::always_inline]] inline void prefetch_lines(const void* from, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += 64)
    __builtin_prefetch(static_cast<const char*>(from) + at, Write ? 1 : 0);
}

}  // namespace strop::inline v0::detail
