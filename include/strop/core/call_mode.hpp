// SPDX-License-Identifier: Apache-2.0
/// \file
/// What holds for the calls that a thread makes: set by scopes, and anew for every operation that an engine runs on it.
#pragma once
#include <strop/core/error.hpp>
#include <strop/fwd.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

struct Running;   // an operation of an engine that is under way; the engine knows what it is
struct Recorder;  // what sees every call while it is recorded; the layer of operators knows what it is

struct TracedFlow;  // the layer of graphs knows what it is

/// Who watches a function while it is traced (graph/trace.hpp).
struct FunctionTracer {
  const Recorder* recorder;
  /// `made` has elements of `from`, or copies of them, from number `first` on; `linked` where its gradient goes there.
  void (*derived)(const NDArray& from, const NDArray& made, std::int64_t first, bool linked);
  /// Makes a loop or a branch on arrays a node, and runs it; false: no graph can have it, and the caller runs it.
  bool (*flow)(TracedFlow&);
  /// Ends the trace: `what` has no place in a graph. Throws Error where calls are not computed, as in bodies of loops.
  void (*leave)(std::string_view what, std::string_view why);
  bool left = false;  // the function goes on without a graph
};

struct CallMode {
  const Recorder* recorder = nullptr;
  bool training = false;
  /// Whoever waits for an operation waits for all that it does, so that happens at once.
  const Running* operation = nullptr;
  /// While a function is traced, `recorder` is the tracer's, and this is who records besides.
  const FunctionTracer* tracer = nullptr;
  const Recorder* recorded = nullptr;
};
inline constinit thread_local CallMode call_mode{};
/// This thread is inside a parallel loop.
inline constinit thread_local bool inside_loop = false;

/// What the calls of this thread are recorded by, traced or not.
inline const Recorder* recording() { return call_mode.tracer == nullptr ? call_mode.recorder : call_mode.recorded; }

/// Who watches what this thread calls; null where nobody does.
inline const FunctionTracer* watching() {
  const FunctionTracer* const tracer = call_mode.tracer;
  return tracer != nullptr && !tracer->left ? tracer : nullptr;
}
/// Ends the trace of a function that does what a graph cannot, such as reading elements.
inline void leave_trace(
    std::string_view what,
    std::string_view why =
        "a graph has no values yet, and what depends on them would be fixed; compute with operators") {
  if (const FunctionTracer* const tracer = watching()) [[unlikely]]
    tracer->leave(what, why);
}

/// Sets the mode of this thread's calls while it lives.
class CallModeScope {
 public:
  explicit CallModeScope(const CallMode& mode) : before_(std::exchange(call_mode, mode)) {}
  ~CallModeScope() { call_mode = before_; }
  CallModeScope(const CallModeScope&) = delete;
  CallModeScope& operator=(const CallModeScope&) = delete;

 private:
  const CallMode before_;
};

}  // namespace strop::inline v0::detail
