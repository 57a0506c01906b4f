// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rules that diagnose<T>() asks of what a struct states and of the signatures of its members.
#pragma once
#include <strop/op/tensor_entry.hpp>

#include <bit>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {

/// Every field has an initialiser: of no other aggregate may a const object go without. nvcc does not know that.
template <class T>
concept Initialised = requires { T{}; }
#if !defined(__CUDACC__)
                      && requires { new const T; }
#endif
;
/// Whether the name is a parameter of T.
template <class T>
constexpr bool is_parameter(std::string_view name) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return ((field_name<T, I> == name) || ...);
  }(std::make_index_sequence<field_count<T>>{});
}

// What a map's members return.
template <class Y>
inline constexpr bool is_number_result = requires { static_cast<Probe>(std::declval<const Y&>()); };
template <>
inline constexpr bool is_number_result<void> = false;
template <class... Y>
inline constexpr bool is_number_result<std::tuple<Y...>> = sizeof...(Y) != 0 && (is_number_result<Y> && ...);

template <class T>
constexpr bool returns_numbers() {
  if constexpr (AnyMap<T>)
    return is_number_result<std::remove_cvref_t<Result<T, Probe>>>;
  else
    return true;
}
/// It is a float whatever forward is given: so it is declared, or a literal.
template <class T>
constexpr bool returns_constant() {
  if constexpr (AnyMap<T>)
    return std::is_arithmetic_v<Result<T, Probe>>;
  else
    return false;
}
template <std::size_t>
Probe probe();  // a function, not an alias that drops the number: that confuses nvcc
template <class T, std::size_t... I, std::size_t... M>
constexpr auto stated_slopes(std::index_sequence<I...>, std::index_sequence<M...>) {
  const auto of = []<class Y>(std::type_identity<Y>) {
    using G = std::remove_cvref_t<Y>;
    return is_number_result<G> && result_count<G> == slope_count<T>;
  };
  if constexpr (HasGradUseInOut<T>)
    return of(std::type_identity<decltype(std::declval<const T&>().grad_use_in_out(
                  probe<M>()..., std::declval<NumberAt<T, I, Probe>>()..., probe<M>()...))>{});
  else if constexpr (HasGradUseOut<T>)
    return of(std::type_identity<decltype(std::declval<const T&>().grad_use_out(probe<M>()..., probe<M>()...))>{});
  else if constexpr (HasGradUseNone<T>)
    return of(std::type_identity<decltype(std::declval<const T&>().grad_use_none(probe<M>()...))>{});
  else if constexpr (HasGradUseIn<T>)
    return of(std::type_identity<decltype(std::declval<const T&>().grad_use_in(
                  probe<M>()..., std::declval<NumberAt<T, I, Probe>>()...))>{});
  else
    return true;
}
/// A stated gradient of a map returns one number per input that is not of whole numbers.
template <class T>
constexpr bool returns_slopes() {
  if constexpr (AnyMap<T>)
    return stated_slopes<T>(EachInput<T>{}, EachResult<T>{});
  else
    return true;
}

/// How many tensors an operator has, where that does not depend on the call.
template <class T>
struct Counts {
  static constexpr bool map = AnyMap<T>;
  static constexpr bool open_in = [] {
    if constexpr (map)
      return false;
    else
      return TensorShape<T>::variadic;
  }();
  static constexpr bool open_out = [] {
    if constexpr (map)
      return false;
    else
      return TensorShape<T>::open;
  }();
  static constexpr int in = [] {
    if constexpr (map)
      return static_cast<int>(arity<T>);
    else
      return TensorShape<T>::inputs;
  }();
  static constexpr int out = [] {
    if constexpr (map)
      return static_cast<int>(results<T>) - static_cast<int>(stated_mutated<T>().size());
    else
      return TensorShape<T>::outputs;
  }();
};

