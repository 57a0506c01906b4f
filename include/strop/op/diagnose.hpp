// SPDX-License-Identifier: Apache-2.0
/// \file
/// diagnose<T>(): why a struct is no operator, one sentence per rule of the contract, in the order of the rules.
#pragma once
#include <strop/op/concepts.hpp>
#include <strop/op/names.hpp>

namespace strop::inline v0 {
namespace detail {

/// Whether every name in the list is a parameter (or input) of T.
template <class T>
constexpr bool is_parameter(std::string_view name) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return ((field_name<T, I> == name) || ...);
  }(std::make_index_sequence<field_count<T>>{});
}
template <class T>
constexpr bool ranges_known() {
  if constexpr (requires { T::range; })
    for (const Range& range : T::range)
      if (!is_parameter<T>(range.name)) return false;
  return true;
}
template <class T>
constexpr bool mutated_known() {
  for (std::string_view name : stated_mutated<T>())
    if (position(stated_inputs<T>(), name) < 0) return false;
  return true;
}
template <class T>
constexpr bool inputs_match() {
  if constexpr (AnyMap<T>)
    return stated_inputs<T>().empty() || stated_inputs<T>().size() == arity<T>;
  else
    return true;
}
/// forward takes mutable references, or is not const.
template <class T>
concept ForwardTakesReference =
    requires(const T& op, Probe& a) { op.forward(a); } || requires(const T& op, Probe& a) { op.forward(a, a); };
template <class T>
concept ForwardNotConst =
    requires(T& op, Probe (*x)()) { op.forward(x()); } || requires(T& op, Probe (*x)()) { op.forward(x(), x()); };
template <class T>
inline constexpr int stated_gradients = int{NamesGradUseIn<T>} + int{NamesGradUseOut<T>} + int{NamesGradUseNone<T>} +
                                        int{NamesGradUseInOut<T>} + int{NamesGradient<T>} + int{NamesGrad<T>};

}  // namespace detail

/// True for an operator. For any other struct the compiler says which rule it misses.
template <class T>
consteval bool diagnose() {
  static_assert(std::is_class_v<T>, "strop: an operator is a struct");
  if constexpr (std::is_class_v<T>) {
    static_assert(std::is_aggregate_v<T>,
                  "strop: an operator is a plain aggregate: no constructors, no private or virtual members, no base "
                  "class with them");
    static_assert(!std::is_final_v<T>,
                  "strop: an operator is not final: the contract looks at its members through a derived type");
    if constexpr (detail::Plain<T>) {
      static_assert(detail::NamesForward<T> || SparseOp<T>, "strop: an operator has a member forward(...)");
      if constexpr (detail::NamesForward<T> && !Operator<T>) {
        static_assert(!detail::ForwardNotConst<T>,
                      "strop: forward must be const: write constexpr auto forward(auto x) const");
        static_assert(detail::ForwardNotConst<T>,
                      "strop: forward must take one to six numbers and be generic over them (constexpr auto "
                      "forward(auto x) const), or be a tensor operator's "
                      "void forward(strop::Cpu&, strop::View<const E, N> in..., strop::View<E, N> out...) const");
      } else if constexpr (Operator<T>) {
        static_assert(
            std::is_default_constructible_v<T> && requires { T{}; },
            "strop: every parameter has a default initialiser; a required one is a strop::Required<type>");
        static_assert(!detail::NamesGradUseIn<T> || HasGradUseIn<T>,
                      "strop: grad_use_in takes (dy, x...), one x per input of forward, and is const");
        static_assert(!detail::NamesGradUseOut<T> || HasGradUseOut<T>,
                      "strop: grad_use_out takes (dy, y) and is const");
        static_assert(!detail::NamesGradUseNone<T> || HasGradUseNone<T>,
                      "strop: grad_use_none takes (dy) and is const");
        static_assert(!detail::NamesGradUseInOut<T> || HasGradUseInOut<T>,
                      "strop: grad_use_in_out takes (dy, x..., y), one x per input of forward, and is const");
        static_assert(
            !detail::NamesGrad<T> || HasGrad<T>,
            "strop: grad takes (strop::Cpu&, ...) with every argument tagged Head, In, Out or Grad, and is const");
        static_assert(detail::stated_gradients<T> <= 1,
                      "strop: an operator states one gradient: grad_use_in, grad_use_out, grad_use_none, "
                      "grad_use_in_out, grad or gradient");
        static_assert(!detail::NamesMakeState<T> || HasState<T>,
                      "strop: make_state takes (strop::Cpu&, const strop::Shape& input...), a shape per input, and is "
                      "const");
        static_assert(!detail::NamesMakeState<T> || !AnyMap<T>,
                      "strop: a map keeps no state; a tensor operator's forward(ctx, state, in..., out...) may");
        static_assert(!detail::NamesResources<T> || RequestsResource<T>,
                      "strop: resources is a static constexpr strop::Resources or takes (std::span<const strop::Shape> "
                      "inputs) and is const");
        static_assert(detail::ranges_known<T>(), "strop: range names something that is no parameter of the operator");
        static_assert(detail::inputs_match<T>(), "strop: inputs names as many tensors as forward takes numbers");
        static_assert(detail::NamesForward<T> || !detail::stated_inputs<T>().empty(),
                      "strop: an operator that has sparse forms alone states its inputs: static constexpr "
                      "std::string_view inputs[] = {...}");
        static_assert(detail::mutated_known<T>(), "strop: mutates names something that stands not in inputs");
      }
    }
  }
  return Operator<T>;
}

}  // namespace strop::inline v0
