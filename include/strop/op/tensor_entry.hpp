// SPDX-License-Identifier: Apache-2.0
/// \file
/// The registry entry of a tensor operator, read from the signatures of its members.
#pragma once
#include <strop/core/span.hpp>
#include <strop/op/arguments.hpp>
#include <strop/op/compose.hpp>
#include <strop/op/map_entry.hpp>
#include <strop/op/member_infer.hpp>
#include <strop/op/sparse_forms.hpp>
#include <strop/op/sparse_parts.hpp>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

template <class T>
using ServedForward = Served<Says<ForwardMember, T>, T>;

/// How many tensors a tensor operator has, from its forward and from what it states.
template <class T>
struct TensorShape {
  static constexpr bool has_dense = TensorOp<T>;
  static constexpr int reads = [] {
    int n = 0;
    if constexpr (has_dense)
      for (const ArgInfo& info : ServedForward<T>::infos) n += info.writes ? 0 : 1;
    return n;
  }();
  static constexpr int writes = [] {
    int n = 0;
    if constexpr (has_dense)
      for (const ArgInfo& info : ServedForward<T>::infos) n += info.writes ? 1 : 0;
    return n;
  }();
  static constexpr int mutated = static_cast<int>(stated_mutated<T>().size());
  static constexpr ListParameters lists = [] {
    ListParameters at;
    int in = 0, out = 0, writes = 0;
    if constexpr (has_dense)
      for (const ArgInfo& info : ServedForward<T>::infos) {
        const bool output = info.writes && writes++ >= mutated;
        int& k = output ? out : in;
        if (info.variadic) (output ? at.out : at.in) = k;
        ++k;
      }
    return at;
  }();
  static constexpr bool variadic = lists.in >= 0;
  static constexpr int inputs = has_dense ? reads + mutated : static_cast<int>(stated_inputs<T>().size());
  static constexpr int outputs = has_dense                     ? writes - mutated
                                 : stated_outputs<T>().empty() ? 1
                                                               : static_cast<int>(stated_outputs<T>().size());
  /// Whether how many outputs there are depends on the call.
  static constexpr bool open = lists.out >= 0 || StatesOutputCount<T>;
  static constexpr int visible = [] {
    if constexpr (StatesVisible<T>)
      return int{T::visible};
    else
      return outputs;
  }();
  static constexpr int input_count(const T& op, int given) {
    if constexpr (variadic)
      return given;
    else if constexpr (StatesInputCount<T>)
      return checked_tensors(op.input_count(), 0, most_tensors, lower_name<T>, "input_count()");
    else
      return inputs;
  }
  static constexpr int output_count(const T& op) {
    if constexpr (StatesOutputCount<T>)
      return checked_tensors(op.output_count(), 0, most_tensors, lower_name<T>, "output_count()");
    else
      return outputs;
  }
  static constexpr int visible_count(const T& op) {
    if constexpr (StatesVisibleCount<T>)
      return checked_tensors(op.visible_count(), 0, output_count(op), lower_name<T>, "visible_count()");
    else if constexpr (StatesOutputCount<T>)
      return output_count(op);
    else
      return visible;
  }
};

template <class T>
void tensor_signature(const void* object, int given, Signature& s) {
  const T& op = *static_cast<const T*>(object);
  using N = TensorShape<T>;
  fill_signature(stated_inputs<T>(), stated_outputs<T>(), stated_mutated<T>(), N::input_count(op, given),
                 N::output_count(op), N::visible_count(op), s, N::lists);
  if (N::variadic && stated_inputs<T>().empty())  // numbered, however many there are
    for (Index i = 0; i < std::ssize(s.inputs); ++i) element(s.inputs, i) = numbered_name(false, i);
  name_by_call(op, s);
}

/// The outputs whose shapes forward finds, a bit each.
template <class T>
inline constexpr std::uint64_t found_outputs = [] {
  std::uint64_t found = 0;
  int k = -TensorShape<T>::mutated;
  if constexpr (TensorOp<T>)
    for (const ArgInfo& info : ServedForward<T>::infos)
      if (info.writes && k++ >= 0 && info.found) found |= std::uint64_t{1} << (k - 1);
  return found;
}();
/// What is known of the shape of one of them: its rank.
template <class T>
constexpr Shape found_shape(int output) {
  int k = -TensorShape<T>::mutated;
  for (const ArgInfo& info : ServedForward<T>::infos)
    if (info.writes && k++ == output && info.rank != any_rank) return Shape::filled(info.rank, Shape::unknown_extent);
  return Shape::unknown();
}

