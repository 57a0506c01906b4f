// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inference on graphs: shapes and element types to a fixpoint from partial knowledge, storages from front to back.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/symbol.hpp>
#include <strop/graph/symbol_impl.hpp>
#include <strop/op/infer_call.hpp>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// What is known of every value (output of a node) of a graph.
class Inference {
 public:
  explicit Inference(const Graph& graph) : graph_(graph) {
    shapes_.reserve(graph.values());
    for (int v = 0; v < graph.values(); ++v) shapes_.push_back(Shape::unknown());
    types_.resize(graph.values());
    storages_.resize(graph.values());
    for (int n = 0; n < graph.size(); ++n) {
      const Node& node = graph.node(n);
      if (!node.inputs.empty() || node.outputs() == 0) continue;
      shape(graph.value(n, 0)) = node.variable.shape;  // of an operator what settle_shapes() found
      if (node.is_variable()) type(graph.value(n, 0)) = node.variable.dtype;
    }
  }

  /// Takes in what is known of a variable, which counts more than what the variable says of itself.
  void give_shape(int n, const Shape& given) {
    Shape& known = shape(graph_.value(n, 0));
    const Shape said = std::exchange(known, given);
    if (!known.has_rank()) known = said;
    if (known.ndim() != said.ndim()) return;
    for (int axis = 0; axis < known.ndim(); ++axis)
      if (known[axis] < 0) known[axis] = said[axis];
  }
  void give_type(int n, Dtype given) { type(graph_.value(n, 0)) = given; }

  void infer_shapes() {
    // Operators that nothing is known of come last: their rules may expect to know something.
    for (const bool all : {false, true}) {
      sweep_to_fixpoint(all ? &Inference::shape_step_all : &Inference::shape_step_known);
      bool open = false;
      for (const Shape& known : shapes_) open = open || !known.known();
      if (!open) return;
    }
  }

  /// Types, as far as they follow from what is known.
  void infer_known_types() { sweep_to_fixpoint(&Inference::type_step); }
  /// Types; variables of which nothing follows are float32, where a map takes whole numbers int32, one after the other.
  void infer_types() {
    infer_known_types();
    std::optional<Touching> touching;
    List<bool> waits(graph_.size());
    for (int n = 0; n < graph_.size(); ++n) {
      std::optional<Dtype>& known = type(graph_.value(n, 0));
      if (!graph_.node(n).is_variable() || known) continue;
      known = is_whole(graph_.value(n, 0)) ? i32 : f32;
      if (!touching) touching.emplace(*this);
      spread_type(graph_.value(n, 0), *touching, waits);
    }
    for (std::optional<Dtype>& known : types_)
      if (!known) known = f32;
  }

  /// Storages from those of the variables, after types and, where they are known, shapes.
  void infer_storages(Device device) {
    for (int n = 0; n < graph_.size(); ++n) storage_step(n, device);
  }

  Shape& shape(int value) { return shapes_[value]; }
  std::optional<Dtype>& type(int value) { return types_[value]; }
  Storage& storage(int value) { return storages_[value]; }

 private:
  using Step = bool (Inference::*)(int n);

  /// Whether a map takes the value as whole numbers.
  bool is_whole(int value) const {
    for (int n = 0; n < graph_.size(); ++n) {
      const Node& node = graph_.node(n);
      if (node.entry == nullptr || node.entry->whole == 0 || !node.like.empty()) continue;
      for (Index i = 0; i < node.inputs.size(); ++i)
        if ((node.entry->whole >> i & 1U) != 0 && value_of(n, static_cast<int>(i)) == value) return true;
    }
    return false;
  }

  /// The nodes that a value is an input or an output of.
  class Touching {
   public:
    explicit Touching(const Inference& of) {
      const Graph& graph = of.graph_;
      first_.resize(graph.values() + 1);
      each_pair(of, [&](int value, int) { ++first_[value + 1]; });
      for (int v = 0; v < graph.values(); ++v) first_[v + 1] += first_[v];
      nodes_.resize(first_[graph.values()]);
      List<int> next = first_;
      each_pair(of, [&](int value, int n) { nodes_[next[value]++] = n; });
    }
    std::span<const int> operator[](int value) const {
      return {nodes_.begin() + first_[value], nodes_.begin() + first_[value + 1]};
    }

