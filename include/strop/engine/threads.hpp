// SPDX-License-Identifier: Apache-2.0
/// \file
/// How many threads there are to use, and how many are at work.
#pragma once
#include <atomic>
#include <strop/core/call_mode.hpp>
#include <strop/core/error.hpp>

namespace strop::inline v0 {

namespace detail {

inline constexpr int max_threads = 256;

inline constinit std::atomic<int> thread_limit{0};  // 0: not asked for yet
/// Threads that compute for the library at this moment: engine workers with work, callers of loops and their helpers.
inline constinit std::atomic<int> busy_threads{0};
/// This thread is counted in busy_threads.
inline constinit thread_local bool counted_busy = false;

/// Counts this thread among the busy ones for a scope.
class BusyScope {
 public:
  explicit BusyScope(bool counts = true) : counts_(counts && !counted_busy) {
    if (!counts_) return;
    counted_busy = true;
    busy_threads.fetch_add(1, std::memory_order_relaxed);
  }
  ~BusyScope() {
    if (!counts_) return;
    counted_busy = false;
    busy_threads.fetch_sub(1, std::memory_order_relaxed);
  }
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;

 private:
  const bool counts_;
};

/// A positive number from the environment, or 0. A list such as OMP_NUM_THREADS=4,2 gives its first number.
int positive_from_environment(const char* name);

/// The processors that this process may run on.
int available_processors();

int ask_num_threads();

}  // namespace detail

/// How many threads a parallel loop may use, its caller included: what set_num_threads said, else STROP_NUM_THREADS,
/// else OMP_NUM_THREADS, else the processors that this process may run on. At most 256.
inline int num_threads() {
  const int n = detail::thread_limit.load(std::memory_order_relaxed);
  return n > 0 ? n : detail::ask_num_threads();
}

/// Sets how many threads a parallel loop may use, from the next loop on; 1 makes every loop serial.
inline void set_num_threads(int n) {
  if (n < 1) fail("set_num_threads: expected at least 1 thread, got ", n);
  detail::thread_limit.store(n < detail::max_threads ? n : detail::max_threads, std::memory_order_relaxed);
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/engine/threads_impl.hpp>
#endif
