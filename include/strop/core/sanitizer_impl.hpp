// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the runtime is built with.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/sanitizer.hpp>

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {  // of the thread sanitizer, where the program has it
__attribute__((weak)) void __tsan_ignore_thread_begin();
__attribute__((weak)) void __tsan_ignore_thread_end();
}
// NOLINTEND(bugprone-reserved-identifier)

namespace strop::inline v0::detail {

STROP_IMPL bool runtime_sanitized() noexcept { return sanitized; }

#if defined(STROP_COMPILED)
extern const char* const thread_sanitizer_suppressions = watches_threads ? "" : "race:strop::v0::\n";
#endif

STROP_IMPL UnwatchedScope::UnwatchedScope() noexcept {
  if (!watches_threads && __tsan_ignore_thread_begin != nullptr) __tsan_ignore_thread_begin();
}
STROP_IMPL UnwatchedScope::~UnwatchedScope() {
  if (!watches_threads && __tsan_ignore_thread_end != nullptr) __tsan_ignore_thread_end();
}

}  // namespace strop::inline v0::detail
