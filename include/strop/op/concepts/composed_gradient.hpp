// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients that are written with operators: they work on arrays and on symbols, to any order.
///
///  1. `gradient(dy, x…) const` with an x per input, or `gradient(dy) const`, each a `const auto&` or the like: it is
///     called with strop::NDArray and with strop::Symbol. It returns a gradient, a std::tuple or a std::vector of one
///     per input. With several outputs dy is std::span<const Node>; with an open number of inputs x is.
///  2. `static constexpr strop::Keeps gradient_keeps = strop::Keeps::none;`: it looks at no value of x (in, which is
///     what is assumed: at all).
///  3. `static constexpr std::string_view gradient_reads[] = {"indices"};`: at the values of these inputs alone, in
///     place of 2.
///  4. `NDArray spread_gradient(const NDArray& dy, const Shape& x) const`, beside gradient, of an operator with one
///  input
///     and one output: a gradient that is dy (times a factor) repeated, in a shape that broadcasts to x, so that
///     nothing is repeated until somebody looks. backward asks for it where it does not differentiate again.
///  5. `gradient_again(heads, in) const` of two std::span<const Node>: the gradient of a stated gradient, from the
///     heads of what that makes and from all that it takes.
#pragma once
#include <strop/op/concepts/tensor.hpp>

#include <cstdint>

namespace strop::inline v0 {

/// What must stay alive until backward: nothing, the inputs, the outputs, or both.
enum class Keeps : std::uint8_t { none = 0, in = 1, out = 2, in_out = 3 };

namespace detail {
/// gradient takes N arrays, whatever its body does with them; asked of the body last, for a pack or overloads.
template <class T, std::size_t... I>
constexpr bool takes_nodes(std::index_sequence<I...>) {
  using N = std::index_sequence<I...>;
  using Array = NDArray (*)();
  if constexpr (!requires(const MovingOneTypeGradient<T, N>& op, Array x) { op.gradient((void(I), x())...); })
    return true;
  else if constexpr (!requires(const CopyingOneTypeGradient<T, N>& op, Array x) { op.gradient((void(I), x())...); })
    return true;
  else if constexpr (!requires(const MovingGradient<T, N>& op, Array x) { op.gradient((void(I), x())...); })
    return true;
  else if constexpr (!requires(const CopyingGradient<T, N>& op, Array x) { op.gradient((void(I), x())...); })
    return true;
  else
    return requires(const T& op, const NDArray& x) { op.gradient((void(I), x)...); };
}
/// gradient takes (dy), or (dy, x…) with N inputs. Of more than six it is asked when it is composed.
template <class T, std::size_t N>
constexpr bool composes_from() {
  if constexpr (N > 6)
    return true;
  else if constexpr (takes_nodes<T>(std::make_index_sequence<1>{}))
    return true;
  else if constexpr (N >= 1)
    return takes_nodes<T>(std::make_index_sequence<N + 1>{});
  else
    return false;
}
template <class T>
constexpr bool composes() {
  if constexpr (!AnyMap<T>)
    return true;  // how many tensors it has stands in forward: op/rules.hpp asks
  else if constexpr (results<T> > 1)
    return true;  // it is given a span, and asked when it is composed
  else
    return composes_from<T, arity<T>>();
}
}  // namespace detail

/// Clause 1.
template <class T>
concept GradComposes = detail::NamesGradient<T> && detail::composes<T>();
/// Clauses 2 and 3.
template <class T>
concept GradientKeeps = requires {
  requires std::same_as<decltype(T::gradient_keeps), const Keeps>;
  requires std::bool_constant<T::gradient_keeps == Keeps::none || T::gradient_keeps == Keeps::in>::value;
};
template <class T>
concept GradientReads = requires { detail::NameList(T::gradient_reads); };
/// Clause 4.
template <class T>
concept HasSpreadGradient = requires(const T& op, const NDArray& dy, const Shape& x) {
  { op.spread_gradient(dy, x) } -> std::same_as<NDArray>;
};
/// Clause 5.
template <class T>
concept GradientAgain = requires(const T& op, std::span<const NDArray> x) { op.gradient_again(x, x); };

}  // namespace strop::inline v0
