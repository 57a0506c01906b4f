// SPDX-License-Identifier: Apache-2.0
/// \file
/// What holds for the calls that a thread makes: set by scopes, and anew for every operation that an engine runs on it.
#pragma once
#include <strop/core/config.hpp>

#include <utility>

namespace strop::inline v0::detail {

// Each is known to its own layer alone.
struct Running;      // an operation of an engine that is under way
struct Recorder;     // what sees every call while it is recorded; that of operators
struct ArrayTracer;  // who follows arrays while a function is traced; that of arrays

struct CallMode {
  const Recorder* recorder = nullptr;
  bool training = false;
  /// Whoever waits for an operation waits for all that it does, so that happens at once.
  const Running* operation = nullptr;
  /// While a function is traced, `recorder` is the tracer's, and this is who records besides.
  const ArrayTracer* tracer = nullptr;
  const Recorder* recorded = nullptr;
};
inline constinit thread_local CallMode call_mode{};
/// This thread is inside a parallel loop.
inline constinit thread_local bool inside_loop = false;

/// What the calls of this thread are recorded by, traced or not.
inline const Recorder* recording() { return call_mode.tracer == nullptr ? call_mode.recorder : call_mode.recorded; }

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