   private:
    template <class F>
    static void each_pair(const Inference& of, F f) {
      for (int n = 0; n < of.graph_.size(); ++n)
        for (int i = 0; i < of.tensors_of(n); ++i)
          if (const int value = of.value_of(n, i); value >= 0) f(value, n);
    }
    List<int> first_, nodes_;
  };

  /// What follows from the type of a value: nodes are asked again where some of theirs were learnt, which is once a
  /// value. `waits` says of each node whether it is still to be asked, and is all false before and after.
  void spread_type(int from, const Touching& touching, List<bool>& waits) {
    List<int> nodes;
    const auto learn = [&](int value) {
      for (const int n : touching[value])
        if (!std::exchange(waits[n], true)) nodes.push_back(n);
    };
    learn(from);
    List<std::optional<Dtype>> before;
    while (!nodes.empty()) {
      const int n = nodes.back();
      nodes.pop_back();
      waits[n] = false;
      before.clear();
      for (int i = 0; i < tensors_of(n); ++i) before.push_back(value_of(n, i) < 0 ? f32 : type(value_of(n, i)));
      if (!step_of(&Inference::type_step, n)) continue;
      for (int i = 0; i < tensors_of(n); ++i)
        if (!before[i] && type(value_of(n, i))) learn(value_of(n, i));
    }
  }

  bool step_of(Step step, int n) {
    try {
      return (this->*step)(n);
    } catch (const Error& error) {
      fail_in(graph_.node(n), error);
    }
  }

