// SPDX-License-Identifier: Apache-2.0
/// \file
/// How an engine is made: its kind, its threads, and what the environment says of both.
#pragma once
#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <strop/core/error.hpp>
#include <strop/engine/threads.hpp>

namespace strop::inline v0 {

/// What runs the operations of an engine.
enum class EngineKind : std::uint8_t {
  automatic,  ///< what STROP_ENGINE_TYPE says, threaded where it says nothing
  threaded,   ///< worker threads, which start when they are first needed
  naive,      ///< the caller, before push returns; an operation that is not ready then, the thread that makes it ready
  simulated,  ///< whoever waits, one at a time, in an order that a seed or a function chooses: for tests
};

struct EngineOptions {
  /// Operations that may run at the same time; 0: STROP_CPU_WORKER_NTHREADS, else num_threads().
  int threads = 0;
  EngineKind kind = EngineKind::automatic;
  /// Threads of each other device's queue; 0: STROP_GPU_WORKER_NTHREADS, else 2.
  int device_threads = 0;
  /// Threads of each other device's queue of copies; 0: STROP_GPU_COPY_NTHREADS, else 2.
  int copy_threads = 0;
  /// Threaded: the host's pool instead of threads of the engine's own, for what runs on the processor. Has
  /// `task(argument)` called once on some thread, soon, and never inside this call; false where it cannot. At most
  /// `threads` tasks are there at a time, each until it finds nothing more to do.
  bool (*spawn)(void* context, void (*task)(void*), void* argument) = nullptr;
  void* spawn_context = nullptr;
  /// Simulated: the order of execution is a function of the seed and the program.
  std::uint64_t seed = 0;
  /// Simulated: picks one of `ready` operations (0 is the one that became ready first), instead of the seed.
  std::size_t (*choose)(void* context, std::size_t ready) = nullptr;
  void* choose_context = nullptr;
};

}  // namespace strop::inline v0
