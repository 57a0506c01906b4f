// SPDX-License-Identifier: Apache-2.0
/// \file
/// An array's elements as a variable of the global engine.
#pragma once
#include <strop/engine/engine.hpp>
#include <strop/tensor/ndarray.hpp>
#include <strop/tensor/order.hpp>

#include <atomic>
#include <cstdint>

namespace strop::inline v0 {
namespace detail {

/// The variable of such an order.
const EngineVariable& variable_of(const Pending& order);

/// From how many elements on a call is handed to the engine.
inline constexpr std::int64_t large_call = std::int64_t{1} << 18;
inline constinit std::atomic<std::int64_t> order_from{large_call};

}  // namespace detail

template <class E>
auto NDArray::variable() const {
  if (!defined() || storage() != dense)
    strop::fail("variable: of a dense array only; a sparse one is computed at the call");
  allocate();
  body_->buffer->lend();
  detail::Pending* pending = this->pending();
  detail::install_order();
  if (pending == nullptr) pending = &body_->buffer->order(detail::order_on_engine());
  return typename E::Variable(detail::variable_of(*pending));
}

/// Which calls on arrays are handed to the global engine: those on arrays of `from` elements and more (1 MiB of float32
/// unless said), or none. Such a call returns at once, the work is done as soon as its inputs are there, and whoever
/// looks at the elements waits; what fails is raised at every look. Smaller ones are done at the call where nothing
/// that they touch is pending: that takes less time than handing them over. Always done at the call are those on
/// sparse arrays and on foreign memory (from_pointer, DLPack), of operators that keep a state, and inside an operation.
inline void set_asynchronous(bool on, std::int64_t from = detail::large_call) {
  detail::install_order();
  detail::order_from = on ? from : INT64_MAX;
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/tensor/variable_impl.hpp>
#endif
