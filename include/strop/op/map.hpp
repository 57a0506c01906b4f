// SPDX-License-Identifier: Apache-2.0
/// \file
/// map(function, x…): an operator without a name, from a function of numbers. It is a map like any other, but for the
/// registry, which does not have it.
#pragma once
#include <strop/op/op.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// A function as the parameter of an operator: what has captures cannot be made of nothing, and what is a lambda cannot
/// be assigned; parameters can be both.
template <class F>
class HeldFunction {
 public:
  constexpr HeldFunction() noexcept = default;
  constexpr HeldFunction(F f) : f_(std::move(f)) {}
  constexpr HeldFunction(const HeldFunction& other) = default;
  constexpr HeldFunction& operator=(const HeldFunction& other) {
    if (this == &other) return *this;
    f_.reset();
    if (other.f_) f_.emplace(*other.f_);
    return *this;
  }
  constexpr const F& get() const { return *f_; }

 private:
  std::optional<F> f_;
};

/// No text makes a function.
template <class F>
struct Text<HeldFunction<F>> {
  static constexpr std::string_view name = "function";
  static constexpr ParamKind kind = ParamKind::string;
  static bool parse(HeldFunction<F>&, std::string_view) { return false; }
  static std::string print(const HeldFunction<F>&) { return "(...)"; }
};

/// A function that captures nothing is made where it is called.
template <class F>
inline constexpr bool captures_nothing = std::is_empty_v<F> && std::default_initializable<F>;

/// The operator of a function of N numbers.
template <class F, std::size_t N, bool Empty = captures_nothing<F>>
struct Mapped;
#define STROP_EACH(...) __VA_ARGS__
#define STROP_MAPPED(n, parameters, arguments)                                                           \
  template <class F>                                                                                     \
  struct Mapped<F, n, true> {                                                                            \
    static constexpr std::string_view name = "map";                                                      \
    constexpr auto forward(STROP_EACH parameters) const { return F{}(STROP_EACH arguments); }            \
  };                                                                                                     \
  template <class F>                                                                                     \
  struct Mapped<F, n, false> {                                                                           \
    static constexpr std::string_view name = "map";                                                      \
    HeldFunction<F> function = {};                                                                       \
    constexpr auto forward(STROP_EACH parameters) const { return function.get()(STROP_EACH arguments); } \
  };
STROP_MAPPED(1, (auto a), (a))
STROP_MAPPED(2, (auto a, auto b), (a, b))
STROP_MAPPED(3, (auto a, auto b, auto c), (a, b, c))
STROP_MAPPED(4, (auto a, auto b, auto c, auto d), (a, b, c, d))
STROP_MAPPED(5, (auto a, auto b, auto c, auto d, auto e), (a, b, c, d, e))
STROP_MAPPED(6, (auto a, auto b, auto c, auto d, auto e, auto f), (a, b, c, d, e, f))
#undef STROP_MAPPED
#undef STROP_EACH

template <std::uint64_t Whole, std::size_t I>
struct ProbeAt {  // a class, not an alias, in which nvcc finds no pack
  using type = std::conditional_t<(Whole >> I & 1U) != 0, WholeProbe, Probe>;
};
template <class F, std::uint64_t Whole, std::size_t... I>
constexpr bool takes_probes(std::index_sequence<I...>) {
  return std::is_invocable_v<const F&, typename ProbeAt<Whole, I>::type...>;
}
template <class F, std::size_t N>
constexpr std::uint64_t find_whole_of() {
  constexpr std::make_index_sequence<N> n;
  if constexpr (takes_probes<F, 0>(n))
    return 0;
  else
    return []<std::size_t... I>(std::index_sequence<I...> all) {
      return ((takes_probes < F, all_whole & ~(std::uint64_t{1} << I) > (all) ? 0 : std::uint64_t{1} << I) | ...);
    }(n);
}
/// What the function asks of its parameters.
template <class F, std::size_t N, bool Empty>
inline constexpr std::uint64_t asks_whole<Mapped<F, N, Empty>> = find_whole_of<F, N>();

