// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tells the address sanitizer what of recycled memory is in use: nothing of a cached block, no byte beyond a live one.
#pragma once
#include <strop/core/sanitizer.hpp>

#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {  // <sanitizer/asan_interface.h>, which is called only where the sanitizer is
void __asan_poison_memory_region(void const volatile* data, std::size_t bytes);
void __asan_unpoison_memory_region(void const volatile* data, std::size_t bytes);
int __asan_address_is_poisoned(void const volatile* data);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace strop::inline v0::memory::detail {

using strop::detail::guards_memory;
using strop::detail::sanitized;

inline void poison(void* data, std::int64_t bytes) noexcept {
  if constexpr (sanitized)
    if (guards_memory()) __asan_poison_memory_region(data, static_cast<std::size_t>(bytes));
}
inline void unpoison(void* data, std::int64_t bytes) noexcept {
  if constexpr (sanitized)
    if (guards_memory()) __asan_unpoison_memory_region(data, static_cast<std::size_t>(bytes));
}
inline bool is_poisoned([[maybe_unused]] const void* byte) noexcept {
  if constexpr (sanitized)
    return __asan_address_is_poisoned(byte) != 0;
  else
    return false;
}

}  // namespace strop::inline v0::memory::detail
