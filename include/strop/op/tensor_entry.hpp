// SPDX-License-Identifier: Apache-2.0
/// \file
/// The registry entry of a tensor operator, read from the signatures of its members.
#pragma once
#include <strop/op/arguments.hpp>
#include <strop/op/compose.hpp>
#include <strop/op/map_entry.hpp>
#include <strop/op/sparse_forms.hpp>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// How many tensors a tensor operator has, from its forward and from what it states.
template <class T>
struct TensorShape {
  static constexpr bool has_dense = TensorOp<T>;
  static constexpr int reads = [] {
    int n = 0;
    if constexpr (has_dense)
      for (const ArgInfo& info : Served<ForwardMember, T>::infos) n += info.writes ? 0 : 1;
    return n;
  }();
  static constexpr int writes = [] {
    int n = 0;
    if constexpr (has_dense)
      for (const ArgInfo& info : Served<ForwardMember, T>::infos) n += info.writes ? 1 : 0;
    return n;
  }();
  static constexpr bool variadic = [] {
    if constexpr (has_dense)
      for (const ArgInfo& info : Served<ForwardMember, T>::infos)
        if (info.variadic && !info.writes) return true;
    return false;
  }();
  static constexpr int mutated = static_cast<int>(stated_mutated<T>().size());
  static constexpr int inputs = has_dense ? reads + mutated : static_cast<int>(stated_inputs<T>().size());
  static constexpr int outputs = has_dense                     ? writes - mutated
                                 : stated_outputs<T>().empty() ? 1
                                                               : static_cast<int>(stated_outputs<T>().size());
  static constexpr int visible = [] {
    if constexpr (requires { int{T::visible}; })
      return int{T::visible};
    else
      return outputs;
  }();
  static int input_count(const T& op, int given) {
    if constexpr (variadic)
      return given;
    else if constexpr (requires { op.input_count(); })
      return op.input_count();
    else
      return inputs;
  }
  static int output_count(const T& op) {
    if constexpr (requires { op.output_count(); })
      return op.output_count();
    else
      return outputs;
  }
  static int visible_count(const T& op) {
    if constexpr (requires { op.visible_count(); })
      return op.visible_count();
    else if constexpr (requires { op.output_count(); })
      return op.output_count();
    else
      return visible;
  }
};

template <class T>
void tensor_signature(const void* object, int given, Signature& s) {
  const T& op = *static_cast<const T*>(object);
  using N = TensorShape<T>;
  fill_signature(N::variadic && stated_inputs<T>().empty() ? NameList(numbered_inputs) : stated_inputs<T>(),
                 stated_outputs<T>(), stated_mutated<T>(), N::input_count(op, given), N::output_count(op),
                 N::visible_count(op), s);
}

template <class T>
void tensor_shape(const void* object, Shapes& shapes) {
  const T& op = *static_cast<const T*>(object);
  if constexpr (InfersShape<T>)
    op.infer_shape(shapes);
  else {
    if (shapes.inputs() == 0) return;
    for (int k = 0; k < shapes.outputs(); ++k) {
      shapes.set_out(k, shapes.in(0));
      if (k == 0) shapes.set_in(0, shapes.out(0));
    }
  }
}