/// Whether the function takes N numbers, whole ones where it asks for those.
template <class F, std::size_t N>
constexpr bool takes_numbers_of() {
  constexpr std::make_index_sequence<N> n;
  if constexpr (takes_probes<F, 0>(n))
    return true;
  else
    return takes_probes<F, all_whole>(n);
}
template <class X, class Node>
concept Is = std::same_as<std::remove_cvref_t<X>, Node>;

/// Whether a constant F has a field that can be written all the same; what is no aggregate is not looked into.
template <class F>
constexpr bool holds_mutable() {
  if constexpr (Plain<F> && !std::is_empty_v<F>)
    if constexpr (!HasBase<F> && field_count<F> <= 32)
      if constexpr (!has_array<F>) return has_mutable<F>;
  return false;
}

/// Runs a map that is in no registry.
template <class T, std::size_t N>
auto run_unnamed(const T& op, const std::array<const NDArray*, N>& in, Site site) {
  const Entry& entry = runnable(EntryOf<T>::value);
  std::array<NDArray, results<T>> out;
  dispatch(entry, &op, in, out, {}, site);
  if constexpr (results<T> == 1)
    return std::move(out[0]);
  else
    return std::vector<NDArray>(out.begin(), out.end());
}

template <class F, std::size_t N>
Mapped<F, N> mapped(F function) {
  if constexpr (captures_nothing<F>)
    return {};
  else
    return {std::move(function)};
}

}  // namespace detail

/// y[i] = function(x[i]…), of one to six arrays, which broadcast: `map([](auto x, auto y) { return x * tanh(y); }, a,
/// b)`.
///
/// The function is what the `forward` of a map is: generic over its numbers, without conditions on them (`where`), and
/// exp, tanh and their like are called by their plain names. It is computed in one pass, has derived gradients to order
/// 3, takes every storage and keeps CSR and row-sparse arrays where it maps zeros to zero. It returns a number or a
/// std::tuple of several, and map then an array or a vector of arrays. What it captures by value belongs to the call
/// and to its record; what it captures by reference has to outlive both. Types are floating; unequal ones are refused,
/// but for whole numbers where the function asks for them: `[](auto x, strop::Integer auto mask) { … }`.
///
/// On symbols it makes a node called map0, map1, …, which no file can hold: it has no name by which to find it.
template <class F, class... X>
  requires(sizeof...(X) > 0 && sizeof...(X) <= 6 && (detail::Is<X, NDArray> && ...))
[[nodiscard]] auto map(F function, const X&... x) {
  constexpr std::size_t n = sizeof...(X);
  constexpr bool callable = detail::takes_numbers_of<F, n>();
  static_assert(callable,
                "strop: map takes a function of as many numbers as there are arrays, const and generic over them: "
                "[](auto x, auto y) { return x * y; }");
  static_assert(!detail::holds_mutable<F>(),
                "strop: map takes a function without mutable members: all threads share it");
  if constexpr (callable) {
    using T = detail::Mapped<F, n>;
    static_assert(diagnose<T>());
    return detail::run_unnamed<T, n>(detail::mapped<F, n>(std::move(function)), {&x...}, {});
  }
}

template <class F, class... X>
  requires(sizeof...(X) > 0 && sizeof...(X) <= 6 && (detail::Is<X, Symbol> && ...))
[[nodiscard]] auto map(F function, const X&... x) {
  constexpr std::size_t n = sizeof...(X);
  constexpr bool callable = detail::takes_numbers_of<F, n>();
  static_assert(callable,
                "strop: map takes a function of as many numbers as there are symbols, const and generic over them: "
                "[](auto x, auto y) { return x * y; }");
  static_assert(!detail::holds_mutable<F>(),
                "strop: map takes a function without mutable members: all threads share it");
  if constexpr (callable) {
    using detail::make_node;
    using T = detail::Mapped<F, n>;
    static_assert(diagnose<T>());
    const T op = detail::mapped<F, n>(std::move(function));
    const std::array<std::common_type_t<X...>, n> in{x...};
    return make_node(detail::runnable(detail::EntryOf<T>::value), &op, {in.data(), n}, {});
  }
}

}  // namespace strop::inline v0
