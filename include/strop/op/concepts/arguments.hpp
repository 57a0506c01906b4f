// SPDX-License-Identifier: Apache-2.0
/// \file
/// Names and numbers of an operator's tensors. Without them: `data`, or `lhs` and `rhs`, or arg0, arg1, …; `output`.
///
///  1. `static constexpr std::string_view inputs[] = {"data", "weight"};`, a name per input, or
///     `std::vector<std::string_view> inputs() const` where they follow from the parameters: views of what lives for
///     ever.
///  2. `outputs`, the same.
///  3. `static constexpr std::string_view mutates[] = {"moving_mean"};`: inputs that forward writes. A tensor operator
///     takes them as views to write, before its outputs; a map returns them after its results.
///  4. `static constexpr std::string_view aux[] = {…};`: the same of inputs whose names follow those of `inputs`.
///  5. `static constexpr int visible = 1;`: outputs that a caller sees, from the first on.
///  6. `int input_count() const`, `output_count`, `visible_count` of a tensor operator where they follow from the
///     parameters.
#pragma once
#include <strop/op/concepts/recognise.hpp>

namespace strop::inline v0 {
namespace detail {
template <class T>
concept ListsInputs = requires { NameList(T::inputs); };
template <class T>
concept ListsOutputs = requires { NameList(T::outputs); };
template <class T>
concept NamesInputsByCall = requires(const T& op) { std::vector<std::string_view>(op.inputs()); };
template <class T>
concept NamesOutputsByCall = requires(const T& op) { std::vector<std::string_view>(op.outputs()); };
template <class T>
concept StatesInputs = ListsInputs<T> || NamesInputsByCall<T>;
template <class T>
concept StatesOutputs = ListsOutputs<T> || NamesOutputsByCall<T>;
template <class T>
concept StatesMutates = requires { NameList(T::mutates); };
template <class T>
concept StatesAux = requires { NameList(T::aux); };
template <class T>
concept StatesVisible = NamesVisible<T> && requires { int{T::visible}; };
template <class T>
concept StatesInputCount = requires(const T& op) {
  { op.input_count() } -> std::convertible_to<int>;
};
template <class T>
concept StatesOutputCount = requires(const T& op) {
  { op.output_count() } -> std::convertible_to<int>;
};
template <class T>
concept StatesVisibleCount = requires(const T& op) {
  { op.visible_count() } -> std::convertible_to<int>;
};
}  // namespace detail

/// Clauses 1, 2 and 4.
template <class T>
concept NamesArguments = detail::StatesInputs<T> || detail::StatesOutputs<T> || detail::StatesAux<T>;
/// Clauses 3 and 4.
template <class T>
concept MutatesInputs = detail::StatesMutates<T> || detail::StatesAux<T>;

}  // namespace strop::inline v0