template <class T>
constexpr void infer_tensor_shape(const T& op, Shapes& shapes) {
  if constexpr (InfersShape<T>)
    op.infer_shape(shapes);
  else {
    shapes_without_rule(shapes, found_outputs<T>);
    if constexpr (found_outputs<T> != 0)
      for (int k = 0; k < shapes.outputs(); ++k)
        if ((found_outputs<T> >> k & 1U) != 0) shapes.set_out(k, found_shape<T>(k));
  }
}
template <class T>
void tensor_shape(const void* object, Shapes& shapes) {
  infer_tensor_shape(*static_cast<const T*>(object), shapes);
}

template <class T>
inline constexpr ForwardInfo forward_info{ServedForward<T>::infos, TensorShape<T>::inputs, TensorShape<T>::mutated,
                                          TensorShape<T>::outputs, stated_inputs<T>(),     ServedForward<T>::generic,
                                          ServedForward<T>::types};

template <class T>
constexpr void infer_tensor_type(const T& op, Types& types) {
  if constexpr (InfersType<T>)
    op.infer_type(types);
  else if constexpr (TensorOp<T>)
    types_of_member(forward_info<T>, types);
  else {
    std::optional<Dtype> common = types.inputs() > 0 ? types.in(0) : std::nullopt;
    if (types.inputs() > 0) types.expect_in(0, floating);
    for (int k = 0; k < types.outputs(); ++k) types.set_out(k, common);
  }
  if constexpr (TensorOp<T>) check_served(forward_info<T>, types);
}
template <class T>
void tensor_type(const void* object, Types& types) {
  infer_tensor_type(*static_cast<const T*>(object), types);
}

/// forward on dense arrays, by member M: for the CPU or a GPU.
template <class T, class M, class Ctx>
void run_dense_forward(const Call& call, Ctx& ctx) {
  std::array<Placed, ServedForward<T>::count> placed;
  const Dtype element = place_forward(forward_info<T>, call, placed);
  call_typed<M>(*static_cast<const T*>(call.params), ctx, call.entry.snake, placed, element);
}

template <class T>
void run_forward(const Call& call, Context& context) {
  if constexpr ((InfersStorage<T> || sparse_forward_on_any<T>() || HasSparseForms<T>) && !reads_any_index<T>)
    if (has_narrow_indices(call)) return run_on_wide_indices(call, context, &run_forward<T>);
  Cpu& ctx = static_cast<Cpu&>(context);
  if constexpr (HasSparseForms<T>) {
    bool sparse = !TensorOp<T>;
    for (const NDArray* a : call.inputs) sparse = sparse || a->storage() != dense;
    for (const NDArray& a : call.out) sparse = sparse || a.storage() != dense;
    if (sparse) return run_sparse_form(*static_cast<const T*>(call.params), call, ctx);
  }
  if constexpr (forward_on<T, Cpu>()) run_dense_forward<T, ForwardMember>(call, ctx);
}

template <class T>
bool takes_type(Dtype type) {
  if (NamesForwardSparse<T> && is_half(type)) return false;  // sparse forms are for float and double
  if constexpr (TensorOp<T>)
    return ServedForward<T>::takes(type);
  else
    return true;
}

