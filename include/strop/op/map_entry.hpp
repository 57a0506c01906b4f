// SPDX-License-Identifier: Apache-2.0
/// \file
/// The registry entry of a map: everything derived from its body.
#pragma once
#include <strop/op/compose.hpp>
#include <strop/op/loops.hpp>
#include <strop/op/map_infer.hpp>
#include <strop/op/names.hpp>

#include <bit>
#include <cstdint>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// The one entry of T for this instruction set, a constant.
template <class T>
struct EntryOf {
  static const Entry value;
};

template <class T>
inline constexpr bool is_gradient = gradient_order<T> > 0;

/// The operator whose gradient, of whatever order, T is: its parameters are the parameters of all of them.
template <class T>
struct RootOf {
  using type = T;
};
template <class T>
struct RootOf<Gradient<T>> : RootOf<T> {};
template <class T>
struct RootOf<Tangent<T>> : RootOf<T> {};
template <class T>
using Root = typename RootOf<T>::type;

template <class T>
inline constexpr bool is_forward_mode = is_tangent<T>;
template <class T>
inline constexpr bool is_forward_mode<Gradient<T>> = is_forward_mode<T>;

constexpr ShortName joined_name(std::string_view before, std::string_view name) {
  ShortName out;
  for (char c : before) out.text[out.size++] = c;
  for (char c : name)
    if (out.size + 1 < sizeof out.text) out.text[out.size++] = c;
  return out;
}
template <class T>
inline constexpr ShortName tangent_name = joined_name("_tangent_", operator_name<T>());
/// _backward_Quadratic; of the gradient itself _backward__backward_Quadratic.
template <class T>
inline constexpr ShortName backward_name = [] {
  if constexpr (is_tangent<T>)
    return joined_name("_backward_", tangent_name<typename T::Of>);
  else if constexpr (gradient_order<T> > 0)
    return joined_name("_backward_", backward_name<typename T::Of>);
  else
    return joined_name("_backward_", operator_name<T>());
}();
/// Results that a caller sees: all but the inputs that are written, or as many as the struct states.
template <class T>
inline constexpr int map_visible = [] {
  if constexpr (StatesVisible<T>)
    return int{T::visible};
  else
    return static_cast<int>(results<T> - stated_mutated<T>().size());
}();

/// A map writes an element after it has read it: any result may take the memory of any input that it only reads, a bit
/// each in Read.
template <std::uint64_t Read, std::size_t Outputs>
inline constexpr auto map_shares = [] {
  std::array<Share, static_cast<std::size_t>(std::popcount(Read)) * Outputs> all{};
  std::size_t next = 0;
  for (int i = 0; i < 64; ++i)
    for (std::size_t k = 0; k < Outputs && (Read >> i & 1U) != 0; ++k) all[next++] = {i, static_cast<int>(k)};
  return all;
}();
template <class T>
constexpr std::uint64_t only_read() {
  std::uint64_t read = ((std::uint64_t{1} << arity<T>)-1) & ~whole_inputs<T>;
  for (std::string_view name : stated_mutated<T>())
    if (const int at = position(stated_inputs<T>(), name); at >= 0) read &= ~(std::uint64_t{1} << at);
  return read;
}

template <class T>
void map_signature(const void* op, int, Signature& s) {
  constexpr NameList mutated = stated_mutated<T>();
  constexpr int outputs = static_cast<int>(results<T> - mutated.size());
  fill_signature(stated_inputs<T>(), stated_outputs<T>(), mutated, static_cast<int>(arity<T>), outputs, map_visible<T>,
                 s);
  if constexpr (is_gradient<T> || is_tangent<T>)
    static_cast<void>(op);  // of another type: that of the map
  else
    name_by_call(*static_cast<const T*>(op), s);
}

/// Not of the gradient's type, so that it is compiled once for all operators.
template <int Known, int First, std::uint64_t Whole>
void gradient_shape(const void*, Shapes& shapes) {
  infer_gradient_shape(shapes, Known, First, Whole);
}

/// A gradient is zero where the head gradients are; more is not asked of it.
template <std::size_t Heads>
bool zero_without_heads(const void*, Dtype, std::uint64_t zeros) {
  constexpr std::uint64_t heads = (std::uint64_t{1} << Heads) - 1;
  return (zeros & heads) == heads;
}

// What a map states of its shapes, types and storages comes after the derivation: it may say what does not follow from
// the body or refuse a call, and contradicts what follows with the sentence of Shapes and Types.
template <class T>
void stated_map_shape(const void* object, Shapes& shapes) {
  infer_map_shape(EntryOf<T>::value, shapes);
  static_cast<const T*>(object)->infer_shape(shapes);
}
template <class T>
void stated_map_type(const void* object, Types& types) {
  infer_map_type(EntryOf<T>::value, object, types);
  static_cast<const T*>(object)->infer_type(types);
}
template <class T>
bool stated_map_storage(const void* object, Storages& storages) {
  storages.say(lower_name<T>);
  return static_cast<const T*>(object)->infer_storage(storages);
}