/// Types from the signature: every parameter that follows E has one type, the others have their own.
template <class M, class T>
void member_types(Types& types) {
  using S = Served<M, T>;
  std::optional<Dtype> element;
  const auto each = [&](auto f) {
    int in = 0, out = 0, writes = 0;
    constexpr int mutated = TensorShape<T>::mutated;
    for (std::size_t k = 0; k < S::count; ++k) {
      const ArgInfo& info = S::infos[k];
      if (info.writes && writes++ >= mutated) {
        const int many = info.variadic ? types.outputs() - out : 1;
        for (int i = 0; i < many && out < types.outputs(); ++i) f(k, false, out++);
      } else {
        const int many = info.variadic ? types.inputs() - (TensorShape<T>::inputs - 1) : 1;
        for (int i = 0; i < many && in < types.inputs(); ++i) f(k, true, in++);
      }
    }
  };
  each([&](std::size_t k, bool input, int i) {
    if (S::follows(k) && !element) element = input ? types.in(i) : types.out(i);
  });
  each([&](std::size_t k, bool input, int i) {
    if (S::follows(k)) {
      if (!element) return;
      input ? types.set_in(i, element) : types.set_out(i, element);
    } else if (!input) {
      types.set_out(i, S::infos[k].dtype);
    } else if (!types.in(i)) {
      types.set_in(i, S::infos[k].dtype);
    }
  });
}
template <class T>
void tensor_type(const void* object, Types& types) {
  if constexpr (InfersType<T>)
    static_cast<const T*>(object)->infer_type(types);
  else if constexpr (TensorOp<T>)
    member_types<ForwardMember, T>(types);
  else {
    std::optional<Dtype> common = types.inputs() > 0 ? types.in(0) : std::nullopt;
    for (int k = 0; k < types.outputs(); ++k) types.set_out(k, common);
  }
}

/// Inputs whose type a member fixes (indices, say) come converted.
inline const NDArray* as_fixed(const NDArray* a, Dtype wanted, std::vector<NDArray>& held) {
  if (a == nullptr || a->dtype() == wanted || a->storage() != dense || !a->allocated()) return a;
  NDArray converted(a->shape(), wanted, a->device());
  convert_elements(a->dtype(), a->bytes(), wanted, converted.bytes(), a->size());
  held.push_back(std::move(converted));
  return &held.back();
}

template <class T>
void run_forward(const Call& call, Cpu& ctx) {
  const T& op = *static_cast<const T*>(call.params);
  if constexpr (NamesForwardSparse<T>) {
    bool sparse = !TensorOp<T>;
    for (const NDArray* a : call.inputs) sparse = sparse || a->storage() != dense;
    for (const NDArray& a : call.out) sparse = sparse || a.storage() != dense;
    if (sparse) return run_sparse_form(op, call, ctx);
  }
  if constexpr (TensorOp<T>) {
    using S = Served<ForwardMember, T>;
    std::array<Placed, S::count> placed;
    std::vector<NDArray> converted;
    converted.reserve(call.inputs.size());
    std::vector<const NDArray*> outputs;
    for (const NDArray& a : call.out) outputs.push_back(&a);
    const int total = call.in_count(), mutated = TensorShape<T>::mutated;
    int in = 0, out = 0, writes = 0;
    std::optional<Dtype> element, array_type;  // a view's type goes first
    for (std::size_t k = 0; k < S::count; ++k) {
      const ArgInfo& info = S::infos[k];
      Placed& p = placed[k];
      const NDArray* first = nullptr;
      if (info.writes && writes++ >= mutated) {
        p.label = cat("output ", out);
        if (info.variadic)
          p.list = std::span<const NDArray* const>(outputs).subspan(static_cast<std::size_t>(out)),
          out = static_cast<int>(outputs.size());
        else if (out < static_cast<int>(outputs.size()))
          p.array = outputs[static_cast<std::size_t>(out++)];
      } else {
        const int at = in;
        if (info.variadic) {
          const int many = total - (TensorShape<T>::inputs - 1);
          p.list = call.inputs.subspan(static_cast<std::size_t>(in), static_cast<std::size_t>(many));
          in += many;
        } else if (in < total) {
          p.array = &call.in(in++);
          if (!S::follows(k)) p.array = as_fixed(p.array, info.dtype, converted);
        }
        const NameList names = stated_inputs<T>().empty() ? default_inputs(total) : stated_inputs<T>();
        p.label = cat("input '", names[std::min(static_cast<std::size_t>(at), names.size() - 1)], "'");
      }
      first = p.array != nullptr ? p.array : p.list.empty() ? nullptr : p.list[0];
      if (std::optional<Dtype>& type = info.whole ? array_type : element; !type && S::follows(k) && first != nullptr)
        type = first->dtype();
    }
    call_typed<ForwardMember>(op, ctx, call.entry.snake, placed, element ? *element : array_type.value_or(f32));
  }
}

