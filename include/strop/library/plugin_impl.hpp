// SPDX-License-Identifier: Apache-2.0
/// \file
/// How an entry is made of the structures of strop/library/layout.h, and how its functions call into the library.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/library/plugin.hpp>

#include <array>
#include <utility>

namespace strop::inline v0::detail {
namespace plugin {

inline std::string_view view_of(strop_text text) { return {text.data, static_cast<std::size_t>(text.size)}; }
inline strop_text text_of(std::string_view text) { return {text.data(), static_cast<std::int64_t>(text.size())}; }

/// Collects what a library writes.
struct Collected {
  std::string text;
  strop_sink sink() {
    return {&text, [](void* to, const char* data, std::int64_t size) {
              static_cast<std::string*>(to)->assign(data, static_cast<std::size_t>(size));
            }};
  }
  /// Throws what the library says, where it failed.
  std::int32_t check(std::int32_t status) const {
    if (status == strop_failed) throw Error(text);
    return status;
  }
};

/// The operator whose parameters an object holds.
inline const PluginOperator& root_of(const void* op) { return **(static_cast<const PluginOperator* const*>(op) - 1); }
template <int Order>
const strop_operator* operator_of(const void* op) {
  return root_of(op).orders[Order]->entry.c;
}

// Parameters.
inline const strop_parameter* parameter_of(const ValueType& type) { return static_cast<const PluginType&>(type).c; }
inline bool parse(const ValueType& type, void* value, std::string_view text) {
  const strop_parameter* const c = parameter_of(type);
  return c->parse(c, value, text_of(text)) == strop_yes;
}
inline std::string print(const ValueType& type, const void* value) {
  const strop_parameter* const c = parameter_of(type);
  Collected out;
  c->print(c, value, out.sink());
  return std::move(out.text);
}
inline std::optional<double> number(const ValueType& type, const void* value) {
  const strop_parameter* const c = parameter_of(type);
  double found = 0;
  if (c->number(c, value, &found) != strop_yes) return std::nullopt;
  return found;
}
inline bool missing(const ValueType& type, const void* value) {
  const strop_parameter* const c = parameter_of(type);
  return c->missing(c, value) == strop_yes;
}
inline const PluginTable& table_of(const ParamTable& table) { return static_cast<const PluginTable&>(table); }
inline void name_root(const ParamTable& table, void* object) {
  *(static_cast<const PluginOperator**>(object) - 1) = table_of(table).root;
}
inline void construct(const ParamTable& table, void* object) {
  name_root(table, object);
  table_of(table).c->construct(table_of(table).c, object);
}
inline void copy(const ParamTable& table, void* to, const void* from) {
  name_root(table, to);
  table_of(table).c->copy(table_of(table).c, to, from);
}
inline void destroy(const ParamTable& table, void* object) { table_of(table).c->destroy(table_of(table).c, object); }
inline void* at(const ParamTable& table, void* object, std::size_t field) {
  return table_of(table).c->at(table_of(table).c, object, static_cast<std::int64_t>(field));
}

template <int Order>
void signature(const void* op, int given, Signature& s) {
  const strop_operator* const c = operator_of<Order>(op);
  const strop_signature to{
      sizeof to, &s,
      [](void* out, std::int32_t output, strop_text name) {
        Signature& names = *static_cast<Signature*>(out);
        (output != 0 ? names.outputs : names.inputs).push_back(view_of(name));
      },
      [](void* out, std::int32_t input) { static_cast<Signature*>(out)->mutated.push_back(input); },
      [](void* out, std::int32_t count) { static_cast<Signature*>(out)->visible = count; }};
  Collected error;
  error.check(c->signature(c, op, given, &to, error.sink()));
}

// Inference.
using ShapeList = List<strop_shape, 4>;
inline void write_shape(const Shape& shape, strop_shape& to) {
  to.rank = shape.has_rank() ? shape.ndim() : std::int32_t{strop_unknown};
  if (to.rank > strop_most_dimensions)
    fail("an operator of a library is given a shape of ", to.rank, " dimensions, expected at most ",
         int{strop_most_dimensions});
  for (int k = 0; k < to.rank; ++k) to.extent[k] = shape[k];
}
inline Shape read_shape(const strop_shape& shape) {
  return shape.rank < 0 ? Shape::unknown() : Shape(Span<const std::int64_t>(shape.extent, shape.rank));
}
inline void write_shapes(std::span<const Shape> shapes, ShapeList& list) {
  list.resize(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) write_shape(shapes[i], list[i]);
}

template <int Order>
void infer_shape(const void* op, Shapes& shapes) {
  const strop_operator* const c = operator_of<Order>(op);
  ShapeList in(shapes.inputs()), out(shapes.outputs());
  for (int i = 0; i < shapes.inputs(); ++i) write_shape(shapes.in(i), in[i]);
  for (int k = 0; k < shapes.outputs(); ++k) write_shape(shapes.out(k), out[k]);
  Collected error;
  error.check(c->infer_shape(c, op, shapes.inputs(), in.data(), shapes.outputs(), out.data(), error.sink()));
  for (int i = 0; i < shapes.inputs(); ++i) shapes.set_in(i, read_shape(in[i]));
  for (int k = 0; k < shapes.outputs(); ++k) shapes.set_out(k, read_shape(out[k]));
}

/// A number of the library as an element type; none where it is unknown. Throws Error where there is no such type.
inline std::optional<Dtype> read_type(std::string_view op, std::int32_t number) {
  if (number == strop_unknown) return std::nullopt;
  for (const Dtype type : all_dtypes)
    if (static_cast<std::int32_t>(type) == number) return type;
  fail(op, ": its library says that an element type is ", number, ", which there is none of");
}
template <int Order>
void infer_type(const void* op, Types& types) {
  const strop_operator* const c = operator_of<Order>(op);
  List<std::int32_t, 4> in(types.inputs()), out(types.outputs());
  const auto number = [](std::optional<Dtype> type) {
    return type ? static_cast<std::int32_t>(*type) : std::int32_t{strop_unknown};
  };
  for (int i = 0; i < types.inputs(); ++i) in[i] = number(types.in(i));
  for (int k = 0; k < types.outputs(); ++k) out[k] = number(types.out(k));
  Collected error;
  error.check(c->infer_type(c, op, types.inputs(), in.data(), types.outputs(), out.data(), error.sink()));
  for (int i = 0; i < types.inputs(); ++i) types.set_in(i, read_type(types.op(), in[i]));
  for (int k = 0; k < types.outputs(); ++k) types.set_out(k, read_type(types.op(), out[k]));
}
template <int Order>
bool infer_storage(const void* op, Storages& storages) {
  const strop_operator* const c = operator_of<Order>(op);
  List<std::int32_t, 4> in(storages.inputs()), out(storages.outputs());
  for (int i = 0; i < storages.inputs(); ++i) in[i] = static_cast<std::int32_t>(storages.in(i));
  for (int k = 0; k < storages.outputs(); ++k)
    out[k] = storages.out(k) ? static_cast<std::int32_t>(*storages.out(k)) : std::int32_t{strop_unknown};
  Collected error;
  bool native = error.check(c->infer_storage(c, op, storages.inputs(), in.data(), storages.outputs(), out.data(),
                                             error.sink())) == strop_yes;
  for (int k = 0; k < storages.outputs(); ++k)
    if (out[k] >= 0 && out[k] <= 2) native = storages.set_out(k, static_cast<Storage>(out[k])) && native;
  return native;
}

template <int Order>
std::uint64_t kept(const void* op, Dtype compute) {
  const strop_operator* const c = operator_of<Order>(op);
  return c->kept(c, op, static_cast<std::int32_t>(compute));
}
template <int Order>
bool zero(const void* op, Dtype compute, std::uint64_t zeros) {
  const strop_operator* const c = operator_of<Order>(op);
  return c->zero(c, op, static_cast<std::int32_t>(compute), zeros) == strop_yes;
}
template <int Order>
int operations_of_element(const void* op) {
  const strop_operator* const c = operator_of<Order>(op);
  return c->operations_of_element(c, op);
}
template <int Order>
bool as_double(const void* op) {
  const strop_operator* const c = operator_of<Order>(op);
  return c->integers_as_double(c, op) == strop_yes;
}
template <int Order>
double operations(const void* op, std::span<const Shape> in) {
  const strop_operator* const c = operator_of<Order>(op);
  ShapeList shapes;
  write_shapes(in, shapes);
  double count = 0;
  Collected error;
  error.check(c->operations(c, op, static_cast<std::int32_t>(in.size()), shapes.data(), &count, error.sink()));
  return count;
}
template <int Order>
Resources resources(const void* op, std::span<const Shape> in) {
  const strop_operator* const c = operator_of<Order>(op);
  ShapeList shapes;
  write_shapes(in, shapes);
  std::int32_t random = 0;
  std::int64_t bytes = 0;  // which the library takes from memory of its own
  Collected error;
  error.check(c->resources(c, op, static_cast<std::int32_t>(in.size()), shapes.data(), &random, &bytes, error.sink()));
  return {.random = random == strop_yes};
}

/// A state that the library made.
class PluginState final : public StateBox {
 public:
  PluginState(const strop_operator* c, void* state) : c_(c), state_(state) {}
  ~PluginState() override { c_->free_state(c_, state_); }
  void* get() override { return state_; }

