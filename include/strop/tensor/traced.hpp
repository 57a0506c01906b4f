// SPDX-License-Identifier: Apache-2.0
/// \file
/// What arrays tell whoever traces a function, and what ends a trace. Internal.
#pragma once
#include <strop/core/call_mode.hpp>
#include <strop/fwd.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// Who follows arrays from call to call. The layers above add what they tell (op/mode.hpp, graph/control.hpp).
struct ArrayTracer {
  /// `made` has elements of `from`, or copies of them, from number `first` on; `linked` where its gradient goes there.
  void (*derived)(const NDArray& from, const NDArray& made, std::int64_t first, bool linked);
  /// Ends the trace: `what` has no place in a graph. Throws Error where calls are not computed, as in bodies of loops.
  void (*leave)(std::string_view what, std::string_view why);
  bool left = false;  // the function goes on without a graph
};

/// Who watches what this thread calls; null where nobody does.
inline const ArrayTracer* watching() {
  const ArrayTracer* const tracer = call_mode.tracer;
  return tracer != nullptr && !tracer->left ? tracer : nullptr;
}
/// Ends the trace of a function that does what a graph cannot, such as reading elements.
inline void leave_trace(
    std::string_view what,
    std::string_view why =
        "a graph has no values yet, and what depends on them would be fixed; compute with operators") {
  if (const ArrayTracer* const tracer = watching()) [[unlikely]]
    tracer->leave(what, why);
}

}  // namespace strop::inline v0::detail
