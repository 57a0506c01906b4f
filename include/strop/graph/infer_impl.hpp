// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inference on graphs: shapes and element types to a fixpoint from partial knowledge, storages from front to back.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/symbol.hpp>
#include <strop/graph/symbol_impl.hpp>
#include <strop/op/map_infer.hpp>
#include <strop/op/map_run.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// What is known of every value (output of a node) of a graph.
class Inference {
 public:
  explicit Inference(const Graph& graph)
      : graph_(graph),
        shapes_(static_cast<std::size_t>(graph.values()), Shape::unknown()),
        types_(shapes_.size()),
        storages_(shapes_.size(), dense) {
    for (int n = 0; n < graph.size(); ++n) {
      const Node& node = graph.node(n);
      if (node.entry != nullptr) continue;
      shape(graph.value(n, 0)) = node.variable.shape;
      type(graph.value(n, 0)) = node.variable.dtype;
    }
  }

  /// Takes in what is known of a variable. Throws Error where the variable says otherwise itself.
  void give_shape(int n, const Shape& given) {
    Shape& known = shape(graph_.value(n, 0));
    if (!unify(known, given)) fail("Error in node ", graph_.node(n).name, ": the variable has shape ", to_text(known), ", given is ", to_text(given));
  }
  void give_type(int n, Dtype given) {
    std::optional<Dtype>& known = type(graph_.value(n, 0));
    if (known && *known != given) fail("Error in node ", graph_.node(n).name, ": the variable is ", name_of(*known), ", given is ", name_of(given));
    known = given;
  }

  void infer_shapes() {
    // Operators that nothing is known of come last: their rules may expect to know something.
    for (const bool all : {false, true}) {
      settle([&](int n) { return shape_step(n, all); });
      bool open = false;
      for (const Shape& known : shapes_) open = open || !known.known();
      if (!open) return;
    }
  }

  /// Types; variables of which nothing follows are float32, one after the other.
  void infer_types() {
    settle([&](int n) { return type_step(n); });
    for (int n = 0; n < graph_.size(); ++n) {
      std::optional<Dtype>& known = type(graph_.value(n, 0));
      if (graph_.node(n).entry != nullptr || known) continue;
      known = f32;
      settle([&](int m) { return type_step(m); });
    }
    for (int n = 0; n < graph_.size(); ++n)
      for (int k = 0; k < graph_.node(n).outputs(); ++k)
        if (std::optional<Dtype>& known = type(graph_.value(n, k)); !known) known = f32;
  }

  /// Storages from those of the variables, after types and, where they are known, shapes.
  void infer_storages(Device device) {
    for (int n = 0; n < graph_.size(); ++n) storage_step(n, device);
  }

  Shape& shape(int value) { return shapes_[static_cast<std::size_t>(value)]; }
  std::optional<Dtype>& type(int value) { return types_[static_cast<std::size_t>(value)]; }
  Storage& storage(int value) { return storages_[static_cast<std::size_t>(value)]; }

