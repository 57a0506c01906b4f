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

struct KnownGraph;

/// What is known of every value (output of a node) of a graph. The rule of a node is asked as soon as something is
/// known of its tensors, and again where others have learnt more of them: once, where its inputs are known.
class Inference {
 public:
  explicit Inference(const Graph& graph) : graph_(graph) {
    shapes_.reserve(graph.values());
    for (int v = 0; v < graph.values(); ++v) shapes_.push_back(Shape::unknown());
    types_.resize(graph.values());
    storages_.resize(graph.values());
    find_tensors();
    for (List<bool>* all : {&shape_waits_, &type_waits_, &storage_waits_}) *all = List<bool>(graph.size(), true);
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
  /// Takes in what is known of the nodes of another graph. Those that are in this one too are not asked again.
  void take(const KnownGraph& known, bool storages);

  void infer_shapes() {
    // Operators that nothing is known of come last: their rules may expect to know something.
    for (const bool all : {false, true}) {
      ask_those_that_wait(all ? &Inference::shape_step_all : &Inference::shape_step_known, shape_waits_);
      bool open = false;
      for (const Shape& known : shapes_) open = open || !known.known();
      if (!open) return;
    }
  }

  /// Types, as far as they follow from what is known.
  void infer_known_types() { ask_those_that_wait(&Inference::type_step, type_waits_); }
  /// Types; variables of which nothing follows are float32, where a map takes whole numbers int32, one after the other.
  void infer_types() {
    infer_known_types();
    for (int n = 0; n < graph_.size(); ++n) {
      const int value = graph_.value(n, 0);
      if (!graph_.node(n).is_variable() || type(value)) continue;
      type(value) = is_whole(value) ? i32 : f32;
      learnt(value, n, type_waits_);
      while (!waiting_.empty()) {  // nodes in between are asked, and not the whole graph for each variable
        const int next = waiting_.back();
        waiting_.pop_back();
        if (type_waits_[next]) step_of(&Inference::type_step, next);
      }
    }
    for (std::optional<Dtype>& known : types_)
      if (!known) known = f32;
  }

  /// Storages from those of the variables, after types and, where they are known, shapes.
  void infer_storages(Device device) {
    for (int n = 0; n < graph_.size(); ++n)
      if (std::exchange(storage_waits_[n], false)) storage_step(n, device);
  }

  Shape& shape(int value) { return shapes_[value]; }
  std::optional<Dtype>& type(int value) { return types_[value]; }
  Storage& storage(int value) { return storages_[value]; }

 private:
  using Step = bool (Inference::*)(int n);

  /// The values of each node, and the nodes of each value.
  void find_tensors() {
    tensors_.reserve(3 * graph_.values());
    touching_from_.resize(graph_.values() + 1);
    for (int n = 0; n < graph_.size(); ++n) {
      const Node& node = graph_.node(n);
      tensors_from_.push_back(static_cast<int>(tensors_.size()));
      for (const NodeOutput& in : node.inputs) tensors_.push_back(graph_.value(in));
      for (int k = 0; k < node.outputs(); ++k) tensors_.push_back(graph_.value(n, k));
      for (const NodeOutput& other : node.like) tensors_.push_back(graph_.value(other));
    }
    tensors_from_.push_back(static_cast<int>(tensors_.size()));
    for (const int v : tensors_)
      if (v >= 0) ++touching_from_[v + 1];
    for (int v = 0; v < graph_.values(); ++v) touching_from_[v + 1] += touching_from_[v];
    touching_.resize(touching_from_.back());
    List<int> next = touching_from_;
    for (int n = 0; n < graph_.size(); ++n)
      for (int i = 0; i < tensors_of(n); ++i)
        if (const int v = value_of(n, i); v >= 0) touching_[next[v]++] = n;
  }
  /// The inputs of node n, its outputs and what those are like.
  int tensors_of(int n) const { return tensors_from_[n + 1] - tensors_from_[n]; }
  /// The value that is input i of node n or, after the inputs, one of its outputs, or after those what one is like; −1
  /// where an input was left out.
  int value_of(int n, int i) const { return tensors_[tensors_from_[n] + i]; }
  std::span<const int> touching(int value) const {
    return {touching_.begin() + touching_from_[value], touching_.begin() + touching_from_[value + 1]};
  }

  /// Whether a map takes the value as whole numbers.
  bool is_whole(int value) const {
    for (const int n : touching(value)) {
      const Node& node = graph_.node(n);
      if (node.entry == nullptr || node.entry->whole == 0 || !node.like.empty()) continue;
      for (Index i = 0; i < node.inputs.size(); ++i)
        if ((node.entry->whole >> i & 1U) != 0 && value_of(n, static_cast<int>(i)) == value) return true;
    }
    return false;
  }

  /// Node `by` has learnt something of a value: the others that it belongs to are to be asked.
  void learnt(int value, int by, List<bool>& waits) {
    for (const int n : touching(value))
      if (n != by && !std::exchange(waits[n], true)) waiting_.push_back(n);
  }

  bool step_of(Step step, int n) {
    try {
      return (this->*step)(n);
    } catch (const Error& error) {
      fail_in(graph_.node(n), error);
    }
  }

  /// Sweeps forwards and backwards until nothing is learnt any more. A step says whether it learnt something.
  void ask_those_that_wait(Step step, const List<bool>& waits) {
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; i < 2 * graph_.size(); ++i) {
        const int n = i < graph_.size() ? i : 2 * graph_.size() - 1 - i;
        if (waits[n]) changed = step_of(step, n) || changed;
      }
    }
    waiting_.clear();
  }

  bool shape_step_known(int n) { return shape_step(n, false); }
  bool shape_step_all(int n) { return shape_step(n, true); }
  bool shape_step(int n, bool all) {
    const Node& node = graph_.node(n);
    shape_waits_[n] = false;
    if (!node.like.empty()) return shape_alike(n);
    if (node.entry == nullptr) return false;
    const Index inputs = node.inputs.size(), all_tensors = inputs + node.outputs();
    List<Shape>& tensors = tensor_shapes_;  // inputs, then outputs
    tensors.clear();
    for (int i = 0; i < all_tensors; ++i) tensors.push_back(value_of(n, i) < 0 ? Shape{0} : shape(value_of(n, i)));
    bool something = inputs == 0 || tensors[0].has_rank();
    for (Index i = inputs; i < all_tensors; ++i) something = something || tensors[i].has_rank();
    if (!something && !all) {
      shape_waits_[n] = true;
      return false;
    }
    const CallNames names{node.entry->name, node.signature.inputs, node.signature.outputs};
    Shapes shapes_of(names, tensors.span().first(inputs), tensors.span().subspan(inputs));
    detail::infer_shapes(*node.entry, node.op(), shapes_of);
    bool changed = false, again = false;
    for (int i = 0; i < all_tensors; ++i) {
      const int value = value_of(n, i);
      if (value < 0) continue;
      Shape& known = shape(value);
      if (known != tensors[i]) {
        if (!unify(known, tensors[i]))
          fail(node.entry->name, ": ", i < inputs ? names.input(i) : names.output(i - inputs), " has shape ",
               to_text(known), ", expected ", to_text(tensors[i]));
        learnt(value, n, shape_waits_);
        changed = true;
        again = again || i < inputs;  // a rule may look at an input before it completes it
      }
      again = again || !known.known();
    }
    shape_waits_[n] = changed && again;  // what it has learnt may lead it further
    return changed;
  }

  bool shape_alike(int n) {
    const Node& node = graph_.node(n);
    bool changed = false;
    for (int k = 0; k < node.like.size(); ++k) {
      const int value = graph_.value(n, k), like = graph_.value(node.like[k]);
      Shape &mine = shape(value), &other = shape(like);
      if (mine == other) continue;
      const Shape before = mine;
      if (!unify(mine, other))
        fail("it has shape ", to_text(mine), ", expected ", to_text(other), " like ",
             node.like[k].node->output_name(node.like[k].index));
      if (mine != before) learnt(value, n, shape_waits_);
      if (std::exchange(other, mine) != mine) learnt(like, n, shape_waits_);
      changed = true;
    }
    return changed;
  }

  bool type_step(int n) {
    const Node& node = graph_.node(n);
    type_waits_[n] = false;
    bool changed = false;
    for (int k = 0; k < node.like.size(); ++k) {
      const int value = graph_.value(n, k), like = graph_.value(node.like[k]);
      std::optional<Dtype>&mine = type(value), &other = type(like);
      if (mine == other) continue;
      if (mine && other)
        fail("it is ", name_of(*mine), ", expected ", name_of(*other), " like ",
             node.like[k].node->output_name(node.like[k].index));
      learnt(mine ? like : value, n, type_waits_);
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
    bool again = false;
    for (int i = 0; i < all_tensors; ++i) {
      const int value = value_of(n, i);
      if (value < 0) continue;
      std::optional<Dtype>& known = type(value);
      again = again || !tensors[i];
      if (!tensors[i] || known == tensors[i]) continue;
      if (known)
        fail(node.entry->name, ": ", i < inputs ? names.input(i) : names.output(i - inputs), " is ", name_of(*known),
             ", expected ", name_of(*tensors[i]));
      known = tensors[i];
      learnt(value, n, type_waits_);
      changed = true;
      again = again || i < inputs;
    }
    type_waits_[n] = changed && again;
    if (type_waits_[n]) waiting_.push_back(n);
    return changed;
  }

  void storage_step(int n, Device device) {
    const Node& node = graph_.node(n);
    if (node.entry == nullptr) return;
    const Index inputs = node.inputs.size(), outputs = node.outputs();
    List<Storage, 8> in;
    List<Shape, 4> in_shapes, out_shapes;
    for (int i = 0; i < inputs; ++i) {
      const int v = value_of(n, i);
      in.push_back(v < 0 ? dense : storage(v));
      in_shapes.push_back(v < 0 ? Shape::unknown() : shape(v));
    }
    for (int k = 0; k < outputs; ++k) out_shapes.push_back(shape(graph_.value(n, k)));
    List<std::optional<Storage>, 4> out(outputs);
    const auto type_of = [&](Index i) {
      const int v = inputs > 0 ? value_of(n, static_cast<int>(i)) : graph_.value(n, 0);
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
  List<int> tensors_, tensors_from_;                     // values, by nodes
  List<int> touching_, touching_from_;                   // nodes, by values
  List<bool> shape_waits_, type_waits_, storage_waits_;  // of nodes that are to be asked
  List<int> waiting_;                                    // some of them, the last one that was found first
  List<Shape> tensor_shapes_;                            // of the node that is looked at, as are:
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
  /// Shapes, as far as they follow.
  Inferred<Shape> shapes(const Symbol& symbol, const NamedShapes& known) {
    give("infer_shape", known, [&](int n, const Shape& shape) { inference.give_shape(n, shape); });
    inference.infer_shapes();
    return collect<Shape>(symbol, [&](int value) { return inference.shape(value); });
  }
  /// Throws where one of a variable or an output does not follow.
  Inferred<Shape> all_shapes(const Symbol& symbol, const NamedShapes& known) {
    Inferred<Shape> found = shapes(symbol, known);
    const auto name_unknown = [](const std::vector<Shape>& some, const std::vector<std::string>& names,
                                 std::string& list) {
      for (std::size_t i = 0; i < some.size(); ++i)
        if (!some[i].known()) list += cat(list.empty() ? "" : ", ", names[i], ' ', to_text(some[i]));
    };
    std::string list;
    name_unknown(found.args, symbol.list_arguments(), list);
    name_unknown(found.aux, symbol.list_auxiliary_states(), list);
    if (list.empty()) name_unknown(found.outputs, symbol.list_outputs(), list);
    if (!list.empty()) fail("infer_shape: from what is given these shapes do not follow: ", list);
    return found;
  }
  Inferred<Dtype> types(const Symbol& symbol, const NamedTypes& known) {
    give("infer_type", known, [&](int n, Dtype type) { inference.give_type(n, type); });
    inference.infer_types();
    return collect<Dtype>(symbol, [&](int value) { return *inference.type(value); });
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
  return detail::NamedInference(*this).shapes(*this, known);
}

STROP_IMPL Inferred<Shape> Symbol::infer_shape(const NamedShapes& known) const {
  return detail::NamedInference(*this).all_shapes(*this, known);
}

STROP_IMPL Inferred<Dtype> Symbol::infer_type(const NamedTypes& known) const {
  return detail::NamedInference(*this).types(*this, known);
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
