// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compile-time unit tests of what a call infers: shapes and types of any operator, storages and what is kept of a
/// tensor operator (op/check.hpp has those of maps). Inference that a struct states takes part where it is constexpr.
#pragma once
#include <strop/op/broadcast.hpp>
#include <strop/op/check.hpp>
#include <strop/op/infer.hpp>
#include <strop/op/rules.hpp>
#include <strop/op/tensor_entry.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {
namespace detail {

template <class T>
concept AnyTensorOp = !AnyMap<T> && (TensorOp<T> || SparseOp<T>);
template <class T>
concept AnyOp = AnyMap<T> || AnyTensorOp<T>;

/// Whether T may be called with so many inputs; where that depends on the parameters it is asked of them.
template <class T>
constexpr bool takes_inputs(std::size_t given) {
  if constexpr (AnyMap<T>)
    return given == arity<T>;
  else if constexpr (TensorShape<T>::variadic)
    return given + 1 >= static_cast<std::size_t>(TensorShape<T>::inputs);
  else
    return StatesInputCount<T> || given == static_cast<std::size_t>(TensorShape<T>::inputs);
}
template <class T>
constexpr std::size_t count_results(const T& op, std::size_t given) {
  if constexpr (AnyMap<T>)
    return results<T> - stated_mutated<T>().size();
  else {
    using N = TensorShape<T>;
    const auto inputs = static_cast<std::size_t>(N::input_count(op, static_cast<int>(given)));
    if (inputs != given) fail("check: ", std::string_view(lower_name<T>), " has ", inputs, " inputs, not ", given);
    return static_cast<std::size_t>(N::output_count(op));
  }
}

/// What f finds out of the results, through a span: of one as it is, of several as a list.
template <class Value, class Known, class T, class F>
constexpr auto known_results(const T& op, std::size_t given, const Known& nothing, F f) {
  std::vector<Known> out(count_results(op, given), nothing);
  f(std::span<Known>(out));
  const auto value = [](const Known& known) -> Value {
    if constexpr (std::is_same_v<Known, Value>)
      return known;
    else
      return known.value();
  };
  if constexpr (!Counts<T>::open_out && Counts<T>::out == 1)
    return value(out[0]);
  else {
    std::vector<Value> list;
    for (const Known& known : out) list.push_back(value(known));
    return list;
  }
}

/// The names for a sentence.
template <class T>
constexpr CallNames names_for() {
  NameList inputs = stated_inputs<T>();
  if (inputs.empty() && Counts<T>::in == 1) inputs = data_name;
  if (inputs.empty() && Counts<T>::in == 2) inputs = pair_names;
  return {lower_name<T>, inputs, stated_outputs<T>()};
}

/// What the struct says, or its signature.
template <class T>
constexpr void infer_stated_shape(const T& op, const CallNames& names, std::span<Shape> in, std::span<Shape> out) {
  Shapes shapes(names, in, out);
  if constexpr (AnyTensorOp<T>)
    infer_tensor_shape(op, shapes);
  else
    op.infer_shape(shapes);
}
template <class T>
constexpr void infer_stated_type(const T& op, const CallNames& names, std::span<std::optional<Dtype>> in,
                                 std::span<std::optional<Dtype>> out) {
  Types types(names, in, out);
  if constexpr (AnyTensorOp<T>)
    infer_tensor_type(op, types);
  else
    op.infer_type(types);
}

/// Maps: shapes broadcast, or agree where they have to; then what the struct states.
template <class T>
constexpr void infer_map_shape_early(const T& op, const CallNames& names, std::span<Shape> in, std::span<Shape> out) {
  Shape common;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i == 0) common = in[0];
    const bool agree = SameShape<T> || in.size() == 1;
    const int at = static_cast<int>(i);  // each sentence on one line, which is what clang shows
    if (agree && !unify(common, in[i]))
      fail(names.op, ": ", names.input(at), " has shape ", in[i], ", expected ", common);
    if (!agree && !broadcast_into(common, in[i]))
      fail(names.op, ": ", names.input(at), " has shape ", in[i], ", which does not broadcast with ", common);
  }
  for (Shape& shape : out) shape = common;
  if constexpr (InfersShape<T>) infer_stated_shape(op, names, in, out);
}
template <class T>
constexpr void infer_map_type_early(const T& op, const CallNames& names, std::span<std::optional<Dtype>> in,
                                    std::span<std::optional<Dtype>> out) {
  std::size_t first = 0;  // of those of one type
  while ((whole_inputs<T> >> first & 1U) != 0) ++first;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool whole = (whole_inputs<T> >> i & 1U) != 0;
    const DtypeSet types = whole ? integral | boolean : map_dtypes<T>();
    const bool served = types.contains(*in[i]);
    if (!served || (!whole && *in[i] != *in[first]))
      fail(names.op, ": ", names.input(static_cast<int>(i)), " is ", name_of(*in[i]), ", expected ",
           served  ? cat(name_of(*in[first]), " like ", names.input(static_cast<int>(first)),
                         "; convert one of them with cast")
           : whole ? cat("whole numbers, ", one_of(types),
                         "; convert it with cast, a comparison as (x > 0).to(strop::boolean)")
                   : one_of(types));
  }
  Dtype made = in.empty() ? f32 : *in[first];
  if constexpr (TakesIntegersAsDouble<T>)
    if (!is_floating(made) && op.integers_as_double()) made = f64;
  for (std::optional<Dtype>& type : out) type = made;
  if constexpr (InfersType<T>) infer_stated_type(op, names, in, out);
}

}  // namespace detail