template <class T>
bool takes_type(Dtype type) {
  if constexpr (TensorOp<T>)
    return Served<ForwardMember, T>::takes(type);
  else
    return true;
}

template <class T>
bool tensor_storage(const void* op, Storages& storages) {
  return static_cast<const T*>(op)->infer_storage(storages);
}

/// The gradient of tensor operator T by its member M, as an operator of (head gradients, inputs, outputs) → gradients.
template <class T, class M>
struct TensorGradient {
  using S = Served<M, T>;
  using N = TensorShape<T>;
  static constexpr bool tagged = [] {
    for (const ArgInfo& info : S::infos)
      if (info.tagged) return true;
    return false;
  }();
  static constexpr bool all_in = std::is_same_v<M, GradUseInMember> || std::is_same_v<M, GradUseInOutMember>;
  static constexpr bool all_out = std::is_same_v<M, GradUseOutMember> || std::is_same_v<M, GradUseInOutMember>;

  static constexpr std::uint64_t bits(int n) { return n >= 64 ? every : (std::uint64_t{1} << n) - 1; }
  /// The tensor that a tagged parameter names, by position in inputs or outputs.
  static constexpr int tag_position(const ArgInfo& info) {
    const bool output = info.role == Role::head || info.role == Role::out;
    const NameList names =
        output ? (stated_outputs<T>().empty() ? NameList(output_name) : stated_outputs<T>())
               : (stated_inputs<T>().empty() ? NameList(N::inputs == 2 ? NameList(pair_names) : NameList(data_name))
                                             : stated_inputs<T>());
    return position(names, info.name);
  }
  static constexpr bool tags_known = [] {
    if (!tagged) return true;
    for (const ArgInfo& info : S::infos)
      if (!info.tagged || tag_position(info) < 0) return false;
    return true;
  }();
  static_assert(tags_known,
                "strop: every argument of grad after ctx is tagged with a name that stands in `inputs` or `outputs`");

  static constexpr std::uint64_t mask(Role role) {
    std::uint64_t set = 0;
    for (const ArgInfo& info : S::infos)
      if (info.role == role && tag_position(info) >= 0) set |= std::uint64_t{1} << tag_position(info);
    return set;
  }
  static constexpr std::uint64_t heads = tagged ? mask(Role::head) : bits(N::visible);
  static constexpr std::uint64_t in = tagged ? mask(Role::in) : !all_in ? 0 : N::variadic ? every : bits(N::reads);
  static constexpr std::uint64_t out = tagged ? mask(Role::out) : all_out ? bits(N::outputs) : 0;
  static constexpr std::uint64_t gives = tagged ? mask(Role::grad) : N::variadic ? every : bits(N::reads);

