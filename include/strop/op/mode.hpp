// SPDX-License-Identifier: Apache-2.0
/// \file
/// Per-thread mode of execution: training, recording, and the hook by which autograd sees every call.
#pragma once
#include <strop/core/call_mode.hpp>
#include <strop/core/span.hpp>
#include <strop/op/entry.hpp>
#include <strop/tensor/traced.hpp>

#include <source_location>
#include <span>
#include <utility>

namespace strop::inline v0::detail {

using Inputs = Span<const NDArray* const>;

/// Where a call stands in the user's source; line 0 where the spelling does not permit to know.
using Site = std::source_location;

struct Recorder {
  /// Called after each call.
  void (*record)(const Entry&, const void* op, Inputs in, Span<NDArray> out, StateBox* state, Site site);
  /// Runs each call, by dispatch() under a recorder without this; none: calls are only seen.
  void (*run)(const Entry&, const void* op, Inputs in, Span<NDArray> out, Span<const Request> requests, Site site,
              Ref<StateBox>* state) = nullptr;
};

/// Who traces a function sees its calls, whatever else they are recorded by.
struct CallTracer : ArrayTracer {
  const Recorder* recorder;
};

/// Sets what a thread's calls are recorded by, and whether they train, while it lives.
class ModeScope : CallModeScope {
 public:
  ModeScope(const Recorder* recorder, bool training)
      : CallModeScope(
            {call_mode.tracer == nullptr ? recorder : static_cast<const CallTracer*>(call_mode.tracer)->recorder,
             training, call_mode.operation, call_mode.tracer, recorder}) {}
};

}  // namespace strop::inline v0::detail
