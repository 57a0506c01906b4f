// SPDX-License-Identifier: Apache-2.0
/// \file
/// How many threads there are to use, and how many are at work.
#pragma once
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <strop/core/error.hpp>

namespace strop::inline v0 {

namespace detail {

inline constexpr int max_threads = 256;

inline constinit std::atomic<int> thread_limit{0};  // 0: not asked for yet
/// Threads that compute for the library at this moment: engine workers with work, callers of loops and their helpers.
inline constinit std::atomic<int> busy_threads{0};
/// This thread is counted in busy_threads / is inside a parallel loop.
inline constinit thread_local bool counted_busy = false;
inline constinit thread_local bool inside_loop = false;

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
inline int positive_from_environment(const char* name) {
  const char* text = getenv(name);
  if (text == nullptr) return 0;
  const long value = strtol(text, nullptr, 10);
  return value < 1 ? 0 : value > max_threads ? max_threads : static_cast<int>(value);
}

/// The processors that this process may run on.
inline int available_processors() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set) < max_threads ? CPU_COUNT(&set) : max_threads;
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online > max_threads ? max_threads : static_cast<int>(online);
}

inline int ask_num_threads() {
  int n = positive_from_environment("STROP_NUM_THREADS");
  if (n == 0) n = positive_from_environment("OMP_NUM_THREADS");
  if (n == 0) n = available_processors();
  int unset = 0;
  return thread_limit.compare_exchange_strong(unset, n, std::memory_order_relaxed) ? n : unset;
}

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