template <class T>
constexpr bool ranges_ordered() {
  if constexpr (StatesRange<T>)
    for (const Range& range : T::range)
      if (!(range.low <= range.high)) return false;
  return true;
}
template <class T>
constexpr bool ranges_known() {
  if constexpr (StatesRange<T>)
    for (const Range& range : T::range)
      if (!is_parameter<T>(range.name)) return false;
  return true;
}
template <class T>
constexpr bool param_aliases_known() {
  for (const ParamAlias& other : ParamsOf<T>::aliases)
    if (is_parameter<T>(other.alias) || !is_parameter<T>(other.name)) return false;
  return true;
}
template <class T>
constexpr bool upgrades_known() {
  for (const ParamUpgrade& change : ParamsOf<T>::upgrades)
    if (!is_parameter<T>(change.name)) return false;
  return true;
}
template <class T>
constexpr bool ranges_of_numbers() {
  if constexpr (StatesRange<T>)
    for (const Range& range : T::range)
      for (const Field& field : ParamsOf<T>::fields)
        if (field.name == range.name && !field.type->has_order) return false;
  return true;
}
/// A struct's own list; one that operators share, a std::span, may have notes for the others.
template <class T>
constexpr bool notes_known() {
  if constexpr (requires { requires !std::is_array_v<decltype(T::notes)>; }) return true;
  const auto usual = [](std::string_view name) {
    return name == data_name[0] || position(pair_names, name) >= 0 || position(numbered_inputs, name) >= 0;
  };
  for (const Note& note : stated_notes<T>())
    if (!is_parameter<T>(note.name) && position(stated_inputs<T>(), note.name) < 0 &&
        position(stated_outputs<T>(), note.name) < 0 && !(stated_inputs<T>().empty() && usual(note.name)) &&
        !(stated_outputs<T>().empty() && (note.name == output_name[0] || position(numbered_outputs, note.name) >= 0)))
      return false;
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
  const int named = static_cast<int>(stated_inputs<T>().size());
  return named == 0 || Counts<T>::open_in || named == Counts<T>::in;
}
template <class T>
constexpr bool outputs_match() {
  const int named = static_cast<int>(stated_outputs<T>().size());
  return named == 0 || Counts<T>::open_out || named == Counts<T>::out;
}
template <class T>
constexpr bool visible_in_range() {
  if constexpr (StatesVisible<T>)
    return T::visible >= 1 && (Counts<T>::open_out || T::visible <= Counts<T>::out);
  else
    return true;
}
template <class T>
constexpr bool shares_in_range() {
  for (const Share& share : stated_inplace<T>())
    if (share.input < 0 || share.output < 0 || (!Counts<T>::open_in && share.input >= Counts<T>::in) ||
        (!Counts<T>::open_out && share.output >= Counts<T>::out))
      return false;
  return true;
}

/// Whether gradient_inplace stays within what the stated gradient reads and writes.
template <class T>
constexpr bool gradient_shares_in_range() {
  if constexpr (!AnyMap<T> && GradientInplaceOption<T> && !std::is_void_v<GradientMember<T>>) {
    int reads = 0, writes = 0;
    for (const ArgInfo& info : Served<GradientMember<T>, T>::infos) ++(info.writes ? writes : reads);
    for (const Share& share : stated_gradient_inplace<T>())
      if (share.input < 0 || share.input >= reads || share.output < 0 || share.output >= writes) return false;
  }
  return true;
}
/// Whether it names the same tensors in every call: outputs stand behind the inputs, some of which may be left out.
template <class T>
constexpr bool gradient_shares_are_fixed() {
  if constexpr (!AnyMap<T> && GradientInplaceOption<T> && !std::is_void_v<GradientMember<T>>) {
    using G = TensorGradient<T, GradientMember<T>>;
    if (TensorShape<T>::variadic || TensorShape<T>::open) return false;
    if (!StatesInputCount<T> || G::in == 0) return true;
    for (const Share& share : stated_gradient_inplace<T>())
      if (G::shared(share).input >= std::popcount(G::heads) + std::popcount(G::in)) return false;
  }
  return true;
}

/// Where no rule says otherwise, the inputs have one shape: so they have one rank.
template <class T>
constexpr bool ranks_agree() {
  if constexpr (TensorOp<T> && !NamesInferShape<T>) {
    int rank = any_rank, inputs = TensorShape<T>::inputs;
    for (const ArgInfo& info : ServedForward<T>::infos) {
      if (inputs-- == 0) break;
      if (rank != any_rank && info.rank != any_rank && info.rank != rank) return false;
      if (info.rank != any_rank) rank = info.rank;
    }
  }
  return true;
}
/// forward of a tensor operator: every input stands before every output.
template <class T>
constexpr bool outputs_stand_last() {
  if constexpr (TensorOp<T>) {
    int writes = 0;
    for (const ArgInfo& info : ServedForward<T>::infos)
      if (info.writes)
        ++writes;
      else if (writes > TensorShape<T>::mutated)
        return false;
  }
  return true;
}
/// The inputs that forward takes as views to write are those that `mutates` names.
template <class T>
constexpr bool mutated_are_written() {
  if constexpr (TensorOp<T>) {
    const NameList names = stated_inputs<T>();
    int left = TensorShape<T>::mutated;
    if (left == 0 || TensorShape<T>::variadic || !inputs_match<T>() || !mutated_known<T>()) return true;
    std::size_t at = 0;
    for (const ArgInfo& info : ServedForward<T>::infos) {
      if (info.writes && left == 0) break;
      if (info.writes != (position(stated_mutated<T>(), names[at++]) >= 0)) return false;
      left -= info.writes ? 1 : 0;
    }
  }
  return true;
}

