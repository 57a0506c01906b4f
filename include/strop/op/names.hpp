// SPDX-License-Identifier: Apache-2.0
/// \file
/// Names that an operator states or that follow from its type: the operator's own, its inputs and outputs.
#pragma once
#include <strop/core/reflect.hpp>
#include <strop/core/span.hpp>
#include <strop/op/concepts.hpp>
#include <strop/op/entry.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

template <class T>
inline constexpr ShortName name_of_template = name_with_arguments(qualified_name<T>);
template <class T>
constexpr std::string_view operator_name() {
  if constexpr (StatesName<T>)
    return T::name;
  else if constexpr (of_template<T>)
    return name_of_template<T>;
  else
    return type_name<T>;
}
template <class T>
inline constexpr ShortName lower_name = snake_case(operator_name<T>());

/// Names that an operator of a template has as long as no other one of it is there: that of the template.
template <class T>
struct TemplateNames {
  static constexpr ShortName snake = snake_case(type_name<T>);
  static constexpr std::string_view list[] = {type_name<T>, snake};
};
template <class T>
constexpr NameList template_names() {
  if constexpr (of_template<T> && !StatesName<T>)
    return TemplateNames<T>::list;
  else
    return {};
}

/// The file that T stands in, where no other can name T: its name without folders.
template <class T>
constexpr std::string_view file_of() {
  if constexpr (in_one_file<T>) {
    constexpr std::string_view path = __BASE_FILE__;
    return path.substr(path.rfind('/') + 1);
  } else
    return {};
}

/// Position of a name in a list; −1 where it is not.
constexpr int position(NameList names, std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<int>(i);
  return -1;
}

// What the struct says, as it stands there.
template <class T>
constexpr NameList listed_inputs() {
  if constexpr (ListsInputs<T>)
    return T::inputs;
  else
    return {};
}
template <class T>
constexpr NameList listed_mutated() {
  if constexpr (StatesMutates<T>)
    return T::mutates;
  else
    return {};
}
/// The names of a list, then those of `aux` that it does not have.
template <NameList (*List)(), class T>
inline constexpr auto with_aux = [] {
  constexpr NameList first = List();
  constexpr std::size_t size = [] {
    std::size_t n = List().size();
    for (std::string_view name : T::aux) n += position(List(), name) < 0 ? 1U : 0U;
    return n;
  }();
  std::array<std::string_view, size> all{};
  std::size_t n = 0;
  for (std::string_view name : first) all[n++] = name;
  for (std::string_view name : T::aux)
    if (position(first, name) < 0) all[n++] = name;
  return all;
}();

template <class T>
constexpr NameList stated_inputs() {
  if constexpr (StatesAux<T>)
    return with_aux<&listed_inputs<T>, T>;
  else
    return listed_inputs<T>();
}
template <class T>
constexpr NameList stated_outputs() {
  if constexpr (ListsOutputs<T>)
    return T::outputs;
  else
    return {};
}
/// The inputs that forward writes.
template <class T>
constexpr NameList stated_mutated() {
  if constexpr (StatesAux<T>)
    return with_aux<&listed_mutated<T>, T>;
  else
    return listed_mutated<T>();
}
template <class T>
constexpr NameList stated_aliases() {
  if constexpr (StatesAliases<T>)
    return T::aliases;
  else
    return {};
}
template <class T>
constexpr std::span<const Note> stated_notes() {
  if constexpr (StatesNotes<T>)
    return T::notes;
  else
    return {};
}
template <class T>
constexpr std::string_view stated_doc() {
  if constexpr (StatesDoc<T>)
    return T::doc;
  else
    return {};
}
template <class T>
constexpr std::span<const Share> stated_inplace() {
  if constexpr (InplaceOption<T>)
    return T::inplace;
  else
    return {};
}
template <class T>
constexpr std::span<const Share> stated_gradient_inplace() {
  if constexpr (GradientInplaceOption<T>)
    return T::gradient_inplace;
  else
    return {};
}

inline constexpr std::string_view data_name[] = {"data"};
inline constexpr std::string_view pair_names[] = {"lhs", "rhs"};
inline constexpr std::string_view output_name[] = {"output"};

inline constexpr std::string_view numbered_inputs[] = {"arg0",  "arg1",  "arg2",  "arg3", "arg4",  "arg5",
                                                       "arg6",  "arg7",  "arg8",  "arg9", "arg10", "arg11",
                                                       "arg12", "arg13", "arg14", "arg15"};
inline constexpr std::string_view numbered_outputs[] = {
    "output0", "output1", "output2",  "output3",  "output4",  "output5",  "output6",  "output7",
    "output8", "output9", "output10", "output11", "output12", "output13", "output14", "output15"};

/// Name i of tensors that are numbered, such as arg17. It is never destroyed: operations may run until the very end.
std::string_view numbered_name(bool output, Index i);
/// The name of tensor i of n where none are stated: data; lhs, rhs; arg0, arg1, … Behind the n stand optional ones that
/// a call has left out.
inline std::string_view default_input(Index i, Index n) {
  return n == 1 && i < n ? data_name[0] : n == 2 && i < n ? pair_names[i] : numbered_name(false, i);
}
inline std::string_view default_output(Index i, Index n) { return n == 1 ? output_name[0] : numbered_name(true, i); }

/// Which parameter for inputs, and which for outputs, is a list of them; −1 where none is.
struct ListParameters {
  int in = -1, out = -1;
};

/// The signature of a call with `inputs` inputs and `outputs` outputs of an operator T. All tensors of a list have the
/// name of its parameter.
void fill_signature(NameList stated_in, NameList stated_out, NameList mutated, int inputs, int outputs, int visible,
                    Signature& s, ListParameters lists = {});

/// How many tensors a member such as input_count() says that a call has, from `least` to `most`: they are made, and
/// named, before shapes are compared.
constexpr int checked_tensors(std::int64_t count, std::int64_t least, std::int64_t most, std::string_view op,
                              std::string_view member) {
  if (count < least || count > most)
    fail(op, ": ", member, " is ", count, ", expected a number from ", least, " to ", most);
  return static_cast<int>(count);
}
inline constexpr std::int64_t most_tensors = std::int64_t{1} << 20;  // of one call

/// Names that an operator takes from its parameters, for as many tensors as it names.
template <class T>
void name_by_call(const T& op, Signature& s) {
  const auto name = [](const std::vector<std::string_view>& given, std::vector<std::string_view>& to) {
    for (std::size_t i = 0; i < to.size() && i < given.size(); ++i) to[i] = given[i];
  };
  if constexpr (NamesInputsByCall<T>) name(op.inputs(), s.inputs);
  if constexpr (NamesOutputsByCall<T>) name(op.outputs(), s.outputs);
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/names_impl.hpp>
#endif
