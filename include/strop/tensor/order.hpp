// SPDX-License-Identifier: Apache-2.0
/// \file
/// How calls that may be enqueued come by the order of an array's elements.
#pragma once
#include <strop/core/installed.hpp>
#include <strop/engine/trace_record.hpp>
#include <strop/tensor/buffer.hpp>

namespace strop::inline v0::detail {

/// An order of a buffer's elements: a variable of the global engine (tensor/variable_impl.hpp).
Ref<Pending> order_on_engine();

/// The same for calls. Installed by what makes arrays of an extent that is not written out in the program, and by what
/// gives an array a variable: without either no array is pending, and a call, however large, is done at once.
inline constinit Installed<Ref<Pending>()> order_maker{&order_on_engine};
inline void install_order() {
  order_maker.install(order_on_engine);
  trace_asked.install(ask_tracing);  // before the first engine: while a trace is written, every call goes there
}

}  // namespace strop::inline v0::detail
