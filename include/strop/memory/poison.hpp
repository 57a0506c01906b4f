// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tells the address sanitizer what of recycled memory is in use: nothing of a cached block, no byte beyond a live one.
#pragma once
#include <strop/core/config.hpp>

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define STROP_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STROP_ASAN 1
#endif
#endif
#ifdef STROP_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace strop::inline v0::memory::detail {

#ifdef STROP_ASAN
inline constexpr bool sanitized = true;
inline void poison(void* data, std::size_t bytes) noexcept { __asan_poison_memory_region(data, bytes); }
inline void unpoison(void* data, std::size_t bytes) noexcept { __asan_unpoison_memory_region(data, bytes); }
inline bool is_poisoned(const void* byte) noexcept { return __asan_address_is_poisoned(byte) != 0; }
#else
inline constexpr bool sanitized = false;
inline void poison(void*, std::size_t) noexcept {}
inline void unpoison(void*, std::size_t) noexcept {}
inline bool is_poisoned(const void*) noexcept { return false; }
#endif

}  // namespace strop::inline v0::memory::detail

#undef STROP_ASAN
