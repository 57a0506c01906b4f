// SPDX-License-Identifier: Apache-2.0
/// \file
/// How many threads the environment and the system allow.
#pragma once
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <strop/core/config.hpp>
#include <strop/core/environment.hpp>
#include <strop/engine/threads.hpp>

namespace strop::inline v0::detail {

STROP_IMPL int positive_from_environment(const char* name) {
  const char* text = getenv(name);
  if (text == nullptr) return 0;
  const long value = strtol(text, nullptr, 10);
  return value < 1 ? 0 : value > max_threads ? max_threads : static_cast<int>(value);
}

STROP_IMPL int available_processors() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set) < max_threads ? CPU_COUNT(&set) : max_threads;
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online > max_threads ? max_threads : static_cast<int>(online);
}

STROP_IMPL int ask_num_threads() {
  int n = environment_count({"STROP_NUM_THREADS"}, max_threads);
  if (n == 0) n = positive_from_environment("OMP_NUM_THREADS");  // which is not ours to refuse
  if (n == 0) n = available_processors();
  int unset = 0;
  return thread_limit.compare_exchange_strong(unset, n, std::memory_order_relaxed) ? n : unset;
}

}  // namespace strop::inline v0::detail
