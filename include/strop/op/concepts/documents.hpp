// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a struct says of itself: its names, types and documentation.
///
///  1. `static constexpr std::string_view name = "_plus_scalar";`: what the operator is called where that is not the
///     struct's name; `aliases[]` are more names.
///  2. `static constexpr std::string_view doc`: what it computes.
///  3. `static constexpr strop::Note notes[] = {{"axis", "The axis along which …"}};` of parameters, inputs, outputs.
///  4. `static constexpr strop::Range range[] = {{"p", 0, 1}};`: bounds of parameters, checked at every call.
///  5. `static constexpr auto dtypes = strop::floating | strop::integral;`: the element types that it serves.
///  6. `bool integers_as_double() const` of a map that serves integers: with which parameters it takes them as float64,
///  and so gives float64.
///  7. `static constexpr strop::ParamAlias param_aliases[] = {{"sigma", "scalar"}};`: other names of parameters, for
///  text.
///  8. `static constexpr strop::ParamUpgrade upgrades[] = {{"axis", "-1", "None", 905}};`: what values meant in older
///  files.
#pragma once
#include <strop/core/dtype.hpp>
#include <strop/core/params.hpp>
#include <strop/op/concepts/recognise.hpp>

namespace strop::inline v0 {
namespace detail {
template <class T>
concept StatesName = NamesName<T> && requires { std::string_view(T::name); };
/// A helper may be called so.
template <class T>
concept MisstatesName = NamesName<T> && !StatesName<T> && requires {
  requires !std::is_member_function_pointer_v<decltype(&T::name)>;
  requires !std::is_function_v<std::remove_pointer_t<decltype(&T::name)>>;
};
template <class T>
concept StatesAliases = requires { NameList(T::aliases); };
template <class T>
concept StatesDoc = NamesDoc<T> && requires { std::string_view(T::doc); };
template <class T>
concept StatesNotes = requires { std::span<const Note>(T::notes); };
template <class T>
concept StatesRange = requires { std::span<const Range>(T::range); };
template <class T>
concept StatesParamAliases = requires { std::span<const ParamAlias>(T::param_aliases); };
template <class T>
concept StatesUpgrades = requires { std::span<const ParamUpgrade>(T::upgrades); };
}  // namespace detail

/// Clauses 1 to 4, 7 and 8, one at least.
template <class T>
concept Documents =
    detail::StatesName<T> || detail::StatesAliases<T> || detail::StatesDoc<T> || detail::StatesNotes<T> ||
    detail::StatesRange<T> || detail::StatesParamAliases<T> || detail::StatesUpgrades<T>;
/// Clause 5.
template <class T>
concept ServesTypes =
    detail::NamesDtypes<T> && requires { requires std::convertible_to<decltype((T::dtypes)), DtypeSet>; };

namespace detail {
/// Clause 6.
template <class T>
concept TakesIntegersAsDouble = NamesIntegersAsDouble<T> && requires(const T& op) {
  { op.integers_as_double() } -> std::same_as<bool>;
};
}  // namespace detail

}  // namespace strop::inline v0
