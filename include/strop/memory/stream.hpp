// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copying past the caches, for results that are larger than they are.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/span.hpp>

#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace strop::inline v0::memory {

/// From so many bytes on a result is larger than the caches, and is written past them.
inline constexpr std::int64_t stream_bytes = 8 << 20;

/// Before other threads are told of what stream_part has written.
inline void stream_end() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Like memcpy; whole 16-byte words of the target are written without being read into the caches first. Other threads
/// see it after stream_end().
inline void stream_part(void* to, const void* from, std::int64_t bytes) {
#if defined(__SSE2__)
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  const auto head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(target) & 15U);
  if (bytes < 64 + head) {
    strop::detail::copy_bytes(to, from, bytes);
    return;
  }
  strop::detail::copy_bytes(target, source, head);
  std::int64_t at = head;
  for (; at + 64 <= bytes; at += 64)
    for (std::int64_t k = 0; k < 64; k += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + at + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at + k)));
  strop::detail::copy_bytes(target + at, source + at, bytes - at);
#else
  strop::detail::copy_bytes(to, from, bytes);
#endif
}
inline void stream_copy(void* to, const void* from, std::int64_t bytes) {
  stream_part(to, from, bytes);
  stream_end();
}

}  // namespace strop::inline v0::memory
