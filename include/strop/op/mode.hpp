// SPDX-License-Identifier: Apache-2.0
/// \file
/// Per-thread mode of execution: recording, training, and the hook by which autograd sees every call.
#pragma once
#include <strop/op/entry.hpp>

#include <span>

namespace strop::inline v0::detail {

using Inputs = std::span<const NDArray* const>;

struct CallMode {
  bool recording = false, training = false;
  /// Set by the recording scopes; called after a call whose inputs have a history.
  void (*record)(const Entry&, const void* op, Inputs in, std::span<NDArray> out, StateBox* state) = nullptr;
};
inline thread_local constinit CallMode call_mode{};

/// Where a call stands in the user's source, where the spelling permits to know.
struct Site {
  const char* file = nullptr;
  int line = 0;
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

}  // namespace strop::inline v0::detail