  /// Sweeps forwards and backwards until nothing changes; a step tells whether it learnt something.
  void sweep_to_fixpoint(Step step) {
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; i < 2 * graph_.size(); ++i) {
        const int n = i < graph_.size() ? i : 2 * graph_.size() - 1 - i;
        changed = step_of(step, n) || changed;
      }
    }
  }

  bool shape_step_known(int n) { return shape_step(n, false); }
  bool shape_step_all(int n) { return shape_step(n, true); }
  bool shape_step(int n, bool all) {
    const Node& node = graph_.node(n);
    if (!node.like.empty()) return shape_alike(n);
    if (node.entry == nullptr) return false;
    const Index inputs = node.inputs.size(), all_tensors = inputs + node.outputs();
    List<Shape>& tensors = tensor_shapes_;  // inputs, then outputs
    tensors.clear();
    for (int i = 0; i < all_tensors; ++i) tensors.push_back(value_of(n, i) < 0 ? Shape{0} : shape(value_of(n, i)));
    bool something = inputs == 0 || tensors[0].has_rank();
    for (Index i = inputs; i < all_tensors; ++i) something = something || tensors[i].has_rank();
    if (!something && !all) return false;
    const CallNames names{node.entry->name, node.signature.inputs, node.signature.outputs};
    Shapes shapes_of(names, tensors.span().first(inputs), tensors.span().subspan(inputs));
    detail::infer_shapes(*node.entry, node.op(), shapes_of);
    bool changed = false;
    for (int i = 0; i < all_tensors; ++i) {
      if (value_of(n, i) < 0) continue;
      Shape& known = shape(value_of(n, i));
      if (known == tensors[i]) continue;
      if (!unify(known, tensors[i]))
        fail(node.entry->name, ": ", i < inputs ? names.input(i) : names.output(i - inputs), " has shape ",
             to_text(known), ", expected ", to_text(tensors[i]));
      changed = true;
    }
    return changed;
  }

  /// The inputs of node n, its outputs and what those are like.
  int tensors_of(int n) const {
    const Node& node = graph_.node(n);
    return static_cast<int>(node.inputs.size() + node.like.size()) + node.outputs();
  }
  /// The value that is input i of node n or, after the inputs, one of its outputs, or after those what one is like.
  int value_of(int n, int i) const {
    const Node& node = graph_.node(n);
    const int inputs = static_cast<int>(node.inputs.size()), outputs = node.outputs();
    if (i < inputs) return graph_.value(node.inputs[i]);
    return i < inputs + outputs ? graph_.value(n, i - inputs) : graph_.value(node.like[i - inputs - outputs]);
  }

  bool shape_alike(int n) {
    const Node& node = graph_.node(n);
    bool changed = false;
    for (int k = 0; k < node.like.size(); ++k) {
      Shape& mine = shape(graph_.value(n, k));
      Shape& other = shape(graph_.value(node.like[k]));
      if (mine == other) continue;
      if (!unify(mine, other))
        fail("it has shape ", to_text(mine), ", expected ", to_text(other), " like ",
             node.like[k].node->output_name(node.like[k].index));
      other = mine;
      changed = true;
    }
    return changed;
  }

  bool type_step(int n) {
    const Node& node = graph_.node(n);
    bool changed = false;
    for (int k = 0; k < node.like.size(); ++k) {
      std::optional<Dtype>&mine = type(graph_.value(n, k)), &other = type(graph_.value(node.like[k]));
      if (mine == other) continue;
      if (mine && other)
        fail("it is ", name_of(*mine), ", expected ", name_of(*other), " like ",
             node.like[k].node->output_name(node.like[k].index));
      mine = other = mine ? mine : other;
      changed = true;
    }
    if (!node.like.empty() || node.is_variable()) return changed;
    const Index inputs = node.inputs.size(), all_tensors = inputs + node.outputs();
    List<std::optional<Dtype>>& tensors = tensor_types_;
    tensors.clear();
    for (int i = 0; i < all_tensors; ++i) tensors.push_back(value_of(n, i) < 0 ? std::nullopt : type(value_of(n, i)));
    const CallNames names{node.entry->name, node.signature.inputs, node.signature.outputs};
    Types types_of(names, tensors.span().first(inputs), tensors.span().subspan(inputs));
    detail::infer_types(*node.entry, node.op(), types_of);
    for (int i = 0; i < all_tensors; ++i) {
      if (value_of(n, i) < 0 || !tensors[i]) continue;
      std::optional<Dtype>& known = type(value_of(n, i));
      if (known == tensors[i]) continue;
      if (known)
        fail(node.entry->name, ": ", i < inputs ? names.input(i) : names.output(i - inputs), " is ", name_of(*known),
             ", expected ", name_of(*tensors[i]));
      known = tensors[i];
      changed = true;
    }
    return changed;
  }

  void storage_step(int n, Device device) {
    const Node& node = graph_.node(n);
    if (node.entry == nullptr) return;
    const Index inputs = node.inputs.size(), outputs = node.outputs();
    List<Storage, 8> in;
    List<Shape, 4> in_shapes, out_shapes;
    for (const NodeOutput& from : node.inputs) {
      const int v = graph_.value(from);
      in.push_back(v < 0 ? dense : storage(v));
      in_shapes.push_back(v < 0 ? Shape::unknown() : shape(v));
    }
    for (int k = 0; k < outputs; ++k) out_shapes.push_back(shape(graph_.value(n, k)));
    List<std::optional<Storage>, 4> out(outputs);
    const auto type_of = [&](Index i) {
      const int v = inputs > 0 ? graph_.value(node.inputs[i]) : graph_.value(n, 0);
      return v < 0 ? f32 : type(v).value_or(f32);
    };
    const Dtype stored = stored_type(*node.entry, inputs, type_of);
    try {
      detail::infer_storages(*node.entry, node.op(),
                             {in.span(), in_shapes.span(), out_shapes.span(), node.signature.mutated, stored, device},
                             out.span());
    } catch (const Error& error) {
      fail_in(node, error);
    }
    for (int k = 0; k < outputs; ++k) storage(graph_.value(n, k)) = *out[k];
  }

  const Graph& graph_;
  List<Shape> shapes_;
  List<std::optional<Dtype>> types_;
  List<Storage> storages_;
  List<Shape> tensor_shapes_;  // of the node that is looked at, as are:
  List<std::optional<Dtype>> tensor_types_;
};