template <class T>
bool takes_as_double(const void* object) {
  return static_cast<const T*>(object)->integers_as_double();
}

/// The parameters of a map that states its inference, as ones to be checked: a call takes the way on which it is asked.
template <class T>
inline constexpr ParamTable inferring_table = [] {
  ParamTable table = param_table<T>;
  table.checked = true;
  return table;
}();

/// Whether T has a gradient that is a map, stated or derived.
template <class T>
inline constexpr bool gradient_is_map =
    !GradComposes<T> && !HasZeroGradient<T> && !MutatesInputs<T> && gradient_order<T> < last_gradient_order &&
    (map_dtypes<T>().bits & floating.bits) != 0;

template <class T>
constexpr GradientRule map_gradient() {
  GradientRule rule;
  constexpr std::uint64_t in = (std::uint64_t{1} << arity<T>)-1, out = (std::uint64_t{1} << results<T>)-1;
  if constexpr (GradComposes<T>) {
    constexpr int n = static_cast<int>(arity<T>);
    constexpr bool several = results<T> > 1;
    rule.heads = several ? every : 1;
    rule.in = composed_reads<T>(in);
    rule.gives = in & ~whole_inputs<T>;
    rule.compose = &compose_arrays<T, n, several>;
    rule.compose_symbols = &compose_nodes<T, n, several>;
  } else if constexpr (HasZeroGradient<T>) {
    rule.zero = true;
  } else if constexpr (gradient_is_map<T>) {
    using G = Gradient<T>;
    rule.entry = &EntryOf<G>::value;
    rule.heads = out;
    rule.in = G::takes_in ? in : 0;
    rule.out = G::takes_out ? out : 0;
    rule.gives = in & ~whole_inputs<T>;
  }
  return rule;
}

template <class T>
constexpr Entry map_entry() {
  Entry e;
  if constexpr (is_tangent<T>) {
    e.name = e.snake = tangent_name<typename T::Of>;
    e.params = &param_table<Root<T>>;
    e.dtypes = floating;
  } else if constexpr (is_gradient<T>) {
    e.name = e.snake = backward_name<typename T::Of>;
    e.params = &param_table<Root<T>>;
    constexpr int known = T::takes_in ? static_cast<int>(T::inputs_of) : 0, first = static_cast<int>(T::results_of);
    e.infer_shape = &gradient_shape<known, first, whole_inputs<typename T::Of>>;
    e.dtypes = floating;
  } else {
    e.name = operator_name<T>();
    e.snake = lower_name<T>;
    e.params = InfersShape<T> || InfersType<T> || whole_inputs<T> != 0 ? &inferring_table<T> : &param_table<T>;
    e.aliases = stated_aliases<T>();
    e.template_names = template_names<T>();
    e.doc = stated_doc<T>();
    e.notes = stated_notes<T>();
    e.dtypes = map_dtypes<T>();
    e.same_shape = SameShape<T>;
    e.mutates = MutatesInputs<T>;
    e.file = file_of<T>();
  }
  e.qualified = qualified_name<T>;
  e.isa = this_isa;
  e.min_inputs = e.inputs = static_cast<int>(arity<T>);
  e.outputs = static_cast<int>(results<T> - stated_mutated<T>().size());
  e.visible = map_visible<T>;
  e.signature = &map_signature<T>;
  e.whole = whole_inputs<T>;
  e.loops = loops_of<T>();
  e.inplace = map_shares<only_read<T>(), results<T> - stated_mutated<T>().size()>;
  if constexpr (!is_forward_mode<T>) {  // which GPUs have no kernels of
    e.slot = &slot<Root<T>>;
    e.order = gradient_order<T>;
  }
  if constexpr (is_gradient<T> && !is_tangent<T>) {
    e.facts.zero = &zero_without_heads<T::results_of>;
    if constexpr (gradient_order<T> == 1) e.facts.operations = &operations_of<T>;
  } else
    e.facts = {&kept_of<T>, &operations_of<T>, &zero_of<T>};
  if constexpr (InfersShape<T>) e.infer_shape = &stated_map_shape<T>;
  if constexpr (InfersType<T>) e.infer_type = &stated_map_type<T>;
  if constexpr (InfersStorage<T>) e.facts.storage = &stated_map_storage<T>;
  if constexpr (TakesIntegersAsDouble<T>) e.facts.as_double = &takes_as_double<T>;
  e.gradient = map_gradient<T>();
  return e;
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
