// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tensor operators that keep more than tensors between forward and backward.
///
///  1. `auto make_state(strop::Cpu& ctx, const strop::Shape& input…) const`, a shape per input, makes the state; the
///     same with strop::Cuda& where forward has one.
///  2. forward and the gradient's member take it by reference, after ctx.
///  3. A map keeps none.
/// A call has a state of its own; a node of a bound graph keeps one through all its runs.
#pragma once
#include <strop/core/shape.hpp>
#include <strop/op/concepts/recognise.hpp>
#include <strop/op/context.hpp>

namespace strop::inline v0 {
namespace detail {
/// What make_state gives when it takes N shapes.
template <class T, std::size_t... I>
auto state_type(std::index_sequence<I...>)
    -> std::type_identity<decltype(std::declval<const T&>().make_state(  // an alias that drops I confuses nvcc
        std::declval<Cpu&>(), (static_cast<void>(I), std::declval<const Shape&>())...))>;
/// How many shapes make_state takes; −1 where it cannot be called with shapes.
template <class T, int N = 0>
constexpr int state_shapes() {
  if constexpr (N > 6)
    return -1;
  else if constexpr (requires { state_type<T>(std::make_index_sequence<std::size_t{N}>{}); })
    return N;
  else
    return state_shapes<T, N + 1>();
}
}  // namespace detail

/// Clause 1.
template <class T>
concept HasState = detail::NamesMakeState<T> && detail::state_shapes<T>() >= 0;

}  // namespace strop::inline v0
