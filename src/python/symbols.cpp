// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbols and executors in Python.
#include "facts.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <strop/autograd/tape.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/symbol.hpp>
#include <strop/op/param_box.hpp>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace strop::python {
namespace {

using detail::Node;
using detail::NodeOutput;

/// What a node says, for Python.
nb::dict in_dict(const NamedTexts& texts) {
  nb::dict all;
  for (const auto& [key, text] : texts) all[to_text(key)] = to_text(text);
  return all;
}
nb::dict attributes_of_all(const Symbol& symbol) {
  nb::dict all;
  for (const auto& [name, texts] : symbol.attr_dict()) all[to_text(name)] = in_dict(texts);
  return all;
}

/// By which names a symbol calls the operators of each function: of two symbols, with a number, with a number first.
nb::dict arithmetic() {
  nb::dict all;
#define STROP_NAMED(function, both, number, turned, node, number_node, turned_node) \
  all[#function] = nb::make_tuple(#node, #number_node, #turned_node);
#include <strop/ops/arithmetic.def>
  return all;
}

Variable variable_of(const nb::dict& options) {
  Variable made;
  for (const auto& [key, value] : options) {
    const std::string name = text_of(key.ptr());
    if (name == "shape") {
      const std::optional<Shape> shape = shape_of(value.ptr());
      if (!shape) refuse(Kind::type, "var: shape is ", text_of(value.ptr()), ", expected whole numbers");
      made.shape = *shape;
    } else if (name == "dtype") {
      made.dtype = dtype_of_object(value.ptr());
    } else if (name == "storage") {
      made.storage = static_cast<Storage>(nb::cast<int>(value));
    } else {
      made.attributes.push_back({name, text_of(value.ptr())});
    }
  }
  return made;
}

/// What inference found, as lists of tuples; None for what stays unknown.
template <class X, class F>
nb::tuple in_lists(const Inferred<X>& found, F&& one) {
  const auto list = [&](const std::vector<X>& values) {
    nb::list all;
    for (const X& value : values) all.append(one(value));
    return all;
  };
  return nb::make_tuple(list(found.args), list(found.outputs), list(found.aux));
}
nb::object shape_object(const Shape& shape) { return shape.has_rank() ? nb::steal(shape_tuple(shape)) : nb::none(); }
nb::tuple infer_shapes(const Symbol& symbol, const NamedShapes& known, bool partial) {
  return in_lists(partial ? symbol.infer_shape_partial(known) : symbol.infer_shape(known), shape_object);
}
nb::tuple infer_types(const Symbol& symbol, const NamedTypes& known) {
  return in_lists(symbol.infer_type(known), [](Dtype type) { return nb::borrow(dtype_object(type)); });
}
nb::tuple infer_types_partial(const Symbol& symbol, const NamedTypes& known) {
  return in_lists(symbol.infer_type_partial(known),
                  [](const std::optional<Dtype>& type) { return type ? nb::borrow(dtype_object(*type)) : nb::none(); });
}
nb::tuple infer_storages(const Symbol& symbol, const std::vector<std::pair<std::string, int>>& known) {
  NamedStorages storages;
  for (const auto& [name, storage] : known) storages.emplace_back(name, static_cast<Storage>(storage));
  return in_lists(symbol.infer_storage(storages), [](Storage storage) { return nb::int_(static_cast<int>(storage)); });
}

/// The same symbol with a node of its own, of that name, in place of the first output's.
Symbol renamed(const Symbol& symbol, const std::string& name) {
  const detail::Ref<Node> before = symbol.outputs()[0].node, made(new Node(*before));
  made->name = name;
  detail::NodeOutputs outputs;
  for (NodeOutput output : symbol.outputs()) {
    if (output.node == before) output.node = made;
    outputs.push_back(std::move(output));
  }
  return Symbol(std::move(outputs));
}

/// What an array was computed from while recording, as a symbol. Arrays that nothing was recorded of are its variables.
class History {
 public:
  Symbol of(const NDArray& array) {
    const detail::Body& body = array.body();
    if (body.leaf) return variable(body.leaf.get());
    if (!body.gradient_node) refuse(Kind::value, "get_symbol: nothing was recorded of the array");
    const auto* const last = static_cast<const detail::TapeNode*>(body.gradient_node.get());
    std::vector<const detail::TapeNode*> waiting{last};  // by steps: histories are long
    while (!waiting.empty()) {
      const detail::TapeNode* const node = waiting.back();
      const std::size_t before = waiting.size();
      if (!made_.contains(node))
        for (const detail::TapeInput& in : node->inputs)
          if (in.source && !in.leaf && !made_.contains(in.source.get()))
            waiting.push_back(static_cast<const detail::TapeNode*>(in.source.get()));
      if (waiting.size() != before) continue;
      waiting.pop_back();
      if (!made_.contains(node)) made_.emplace(node, make(*node));
    }
    return made_.at(last)[body.gradient_index];
  }

 private:
  using Key = std::pair<std::array<const void*, 3>, std::string>;
  Symbol variable(const void* array) { return variable(Key{{array}, {}}); }
  Symbol variable(const Key& key) {
    Symbol& known = variables_[key];
    if (!known.defined()) known = var(cat("var", variables_.size() - 1));
    return known;
  }
  /// What says which array it is. The history has a sparse one as it was at the call, in another body each time, whose
  /// parts are the same as long as nobody writes it; views of the same elements are other arrays.
  static Key key_of(const detail::TapeInput& input) {
    const detail::Body& body = input.array.body();
    if (!input.kept || (body.storage != dense && !body.indices)) return {{&input}, {}};
    if (body.storage == dense) return {{&body}, {}};
    return {{body.buffer.get(), body.indices.get(), body.indptr.get()}, to_text(body.shape)};
  }
  Symbol make(const detail::TapeNode& node) {
    if (node.entry == nullptr)
      refuse(Kind::value, "get_symbol: a Function was called, which has no symbol; write the step with operators");
    if (node.freed)
      refuse(Kind::value, "get_symbol: the history of the array was freed by backward; say retain_graph=True there");
    std::vector<Symbol> in;
    for (const detail::TapeInput& input : node.inputs) {
      if (!input.source)
        in.push_back(variable(key_of(input)));
      else if (input.leaf)
        in.push_back(variable(input.source.get()));
      else
        in.push_back(made_.at(input.source.get())[input.index]);
    }
    const detail::ParamBox defaults(node.entry->params);
    return detail::make_node(*node.entry, node.params ? node.op() : defaults.get(), in,
                             cat(node.entry->snake, made_.size()));
  }
  std::map<Key, Symbol> variables_;
  std::map<const detail::GradientNode*, Symbol> made_;
};

using NamedNumbers = std::vector<std::pair<std::string, int>>;
std::vector<std::pair<std::string_view, GradRequest>> requests_of(const NamedNumbers& named) {
  std::vector<std::pair<std::string_view, GradRequest>> all;
  for (const auto& [name, request] : named) all.emplace_back(name, static_cast<GradRequest>(request));
  return all;
}
using NamedObjects = std::vector<std::pair<std::string, nb::object>>;
/// `shared` is an Executor or None.
BindOptions options_of(const NamedObjects& groups, const nb::object& shared, bool side_by_side) {
  BindOptions options;
  options.side_by_side = side_by_side;
  for (const auto& [name, context] : groups) options.group2ctx.emplace_back(name, device_of(context.ptr()));
  if (shared.is_none()) return options;
  if (!nb::isinstance<Executor>(shared))
    refuse(Kind::type, "bind: shared_exec is ", text_of(shared.ptr()), ", expected an Executor");
  options.shared = nb::cast<Executor*>(shared);
  return options;
}

/// A function that an executor calls while it runs. The object that Python has of the executor keeps it: were it kept
/// here, what it holds could hold the executor for ever.
struct Callback {
  nb::handle function;
  void operator()(const std::string& name, const NDArray& value) const {
    const nb::gil_scoped_acquire locked;
    function(to_text(name), value);
  }
};
void set_monitor(Executor& run, const nb::object& function, bool inputs) {
  if (function.is_none())
    run.set_monitor(nullptr);
  else
    run.set_monitor(Callback{function}, inputs);
}

/// What is in a graph and in the bodies of its loops and branches.
struct Inside {
  std::int64_t calls = 0;
  bool loops = false, python = false;  // a node is written in Python
};
void look_inside(const detail::NodeOutputs& outputs, Inside& found) {
  const detail::Graph graph(outputs);
  for (int n = 0; n < graph.size(); ++n) {
    const detail::Node& node = graph.node(n);
    if (node.entry == nullptr) continue;
    ++found.calls;
    found.python |= node.entry->name == "Custom";
    const detail::Flow* const flow = detail::flow_of(node);
    if (flow == nullptr) continue;
    found.loops |= flow->kind != detail::FlowKind::cond;
    for (const detail::SubGraph& body : flow->graphs) look_inside(body.outputs, found);
  }
}

/// Whether a run may take so long that it should not keep Ctrl-C from being heard, and calls nothing of Python.
bool takes_long(const Executor& run) {
  Inside inside;
  look_inside(run.symbol().outputs(), inside);
  if (inside.python) return false;
  if (inside.loops) return true;  // what they cost is known when they end
  std::int64_t elements = inside.calls * work_of_a_call;
  for (const auto& one : run.args())
    if (one.second.defined()) elements += one.second.size();
  for (const NDArray& a : run.outputs()) elements += a.size();
  return elements >= 1 << 18;
}
/// Runs a graph, on a thread of its own where that is asked for and Ctrl-C has to be heard.
template <class F>
void run_graph(bool apart, F run) {
  if (any_abandoned) end_abandoned();
  if (apart && hears_signals()) return run_apart(std::move(run));
  const Unlocked others(true);
  run();
}

/// What the arrays that forward() computes know of themselves, found as calls on arrays find it. Of variables nobody
/// knows: the elements of their arrays change.
nb::list facts_of_outputs(const Symbol& symbol) {
  std::map<const Node*, bool> truths;  // nodes come behind those that they are computed from
  const Symbol all = symbol.get_internals();
  for (const NodeOutput& output : all.outputs()) {
    const Node& node = *output.node;
    if (node.is_variable() || truths.contains(&node)) continue;
    const auto is_truth = [&](std::size_t i) {
      const auto found = truths.find(node.inputs[static_cast<detail::Index>(i)].node.get());
      return found != truths.end() && found->second;
    };
    const auto inputs = static_cast<std::size_t>(node.inputs.size());
    truths.emplace(&node, makes_truths(flow_of(*node.entry), *node.entry, node.op(), inputs, is_truth));
  }
  nb::list facts;
  for (const NodeOutput& output : symbol.outputs()) {
    const auto found = truths.find(output.node.get());
    facts.append(found != truths.end() && found->second ? fact::truth : 0);
  }
  return facts;
}
/// The outputs of an executor. What they know is asked once, and kept by the object.
nb::list outputs_of(nb::handle self) {
  const Executor& run = nb::cast<const Executor&>(self);
  nb::dict own = nb::borrow<nb::dict>(nb::object(self.attr("__dict__")));
  if (!own.contains("_facts")) own["_facts"] = facts_of_outputs(run.symbol());
  const nb::list facts = nb::borrow<nb::list>(nb::object(own["_facts"]));
  nb::list all;
  for (const NDArray& a : run.outputs()) all.append(nb::steal(wrap(a, nb::cast<unsigned>(facts[nb::len(all)]))));
  return all;
}

void wait_for_each(const NamedArrays& named) {
  for (const auto& one : named)
    if (one.second.defined()) wait_for(one.second);
}
std::vector<NDArray> arrays_of(const NamedArrays& named) {
  std::vector<NDArray> all;
  for (const auto& one : named) all.push_back(one.second);
  return all;
}
std::vector<std::string> names_of(const NamedArrays& named) {
  std::vector<std::string> all;
  for (const auto& one : named) all.push_back(one.first);
  return all;
}

}  // namespace

bool is_symbol(PyObject* object) {
  return nb::isinstance<Symbol>(nb::handle(object)) && nb::inst_ready(nb::handle(object));  // __new__ alone makes none
}

PyObject* make_symbol(const Entry& entry, const void* op, NamedTexts said, std::span<PyObject* const> inputs,
                      PyObject* called, PyObject* name, PyObject* attributes) {
  std::vector<Symbol> in;
  for (PyObject* one : inputs) in.push_back(one != nullptr ? *nb::inst_ptr<Symbol>(nb::handle(one)) : Symbol());
  // (name, attributes) as the scopes that are open say
  const nb::object scoped =
      call_hook(Hook::symbol, called, name != nullptr ? name : Py_None, attributes != nullptr ? attributes : Py_None);
  const nb::tuple both = nb::cast<nb::tuple>(scoped);
  Symbol made = detail::build_node(entry, detail::Ref(new detail::ParamBox(entry.params, op)), in,
                                   nb::cast<std::string>(both[0]), std::move(said));
  set_attributes(made, in, nb::cast<nb::dict>(both[1]));
  return nb::cast(std::move(made)).release().ptr();
}

void set_attributes(const Symbol& made, std::span<const Symbol> given, const nb::dict& attributes) {
  const Node& node = *made.outputs()[0].node;
  for (const auto& [key, value] : attributes) {
    const std::string name = text_of(key.ptr()), text = text_of(value.ptr());
    made[0].set_attr(name, text);
    for (detail::Index i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i].node && (i >= std::ssize(given) || !detail::element(given, i).defined()))
        Symbol(node.inputs[i]).set_attr(name, text);
  }
}