  static void run(const Call& call, Cpu& ctx) {
    const T& op = *static_cast<const T*>(call.params);
    std::array<Placed, S::count> placed;
    std::vector<NDArray> converted;
    converted.reserve(call.inputs.size());
    std::vector<const NDArray*> outputs;
    for (const NDArray& a : call.out) outputs.push_back(&a);
    std::optional<Dtype> element, array_type;
    int next_in = 0, next_out = 0;
    const int variadic_inputs = N::variadic ? (call.in_count() - std::popcount(heads) - (all_out ? N::outputs : 0)) : 0;
    for (std::size_t k = 0; k < S::count; ++k) {
      const ArgInfo& info = S::infos[k];
      Placed& p = placed[k];
      p.label = info.tagged ? cat("'", info.name, "'") : cat("argument ", k);
      if constexpr (tagged) {
        const int at = tag_position(info);
        const auto below = [at](std::uint64_t set) { return std::popcount(set & ((std::uint64_t{1} << at) - 1)); };
        int i = 0;
        if (info.role == Role::head)
          i = below(heads);
        else if (info.role == Role::in)
          i = std::popcount(heads) + below(in);
        else if (info.role == Role::out)
          i = std::popcount(heads) + std::popcount(in) + below(out);
        if (info.role == Role::grad) {
          const int o = below(gives);
          if (o < static_cast<int>(outputs.size()) && call.request(o) != Request::null)
            p.array = outputs[static_cast<std::size_t>(o)];
        } else if (i < call.in_count() && call.in(i).allocated())
          p.array = &call.in(i);
      } else if (info.writes) {
        if (info.variadic)
          p.list = std::span<const NDArray* const>(outputs).subspan(static_cast<std::size_t>(next_out));
        else if (next_out < static_cast<int>(outputs.size()))
          p.array = outputs[static_cast<std::size_t>(next_out++)];
      } else if (info.variadic) {
        p.list = call.inputs.subspan(static_cast<std::size_t>(next_in), static_cast<std::size_t>(variadic_inputs));
        next_in += variadic_inputs;
      } else if (next_in < call.in_count()) {
        p.array = &call.in(next_in++);
      }
      if (!info.writes && !info.variadic && !S::follows(k)) p.array = as_fixed(p.array, info.dtype, converted);
      const NDArray* first = p.array != nullptr ? p.array : p.list.empty() ? nullptr : p.list[0];
      if (std::optional<Dtype>& type = info.whole ? array_type : element; !type && S::follows(k) && first != nullptr)
        type = first->dtype();
    }
    call_typed<M>(op, ctx, call.entry.snake, placed, element ? *element : array_type.value_or(f32));
  }

  static void signature(const void*, int given, Signature& s) {
    for (int i = 0; i < given; ++i) s.inputs.push_back("argument");
    for (int i = 0; i < N::reads; ++i) s.outputs.push_back("gradient");
    s.visible = N::reads;
  }
  /// The shapes and types of gradients are those of the inputs: whoever asks for them says them.
  static void infer_shape(const void*, Shapes& shapes) {
    for (int k = 0; k < shapes.outputs(); ++k)
      if (!shapes.out(k).known() && shapes.inputs() > 0) shapes.set_out(k, shapes.in(0));
  }
  static void infer_type(const void*, Types& types) {
    for (int k = 0; k < types.outputs(); ++k)
      if (!types.out(k) && types.inputs() > 0) types.set_out(k, types.in(0));
  }
  static bool takes(Dtype type) { return S::takes(type); }
  static bool infer_storage(const void* op, Storages& storages) {
    return static_cast<const T*>(op)->infer_gradient_storage(storages);
  }
};

template <class T, class M>
struct TensorGradientEntry {
  static const Entry value;
};

template <class T, class M>
constexpr Entry tensor_gradient_entry() {
  using G = TensorGradient<T, M>;
  Entry e;
  e.name = e.snake = backward_name<T>;
  e.qualified = qualified_name<G>;
  e.params = &param_table<T>;
  e.inputs = -1;
  e.min_inputs = 0;
  e.outputs = e.visible = TensorShape<T>::reads;
  e.signature = &G::signature;
  e.dtypes = G::S::types;
  e.infer_shape = &G::infer_shape;
  e.infer_type = &G::infer_type;
  e.run_cpu = &G::run;
  e.takes = &G::takes;
  e.skips_null = G::tagged;
  if constexpr (requires { T::gradient_accumulates; }) e.accumulates = T::gradient_accumulates;
  if constexpr (requires(const T& op, Storages& s) { op.infer_gradient_storage(s); }) {
    e.infer_storage = &G::infer_storage;
    e.sparse_forms = true;
  }
  return e;
}
template <class T, class M>
constinit const Entry TensorGradientEntry<T, M>::value = tensor_gradient_entry<T, M>();

template <class T, class M>
constexpr GradientRule stated_gradient() {
  using G = TensorGradient<T, M>;
  GradientRule rule;
  rule.entry = &TensorGradientEntry<T, M>::value;
  rule.heads = G::heads;
  rule.in = G::in;
  rule.out = G::out;
  rule.gives = G::gives;
  return rule;
}

