// SPDX-License-Identifier: Apache-2.0
/// \file
/// What holds for the calls that a thread makes: set by scopes, and anew for every operation that an engine runs on it.
#pragma once

namespace strop::inline v0::detail {

struct Running;   // an operation of an engine that is under way; the engine knows what it is
struct Recorder;  // what sees every call while it is recorded; the layer of operators knows what it is

struct CallMode {
  const Recorder* recorder = nullptr;
  bool training = false;
  const Running* operation =
      nullptr;  // of an engine: whoever waits for it waits for all that it does: that happens at once
};
inline constinit thread_local CallMode call_mode{};

}  // namespace strop::inline v0::detail
