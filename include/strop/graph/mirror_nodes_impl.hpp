// SPDX-License-Identifier: Apache-2.0
/// \file
/// Nodes with the attribute `force_mirroring` are computed a second time for backward, by copies of them.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/bound_graph.hpp>
#include <strop/graph/graph.hpp>

#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

inline constexpr std::string_view mirror_key = "__force_mirroring__";

/// Replaces, in the nodes that gradients are made of, what marked nodes compute by copies of these nodes, which run
/// behind forward, where they are needed first. Not copied is what would not give the same a second time (random
/// numbers, states of a call, what reads a state that another node writes), and what the caller sees, which is there
/// anyway. A copy writes its states (running statistics) into arrays of its own, which begin as the states did.
class Mirroring {
 public:
  explicit Mirroring(const NodeOutputs& outputs) : forward_(outputs), written_(forward_.auxiliary()) {
    copies_.resize(forward_.size());
    readers_.resize(forward_.size());
    for (const NodeOutput& output : outputs) seen_.push_back(forward_.find(output.node.get()));
    for (int n = 0; n < forward_.size(); ++n)
      for (const NodeOutput& in : forward_.node(n).inputs)
        if (in.node) ++readers_[forward_.find(in.node.get())];
  }

  void run(const NodeOutputs& gradients) {
    for (int n = 0; n < forward_.size(); ++n) copy(n);
    if (!any_) return;
    const Graph all(gradients);
    for (int n = 0; n < all.size(); ++n)
      if (Node& node = all.node(n); !node.is_variable() && forward_.find(&node) < 0) redirect(node);
  }
  const List<BoundGraph::Snapshot>& snapshots() const { return snapshots_; }

  static bool gives_the_same_again(const Entry& entry) {
    return entry.cpu.make_state == nullptr && entry.resources == nullptr;
  }

 private:
  /// In the order of the graph: the inputs' copies are there.
  void copy(int n) {
    const Node& node = forward_.node(n);
    if (!is_marked(node) || !gives_the_same_again(*node.entry)) return;
    for (int seen : seen_)
      if (seen == n) return;
    int states = 0;
    for (const NodeOutput& in : node.inputs) states += in.node && written_[forward_.find(in.node.get())] ? 1 : 0;
    if (states != static_cast<int>(node.signature.mutated.size())) return;
    for (int i : node.signature.mutated)
      if (readers_[forward_.find(node.inputs[i].node.get())] != 1) return;  // which value would it begin with?
    const Ref<Node> made(new Node(node));
    made->name += "_mirror";
    redirect(*made);
    for (int i : node.signature.mutated) {
      const NodeOutput own{Ref(new Node(*node.inputs[i].node)), 0};
      own.node->name += "_mirror";
      snapshots_.push_back({own, node.inputs[i]});
      made->inputs[i] = own;
    }
    copies_[n] = made;
    any_ = true;
  }
  void redirect(Node& node) const {
    for (NodeOutput& in : node.inputs) {
      const int n = in.node ? forward_.find(in.node.get()) : -1;
      if (n >= 0 && copies_[n]) in.node = copies_[n];
    }
  }
  static bool is_marked(const Node& node) {
    if (node.is_variable()) return false;
    const std::string* const text = find_text(node.attributes, mirror_key);
    bool marked = false;
    return text != nullptr && parse_bool(*text, marked) && marked;
  }

  Graph forward_;
  List<bool> written_;  // variables: states
  List<Ref<Node>> copies_;
  List<int> readers_, seen_;
  List<BoundGraph::Snapshot> snapshots_;
  bool any_ = false;
};

}  // namespace strop::inline v0::detail
