// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients that a struct states by what they use; the name says what is kept alive until backward.
///
/// Of a map, on numbers, const, returning one number per input that is not of whole numbers (a std::tuple for several):
///  1. `grad_use_in(dy…, x…)`, one dy per output and one x per input;
///  2. `grad_use_out(dy…, y…)`, one dy and one y per output;
///  3. `grad_use_none(dy…)`, one dy per output;
///  4. `grad_use_in_out(dy…, x…, y…)`.
/// Of a tensor operator the same after ctx, on views, and then a view to write per input that forward only reads:
///  5. `grad_use_in(ctx, dy…, in…, din…)`, `grad_use_out(ctx, dy…, out…, din…)`, `grad_use_none(ctx, dy…, din…)`,
///     `grad_use_in_out(ctx, dy…, in…, out…, din…)`, dy of the visible outputs. A gradient that nobody asks for
///     (ctx.request(i) is null) is written to memory that is thrown away; one that is tagged (grad) comes as an empty
///     view. Where forward takes a std::span, the gradient takes one in each corresponding place:
///     `std::span<const View<E, N>> dx`.
/// Of both:
///  6. An operator states one gradient, whichever way.
///  7. `static constexpr bool zero_gradient = true;` states that it is zero everywhere.
///  8. A map that writes inputs has none.
#pragma once
#include <strop/op/concepts/tensor.hpp>

namespace strop::inline v0 {
namespace detail {
template <class T, std::size_t... I, std::size_t... M>
constexpr bool map_grad_in(std::index_sequence<I...>, std::index_sequence<M...>) {
  return requires(const T& op, Repeat<M, Probe>... dy, NumberAt<T, I, Probe>... x) { op.grad_use_in(dy..., x...); };
}
template <class T, std::size_t... M>
constexpr bool map_grad_out(std::index_sequence<M...>) {
  return requires(const T& op, Repeat<M, Probe>... dy, Repeat<M, Probe>... y) { op.grad_use_out(dy..., y...); };
}
template <class T, std::size_t... M>
constexpr bool map_grad_none(std::index_sequence<M...>) {
  return requires(const T& op, Repeat<M, Probe>... dy) { op.grad_use_none(dy...); };
}
template <class T, std::size_t... I, std::size_t... M>
constexpr bool map_grad_in_out(std::index_sequence<I...>, std::index_sequence<M...>) {
  return requires(const T& op, Repeat<M, Probe>... dy, NumberAt<T, I, Probe>... x, Repeat<M, Probe>... y) {
    op.grad_use_in_out(dy..., x..., y...);
  };
}
#define STROP_HAS_GRAD(member, of_a_map) \
  template <class T>                     \
  constexpr bool has_##member() {        \
    if constexpr (AnyMap<T>)             \
      return of_a_map;                   \
    else                                 \
      return member##_on_any<T>();       \
  }
STROP_HAS_GRAD(grad_use_in, (map_grad_in<T>(EachInput<T>{}, EachResult<T>{})))
STROP_HAS_GRAD(grad_use_in_out, (map_grad_in_out<T>(EachInput<T>{}, EachResult<T>{})))
STROP_HAS_GRAD(grad_use_out, map_grad_out<T>(EachResult<T>{}))
STROP_HAS_GRAD(grad_use_none, map_grad_none<T>(EachResult<T>{}))
#undef STROP_HAS_GRAD
}  // namespace detail

/// Clause 1 or 5: from the head gradient and the inputs.
template <class T>
concept HasGradUseIn = detail::NamesGradUseIn<T> && detail::has_grad_use_in<T>();
/// Clause 2 or 5: from the head gradient and the output.
template <class T>
concept HasGradUseOut = detail::NamesGradUseOut<T> && detail::has_grad_use_out<T>();
/// Clause 3 or 5: from the head gradient alone.
template <class T>
concept HasGradUseNone = detail::NamesGradUseNone<T> && detail::has_grad_use_none<T>();
/// Clause 4 or 5: from everything.
template <class T>
concept HasGradUseInOut = detail::NamesGradUseInOut<T> && detail::has_grad_use_in_out<T>();
/// Clause 7.
template <class T>
concept HasZeroGradient = detail::NamesZeroGradient<T> && std::same_as<decltype(T::zero_gradient), const bool> &&
                          std::bool_constant<T::zero_gradient>::value;

}  // namespace strop::inline v0
