// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an engine is told, and by whom.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <strop/core/environment.hpp>
#include <strop/core/error.hpp>
#include <strop/engine/options.hpp>
#include <strop/engine/threads.hpp>

namespace strop::inline v0::detail {

inline EngineKind engine_kind_from_environment() {
  const std::string type = environment_word({"STROP_ENGINE_TYPE", "MXNET_ENGINE_TYPE"});
  return type == "naive" || type == "NaiveEngine" ? EngineKind::naive : EngineKind::threaded;
}

/// What was asked for, else what one of the two variables of the environment says, else `standard`.
inline int threads_or(int threads, std::string_view name, std::string_view old_name, int standard) {
  if (threads < 0) fail("Engine: expected at least 1 thread, got ", threads);
  if (threads == 0) threads = environment_count({name, old_name}, max_threads);
  if (threads == 0) threads = standard;
  return threads < max_threads ? threads : max_threads;
}

/// The options with every choice made.
inline EngineOptions with_defaults(EngineOptions options) {
  if (options.kind == EngineKind::automatic) options.kind = engine_kind_from_environment();
  options.threads =
      threads_or(options.threads, "STROP_CPU_WORKER_NTHREADS", "MXNET_CPU_WORKER_NTHREADS", num_threads());
  options.device_threads =
      threads_or(options.device_threads, "STROP_GPU_WORKER_NTHREADS", "MXNET_GPU_WORKER_NTHREADS", 2);
  options.copy_threads = threads_or(options.copy_threads, "STROP_GPU_COPY_NTHREADS", "MXNET_GPU_COPY_NTHREADS", 2);
  return options;
}

}  // namespace strop::inline v0::detail
