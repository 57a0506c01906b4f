// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arithmetic and comparisons written with operators, on arrays and on symbols alike, and the functions of those names.
///
/// Arrays broadcast. Symbols take the operators for one shape, as the original does, so that the shape of one side
/// tells that of the other; `broadcast_add(a, b)` and its like broadcast in a graph. Comparisons give 1 and 0 in the
/// type of the operands, element by element. On integer arrays a number is truncated to an integer first.
#pragma once
#include <strop/ops/elementwise/broadcast.hpp>
#include <strop/ops/elementwise/broadcast_compare.hpp>
#include <strop/ops/elementwise/compare.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/elementwise/rounding.hpp>
#include <strop/ops/elementwise/scalar.hpp>
#include <strop/ops/elementwise/scalar_compare.hpp>

#include <concepts>
#include <type_traits>

namespace strop::inline v0 {

namespace detail {
/// An array or a symbol.
template <class N>
concept AnyNode = std::same_as<N, NDArray> || std::same_as<N, Symbol>;
template <class K>
concept PlainNumber = std::is_arithmetic_v<K>;

/// The broadcasting operator for arrays, the one for equal shapes for symbols.
template <class N, class Broadcasting, class Equal>
constexpr const auto& of_node(const Broadcasting& broadcasting, const Equal& equal) {
  if constexpr (std::same_as<N, NDArray>)
    return broadcasting;
  else
    return equal;
}
}  // namespace detail

// Every function is a template over the node, so that a program compiles those that it uses.
#define STROP_BINARY(function, broadcasting, equal, with_number, with_number_first)              \
  template <detail::AnyNode N>                                                                   \
  N function(const N& a, const N& b) {                                                           \
    return detail::of_node<N>(broadcasting, equal)(a, b);                                        \
  }                                                                                              \
  template <detail::AnyNode N, detail::PlainNumber K>                                            \
  N function(const N& a, K k) {                                                                  \
    return with_number(a, {.scalar = static_cast<double>(k), .is_int = std::integral<K>});       \
  }                                                                                              \
  template <detail::AnyNode N, detail::PlainNumber K>                                            \
  N function(K k, const N& b) {                                                                  \
    return with_number_first(b, {.scalar = static_cast<double>(k), .is_int = std::integral<K>}); \
  }

STROP_BINARY(operator+, broadcast_add, elemwise_add, plus_scalar, plus_scalar)
STROP_BINARY(operator-, broadcast_sub, elemwise_sub, minus_scalar, rminus_scalar)
STROP_BINARY(operator*, broadcast_mul, elemwise_mul, mul_scalar, mul_scalar)
STROP_BINARY(operator/, broadcast_div, elemwise_div, div_scalar, rdiv_scalar)
/// The remainder with the sign of the divisor; 0 where that is 0.
STROP_BINARY(operator%, broadcast_mod, elemwise_mod, mod_scalar, rmod_scalar)
STROP_BINARY(operator==, broadcast_equal, elemwise_equal, equal_scalar, equal_scalar)
STROP_BINARY(operator!=, broadcast_not_equal, elemwise_not_equal, not_equal_scalar, not_equal_scalar)
STROP_BINARY(operator<, broadcast_lesser, elemwise_lesser, lesser_scalar, greater_scalar)
STROP_BINARY(operator<=, broadcast_lesser_equal, elemwise_lesser_equal, lesser_equal_scalar, greater_equal_scalar)
STROP_BINARY(operator>, broadcast_greater, elemwise_greater, greater_scalar, lesser_scalar)
STROP_BINARY(operator>=, broadcast_greater_equal, elemwise_greater_equal, greater_equal_scalar, lesser_equal_scalar)

STROP_BINARY(add, broadcast_add, elemwise_add, plus_scalar, plus_scalar)
STROP_BINARY(subtract, broadcast_sub, elemwise_sub, minus_scalar, rminus_scalar)
STROP_BINARY(multiply, broadcast_mul, elemwise_mul, mul_scalar, mul_scalar)
STROP_BINARY(divide, broadcast_div, elemwise_div, div_scalar, rdiv_scalar)
STROP_BINARY(modulo, broadcast_mod, elemwise_mod, mod_scalar, rmod_scalar)
STROP_BINARY(power, broadcast_power, elemwise_power, power_scalar, rpower_scalar)
STROP_BINARY(maximum, broadcast_maximum, elemwise_maximum, maximum_scalar, maximum_scalar)
STROP_BINARY(minimum, broadcast_minimum, elemwise_minimum, minimum_scalar, minimum_scalar)
STROP_BINARY(hypot, broadcast_hypot, elemwise_hypot, hypot_scalar, hypot_scalar)
STROP_BINARY(equal, broadcast_equal, elemwise_equal, equal_scalar, equal_scalar)
STROP_BINARY(not_equal, broadcast_not_equal, elemwise_not_equal, not_equal_scalar, not_equal_scalar)
STROP_BINARY(lesser, broadcast_lesser, elemwise_lesser, lesser_scalar, greater_scalar)
STROP_BINARY(lesser_equal, broadcast_lesser_equal, elemwise_lesser_equal, lesser_equal_scalar, greater_equal_scalar)
STROP_BINARY(greater, broadcast_greater, elemwise_greater, greater_scalar, lesser_scalar)
STROP_BINARY(greater_equal, broadcast_greater_equal, elemwise_greater_equal, greater_equal_scalar, lesser_equal_scalar)
STROP_BINARY(logical_and, broadcast_logical_and, elemwise_logical_and, logical_and_scalar, logical_and_scalar)
STROP_BINARY(logical_or, broadcast_logical_or, elemwise_logical_or, logical_or_scalar, logical_or_scalar)
STROP_BINARY(logical_xor, broadcast_logical_xor, elemwise_logical_xor, logical_xor_scalar, logical_xor_scalar)
#undef STROP_BINARY

template <detail::AnyNode N>
N operator-(const N& a) {
  return negative(a);
}
template <detail::AnyNode N>
N operator+(const N& a) {
  return a;
}

// In place: the elements of `a` change, for every handle of it. A symbol becomes the new expression.
#define STROP_ASSIGN(op, broadcasting, with_number)                                          \
  template <std::same_as<NDArray> A>                                                         \
  const A& operator op##=(const A & a, const A & b) {                                        \
    broadcasting(a, b, into(a));                                                             \
    return a;                                                                                \
  }                                                                                          \
  template <std::same_as<NDArray> A, detail::PlainNumber K>                                  \
  const A& operator op##=(const A & a, K k) {                                                \
    with_number(a, {.scalar = static_cast<double>(k), .is_int = std::integral<K>}, into(a)); \
    return a;                                                                                \
  }                                                                                          \
  template <std::same_as<Symbol> S, class X>                                                 \
  S& operator op##=(S & a, const X & b) {                                                    \
    return a = a op b;                                                                       \
  }
STROP_ASSIGN(+, broadcast_add, plus_scalar)
STROP_ASSIGN(-, broadcast_sub, minus_scalar)
STROP_ASSIGN(*, broadcast_mul, mul_scalar)
STROP_ASSIGN(/, broadcast_div, div_scalar)
STROP_ASSIGN(%, broadcast_mod, mod_scalar)
#undef STROP_ASSIGN

}  // namespace strop::inline v0
