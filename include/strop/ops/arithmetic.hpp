// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arithmetic and comparisons written with operators, on arrays and on symbols alike, and the functions of those names.
///
/// Arrays broadcast. Symbols take the operators for one shape, as the original does, so that the shape of one side
/// tells that of the other; `broadcast_add(a, b)` and its like broadcast in a graph. Comparisons give 1 and 0 in the
/// type of the operands, element by element. On integer arrays a number is truncated to an integer first.
#pragma once
#include <strop/ops/elementwise/broadcast.hpp>
#include <strop/ops/elementwise/compare.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/elementwise/rounding.hpp>
#include <strop/ops/elementwise/scalar.hpp>

#include <concepts>
#include <type_traits>

namespace strop::inline v0 {

namespace detail {
/// An array or a symbol.
template <class N>
concept AnyNode = std::same_as<N, NDArray> || std::same_as<N, Symbol>;
template <class K>
concept PlainNumber = std::is_arithmetic_v<K>;

/// The broadcasting operator on arrays, the one for equal shapes on symbols.
template <class N, class Broadcasting, class Equal>
N combine(const Broadcasting& broadcasting, const Equal& equal, const N& a, const N& b, Site site) {
  if constexpr (std::same_as<N, NDArray>)
    return broadcasting(a, b, no_target(), site);
  else
    return equal(a, b);
}
template <class N, class T, class When, class K>
N combine_number(const Op<T, When>& with_number, const N& a, K k, Site site) {
  const T params{.scalar = k};  // is_int stays true, as in the original: types do not change
  if constexpr (std::same_as<N, NDArray>)
    return with_number(a, params, no_target(), site);
  else
    return with_number(a, params);
}
}  // namespace detail

// Every function is a template over the node, so that a program compiles those that it uses. The functions know where
// they are called, for the line that a fallback writes; operators cannot.
#define STROP_BINARY(function, comma_site, site, broadcasting, equal, with_number, with_number_first) \
  template <detail::AnyNode N>                                                                        \
  [[nodiscard]] N function(const N& a, const N& b comma_site) {                                       \
    return detail::combine<N>(broadcasting, equal, a, b, site);                                       \
  }                                                                                                   \
  template <detail::AnyNode N, detail::PlainNumber K>                                                 \
  [[nodiscard]] N function(const N& a, K k comma_site) {                                              \
    return detail::combine_number<N>(with_number, a, k, site);                                        \
  }                                                                                                   \
  template <detail::AnyNode N, detail::PlainNumber K>                                                 \
  [[nodiscard]] N function(K k, const N& b comma_site) {                                              \
    return detail::combine_number<N>(with_number_first, b, k, site);                                  \
  }
#define STROP_OPERATOR(op, ...) STROP_BINARY(operator op, , detail::Site{}, __VA_ARGS__)
#define STROP_SITE , detail::Site site = detail::Site::current()
#define STROP_FUNCTION(name, ...) STROP_BINARY(name, STROP_SITE, site, __VA_ARGS__)

STROP_OPERATOR(+, broadcast_add, elemwise_add, plus_scalar, plus_scalar)
STROP_OPERATOR(-, broadcast_sub, elemwise_sub, minus_scalar, rminus_scalar)
STROP_OPERATOR(*, broadcast_mul, elemwise_mul, mul_scalar, mul_scalar)
STROP_OPERATOR(/, broadcast_div, elemwise_div, div_scalar, rdiv_scalar)
/// The remainder with the sign of the divisor; 0 where that is 0.
STROP_OPERATOR(%, broadcast_mod, elemwise_mod, mod_scalar, rmod_scalar)
STROP_OPERATOR(==, broadcast_equal, elemwise_equal, equal_scalar, equal_scalar)
STROP_OPERATOR(!=, broadcast_not_equal, elemwise_not_equal, not_equal_scalar, not_equal_scalar)
STROP_OPERATOR(<, broadcast_lesser, elemwise_lesser, lesser_scalar, greater_scalar)
STROP_OPERATOR(<=, broadcast_lesser_equal, elemwise_lesser_equal, lesser_equal_scalar, greater_equal_scalar)
STROP_OPERATOR(>, broadcast_greater, elemwise_greater, greater_scalar, lesser_scalar)
STROP_OPERATOR(>=, broadcast_greater_equal, elemwise_greater_equal, greater_equal_scalar, lesser_equal_scalar)

STROP_FUNCTION(add, broadcast_add, elemwise_add, plus_scalar, plus_scalar)
STROP_FUNCTION(subtract, broadcast_sub, elemwise_sub, minus_scalar, rminus_scalar)
STROP_FUNCTION(multiply, broadcast_mul, elemwise_mul, mul_scalar, mul_scalar)
STROP_FUNCTION(divide, broadcast_div, elemwise_div, div_scalar, rdiv_scalar)
STROP_FUNCTION(modulo, broadcast_mod, elemwise_mod, mod_scalar, rmod_scalar)
STROP_FUNCTION(power, broadcast_power, elemwise_power, power_scalar, rpower_scalar)
STROP_FUNCTION(maximum, broadcast_maximum, elemwise_maximum, maximum_scalar, maximum_scalar)
STROP_FUNCTION(minimum, broadcast_minimum, elemwise_minimum, minimum_scalar, minimum_scalar)
STROP_FUNCTION(hypot, broadcast_hypot, elemwise_hypot, hypot_scalar, hypot_scalar)
STROP_FUNCTION(equal, broadcast_equal, elemwise_equal, equal_scalar, equal_scalar)
STROP_FUNCTION(not_equal, broadcast_not_equal, elemwise_not_equal, not_equal_scalar, not_equal_scalar)
STROP_FUNCTION(lesser, broadcast_lesser, elemwise_lesser, lesser_scalar, greater_scalar)
STROP_FUNCTION(lesser_equal, broadcast_lesser_equal, elemwise_lesser_equal, lesser_equal_scalar, greater_equal_scalar)
STROP_FUNCTION(greater, broadcast_greater, elemwise_greater, greater_scalar, lesser_scalar)
STROP_FUNCTION(greater_equal, broadcast_greater_equal, elemwise_greater_equal, greater_equal_scalar,
               lesser_equal_scalar)
STROP_FUNCTION(logical_and, broadcast_logical_and, elemwise_logical_and, logical_and_scalar, logical_and_scalar)
STROP_FUNCTION(logical_or, broadcast_logical_or, elemwise_logical_or, logical_or_scalar, logical_or_scalar)
STROP_FUNCTION(logical_xor, broadcast_logical_xor, elemwise_logical_xor, logical_xor_scalar, logical_xor_scalar)
#undef STROP_FUNCTION
#undef STROP_SITE
#undef STROP_OPERATOR
#undef STROP_BINARY

template <detail::AnyNode N>
[[nodiscard]] N operator-(const N& a) {
  return negative(a);
}
template <detail::AnyNode N>
[[nodiscard]] N operator+(const N& a) {
  return a;
}

// In place: the elements of `a` change, for every handle of it. A symbol becomes the new expression.
#define STROP_ASSIGN(op, broadcasting, with_number)         \
  template <std::same_as<NDArray> A>                        \
  const A& operator op##=(const A & a, const A & b) {       \
    broadcasting(a, b, into(a), detail::Site{});            \
    return a;                                               \
  }                                                         \
  template <std::same_as<NDArray> A, detail::PlainNumber K> \
  const A& operator op##=(const A & a, K k) {               \
    with_number(a, {.scalar = k}, into(a), detail::Site{}); \
    return a;                                               \
  }                                                         \
  template <std::same_as<Symbol> S, class X>                \
  S& operator op##=(S & a, const X & b) {                   \
    return a = a op b;                                      \
  }
STROP_ASSIGN(+, broadcast_add, plus_scalar)
STROP_ASSIGN(-, broadcast_sub, minus_scalar)
STROP_ASSIGN(*, broadcast_mul, mul_scalar)
STROP_ASSIGN(/, broadcast_div, div_scalar)
STROP_ASSIGN(%, broadcast_mod, mod_scalar)
#undef STROP_ASSIGN

}  // namespace strop::inline v0
