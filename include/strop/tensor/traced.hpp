// SPDX-License-Identifier: Apache-2.0
/// \file
/// What arrays tell whoever traces a function, and what they refuse meanwhile. Internal.
#pragma once
#include <strop/core/call_mode.hpp>
#include <strop/core/error.hpp>
#include <strop/fwd.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// Who follows arrays from call to call. The layers above add what they tell (op/mode.hpp, graph/control.hpp).
struct ArrayTracer {
  /// `made` has elements of `from`, or copies of them, from number `first` on; `linked` where its gradient goes there.
  void (*derived)(const NDArray& from, const NDArray& made, std::int64_t first, bool linked);
};

[[noreturn, gnu::cold]] inline void refuse_traced(std::string_view what, std::string_view why) {
  fail("trace_function: ", what, " cannot be traced: ", why);
}
/// Throws Error where a function is traced that reads elements: its graph has none yet.
inline void check_untraced(
    std::string_view what,
    std::string_view why =
        "a graph has no values yet, and what depends on them would be fixed; compute with operators") {
  if (call_mode.tracer != nullptr) [[unlikely]]
    refuse_traced(what, why);
}

}  // namespace strop::inline v0::detail
