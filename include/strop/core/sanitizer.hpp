// SPDX-License-Identifier: Apache-2.0
/// \file
/// The sanitizers of a program and of its runtime, which an installed runtime need not share: the address sanitizer
/// watches over memory that is recycled where both are built with it; the thread sanitizer does not see how a runtime
/// without it orders its threads, and is kept from races that are none.
#pragma once
#include <strop/core/config.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define STROP_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define STROP_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STROP_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define STROP_TSAN 1
#endif
#endif

namespace strop::inline v0::detail {

#ifdef STROP_ASAN
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#ifdef STROP_TSAN
inline constexpr bool watches_threads = true;
#else
inline constexpr bool watches_threads = false;
#endif

/// Whether the compiled runtime is built with the sanitizer, too. Where it is not, as when a program that is meets an
/// installed library that is not, memory that one guards is memory that the other hands out.
bool runtime_sanitized() noexcept;
inline bool guards_memory() noexcept { return sanitized && runtime_sanitized(); }

/// While it lives the thread sanitizer does not look at what this thread, which works for the runtime, reads and
/// writes, unless the runtime is built with it, too.
struct UnwatchedScope {
  UnwatchedScope() noexcept;
  ~UnwatchedScope();
  UnwatchedScope(const UnwatchedScope&) = delete;
};

}  // namespace strop::inline v0::detail

#undef STROP_ASAN

// The thread sanitizer asks for this when the program starts. A program that has one of its own in a file that includes
// strop defines STROP_OWN_TSAN_SUPPRESSIONS; one in another file is taken before this.
#if defined(STROP_COMPILED) && defined(STROP_TSAN) && !defined(STROP_OWN_TSAN_SUPPRESSIONS)
namespace strop::inline v0::detail {
extern const char* const thread_sanitizer_suppressions;  // of the runtime
}
extern "C" const char* __tsan_default_suppressions();
extern "C" __attribute__((weak, no_sanitize("thread"))) const char* __tsan_default_suppressions() {
  return strop::detail::thread_sanitizer_suppressions;
}
#endif
#undef STROP_TSAN

#if !defined(STROP_COMPILED)
#include <strop/core/sanitizer_impl.hpp>
#endif