 private:
  /// Sweeps forwards and backwards until nothing changes; a step tells whether it learnt something.
  template <class Step>
  void settle(Step step) {
    for (bool changed = true; changed;) {
      changed = false;
      for (int n = 0; n < graph_.size(); ++n) changed = guarded(n, step) || changed;
      for (int n = graph_.size(); n-- > 0;) changed = guarded(n, step) || changed;
    }
  }
  template <class Step>
  bool guarded(int n, Step step) {
    try {
      return step(n);
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with("Error in node ")) throw;
      fail("Error in node ", graph_.node(n).name, ": ", error.what());
    }
  }

  bool shape_step(int n, bool all) {
    const Node& node = graph_.node(n);
    if (!node.like.empty()) return shape_alike(n);
    if (node.entry == nullptr) return false;
    std::vector<Shape> in, out;
    for (const NodeOutput& from : node.inputs) in.push_back(from.node ? shape(graph_.value(from)) : Shape{0});
    bool something = in.empty() || in[0].has_rank();
    for (int k = 0; k < node.outputs(); ++k) out.push_back(shape(graph_.value(n, k))), something = something || out.back().has_rank();
    if (!something && !all) return false;
    const CallNames names{node.entry->name, node.signature.inputs, node.signature.outputs};
    Shapes shapes_of(names, in, out);
    if (node.entry->infer_shape != nullptr) node.entry->infer_shape(node.op(), shapes_of);
    else infer_map_shape(*node.entry, shapes_of);
    bool changed = false;
    const auto learn = [&](int value, const Shape& found, const std::string& what) {
      Shape& known = shape(value);
      if (known == found) return;
      if (!unify(known, found)) fail(node.entry->name, ": ", what, " has shape ", to_text(known), ", expected ", to_text(found));
      changed = true;
    };
    for (std::size_t i = 0; i < in.size(); ++i)
      if (node.inputs[i].node) learn(graph_.value(node.inputs[i]), in[i], names.input(static_cast<int>(i)));
    for (int k = 0; k < node.outputs(); ++k) learn(graph_.value(n, k), out[static_cast<std::size_t>(k)], names.output(k));
    return changed;
  }

  bool shape_alike(int n) {
    const Node& node = graph_.node(n);
    bool changed = false;
    for (std::size_t k = 0; k < node.like.size(); ++k) {
      Shape& mine = shape(graph_.value(n, static_cast<int>(k)));
      Shape& other = shape(graph_.value(node.like[k]));
      if (mine == other) continue;
      if (!unify(mine, other)) fail("it has shape ", to_text(mine), ", expected ", to_text(other), " like ", node.like[k].node->output_name(node.like[k].index));
      other = mine;
      changed = true;
    }
    return changed;
  }

  bool type_step(int n) {
    const Node& node = graph_.node(n);
    bool changed = false;
    const auto learn = [&](std::optional<Dtype>& known, std::optional<Dtype> found, const char* what, std::string_view of) {
      if (known == found || !found) return;
      if (known) fail(node.entry != nullptr ? node.entry->name : "variable", ": ", what, " '", of, "' is ", name_of(*known), ", expected ", name_of(*found));
      known = found;
      changed = true;
    };
    for (std::size_t k = 0; k < node.like.size(); ++k) {
      std::optional<Dtype>&mine = type(graph_.value(n, static_cast<int>(k))), &other = type(graph_.value(node.like[k]));
      learn(mine, other, "gradient of", node.like[k].node->name);
      learn(other, mine, "gradient of", node.like[k].node->name);
    }
    if (!node.like.empty() || node.entry == nullptr) return changed;
    std::vector<std::optional<Dtype>> in, out;
    for (const NodeOutput& from : node.inputs) in.push_back(from.node ? type(graph_.value(from)) : std::nullopt);
    for (int k = 0; k < node.outputs(); ++k) out.push_back(type(graph_.value(n, k)));
    const CallNames names{node.entry->name, node.signature.inputs, node.signature.outputs};
    Types types_of(names, in, out);
    if (node.entry->infer_type != nullptr) node.entry->infer_type(node.op(), types_of);
    else infer_map_type(*node.entry, types_of);
    for (std::size_t i = 0; i < in.size(); ++i)
      if (node.inputs[i].node) learn(type(graph_.value(node.inputs[i])), in[i], "input", node.signature.inputs[i]);
    for (std::size_t k = 0; k < out.size(); ++k) learn(type(graph_.value(n, static_cast<int>(k))), out[k], "output", node.signature.outputs[k]);
    return changed;
  }

  void storage_step(int n, Device device) {
    const Node& node = graph_.node(n);
    if (node.entry == nullptr || node.inputs.empty()) return;
    // A map's gradient gets dense arrays.
    if (!node.like.empty() && node.entry->is_map()) return;
    std::vector<Storage> in;
    bool sparse = false;
    for (const NodeOutput& from : node.inputs) in.push_back(from.node ? storage(graph_.value(from)) : dense), sparse = sparse || in.back() != dense;
    if (node.entry->infer_storage != nullptr) {
      std::vector<std::optional<Storage>> out(static_cast<std::size_t>(node.outputs()));
      Storages storages_of(in, out, device);
      if (!node.entry->infer_storage(node.op(), storages_of)) return;
      for (std::size_t k = 0; k < out.size(); ++k) storage(graph_.value(n, static_cast<int>(k))) = out[k].value_or(dense);
    } else if (sparse && node.entry->is_map()) {
      const Dtype computed = compute_type(node.entry->loops, type(graph_.value(node.inputs[0])).value_or(f32));
      const Storage found = infer_map_storage(*node.entry, node.op(), computed, in).storage;
      for (std::size_t i = 0; i < in.size(); ++i)
        if (in[i] != dense && !(shape(graph_.value(node.inputs[i])) == shape(graph_.value(n, 0)))) return;
      for (int k = 0; k < node.outputs(); ++k) storage(graph_.value(n, k)) = found;
    }
  }

  const Graph& graph_;
  std::vector<Shape> shapes_;
  std::vector<std::optional<Dtype>> types_;
  std::vector<Storage> storages_;
};