template <class T>
constexpr bool infer_tensor_storage(const T& op, Storages& storages) {
  if constexpr (InfersStorage<T>) {
    storages.say(lower_name<T>);
    return op.infer_storage(storages);
  } else {
    return storages_of_member(forward_info<T>, storages);
  }
}
template <class T>
bool tensor_storage(const void* op, Storages& storages) {
  return infer_tensor_storage(*static_cast<const T*>(op), storages);
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
  template <class... Name>
  static constexpr bool is = (std::is_same_v<typename M::OnCuda, typename Name::OnCuda> || ...);
  static constexpr bool all_in = is<GradUseInMember, GradUseInOutMember>;
  static constexpr bool all_out = is<GradUseOutMember, GradUseInOutMember>;

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
    for (const ArgInfo& info : S::infos)
      if (tagged && (!info.tagged || tag_position(info) < 0)) return false;
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
  static constexpr std::uint64_t heads = tagged ? mask(Role::head) : N::open ? every : bits(N::visible);
  /// The inputs that forward only reads.
  static constexpr std::uint64_t reads = [] {
    const NameList names = stated_inputs<T>();
    if (N::variadic) return every;
    if (names.empty()) return bits(N::reads);
    std::uint64_t set = 0;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (position(stated_mutated<T>(), names[i]) < 0) set |= std::uint64_t{1} << i;
    return set;
  }();
  static constexpr std::uint64_t in = tagged ? mask(Role::in) : all_in ? reads : 0;
  static constexpr std::uint64_t out = tagged ? mask(Role::out) : !all_out ? 0 : N::open ? every : bits(N::outputs);
  static constexpr std::uint64_t gives = tagged ? mask(Role::grad) : reads;

  static constexpr auto infos = [] {
    auto list = S::infos;
    for (ArgInfo& info : list)
      if (info.tagged) info.at = tag_position(info);
    return list;
  }();
  static constexpr GradientInfo member{
      infos, tagged, heads, in, out, gives, N::visible, all_in ? N::reads : 0, all_out ? N::outputs : 0, N::open};

  /// What stands in gradient_inplace, by positions among the arguments and results of the gradient as an operator: head
  /// gradients, inputs and outputs, each in their order, whatever the order of tagged ones.
  static constexpr Share shared(Share said) {
    if (!tagged) return said;
    const auto rank = [](bool written, int number) {
      const auto place = [](const ArgInfo& info) { return std::pair(static_cast<int>(info.role), info.at); };
      int k = 0, before = 0;
      for (const ArgInfo& info : infos)
        if (info.writes == written && k++ == number)
          for (const ArgInfo& other : infos) before += other.writes == written && place(other) < place(info) ? 1 : 0;
      return before;
    };
    return {rank(false, said.input), rank(true, said.output)};
  }
  static constexpr auto shares = [] {
    std::array<Share, stated_gradient_inplace<T>().size()> all{};
    for (std::size_t i = 0; const Share& said : stated_gradient_inplace<T>()) all[i++] = shared(said);
    return all;
  }();

  /// By M, or by the member of that name for a GPU.
  template <class By, class Ctx>
  static void run(const Call& call, Context& context) {
    if constexpr (InfersGradientStorage<T> && !reads_any_index<T>)
      if (has_narrow_indices(call)) return run_on_wide_indices(call, context, &TensorGradient::template run<By, Ctx>);
    Ctx& ctx = static_cast<Ctx&>(context);
    std::array<Placed, S::count> placed;
    const Dtype element = place_gradient(member, call, placed);
    call_typed<By>(*static_cast<const T*>(call.params), ctx, call.entry.snake, placed, element);
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
  static double operations(const void* op, std::span<const Shape> shapes) {
    if constexpr (StatesGradientOperations<T>)
      return static_cast<double>(static_cast<const T*>(op)->gradient_operations(shapes));
    else
      return 0;
  }
  static bool infer_storage(const void* op, Storages& storages) {
    storages.say(lower_name<T>);
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
  static_assert(same_on_gpu<M, T>(),
                "strop: a gradient for strop::Cuda& takes the same tensors after ctx as the one for strop::Cpu&");
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
  if constexpr (!std::is_same_v<M, typename M::OnCuda>) e.cpu.run[1] = &G::template run<M, Cpu>;
  e.slot = &slot<T>;
  e.order = 1;
  e.takes = &G::takes;
  e.skips_null = G::tagged;
  e.inplace = G::shares;
  if constexpr (GradientAccumulates<T>) e.accumulates = T::gradient_accumulates;
  if constexpr (StatesGradientOperations<T>) e.operations = &G::operations;
  if constexpr (GradientAgain<T>) {
    e.gradient.heads = e.gradient.in = e.gradient.gives = every;
    e.gradient.compose = &compose_again<T, NDArray>;
    e.gradient.compose_symbols = &compose_again<T, Symbol>;
  }
  if constexpr (InfersGradientStorage<T>) {
    e.infer_storage = &G::infer_storage;
    e.sparse = &all_sparse_parts;
    e.cpu.run_sparse[1] = e.cpu.run[1];
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

/// The member that T states its gradient with; void where it is composed or absent.
template <class T>
constexpr auto gradient_member() {
  if constexpr (GradComposes<T>)
    return std::type_identity<void>{};
  else if constexpr (HasGrad<T>)
    return std::type_identity<Says<GradMember, T>>{};
  else if constexpr (HasGradUseInOut<T>)
    return std::type_identity<Says<GradUseInOutMember, T>>{};
  else if constexpr (HasGradUseIn<T>)
    return std::type_identity<Says<GradUseInMember, T>>{};
  else if constexpr (HasGradUseOut<T>)
    return std::type_identity<Says<GradUseOutMember, T>>{};
  else if constexpr (HasGradUseNone<T>)
    return std::type_identity<Says<GradUseNoneMember, T>>{};
  else
    return std::type_identity<void>{};
}
template <class T>
using GradientMember = typename decltype(gradient_member<T>())::type;

template <class T>
constexpr GradientRule tensor_gradient() {
  if constexpr (GradComposes<T>) {
    GradientRule rule;
    constexpr bool several = TensorShape<T>::outputs != 1 || StatesOutputCount<T>;
    rule.heads = several ? every : 1;
    rule.in = composed_reads<T>(every);
    rule.gives = every;
    if constexpr (HasSpreadGradient<T>)
      rule.spread = [](const void* op, const NDArray& dy, const Shape& x) {
        return static_cast<const T*>(op)->spread_gradient(dy, x);
      };
    constexpr int n = TensorShape<T>::variadic ? -1 : TensorShape<T>::inputs;
    rule.compose = &compose_arrays<T, n, several>;
    rule.compose_symbols = &compose_nodes<T, n, several>;
    return rule;
  } else if constexpr (!std::is_void_v<GradientMember<T>>) {
    return stated_gradient<T, GradientMember<T>>();
  } else {
    GradientRule rule;
    rule.zero = HasZeroGradient<T>;
    return rule;
  }
}

template <class T, class Ctx>
Ref<StateBox> make_state_box(const void* object, Context& context, std::span<const Shape> in) {
  Ctx& ctx = static_cast<Ctx&>(context);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto state = static_cast<const T*>(object)->make_state(ctx, in[I]...);
    return Ref<StateBox>(new StateOf<decltype(state)>(std::move(state)));
  }(std::make_index_sequence<static_cast<std::size_t>(state_shapes<T>())>{});
}
template <class T>
Resources stated_resources(const void* object, std::span<const Shape> in) {
  if constexpr (requires { Resources(T::resources); })
    return T::resources;
  else
    return static_cast<const T*>(object)->resources(in);
}

template <class T>
double stated_operations(const void* object, std::span<const Shape> in) {
  return static_cast<double>(static_cast<const T*>(object)->operations(in));
}

template <class T>
constexpr Entry tensor_entry() {
  using N = TensorShape<T>;
  Entry e;
  e.name = operator_name<T>();
  e.snake = lower_name<T>;
  e.qualified = qualified_name<T>;
  e.isa = this_isa;
  e.params = &param_table<T>;
  e.template_names = template_names<T>();
  e.file = file_of<T>();
  e.aliases = stated_aliases<T>();
  e.doc = stated_doc<T>();
  e.notes = stated_notes<T>();
  if constexpr (TensorOp<T>)
    static_assert(same_on_gpu<Says<ForwardMember, T>, T>(),
                  "strop: forward for strop::Cuda& takes the same tensors after ctx as forward for strop::Cpu&");
  if constexpr (!TensorOp<T>)
    e.dtypes = floating;
  else if constexpr (ServedForward<T>::any_type)
    e.dtypes = any_dtype;
  else
    e.dtypes = ServedForward<T>::types;
  if constexpr (HasSparseForms<T>)
    static_assert(
        !has_sparse_form_on_gpu<T, float, static_cast<std::size_t>(T::sparse_tensors),
                                static_cast<std::size_t>(N::inputs)>(),
        "strop: forward_sparse takes strop::Cpu&: on a GPU tensor operators have dense arrays, and sparse ones "
        "are for maps");
  if constexpr (ServesTypes<T>) e.dtypes = DtypeSet(T::dtypes);
  // Halves are served through converted copies wherever float is.
  if ((e.dtypes.bits & DtypeSet(f32).bits) != 0) e.dtypes = e.dtypes | f16 | bf16;
  e.inputs = N::variadic ? -1 : N::inputs;
  // An operator whose parameters say how many inputs it has may have any number of them.
  e.min_inputs = N::variadic ? N::inputs : StatesInputCount<T> ? 0 : N::inputs;
  e.outputs = N::outputs;
  e.visible = N::visible;
  e.mutates = N::mutated != 0;
  e.signature = &tensor_signature<T>;
  e.infer_shape = &tensor_shape<T>;
  e.infer_type = &tensor_type<T>;
  if constexpr (InfersStorage<T> || sparse_forward_on_any<T>()) {
    e.infer_storage = &tensor_storage<T>;
    e.sparse = &all_sparse_parts;
    e.structural = zero_unless_stored<T>;
    if constexpr (forward_on<T, Cpu>() || HasSparseForms<T>) e.cpu.run_sparse[0] = &run_forward<T>;
  }
  e.inplace = stated_inplace<T>();
  e.found = found_outputs<T>;
  if constexpr (Accumulates<T>) e.accumulates = T::accumulates;
  if constexpr (forward_on<T, Cpu>() && !sparse_forward_on_any<T>()) e.cpu.run[0] = &run_forward<T>;
  e.slot = &slot<T>;
  e.takes = &takes_type<T>;
  if constexpr (RequestsResource<T>) {
    e.resources = &stated_resources<T>;
    static_cast<void>(random::detail::JoinedAtStart < sizeof(T) == 0 > ::here());  // it may draw
  }
  if constexpr (StatesOperations<T>) e.operations = &stated_operations<T>;
  if constexpr (HasState<T>) {
    static_assert(!N::variadic && state_shapes<T>() == N::inputs, "strop: make_state takes a shape for each input");
    e.cpu.make_state = &make_state_box<T, Cpu>;
  }
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
