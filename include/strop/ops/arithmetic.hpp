// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arithmetic and comparisons written with operators, on arrays and on symbols alike, and the functions of those names.
///
/// Arrays broadcast. Symbols take the operators for one shape, as MXNet does, so that the shape of one side
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
  const T params{.scalar = k};  // is_int stays true, as in MXNet: types do not change
  if constexpr (std::same_as<N, NDArray>)
    return with_number(a, params, no_target(), site);
  else
    return with_number(a, params);
}
}  // namespace detail

// Every function is a template over the node, so that a program compiles those that it uses. The functions know where
// they are called, for the line that a fallback writes; operators cannot. In place, as in a += b, the elements of `a`
// change, for every handle of it; a symbol becomes the new expression.
#define STROP_FUNCTION(function, comma_site, site, both, number, turned)      \
  template <detail::AnyNode N>                                                \
  [[nodiscard]] N function(const N& a, const N& b comma_site) {               \
    return detail::combine<N>(broadcast_##both, elemwise_##both, a, b, site); \
  }                                                                           \
  template <detail::AnyNode N, detail::PlainNumber K>                         \
  [[nodiscard]] N function(const N& a, K k comma_site) {                      \
    return detail::combine_number<N>(number##_scalar, a, k, site);            \
  }                                                                           \
  template <detail::AnyNode N, detail::PlainNumber K>                         \
  [[nodiscard]] N function(K k, const N& b comma_site) {                      \
    return detail::combine_number<N>(turned##_scalar, b, k, site);            \
  }
#define STROP_COMMA_SITE , detail::Site site = detail::Site::current()
#define STROP_NAMED(function, both, number, turned, ...) \
  STROP_FUNCTION(function, STROP_COMMA_SITE, site, both, number, turned)
#define STROP_SIGNED(function, sign, both, number, turned, ...)         \
  STROP_FUNCTION(operator sign, , detail::Site{}, both, number, turned) \
  STROP_FUNCTION(function, STROP_COMMA_SITE, site, both, number, turned)
#define STROP_ASSIGNED(function, sign, both, number, turned, ...) \
  STROP_SIGNED(function, sign, both, number, turned)              \
  template <std::same_as<NDArray> A>                              \
  const A& operator sign##=(const A & a, const A & b) {           \
    broadcast_##both(a, b, into(a), detail::Site{});              \
    return a;                                                     \
  }                                                               \
  template <std::same_as<NDArray> A, detail::PlainNumber K>       \
  const A& operator sign##=(const A & a, K k) {                   \
    number##_scalar(a, {.scalar = k}, into(a), detail::Site{});   \
    return a;                                                     \
  }                                                               \
  template <std::same_as<Symbol> S, class X>                      \
  S& operator sign##=(S & a, const X & b) {                       \
    return a = a sign b;                                          \
  }
#include <strop/ops/arithmetic.def>
#undef STROP_COMMA_SITE
#undef STROP_FUNCTION

template <detail::AnyNode N>
[[nodiscard]] N operator-(const N& a) {
  return negative(a);
}
template <detail::AnyNode N>
[[nodiscard]] N operator+(const N& a) {
  return a;
}

}  // namespace strop::inline v0