void add_symbols(nb::module_& module) {
  nb::class_<Symbol>(module, "Symbol", "One or several outputs of a symbolic graph.")
      .def_prop_ro("_size", &Symbol::size)
      .def_prop_ro(
          "name", [](const Symbol& s) { return s.name().empty() ? nb::object(nb::none()) : to_text(s.name()); },
          "The name of the node; None for a group.")
      .def("_at", [](const Symbol& s, std::int64_t i) { return s[i]; })
      .def("_named", [](const Symbol& s, const std::string& name) { return s[name]; })
      .def("list_arguments", &Symbol::list_arguments, "Names of the variables that it is computed from.")
      .def("list_outputs", &Symbol::list_outputs, "Names of its outputs.")
      .def("list_auxiliary_states", &Symbol::list_auxiliary_states, "Names of the variables that its operators write.")
      .def("get_internals", &Symbol::get_internals, "Every output of every node, as a group.")
      .def("_children", &Symbol::get_children)
      .def("_attr", [](const Symbol& s, const std::string& key) { return s.attr(key); })
      .def("_list_attr", [](const Symbol& s) { return in_dict(s.list_attr()); })
      .def("attr_dict", &attributes_of_all, "Parameters and attributes of all nodes, by their names.")
      .def("_copy", &Symbol::copy)
      .def("_set_one", [](const Symbol& s, const std::string& key, const std::string& text) { s.set_attr(key, text); })
      .def("_replace", [](const Symbol& s, const NamedSymbols& with,
                          const std::string& name) { return name.empty() ? s(with) : renamed(s(with), name); })
      .def("_infer_shape", &infer_shapes)
      .def("_infer_type", &infer_types)
      .def("_infer_type_partial", &infer_types_partial)
      .def("_infer_storage", &infer_storages)
      .def("tojson", &Symbol::to_json, "The symbol as text, in the layout of MXNet's version 1.7.")
      .def(
          "save", [](const Symbol& s, const Path& path) { s.save(path.text); }, "tojson() in a file.")
      .def(
          "_bind",
          [](const Symbol& s, nb::object ctx, const NamedArrays& args, const NamedArrays& grads,
             const NamedNumbers& requests, const NamedArrays& aux, const NamedObjects& groups, const nb::object& shared,
             bool side_by_side) {
            const auto wishes = requests_of(requests);
            const Device device = device_of(ctx.ptr());
            const BindOptions options = options_of(groups, shared, side_by_side);
            const Unlocked others(true);
            return s.bind(device, args, grads, GradRequests(std::span(wishes)), aux, options);
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg())
      .def(
          "_simple_bind",
          [](const Symbol& s, nb::object ctx, const NamedShapes& shapes, const NamedNumbers& requests,
             const NamedTypes& types, const NamedNumbers& storages, const NamedObjects& groups,
             const nb::object& shared, std::vector<std::string> shared_args, bool side_by_side) {
            const auto wishes = requests_of(requests);
            BindOptions options = options_of(groups, shared, side_by_side);
            options.shared_args = std::move(shared_args);
            for (const auto& [name, storage] : storages)
              options.storages.emplace_back(name, static_cast<Storage>(storage));
            const Device device = device_of(ctx.ptr());
            const Unlocked others(true);
            return s.simple_bind(device, shapes, GradRequests(std::span(wishes)), types, options);
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
  module.def("_var", [](const std::string& name, const nb::dict& options) { return var(name, variable_of(options)); });
  module.attr("_arithmetic") = arithmetic();
  module.def("_group", [](const std::vector<Symbol>& symbols) { return group(symbols); });
  module.def("_lacking_node", [](const std::string& scope, const std::vector<Symbol>& outputs) {
    return detail::lacking_node(scope, outputs);
  });
  using Symbols = std::vector<Symbol>;
  module.def("_foreach", [](const std::string& scope, const Symbols& data, const Symbols& states, const Symbols& own,
                            const Symbols& outputs, const Symbols& next, const std::string& name) {
    return detail::make_foreach(scope, data, states, own, outputs, next, name);
  });
  module.def("_while_loop",
             [](const std::string& of_condition, const Symbols& seen, const Symbol& condition, const std::string& scope,
                const Symbols& own, const Symbols& states, const Symbols& outputs, const Symbols& next,
                std::int64_t most, const std::string& name) {
               return detail::make_while(of_condition, seen, condition, scope, own, states, outputs, next, most, name);
             });
  module.def("_cond", [](const std::string& of_predicate, const Symbols& own, const Symbol& passed,
                         const Symbol& predicate, const std::string& of_then, const Symbols& then,
                         const std::string& of_else, const Symbols& otherwise, const std::string& name) {
    return detail::make_cond(of_predicate, own, passed, predicate, of_then, then, of_else, otherwise, name);
  });
  module.def("_symbol_from_json", [](const std::string& text) { return Symbol::from_json(text); });
  module.def("_history", [](const NDArray& array) { return History().of(array); });
  module.def("_symbol_load", [](const Path& path) { return Symbol::load(path.text); });

  nb::class_<Executor>(module, "Executor", nb::dynamic_attr(), "A symbolic graph with its arrays.")
      .def("_forward",
           [](const Executor& run, bool train, const NamedArrays& inputs, bool apart) {
             run_graph(apart, [run = Executor(run), train, inputs]() mutable {
               inputs.empty() ? run.forward(train) : run.forward(train, inputs);
             });
             tell_fallbacks();
           })
      .def("_backward",
           [](const Executor& run, const std::vector<NDArray>& heads, bool apart) {
             run_graph(apart, [run = Executor(run), heads]() mutable { run.backward(heads); });
             tell_fallbacks();
           })
      .def_prop_ro("_takes_long", &takes_long)
      .def("_reshape",
           [](const Executor& run, const NamedShapes& shapes) {
             const Unlocked others(true);
             return run.reshape(shapes);
           })
      .def("_copy_params",
           [](Executor& run, const NamedArrays& args, const NamedArrays& aux, bool allow_extra) {
             wait_for_each(args);
             wait_for_each(aux);
             const Unlocked others(true);
             run.copy_params_from(args, aux, allow_extra);
           })
      .def("_set_monitor", &set_monitor, nb::arg().none(), nb::arg())
      .def_prop_ro("outputs", &outputs_of, "The arrays that forward() computes.")
      .def_prop_ro(
          "arg_arrays", [](const Executor& run) { return arrays_of(run.args()); }, "The arrays of the arguments.")
      .def_prop_ro(
          "grad_arrays", [](const Executor& run) { return arrays_of(run.grads()); },
          "Their gradients; None where none is computed.")
      .def_prop_ro(
          "aux_arrays", [](const Executor& run) { return arrays_of(run.aux_states()); },
          "The arrays of the auxiliary states.")
      .def_prop_ro("_arg_names", [](const Executor& run) { return names_of(run.args()); })
      .def_prop_ro("_aux_names", [](const Executor& run) { return names_of(run.aux_states()); })
      .def_prop_ro("_planned_bytes",
                   [](const Executor& run) {
                     const MemoryPlan plan = run.plan();
                     return plan.bytes() + plan.bodies();
                   })
      .def_prop_ro("_symbol", [](const Executor& run) { return run.symbol(); });
}

}  // namespace strop::python