/// A natural gradient of a tensor operator takes (ctx, views of const…, gradients to write…), a gradient for each
/// input.
template <class T>
constexpr bool gradient_takes_each() {
  if constexpr (!TensorOp<T> || HasGrad<T>)
    return true;
  else if constexpr (std::is_void_v<GradientMember<T>>)
    return true;
  else {
    using N = TensorShape<T>;
    constexpr bool in = HasGradUseIn<T> || HasGradUseInOut<T>, out = HasGradUseOut<T> || HasGradUseInOut<T>;
    constexpr int reads = N::visible + (in ? N::reads : 0) + (out ? N::outputs : 0);
    int at = 0;
    for (const ArgInfo& info : Served<GradientMember<T>, T>::infos)
      if (info.tagged || info.writes != (at++ >= reads)) return false;
    return at == reads + N::reads;
  }
}
/// forward has one list of inputs and one of outputs at most: of two, nobody could say where the second begins.
template <class T>
constexpr bool lists_are_told_apart() {
  int read = 0, written = 0;
  if constexpr (TensorOp<T>)
    for (const ArgInfo& info : ServedForward<T>::infos)
      if (info.variadic) ++(info.writes ? written : read);
  return read <= 1 && written <= 1;
}
/// A natural gradient takes a list for each of forward's, at its place, and single tensors elsewhere.
template <class T>
constexpr bool gradient_lists_match() {
  if constexpr (!TensorOp<T> || HasGrad<T>)
    return true;
  else if constexpr (std::is_void_v<GradientMember<T>> || !gradient_takes_each<T>())
    return true;
  else {
    using N = TensorShape<T>;
    const auto& infos = Served<GradientMember<T>, T>::infos;
    std::size_t at = 0;
    const auto as_in_forward = [&](bool written, int after, int count) {
      for (const ArgInfo& info : ServedForward<T>::infos)
        if (info.writes == written && after-- <= 0 && count-- > 0 && infos[at++].variadic != info.variadic)
          return false;
      return true;
    };
    constexpr bool in = HasGradUseIn<T> || HasGradUseInOut<T>, out = HasGradUseOut<T> || HasGradUseInOut<T>;
    return as_in_forward(true, N::mutated, N::visible) && as_in_forward(false, 0, in ? N::reads : 0) &&
           as_in_forward(true, N::mutated, out ? N::outputs : 0) && as_in_forward(false, 0, N::reads);
  }
}
/// Every argument of `grad` is tagged; what is not a gradient is read only; one gradient at least is written.
template <class T>
constexpr bool gradient_is_tagged() {
  if constexpr (HasGrad<T>) {
    bool gives = false;
    for (const ArgInfo& info : Served<GradientMember<T>, T>::infos) {
      const bool writable = info.plain_writes || (info.whole && info.role == Role::grad);
      if (!info.tagged || writable != (info.role == Role::grad)) return false;
      gives = gives || info.role == Role::grad;
    }
    return gives;
  } else
    return true;
}

/// `gradient` of an operator with one output and a known number of inputs takes (dy) or (dy, x…). What has several, or
/// any number, is asked when it is composed, with the spans that it is given.
template <class T>
constexpr bool composes_as_stated() {
  if constexpr (!NamesGradient<T> || Counts<T>::map || Counts<T>::open_in || Counts<T>::open_out || Counts<T>::out != 1)
    return true;
  else
    return composes_from<T, std::size_t{Counts<T>::in}>();
}
/// What `gradient_reads` names stands in `inputs`.
template <class T>
constexpr bool read_known() {
  if constexpr (GradientReads<T>)
    for (std::string_view name : T::gradient_reads)
      if (position(stated_inputs<T>(), name) < 0) return false;
  return true;
}
/// `sparse_tensors` counts all inputs and outputs.
template <class T>
constexpr bool sparse_forms_match() {
  if constexpr (HasSparseForms<T>)
    return Counts<T>::open_in || Counts<T>::open_out ||
           static_cast<int>(T::sparse_tensors) == Counts<T>::in + Counts<T>::out;
  else
    return true;
}

/// forward is not const.
template <class T>
concept ForwardNotConst =
    requires(T& op, Probe (*x)()) { op.forward(x()); } || requires(T& op, Probe (*x)()) { op.forward(x(), x()); };
template <class T>
inline constexpr int stated_gradients =
    int{NamesGradUseIn<T>} + int{NamesGradUseOut<T>} + int{NamesGradUseNone<T>} + int{NamesGradUseInOut<T>} +
    int{NamesGradient<T>} + int{NamesGrad<T>} + int{HasZeroGradient<T>};

}  // namespace strop::inline v0::detail
