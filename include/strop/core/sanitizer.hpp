// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whether the address sanitizer watches over memory that is recycled: where this file and the runtime are built with
/// it.
#pragma once
#include <strop/core/config.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define STROP_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STROP_ASAN 1
#endif
#endif

namespace strop::inline v0::detail {

#ifdef STROP_ASAN
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Whether the compiled runtime is built with the sanitizer, too. Where it is not, as when a program that is meets an
/// installed library that is not, memory that one guards is memory that the other hands out.
bool runtime_sanitized() noexcept;
inline bool guards_memory() noexcept { return sanitized && runtime_sanitized(); }

}  // namespace strop::inline v0::detail

#undef STROP_ASAN

#if !defined(STROP_COMPILED)
#include <strop/core/sanitizer_impl.hpp>
#endif
