// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators that are written in Python, as nodes of graphs. Each node has an entry of its own, whose functions ask an
/// object of Python's: its methods are those of _Described in operator.py.
#include "python.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <strop/graph/entry_maker.hpp>
#include <strop/graph/symbol.hpp>
#include <strop/op/gradient_roles.hpp>
#include <strop/op/sparse_parts.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace strop::python {
namespace {

using detail::ParamTable;
using detail::Ref;
using detail::Role;

/// What the nodes of one application share.
struct CustomOperator : detail::Counted {
  explicit CustomOperator(nb::object of) : object(std::move(of)) {}
  Entry entry, gradient;
  std::string called;
  std::vector<std::string> texts;            // of the parameters, in the order of their table
  std::vector<std::string> inputs, outputs;  // states are the last inputs
  int arguments = 0;
  Kept object;
};

// --- parameters -----------------------------------------------------------------------------------------------------

struct CustomParams {
  Ref<CustomOperator> custom;
};
const CustomOperator& custom_of(const void* op) { return *static_cast<const CustomParams*>(op)->custom; }

/// Parameters are texts, by the keys that the application was given.
struct CustomTable : ParamTable {
  std::vector<std::string> keys;
  std::vector<detail::Field> own;
};
constexpr detail::ValueType any_text{
    .name = "string",
    .kind = ParamKind::string,
    .optional = false,
    .required = false,
    .words = {},
    .has_order = false,
    .parse = [](const detail::ValueType&, void*, std::string_view) { return false; },  // the object was made with them
    .print = [](const detail::ValueType&, const void* value) { return *static_cast<const std::string*>(value); },
    .number = nullptr,
    .missing = nullptr};

void* text_at(const ParamTable&, void* params, std::size_t field) {
  static std::string none(1, '\0');  // of parameters that no operator was made with; no text of a program is it
  const Ref<CustomOperator>& custom = static_cast<const CustomParams*>(params)->custom;
  return custom ? &custom->texts[field] : &none;
}

/// The table of these keys, which stays: what is taken down looks at it last.
const CustomTable& table_of(const std::vector<std::string>& keys) {
  static detail::ForkMutex changing;
  static auto* const all = new std::map<std::vector<std::string>, std::unique_ptr<CustomTable>>;
  const std::lock_guard lock(changing);
  std::unique_ptr<CustomTable>& table = (*all)[keys];
  if (table) return *table;
  table = std::make_unique<CustomTable>();
  table->keys = keys;
  for (const std::string& key : table->keys) table->own.push_back({key, &any_text});
  table->fields = table->own;
  table->size = sizeof(CustomParams);
  table->align = alignof(CustomParams);
  table->construct = [](const ParamTable&, void* p) { ::new (p) CustomParams{}; };
  table->copy = [](const ParamTable&, void* to, const void* from) {
    ::new (to) CustomParams(*static_cast<const CustomParams*>(from));
  };
  table->destroy = [](const ParamTable&, void* p) { static_cast<CustomParams*>(p)->~CustomParams(); };
  table->at = &text_at;
  return *table;
}

// --- what the object says -------------------------------------------------------------------------------------------

/// What a method of the object returns for these arguments.
template <class... Arguments>
nb::object ask(const CustomOperator& custom, const char* method, const Arguments&... arguments) {
  if (custom.object.get() == nullptr) refuse(Kind::other, custom.called, ": the program has ended");
  const nb::object function = nb::borrow(custom.object.get()).attr(method);
  PyObject* const list[] = {arguments.ptr()...};
  PyObject* const made =
      staying([&] { return PyObject_Vectorcall(function.ptr(), list, sizeof...(arguments), nullptr); });
  if (made == nullptr) nb::raise_python_error();
  return nb::steal(made);
}

void custom_signature(const void* op, int, Signature& s) {
  const CustomOperator& custom = custom_of(op);
  s.inputs.assign(custom.inputs.begin(), custom.inputs.end());
  s.outputs.assign(custom.outputs.begin(), custom.outputs.end());
  for (int i = custom.arguments; i < std::ssize(custom.inputs); ++i) s.mutated.push_back(i);
  s.visible = static_cast<int>(custom.outputs.size());
}

/// A shape that the object gives. Where it was not told all shapes, 0 stands for what is not known, as in MXNet.
Shape given_shape(const CustomOperator& custom, nb::handle object, bool knows_all) {
  if (object.is_none()) return Shape::unknown();
  std::optional<Shape> shape = shape_of(object.ptr());
  if (!shape) refuse(Kind::type, custom.called, ": infer_shape gives ", text_of(object.ptr()), ", expected a shape");
  if (shape->empty() && !knows_all) return Shape::unknown();
  for (std::int64_t& extent : *shape)
    if (extent < 0 || (extent == 0 && !knows_all)) extent = Shape::unknown_extent;
  return *shape;
}

/// Asks for what follows from `known(i)` of the arguments: `take(i, …)` is given what is found of each input, and
/// behind them of each output. Nothing where nothing follows.
template <class Known, class Take>
void infer_custom(const CustomOperator& custom, const char* method, bool sure, Known known, Take take) {
  nb::list arguments;
  for (int i = 0; i < custom.arguments; ++i) arguments.append(known(i));
  const nb::object found = ask(custom, method, arguments, nb::bool_(sure));
  if (found.is_none()) return;
  int i = 0;
  for (const nb::handle one : nb::cast<nb::list>(found)) take(i++, one);
}

void infer_custom_shape(const void* op, Shapes& s) {
  const CustomOperator& custom = custom_of(op);
  bool something = custom.arguments == 0, all = true;
  for (int i = 0; i < custom.arguments; ++i) {
    something = something || s.in(i).has_rank();
    all = all && s.in(i).known();
  }
  if (!something) return;
  const Locked python;
  const auto known = [&](int i) {
    nb::list extents;
    if (s.in(i).has_rank())
      for (const std::int64_t extent : s.in(i)) extents.append(std::max<std::int64_t>(extent, 0));
    return extents;
  };
  infer_custom(custom, "infer_shape", custom.arguments == 0 || s.in(0).known(), known, [&](int i, nb::handle one) {
    const Shape shape = given_shape(custom, one, all);
    if (!shape.has_rank()) return;
    i < s.inputs() ? s.set_in(i, shape) : s.set_out(i - s.inputs(), shape);
  });
}

void infer_custom_type(const void* op, Types& s) {
  const CustomOperator& custom = custom_of(op);
  bool something = custom.arguments == 0;
  for (int i = 0; i < custom.arguments; ++i) something = something || s.in(i);
  if (!something) return;
  const Locked python;
  const auto known = [&](int i) { return s.in(i) ? nb::borrow(dtype_object(*s.in(i))) : nb::none(); };
  infer_custom(custom, "infer_type", custom.arguments == 0 || s.in(0), known, [&](int i, nb::handle one) {
    if (one.is_none()) return;
    const Dtype type = dtype_of_object(one.ptr());
    i < s.inputs() ? s.set_in(i, type) : s.set_out(i - s.inputs(), type);
  });
}

bool set_storages(Storages& s, const nb::object& found) {
  bool native = true;
  int k = 0;
  for (const nb::handle one : nb::cast<nb::list>(found))
    native = s.set_out(k++, static_cast<Storage>(nb::cast<int>(one))) && native;
  return native;
}
bool infer_custom_storage(const void* op, Storages& s) {
  const CustomOperator& custom = custom_of(op);
  const Locked python;
  nb::list in;
  for (int i = 0; i < custom.arguments; ++i) in.append(static_cast<int>(s.in(i)));
  return set_storages(s, ask(custom, "infer_storage", in));
}

/// What a gradient is given, by what it is; None where it does not depend on something.
class GradientLists {
 public:
  using Objects = std::vector<nb::object>;
  GradientLists(const CustomOperator& custom, const nb::object& none)
      : roles_(gradient_roles(custom.entry.gradient, static_cast<detail::Index>(custom.inputs.size()),
                              static_cast<detail::Index>(custom.outputs.size()))),
        arguments_(custom.arguments),
        heads_(custom.outputs.size(), none),
        in_(custom.inputs.size(), none),
        out_(custom.outputs.size(), none) {}

