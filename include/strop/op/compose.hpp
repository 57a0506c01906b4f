// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients that are written with operators: `gradient(dy, x…)` called on arrays and on symbols alike.
#pragma once
#include <strop/op/concepts.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/names.hpp>

#include <span>
#include <tuple>
#include <vector>

namespace strop::inline v0::detail {

/// The inputs whose values `gradient` looks at, of all that there are.
template <class T>
constexpr std::uint64_t composed_reads(std::uint64_t all) {
  if constexpr (GradientReads<T>) {
    std::uint64_t some = 0;
    for (std::string_view name : T::gradient_reads)
      if (const int at = position(stated_inputs<T>(), name); at >= 0) some |= std::uint64_t{1} << at;
    return some;
  } else if constexpr (GradientKeeps<T>)
    return T::gradient_keeps == Keeps::none ? 0 : all;
  else
    return all;
}

template <class Node, class Y>
std::vector<Node> as_list(Y&& y) {
  if constexpr (requires { std::tuple_size<std::remove_cvref_t<Y>>::value; })
    return std::apply([](auto&&... g) { return std::vector<Node>{g...}; }, y);
  else if constexpr (std::is_same_v<std::remove_cvref_t<Y>, std::vector<Node>>)
    return y;
  else
    return std::vector<Node>{y};
}

template <class T, class Heads, class Node, std::size_t... I>
std::vector<Node> compose_fixed(const T& op, const Heads& dy, [[maybe_unused]] std::span<const Node> in,
                                std::index_sequence<I...>) {
  if constexpr (requires { op.gradient(dy, in[I]...); })
    return as_list<Node>(op.gradient(dy, in[I]...));
  else {
    static_assert(
        requires { op.gradient(dy); },
        "strop: gradient takes (dy, x...) or (dy), one x per input and each const auto&, arrays or symbols; "
        "of an operator with several outputs dy is a span of all head gradients");
    return as_list<Node>(op.gradient(dy));
  }
}

/// `gradient(dy, x…)` with all N inputs, `gradient(dy)`, or, for an open number of inputs (N < 0),
/// `gradient(dy, std::span<const Node> x)`. An operator with several outputs (Several) is given `std::span<const Node>
/// dy`.
template <class T, int N, bool Several, class Node>
std::vector<Node> compose(const void* object, std::span<const Node> heads, std::span<const Node> in) {
  const T& op = *static_cast<const T*>(object);
  const auto with = [&](const auto& dy) {
    if constexpr (N < 0) {
      static_assert(
          requires { op.gradient(dy, in); },
          "strop: gradient of an operator with any number of inputs takes (dy, std::span<const Node> x), for any Node");
      return as_list<Node>(op.gradient(dy, in));
    } else
      return compose_fixed(op, dy, in, std::make_index_sequence<static_cast<std::size_t>(N)>{});
  };
  if constexpr (Several)
    return with(heads);
  else
    return with(heads[0]);
}

template <class T, int N, bool Several = false>
std::vector<NDArray> compose_arrays(const void* op, std::span<const NDArray> dy, std::span<const NDArray> in) {
  return compose<T, N, Several, NDArray>(op, dy, in);
}
template <class T, int N, bool Several = false>
std::vector<Symbol> compose_nodes(const void* op, std::span<const Symbol> dy, std::span<const Symbol> in) {
  return compose<T, N, Several, Symbol>(op, dy, in);
}

/// The gradient of a gradient that kernels compute.
template <class T, class Node>
std::vector<Node> compose_again(const void* op, std::span<const Node> heads, std::span<const Node> in) {
  return static_cast<const T*>(op)->gradient_again(heads, in);
}

}  // namespace strop::inline v0::detail