 private:
  const strop_operator* c_;
  void* state_;
};
template <int Order>
Ref<StateBox> make_state(const void* op, Context& ctx, std::span<const Shape> in) {
  const strop_operator* const c = operator_of<Order>(op);
  ShapeList shapes;
  write_shapes(in, shapes);
  void* state = nullptr;
  Collected error;
  error.check(c->make_state(c, op, static_cast<std::int32_t>(in.size()), shapes.data(), ctx.train ? 1 : 0, &state,
                            error.sink()));
  return Ref<StateBox>(new PluginState(c, state));
}

inline strop_tensor tensor_of(const NDArray& a, bool writes) {
  strop_tensor t{};
  t.size = sizeof t;
  if (!a.defined()) return t;
  t.dtype = static_cast<std::int32_t>(a.dtype());
  t.storage = static_cast<std::int32_t>(a.storage());
  t.rank = a.ndim();
  t.shape = a.shape().data();
  t.data = writes ? a.pointer<std::byte>() : a.bytes();
  if (a.storage() != dense && a.allocated()) {
    t.stored = a.nnz();
    t.indices = a.indices().pointer<std::int64_t>();
    if (a.storage() == csr) t.indptr = a.indptr().pointer<std::int64_t>();
  }
  return t;
}

/// A call on its way into a library.
struct PluginCall {
  const Call& call;
  std::vector<strop_tensor> tensors;
  std::vector<strop_tensor*> pointers;
  std::vector<NDArray> replaced = {};  // results before they got new room: the call may read what they shared
};

inline void run_plugin(const Call& call, Context& ctx) {
  if (has_narrow_indices(call)) return run_on_wide_indices(call, ctx, &run_plugin);  // the layout has wide ones
  const strop_operator* const c = static_cast<const PluginEntry&>(call.entry).c;
  const Index n = call.inputs.size(), m = call.out.size();
  PluginCall plugin{call, {}, {}};
  for (const NDArray* a : call.inputs) plugin.tensors.push_back(tensor_of(*a, false));
  for (const NDArray& a : call.out) plugin.tensors.push_back(tensor_of(a, true));
  for (strop_tensor& t : plugin.tensors) plugin.pointers.push_back(&t);
  List<std::int32_t, 4> requests(m);
  for (Index k = 0; k < m; ++k) requests[k] = static_cast<std::int32_t>(call.requests[k]);
  strop_call to{};
  to.size = sizeof to;
  to.params = call.params;
  to.inputs = static_cast<std::int32_t>(n);
  to.outputs = static_cast<std::int32_t>(m);
  to.in = plugin.pointers.data();
  to.out = plugin.pointers.data() + n;
  to.requests = requests.data();
  to.train = ctx.train ? 1 : 0;
  if (call.entry.resources != nullptr) {
    List<Shape, 4> shapes(n);
    for (Index i = 0; i < n; ++i) shapes[i] = call.inputs[i]->defined() ? call.inputs[i]->shape() : Shape{};
    if (call.entry.resources(call.params, shapes).random) {
      const random::Stream stream = ctx.random();
      to.random = 1;
      to.random_seed = stream.seed;
      to.random_call = stream.call;
    }
  }
  to.state = ctx.state();
  to.host = &plugin;
  to.make_room = [](void* host, std::int32_t output, std::int64_t stored) -> std::int32_t {
    PluginCall& self = *static_cast<PluginCall*>(host);
    try {
      NDArray& y = self.call.out[output];
      NDArray& before = self.replaced.emplace_back(NDArray::fresh_shell(y.shape(), y.dtype(), y.device(), y.storage()));
      before.body().buffer = y.body().buffer;
      before.body().indices = y.body().indices;
      before.body().indptr = y.body().indptr;
      y.allocate_stored(stored);
      element(self.tensors, self.call.inputs.size() + output) = tensor_of(y, true);
      return strop_done;
    } catch (...) {
      return strop_failed;
    }
  };
  to.make_found = [](void* host, std::int32_t output, std::int32_t rank, const std::int64_t* shape) -> std::int32_t {
    PluginCall& self = *static_cast<PluginCall*>(host);
    try {
      NDArray& y = self.call.out[output];
      allocate_found(y, {shape, static_cast<std::size_t>(rank)});
      element(self.tensors, self.call.inputs.size() + output) = tensor_of(y, true);
      return strop_done;
    } catch (...) {
      return strop_failed;
    }
  };
  Collected error;
  error.check(c->run(c, &to, error.sink()));
}

// What a C function that is given the operator answers without parameters: one function for each order cannot know the
// operator, so that it is asked when the entry is made.
template <std::uint32_t Bits>
bool takes(Dtype type) {
  return (Bits & DtypeSet(type).bits) != 0;
}

/// Whether the structure of a library, which may be older than this program, reaches as far as this member.
template <class Member>
bool has(const strop_operator& c, const Member* member) {
  return reinterpret_cast<const std::byte*>(member + 1) - reinterpret_cast<const std::byte*>(&c) <=
         static_cast<std::ptrdiff_t>(c.size);
}

template <int Order>
void fill_functions(Entry& e, const strop_operator& c) {
  e.signature = &signature<Order>;
  if (c.infer_shape != nullptr) e.infer_shape = &infer_shape<Order>;
  if (c.infer_type != nullptr) e.infer_type = &infer_type<Order>;
  if (c.infer_storage != nullptr) (e.is_map() ? e.facts.storage : e.infer_storage) = &infer_storage<Order>;
  if (e.infer_storage != nullptr) e.sparse = &all_sparse_parts;
  if (c.kept != nullptr) e.facts.kept = &kept<Order>;
  if (c.zero != nullptr) e.facts.zero = &zero<Order>;
  if (has(c, &c.integers_as_double) && c.integers_as_double != nullptr) e.facts.as_double = &as_double<Order>;
  if (c.operations_of_element != nullptr) e.facts.operations = &operations_of_element<Order>;
  if (c.operations != nullptr) e.operations = &operations<Order>;
  if (c.resources != nullptr) e.resources = &resources<Order>;
  if (c.make_state != nullptr) e.cpu.make_state = &make_state<Order>;
  if (c.run != nullptr && c.dense_form != 0) e.cpu.run[Order] = &run_plugin;
  if (c.run != nullptr && c.sparse_forms != 0) e.cpu.run_sparse[Order] = &run_plugin;
}

STROP_IMPL void fill_table(PluginOperator& h, const PluginOperator& root) {
  const strop_operator& c = *h.entry.c;
  for (std::int64_t i = 0; i < c.parameters; ++i) {
    const strop_parameter& p = *c.parameter[i];
    PluginType& type = h.types.emplace_back();
    type.c = &p;
    for (std::int64_t k = 0; k < p.words; ++k) type.list.push_back(view_of(p.word[k]));
    type.name = view_of(p.type);
    type.kind = static_cast<ParamKind>(p.kind);
    type.optional = p.optional != 0;
    type.required = p.required != 0;
    type.words = type.list;
    type.has_order = p.has_order != 0;
    type.parse = &parse;
    type.print = &print;
    if (type.has_order) type.number = &number;
    if (type.required) type.missing = &missing;
    h.fields.push_back({view_of(p.name), &type});
    if (p.has_range != 0) h.ranges.push_back({view_of(p.name), p.low, p.high});
  }
  for (std::int64_t i = 0; i < c.param_aliases; ++i)
    h.param_aliases.push_back({view_of(c.param_alias[2 * i]), view_of(c.param_alias[2 * i + 1])});
  PluginTable& table = h.table;
  table.fields = h.fields;
  table.ranges = h.ranges;
  table.aliases = h.param_aliases;
  table.size = static_cast<std::size_t>(c.object_size);
  table.align = static_cast<std::size_t>(c.object_align);
  table.before = table.align > 16 ? 64 : 16;
  table.construct = &construct;
  table.copy = &copy;
  table.destroy = &destroy;
  table.at = &at;
  table.checked = c.checked != 0;
  table.c = &c;
  table.root = &root;
}

STROP_IMPL std::unique_ptr<PluginOperator> make_plugin(const strop_operator* c, PluginOperator* root, int order) {
  std::unique_ptr<PluginOperator> made(new PluginOperator);
  PluginOperator& h = *made;
  if (root == nullptr) root = &h;
  h.entry.c = c;
  root->orders[order] = &h;
  if (order == 0) fill_table(h, h);
  for (std::int64_t i = 0; i < c->aliases; ++i) h.aliases.push_back(view_of(c->alias[i]));
  for (std::int64_t i = 0; i < c->notes; ++i) h.notes.push_back({view_of(c->note[2 * i]), view_of(c->note[2 * i + 1])});
  for (std::int64_t i = 0; i < c->shares; ++i) h.shares.push_back({c->share[2 * i], c->share[2 * i + 1]});
  Entry& e = h.entry;
  e.name = view_of(c->name);
  e.snake = view_of(c->snake);
  e.qualified = view_of(c->qualified);
  e.file = view_of(c->file);
  e.doc = view_of(c->doc);
  e.aliases = h.aliases;
  e.notes = h.notes;
  e.params = &root->table;
  e.min_inputs = c->min_inputs;
  e.inputs = c->inputs;
  e.outputs = c->outputs;
  e.visible = c->visible;
  e.dtypes = DtypeSet(c->dtypes);
  e.same_shape = c->same_shape != 0;
  e.mutates = c->mutates != 0;
  e.accumulates = c->accumulates != 0;
  e.skips_null = c->skips_null != 0;
  e.inplace = h.shares;
  if (has(*c, &c->whole)) e.whole = c->whole;
  if (has(*c, &c->found)) e.found = c->found;
  e.loops = {c->loop_f32, c->loop_f64, c->loop_i64, c->gives_real != 0};
  e.slot = &h.slot;
  e.order = order;
  constexpr void (*fill[plugin_orders])(Entry&, const strop_operator&) = {
      &fill_functions<0>, &fill_functions<1>, &fill_functions<2>, &fill_functions<3>, &fill_functions<4>};
  fill[order](e, *c);
  if (c->takes != nullptr) {
    // Either it takes halves as they are, or they come as converted copies.
    const bool f16s = c->takes(c, static_cast<std::int32_t>(f16)) == strop_yes,
               bf16s = c->takes(c, static_cast<std::int32_t>(bf16)) == strop_yes;
    constexpr std::uint32_t all = any_dtype.bits, no_f16 = all & ~DtypeSet(f16).bits,
                            no_bf16 = all & ~DtypeSet(bf16).bits;
    e.takes = f16s ? (bf16s ? &takes<all> : &takes<no_bf16>) : bf16s ? &takes<no_f16> : &takes < no_f16 & no_bf16 > ;
  }
  e.gradient.zero = c->zero_gradient != 0;
  if (c->gradient != nullptr && order + 1 < plugin_orders) {
    h.gradient = make_plugin(c->gradient, root, order + 1);
    e.gradient.entry = &h.gradient->entry;
    e.gradient.heads = c->gradient_heads;
    e.gradient.in = c->gradient_in;
    e.gradient.out = c->gradient_out;
    e.gradient.gives = c->gradient_gives;
  }
  return made;
}

}  // namespace plugin

STROP_IMPL std::unique_ptr<PluginOperator> plugin_operator(const strop_operator* c) {
  return plugin::make_plugin(c, nullptr, 0);
}

}  // namespace strop::inline v0::detail
