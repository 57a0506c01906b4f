// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps: functions of numbers, computed element by element on every device.
///
///  1. A struct is an aggregate: no constructors, no private or virtual members.
///  2. It is not final.
///  3. It has `forward(x…) const`,
///  4. of one to six numbers, generic over them: `constexpr auto forward(auto x) const`. An input of whole numbers
///     beside others is `strop::Integer auto`: its array is bool, uint8, int8, int32 or int64, and has no gradient.
///  5. forward returns a number, or a std::tuple of one number per output, of the kind that it is given: auto.
///  6. Every parameter, a data member, has a default initialiser. None is in a base class, an array, a bit-field or
///     mutable.
///  7. Of several inputs it broadcasts; `static constexpr bool same_shape = true;` asks for equal shapes.
#pragma once
#include <strop/op/concepts/recognise.hpp>

#include <bit>

namespace strop::inline v0 {
namespace detail {

inline constexpr std::uint64_t all_whole = 63;  // which parameters of any kind take
template <class T>
constexpr std::size_t find_arity() {
  if constexpr (!NamesForward<T>)
    return 0;
  else if constexpr (takes_numbers<T, all_whole>(std::make_index_sequence<1>{}))
    return 1;
  else if constexpr (takes_numbers<T, all_whole>(std::make_index_sequence<2>{}))
    return 2;
  else if constexpr (takes_numbers<T, all_whole>(std::make_index_sequence<3>{}))
    return 3;
  else if constexpr (takes_numbers<T, all_whole>(std::make_index_sequence<4>{}))
    return 4;
  else if constexpr (takes_numbers<T, all_whole>(std::make_index_sequence<5>{}))
    return 5;
  else if constexpr (takes_numbers<T, all_whole>(std::make_index_sequence<6>{}))
    return 6;
  else
    return 0;
}

template <class T, std::size_t N>
constexpr std::uint64_t find_whole() {
  constexpr std::make_index_sequence<N> n;
  if constexpr (N == 0)
    return 0;
  else if constexpr (takes_numbers<T, 0>(n))
    return 0;
  else
    return []<std::size_t... I>(std::index_sequence<I...> all) {
      return ((takes_numbers < T, all_whole & ~(std::uint64_t{1} << I) > (all) ? 0 : std::uint64_t{1} << I) | ...);
    }(n);
}

template <class Y>
inline constexpr std::size_t result_count = 1;
template <class... Y>
inline constexpr std::size_t result_count<std::tuple<Y...>> = sizeof...(Y);

template <std::size_t, class U>
using Repeat = U;

}  // namespace detail

/// Numbers that forward takes; 0 for what is not a map.
template <class T>
inline constexpr std::size_t arity = detail::find_arity<T>();

namespace detail {
/// The parameters of forward that ask for whole numbers, a bit each.
template <class T>
inline constexpr std::uint64_t asks_whole = find_whole<T, arity<T>>();
/// The inputs of a type of their own, whole numbers, a bit each. The others have one type; where all parameters ask for
/// whole numbers, that is the first one's.
template <class T>
inline constexpr std::uint64_t whole_inputs =
    asks_whole<T> + 1 == std::uint64_t{1} << arity<T> ? asks_whole<T> & ~std::uint64_t{1} : asks_whole<T>;
/// How many inputs a gradient is of: those that are no whole numbers.
template <class T>
inline constexpr std::size_t slope_count = arity<T> - static_cast<std::size_t>(std::popcount(whole_inputs<T>));

/// What forward is given for input I where numbers are S.
template <class T, std::size_t I, class S>
using NumberAt = std::conditional_t<(asks_whole<T> >> I & 1U) != 0, number::Whole<S>, S>;
template <class T, class S, std::size_t... I>
constexpr auto forward_type(std::index_sequence<I...>)
    -> std::type_identity<decltype(std::declval<const T&>().forward(std::declval<NumberAt<T, I, S>>()...))>;
/// What forward returns for numbers S.
template <class T, class S>
using Result = typename decltype(forward_type<T, S>(std::make_index_sequence<arity<T>>{}))::type;
/// How many results a map has. Asks for the body, unless the map's shape is known without.
template <class T>
inline constexpr std::size_t results = result_count<Result<T, Probe>>;

template <class T>
using EachInput = std::make_index_sequence<arity<T>>;
template <class T>
using EachResult = std::make_index_sequence<results<T>>;
}  // namespace detail

/// A map of N numbers: clauses 1 to 4. Its body is not asked.
template <class T, std::size_t N>
concept MapOfArity = arity<T> == N && N != 0;

/// A map of N numbers with M results: clauses 1 to 5.
template <class T, std::size_t N, std::size_t M = 1>
concept MapOp = MapOfArity<T, N> && detail::result_count<detail::Result<T, detail::Probe>> == M;

template <class T>
concept UnaryOp = MapOfArity<T, 1>;
template <class T>
concept BinaryOp = MapOfArity<T, 2>;
template <class T>
concept AnyMap = arity<T> != 0;

/// A map that does not broadcast: clause 7.
template <class T>
concept SameShape = AnyMap<T> && detail::NamesSameShape<T> && std::same_as<decltype(T::same_shape), const bool> &&
                    std::bool_constant<T::same_shape>::value;

}  // namespace strop::inline v0
