// SPDX-License-Identifier: Apache-2.0
/// \file
/// A graph of which shapes, types and storages are known, and how a pass makes another one of it. Internal.
#pragma once
#include <strop/core/device.hpp>
#include <strop/core/list.hpp>
#include <strop/graph/graph.hpp>
#include <strop/op/mode.hpp>
#include <strop/tensor/named_arrays.hpp>
#include <strop/tensor/ndarray.hpp>

#include <utility>

namespace strop::inline v0::detail {

/// What passes know beside the graph: its variables' arrays, and of which gradients are wanted.
struct BoundVariables {
  NodeOutputs nodes = {};
  List<NDArray> arrays = {};
  NodeOutputs wanted = {};
  void add(const NodeOutput& variable, const NDArray& array) {
    nodes.push_back(variable);
    arrays.push_back(array);
  }
  void add(const NodeOutputs& variables, const NamedArrays& named) {
    for (Index i = 0; i < variables.size(); ++i) add(variables[i], element(named, i).second);
  }
};

class Inference;

/// The graph of some outputs with what is known of its values.
struct KnownGraph {
  NodeOutputs roots;
  Graph graph;
  List<Shape> shapes;  // of every value, as are:
  List<Dtype> types;
  List<Storage> storages;
  List<bool> is_output;
  List<bool> runs, written;          // nodes: whether an output needs it; variables that an operator writes
  mutable const Node* at = nullptr;  // the node that a pass looks at: where it fails, that is said

  explicit KnownGraph(NodeOutputs outputs) : roots(std::move(outputs)), graph(roots, true) {
    shapes.resize(graph.values());
    types.resize(graph.values());
    storages.resize(graph.values());
    is_output.resize(graph.values());
    for (const NodeOutput& root : roots) is_output[graph.value(root)] = true;
    written = graph.auxiliary();
    runs.resize(graph.size());
    for (const NodeOutput& root : roots) runs[graph.find(root.node.get())] = true;
    for (int n = graph.size(); n-- > 0;)
      if (runs[n])
        for (const NodeOutput& in : graph.node(n).inputs)
          if (in.node) runs[graph.find(in.node.get())] = true;
  }

  /// Takes over what was inferred of the same outputs' graph, and infers the storages on the device.
  void take(Inference& inference, Device device);

  /// Whether the node reads what another one writes: its place in the order matters.
  bool reads_written(int n) const {
    for (const NodeOutput& in : graph.node(n).inputs)
      if (in.node && written[graph.find(in.node.get())]) return true;
    return false;
  }
  /// Whether nothing but the node's inputs and parameters decides what it computes, and it does nothing else.
  bool is_pure(int n) const {
    const Node& node = graph.node(n);
    at = &node;
    if (node.is_variable() || !runs[n] || !node.signature.mutated.empty() || reads_written(n)) return false;
    const Entry& entry = *node.entry;
    const Kernels* const gpu = gpu_kernels(entry);
    // A program's own operator on tensors may draw numbers, or count its calls, without saying so.
    if (!entry.is_map() && !entry.library) return false;
    if (entry.cpu.make_state != nullptr || (gpu != nullptr && gpu->make_state != nullptr)) return false;
    if (entry.resources == nullptr) return true;
    List<Shape, 4> in;
    for (const NodeOutput& from : node.inputs) {
      in.push_back(from.node ? shapes[graph.value(from)] : Shape{0});
      if (!in.back().known()) return false;
    }
    for (const bool training : {false, true}) {
      const ModeScope mode(nullptr, training);
      if (entry.resources(node.op(), in.span()).random) return false;
    }
    return true;
  }
  bool is_output_of(int n) const {
    for (int k = 0; k < graph.node(n).outputs(); ++k)
      if (is_output[graph.value(n, k)]) return true;
    return false;
  }
};

/// A graph in the making: for every value of the one before the value that stands for it.
class Rewriting {
 public:
  explicit Rewriting(const KnownGraph& from) : from_(from), to_(from.graph.values()) {}

  /// What stands for a value of the graph before.
  NodeOutput moved(const NodeOutput& in) const {
    if (!in.node) return in;
    const NodeOutput& to = to_[from_.graph.value(in)];
    return to.node ? to : in;
  }
  const NodeOutput& at(int value) const { return to_[value]; }
  void replace(int value, NodeOutput by) { to_[value] = std::move(by); }
  /// The node stays: itself where its inputs do, else a copy on what stands for them.
  void keep(int n) {
    Ref<Node> node(&from_.graph.node(n));
    from_.at = node.get();
    bool changed = false;
    for (const auto* list : {&node->inputs, &node->like})
      for (const NodeOutput& in : *list) changed = changed || !same(moved(in), in);
    if (changed) {
      node = Ref(new Node(*node));
      for (auto* list : {&node->inputs, &node->like})
        for (NodeOutput& in : *list) in = moved(in);
    }
    for (int k = 0; k < node->outputs(); ++k) to_[from_.graph.value(n, k)] = {node, k};
  }
  static bool same(const NodeOutput& a, const NodeOutput& b) { return a.node == b.node && a.index == b.index; }

  KnownGraph finish() const {
    NodeOutputs roots;
    for (const NodeOutput& root : from_.roots) roots.push_back(moved(root));
    KnownGraph made(std::move(roots));
    const auto know = [&](int mine, int other) {
      made.shapes[mine] = from_.shapes[other];
      made.types[mine] = from_.types[other];
      made.storages[mine] = from_.storages[other];
    };
    // A gradient may still be shaped like a value that nothing else is left of.
    for (int n = 0; n < made.graph.size(); ++n)
      if (const int before = from_.graph.find(&made.graph.node(n)); before >= 0)
        for (int k = 0; k < made.graph.node(n).outputs(); ++k)
          know(made.graph.value(n, k), from_.graph.value(before, k));
    for (int v = 0; v < from_.graph.values(); ++v)
      if (to_[v].node)
        if (const int mine = made.graph.value(to_[v]); mine >= 0) know(mine, v);
    return made;
  }

 private:
  const KnownGraph& from_;
  NodeOutputs to_;
};

}  // namespace strop::inline v0::detail