/// A graph's variables by their roles, and inference on it from what is given by name.
struct NamedInference {
  Graph graph;
  Inference inference;
  List<bool> written;

  explicit NamedInference(const Symbol& symbol)
      : graph(symbol.outputs(), true), inference(graph), written(graph.auxiliary()) {}
  NamedInference(const NamedInference&) = delete;
  NamedInference& operator=(const NamedInference&) = delete;

  template <class X, class Give>
  void give(const char* what, const std::vector<std::pair<std::string, X>>& known, Give give_one) {
    const NameTable given(names_of(known));
    List<std::string_view> names;
    for (int n = 0; n < graph.size(); ++n) {
      if (!graph.node(n).is_variable()) continue;
      names.push_back(graph.node(n).name);
      if (const int at = given.find(names.back()); at >= 0) give_one(n, element(known, at).second);
    }
    check_given(what, names_of(known), names);
  }
  /// `at(value)` of the arguments, outputs and states of the symbol.
  template <class X, class At>
  Inferred<X> collect(const Symbol& symbol, At at) const {
    Inferred<X> out;
    std::vector<std::string> states;
    const Graph own(symbol.outputs());
    for (int n = 0; n < own.size(); ++n) {
      if (!own.node(n).is_variable()) continue;
      const int here = graph.find(&own.node(n));
      (written[here] ? out.aux : out.args).push_back(at(graph.value(here, 0)));
      (written[here] ? states : out.names).push_back(own.node(n).name);
    }
    for (const NodeOutput& output : symbol.outputs()) {
      out.outputs.push_back(at(graph.value(output)));
      out.names.push_back(output.node->output_name(output.index));
    }
    for (std::string& state : states) out.names.push_back(std::move(state));
    return out;
  }
};

STROP_IMPL std::size_t place_of_name(const std::vector<std::string>& names, std::string_view name) {
  List<std::string_view> known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
    known.push_back(names[i]);
  }
  fail_unknown("infer: no argument, output or state", name, known);
}

}  // namespace detail

STROP_IMPL Inferred<Shape> Symbol::infer_shape_partial(const NamedShapes& known) const {
  detail::NamedInference run(*this);
  run.give("infer_shape", known, [&](int n, const Shape& shape) { run.inference.give_shape(n, shape); });
  run.inference.infer_shapes();
  return run.collect<Shape>(*this, [&](int value) { return run.inference.shape(value); });
}

STROP_IMPL Inferred<Shape> Symbol::infer_shape(const NamedShapes& known) const {
  Inferred<Shape> found = infer_shape_partial(known);
  const auto name_unknown = [](const std::vector<Shape>& shapes, const std::vector<std::string>& names,
                               std::string& list) {
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

STROP_IMPL Inferred<Dtype> Symbol::infer_type(const NamedTypes& known) const {
  detail::NamedInference run(*this);
  run.give("infer_type", known, [&](int n, Dtype type) { run.inference.give_type(n, type); });
  run.inference.infer_types();
  return run.collect<Dtype>(*this, [&](int value) { return *run.inference.type(value); });
}

STROP_IMPL Inferred<std::optional<Dtype>> Symbol::infer_type_partial(const NamedTypes& known) const {
  detail::NamedInference run(*this);
  run.give("infer_type", known, [&](int n, Dtype type) { run.inference.give_type(n, type); });
  run.inference.infer_known_types();
  return run.collect<std::optional<Dtype>>(*this, [&](int value) { return run.inference.type(value); });
}

STROP_IMPL Inferred<Storage> Symbol::infer_storage(const NamedStorages& known) const {
  detail::NamedInference run(*this);
  for (int n = 0; n < run.graph.size(); ++n)
    if (run.graph.node(n).is_variable())
      run.inference.storage(run.graph.value(n, 0)) = run.graph.node(n).variable.storage.value_or(dense);
  run.give("infer_storage", known,
           [&](int n, Storage storage) { run.inference.storage(run.graph.value(n, 0)) = storage; });
  run.inference.infer_storages(cpu());
  return run.collect<Storage>(*this, [&](int value) { return run.inference.storage(value); });
}

}  // namespace strop::inline v0
