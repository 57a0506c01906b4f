// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients that are written with operators: `gradient(dy, x…)` called on arrays and on symbols alike.
#pragma once
#include <strop/op/entry.hpp>

#include <span>
#include <tuple>
#include <vector>

namespace strop::inline v0::detail {

template <class Node, class Y>
std::vector<Node> as_list(Y&& y) {
  if constexpr (requires { std::tuple_size<std::remove_cvref_t<Y>>::value; })
    return std::apply([](auto&&... g) { return std::vector<Node>{g...}; }, y);
  else if constexpr (std::is_same_v<std::remove_cvref_t<Y>, std::vector<Node>>) return y;
  else return std::vector<Node>{y};
}

/// `gradient(dy, x…)`, or `gradient(dy, std::span<const Node> x)` for operators with an open number of inputs.
template <class T, class Node>
std::vector<Node> compose(const void* object, const Node& dy, std::span<const Node> in) {
  const T& op = *static_cast<const T*>(object);
  const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) { return as_list<Node>(op.gradient(dy, in[I]...)); };
  if constexpr (requires { op.gradient(dy, in); }) return as_list<Node>(op.gradient(dy, in));
  else if constexpr (requires { op.gradient(dy); }) return as_list<Node>(op.gradient(dy));
  else if constexpr (requires { op.gradient(dy, dy); }) return call(std::make_index_sequence<1>{});
  else if constexpr (requires { op.gradient(dy, dy, dy); }) return call(std::make_index_sequence<2>{});
  else {
    static_assert(requires { op.gradient(dy, dy, dy, dy); }, "strop: gradient takes (dy, x...), up to three inputs, each const auto&, or (dy, std::span<const Node>)");
    return call(std::make_index_sequence<3>{});
  }
}

template <class T>
std::vector<NDArray> compose_arrays(const void* op, const NDArray& dy, std::span<const NDArray> in) {
  return compose<T, NDArray>(op, dy, in);
}
template <class T>
std::vector<Symbol> compose_nodes(const void* op, const Symbol& dy, std::span<const Symbol> in) {
  return compose<T, Symbol>(op, dy, in);
}

}  // namespace strop::inline v0::detail
