// SPDX-License-Identifier: Apache-2.0
/// \file
/// What holds for the calls that a thread makes: set by scopes, and anew for every operation that an engine runs on it.
#pragma once
#include <strop/core/config.hpp>

#include <utility>

namespace strop::inline v0::detail {

struct Running;   // an operation of an engine that is under way; the engine knows what it is
struct Recorder;  // what sees every call while it is recorded; the layer of operators knows what it is

struct CallMode {
  const Recorder* recorder = nullptr;
  bool training = false;
  /// Whoever waits for an operation waits for all that it does, so that happens at once.
  const Running* operation = nullptr;
};
inline constinit thread_local CallMode call_mode{};

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
