// SPDX-License-Identifier: Apache-2.0
/// \file
/// Per-thread mode of execution: training, recording, and the hook by which autograd sees every call.
#pragma once
#include <strop/op/entry.hpp>

#include <source_location>
#include <span>
#include <utility>

namespace strop::inline v0::detail {

using Inputs = std::span<const NDArray* const>;

struct CallMode {
  /// Called after each call; null where nothing is recorded.
  using Record = void (*)(const Entry&, const void* op, Inputs in, std::span<NDArray> out, StateBox* state);
  Record record = nullptr;
  bool training = false;
  bool in_turn = false;  // an operation of the engine runs, which has waited for what it uses: all happens at the call
};
inline thread_local constinit CallMode call_mode{};

/// Sets the mode of this thread's calls while it lives.
class ModeScope {
 public:
  explicit ModeScope(const CallMode& mode) : before_(std::exchange(call_mode, mode)) {}
  ModeScope(CallMode::Record record, bool training) : ModeScope(CallMode{record, training, call_mode.in_turn}) {}
  ~ModeScope() { call_mode = before_; }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  CallMode before_;
};

/// Where a call stands in the user's source; line 0 where the spelling does not permit to know.
using Site = std::source_location;

}  // namespace strop::inline v0::detail
