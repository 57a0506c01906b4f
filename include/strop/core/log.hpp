// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where the library's messages go: what is worth a line and is no exception.
#pragma once
#include <strop/core/config.hpp>

#include <atomic>
#include <cstdio>
#include <string_view>

namespace strop::inline v0 {

/// Takes one message, without a newline. It may be called from any thread.
using LogSink = void (*)(std::string_view message) noexcept;

namespace detail {
inline void log_to_stderr(std::string_view message) noexcept {
  std::fprintf(stderr, "strop: %.*s\n", static_cast<int>(message.size()), message.data());
}
inline constinit std::atomic<LogSink> log_sink{&log_to_stderr};

inline void log(std::string_view message) noexcept { log_sink.load(std::memory_order_acquire)(message); }
}  // namespace detail

/// Sends messages to a host program's own log; nullptr brings back the standard, a line each on stderr. Returns what
/// took them before.
inline LogSink set_log_sink(LogSink sink) {
  return detail::log_sink.exchange(sink != nullptr ? sink : &detail::log_to_stderr, std::memory_order_acq_rel);
}

}  // namespace strop::inline v0