/// A graph's variables by their roles, and inference on it from what is given by name.
struct NamedInference {
  Graph graph;
  Inference inference;
  std::vector<char> written;

  explicit NamedInference(const Symbol& symbol) : graph(symbol.outputs(), true), inference(graph), written(graph.auxiliary()) {}
  NamedInference(const NamedInference&) = delete;
  NamedInference& operator=(const NamedInference&) = delete;

  template <class X, class Give>
  void give(const char* what, const std::vector<std::pair<std::string, X>>& known, Give give_one) {
    std::vector<std::string> names;
    for (int n = 0; n < graph.size(); ++n) {
      if (graph.node(n).entry != nullptr) continue;
      names.push_back(graph.node(n).name);
      if (const X* value = find_named(known, graph.node(n).name)) give_one(n, *value);
    }
    check_names(what, known, names);
  }
  /// `at(value)` of the arguments, outputs and states of the symbol.
  template <class X, class At>
  Inferred<X> collect(const Symbol& symbol, At at) const {
    Inferred<X> out;
    const Graph own(symbol.outputs());
    for (int n = 0; n < own.size(); ++n) {
      const int here = graph.find(&own.node(n));
      if (own.node(n).entry == nullptr) (written[static_cast<std::size_t>(here)] != 0 ? out.aux : out.args).push_back(at(graph.value(here, 0)));
    }
    for (const NodeOutput& output : symbol.outputs()) out.outputs.push_back(at(graph.value(output)));
    return out;
  }
};

}  // namespace detail

STROP_COLD Inferred<Shape> Symbol::infer_shape_partial(const NamedShapes& known) const {
  detail::NamedInference run(*this);
  run.give("infer_shape", known, [&](int n, const Shape& shape) { run.inference.give_shape(n, shape); });
  run.inference.infer_shapes();
  return run.collect<Shape>(*this, [&](int value) { return run.inference.shape(value); });
}

STROP_COLD Inferred<Shape> Symbol::infer_shape(const NamedShapes& known) const {
  Inferred<Shape> found = infer_shape_partial(known);
  const auto name_unknown = [](const std::vector<Shape>& shapes, const std::vector<std::string>& names, std::string& list) {
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (!shapes[i].known()) list += cat(list.empty() ? "" : ", ", names[i], ' ', to_text(shapes[i]));
  };
  std::string list;
  name_unknown(found.args, list_arguments(), list);
  name_unknown(found.aux, list_auxiliary_states(), list);
  if (list.empty()) name_unknown(found.outputs, list_outputs(), list);
  if (!list.empty()) fail("infer_shape: from what is given these shapes do not follow: ", list);
  return found;
}

STROP_COLD Inferred<Dtype> Symbol::infer_type(const NamedTypes& known) const {
  detail::NamedInference run(*this);
  run.give("infer_type", known, [&](int n, Dtype type) { run.inference.give_type(n, type); });
  run.inference.infer_types();
  return run.collect<Dtype>(*this, [&](int value) { return *run.inference.type(value); });
}

STROP_COLD Inferred<Storage> Symbol::infer_storage(const NamedStorages& known) const {
  detail::NamedInference run(*this);
  for (int n = 0; n < run.graph.size(); ++n)
    if (run.graph.node(n).entry == nullptr) run.inference.storage(run.graph.value(n, 0)) = run.graph.node(n).variable.storage.value_or(dense);
  run.give("infer_storage", known, [&](int n, Storage storage) { run.inference.storage(run.graph.value(n, 0)) = storage; });
  run.inference.infer_storages(cpu());
  return run.collect<Storage>(*this, [&](int value) { return run.inference.storage(value); });
}

}  // namespace strop::inline v0