template <class T>
constexpr GradientRule tensor_gradient() {
  if constexpr (GradComposes<T>) {
    GradientRule rule;
    constexpr bool several = TensorShape<T>::outputs != 1 || requires(const T& op) { op.output_count(); };
    rule.heads = several ? every : 1;
    rule.in = every;
    rule.gives = every;
    constexpr int n = TensorShape<T>::variadic ? -1 : TensorShape<T>::inputs;
    rule.compose = &compose_arrays<T, n, several>;
    rule.compose_symbols = &compose_nodes<T, n, several>;
    if constexpr (requires { T::gradient_keeps; }) rule.in = T::gradient_keeps == Keeps::none ? 0 : every;
    if constexpr (requires { NameList(T::gradient_reads); }) {
      rule.in = 0;
      for (std::string_view name : T::gradient_reads) rule.in |= std::uint64_t{1} << position(stated_inputs<T>(), name);
    }
    return rule;
  } else if constexpr (HasGrad<T>)
    return stated_gradient<T, GradMember>();
  else if constexpr (HasGradUseInOut<T>)
    return stated_gradient<T, GradUseInOutMember>();
  else if constexpr (HasGradUseIn<T>)
    return stated_gradient<T, GradUseInMember>();
  else if constexpr (HasGradUseOut<T>)
    return stated_gradient<T, GradUseOutMember>();
  else if constexpr (HasGradUseNone<T>)
    return stated_gradient<T, GradUseNoneMember>();
  else {
    GradientRule rule;
    if constexpr (requires { T::zero_gradient; }) rule.zero = T::zero_gradient;
    return rule;
  }
}

template <class T>
constexpr Entry tensor_entry() {
  using N = TensorShape<T>;
  Entry e;
  e.name = operator_name<T>();
  e.snake = lower_name<T>;
  e.qualified = qualified_name<T>;
  e.params = &param_table<T>;
  e.aliases = stated_aliases<T>();
  e.doc = stated_doc<T>();
  e.notes = stated_notes<T>();
  if constexpr (!TensorOp<T>)
    e.dtypes = floating;
  else if constexpr (Served<ForwardMember, T>::any_type)
    e.dtypes = any_dtype;
  else
    e.dtypes = Served<ForwardMember, T>::types;
  if constexpr (ServesTypes<T>) e.dtypes = DtypeSet(T::dtypes);
  // Halves are served through converted copies wherever float is.
  if ((e.dtypes.bits & DtypeSet(f32).bits) != 0) e.dtypes = e.dtypes | f16 | bf16;
  e.inputs = N::variadic ? -1 : N::inputs;
  // An operator whose parameters say how many inputs it has may have any number of them.
  e.min_inputs = N::variadic ? N::inputs : requires(const T& op) { op.input_count(); } ? 0 : N::inputs;
  e.outputs = N::outputs;
  e.visible = N::visible;
  e.mutates = N::mutated != 0;
  e.signature = &tensor_signature<T>;
  e.infer_shape = &tensor_shape<T>;
  e.infer_type = &tensor_type<T>;
  if constexpr (InfersStorage<T>) e.infer_storage = &tensor_storage<T>;
  e.sparse_forms = InfersStorage<T>;
  e.inplace = stated_inplace<T>();
  if constexpr (requires { T::accumulates; }) e.accumulates = T::accumulates;
  e.run_cpu = &run_forward<T>;
  e.takes = &takes_type<T>;
  e.gradient = tensor_gradient<T>();
  return e;
}

template <class T>
constexpr Entry make_entry() {
  if constexpr (AnyMap<T>)
    return map_entry<T>();
  else
    return tensor_entry<T>();
}
template <class T>
constinit const Entry EntryOf<T>::value = make_entry<T>();

/// The entry of an operator of the library.
template <class T>
struct LibraryEntryOf {
  static const Entry value;
};
template <class T>
constinit const Entry LibraryEntryOf<T>::value = [] {
  Entry e = make_entry<T>();
  e.library = true;
  return e;
}();

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