namespace check {

/// The shape of the result for inputs of these shapes, with the parameters that op holds: `check::shape(op, Shape{2,
/// 3}, Shape{3})`. A std::vector where there are several results, or as many as the parameters say. Shapes that the
/// operator refuses do not compile; at run time they throw its sentence.
template <detail::AnyOp T, std::same_as<Shape>... In>
constexpr auto shape(const T& op, const In&... in) {
  static_assert(detail::takes_inputs<T>(sizeof...(In)), "strop: check::shape takes a shape for each input of forward");
  std::array<Shape, sizeof...(In)> all{in...};
  const detail::CallNames names = detail::names_for<T>();
  return detail::known_results<Shape>(op, sizeof...(In), Shape::unknown(), [&](std::span<Shape> out) {
    if constexpr (AnyMap<T>)
      detail::infer_map_shape_early(op, names, all, out);
    else
      detail::infer_stated_shape(op, names, all, out);
  });
}

/// The element type of the result for inputs of these types, like check::shape: `check::type(op, f32, f32)`.
template <detail::AnyOp T, std::same_as<Dtype>... In>
constexpr auto type(const T& op, In... in) {
  static_assert(detail::takes_inputs<T>(sizeof...(In)), "strop: check::type takes a type for each input of forward");
  std::array<std::optional<Dtype>, sizeof...(In)> all{in...};
  const detail::CallNames names = detail::names_for<T>();
  return detail::known_results<Dtype>(op, sizeof...(In), std::optional<Dtype>(),
                                      [&](std::span<std::optional<Dtype>> out) {
                                        if constexpr (AnyMap<T>)
                                          detail::infer_map_type_early(op, names, all, out);
                                        else
                                          detail::infer_stated_type(op, names, all, out);
                                      });
}

/// The storage of the result of a tensor operator for inputs of these storages, like check::shape. Without a form for
/// them that is dense, unless infer_storage has set it all the same.
template <detail::AnyTensorOp T, std::same_as<Storage>... In>
constexpr auto storage(const T& op, In... in) {
  static_assert(detail::takes_inputs<T>(sizeof...(In)),
                "strop: check::storage takes a storage for each input of forward");
  const std::array<Storage, sizeof...(In)> all{in...};
  return detail::known_results<Storage>(op, sizeof...(In), std::optional<Storage>(),
                                        [&](std::span<std::optional<Storage>> out) {
                                          Storages storages(all, out, cpu());
                                          storages.say(detail::lower_name<T>);
                                          static_cast<void>(detail::infer_tensor_storage(op, storages));
                                          for (std::optional<Storage>& one : out)
                                            if (!one) one = dense;
                                        });
}

/// What backward of a tensor operator keeps alive, as it states it.
template <detail::AnyTensorOp T>
constexpr Keeps keeps(const T&) {
  bool in = false, out = false;
  if constexpr (GradComposes<T>)
    in = detail::composed_reads<T>(detail::every) != 0;
  else if constexpr (!std::is_void_v<detail::GradientMember<T>>) {
    using G = detail::TensorGradient<T, detail::GradientMember<T>>;
    in = G::in != 0;
    out = G::out != 0;
  }
  return in && out ? Keeps::in_out : in ? Keeps::in : out ? Keeps::out : Keeps::none;
}

}  // namespace check
}  // namespace strop::inline v0