  /// of(i): argument i of the gradient.
  template <class Of>
  void take(Of of) {
    for (int i = 0; i < static_cast<int>(roles_.takes.size()); ++i) {
      const detail::GradientArgument& argument = roles_.takes[i];
      Objects& list = argument.role == Role::head ? heads_ : argument.role == Role::in ? in_ : out_;
      list[static_cast<std::size_t>(argument.at)] = of(i);
    }
  }
  nb::list heads() const { return listed(heads_, 0, heads_.size()); }
  nb::list data() const { return listed(in_, 0, static_cast<std::size_t>(arguments_)); }
  nb::list states() const { return listed(in_, static_cast<std::size_t>(arguments_), in_.size()); }
  nb::list made() const { return listed(out_, 0, out_.size()); }

 private:
  static nb::list listed(const Objects& all, std::size_t begin, std::size_t end) {
    nb::list list;
    for (std::size_t i = begin; i < end; ++i) list.append(all[i]);
    return list;
  }
  detail::GradientRoles roles_;
  int arguments_;
  Objects heads_, in_, out_;
};

bool infer_custom_gradient_storage(const void* op, Storages& s) {
  const CustomOperator& custom = custom_of(op);
  const Locked python;
  GradientLists lists(custom, nb::int_(0));
  lists.take([&](int i) { return nb::int_(static_cast<int>(s.in(i))); });
  return set_storages(s,
                      ask(custom, "infer_gradient_storage", lists.heads(), lists.data(), lists.made(), lists.states()));
}

// --- calls ----------------------------------------------------------------------------------------------------------

/// The CustomOp of one node of an executor.
class CustomState final : public detail::StateBox {
 public:
  void* get() override { return this; }
  const PythonStep counted;
  Kept op;
};
Ref<detail::StateBox> make_custom_state(const void*, Context&, std::span<const Shape>) {
  return Ref<detail::StateBox>(new CustomState);
}

nb::object request_text(Request request) {
  constexpr std::string_view texts[] = {"null", "write", "inplace", "add"};
  return to_text(texts[static_cast<std::size_t>(request)]);
}

/// The state's, which forward makes when it runs first; a call without a state has one of its own.
nb::object custom_op(const CustomOperator& custom, const Call& call, const Context& ctx) {
  auto* const state = static_cast<CustomState*>(ctx.state());
  if (state != nullptr && state->op.get() != nullptr) return nb::borrow(state->op.get());
  nb::list in;
  for (int i = 0; i < call.in_count(); ++i) in.append(call.in(i));
  nb::object made = ask(custom, "create", to_text(to_text(ctx.device())), in);
  if (state != nullptr) state->op.set(made);
  return made;
}

void run_custom(const Call& call, Context& ctx) {
  const CustomOperator& custom = custom_of(call.params);
  const Locked python;
  const nb::object op = custom_op(custom, call, ctx);
  nb::list requests, data, made, states;
  for (int i = 0; i < call.in_count(); ++i) (i < custom.arguments ? data : states).append(call.in(i));
  for (int k = 0; k < static_cast<int>(call.out.size()); ++k) {
    requests.append(request_text(call.request(k)));
    made.append(call.out[k]);
  }
  ask(custom, "forward", op, nb::bool_(ctx.train), requests, data, made, states);
}

void run_custom_gradient(const Call& call, Context& ctx) {
  const CustomOperator& custom = custom_of(call.params);
  const Locked python;
  const auto* const state = static_cast<const CustomState*>(ctx.state());
  if (state == nullptr || state->op.get() == nullptr) refuse(Kind::other, custom.called, ": forward has not run");
  GradientLists lists(custom, nb::none());
  lists.take([&](int i) { return nb::cast(call.in(i)); });
  nb::list requests, found;
  for (int k = 0; k < std::min(custom.arguments, static_cast<int>(call.out.size())); ++k) {
    requests.append(request_text(call.request(k)));
    found.append(call.out[k]);
  }
  ask(custom, "backward", nb::borrow(state->op.get()), requests, lists.heads(), lists.data(), lists.made(), found,
      lists.states());
}

// --- entries --------------------------------------------------------------------------------------------------------

std::vector<std::string> texts_of(const nb::object& object, const char* name) {
  return nb::cast<std::vector<std::string>>(object.attr(name));
}

/// A bit for each of `count` that is among the dependencies, which are numbered from `first`.
std::uint64_t bits_of(const std::vector<int>& dependencies, std::size_t first, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (std::ranges::find(dependencies, static_cast<int>(first + i)) != dependencies.end())
      bits = count > 64 ? detail::every : bits | std::uint64_t{1} << i;
  return bits;
}

void fill_gradient(CustomOperator& custom, const std::vector<int>& dependencies) {
  const std::size_t outputs = custom.outputs.size(), inputs = custom.inputs.size(),
                    arguments = static_cast<std::size_t>(custom.arguments);
  detail::GradientRule& rule = custom.entry.gradient;
  rule.entry = &custom.gradient;
  rule.heads = bits_of(dependencies, 0, outputs);
  rule.in = bits_of(dependencies, outputs, arguments);
  rule.out = bits_of(dependencies, outputs + arguments, outputs);
  if (inputs > 64) rule.in = detail::every;
  for (std::size_t i = arguments; i < inputs && inputs <= 64; ++i) rule.in |= std::uint64_t{1} << i;
  for (std::size_t i = 0; i < arguments; ++i)
    rule.gives = inputs > 64 ? detail::every : rule.gives | std::uint64_t{1} << i;

  Entry& g = custom.gradient;
  g.name = g.qualified = "_backward_Custom";
  g.snake = custom.called;
  g.doc = "The gradient of an operator written in Python.";
  g.params = custom.entry.params;
  g.inputs = g.min_inputs = -1;
  g.dtypes = any_dtype;
  g.order = 1;
  g.accumulates = true;
  g.infer_shape = [](const void*, Shapes&) {};
  g.infer_type = [](const void*, Types&) {};
  g.infer_storage = &infer_custom_gradient_storage;
  g.sparse = &detail::all_sparse_parts;
  g.cpu.make_state = &make_custom_state;
  g.cpu.run[1] = g.cpu.run_sparse[1] = &run_custom_gradient;
}

using Texts = std::vector<std::pair<std::string, std::string>>;

Ref<CustomOperator> make_custom(nb::object object, const Texts& parameters) {
  const Ref<CustomOperator> made(new CustomOperator(object));
  CustomOperator& custom = *made;
  custom.called = nb::cast<std::string>(object.attr("name"));
  custom.inputs = texts_of(object, "arguments");
  custom.arguments = static_cast<int>(custom.inputs.size());
  for (std::string& state : texts_of(object, "states")) custom.inputs.push_back(std::move(state));
  custom.outputs = texts_of(object, "outputs");
  std::vector<std::string> keys;
  for (const auto& [key, text] : parameters) {
    keys.push_back(key);
    custom.texts.push_back(text);
  }
  Entry& e = custom.entry;
  e.name = e.qualified = "Custom";
  e.snake = custom.called;
  e.doc = "An operator written in Python.";
  e.params = &table_of(keys);
  e.inputs = e.min_inputs = static_cast<int>(custom.inputs.size());
  e.outputs = e.visible = static_cast<int>(custom.outputs.size());
  e.signature = &custom_signature;
  e.dtypes = any_dtype;
  e.mutates = custom.inputs.size() > static_cast<std::size_t>(custom.arguments);
  e.infer_shape = &infer_custom_shape;
  e.infer_type = &infer_custom_type;
  e.infer_storage = &infer_custom_storage;
  e.sparse = &detail::all_sparse_parts;
  e.cpu.make_state = &make_custom_state;
  e.cpu.run[0] = e.cpu.run_sparse[0] = &run_custom;
  fill_gradient(custom, nb::cast<std::vector<int>>(object.attr("dependencies")));
  return made;
}

detail::EntryMaker::Made read_custom(std::span<const std::pair<std::string_view, std::string_view>> attributes) {
  const Locked python;
  nb::dict all;
  Texts texts;
  for (const auto& [key, text] : attributes) {
    all[to_text(key)] = to_text(text);
    texts.emplace_back(key, text);
  }
  const CustomParams params{make_custom(call_hook(Hook::custom, all.ptr()), texts)};
  const Entry& entry = params.custom->entry;
  return {&entry, Ref(new detail::ParamBox(entry.params, &params))};
}
constexpr detail::EntryMaker maker{"Custom", &read_custom,
                                   [](const Entry& entry) { return entry.infer_shape == &infer_custom_shape; }};

}  // namespace

void add_custom(nb::module_& module) {
  detail::entry_maker.store(&maker);
  module.def("_custom_node", [](nb::object object, const Texts& parameters, const std::vector<nb::object>& inputs,
                                const std::string& name, const nb::dict& attributes) {
    std::vector<Symbol> in;
    for (const nb::object& one : inputs) in.push_back(one.is_none() ? Symbol() : nb::cast<Symbol>(one));
    const CustomParams params{make_custom(std::move(object), parameters)};
    Symbol made = detail::make_node(params.custom->entry, &params, in, name);
    set_attributes(made, in, attributes);
    return made;
  });
}

}  // namespace strop::python
