// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values that are computed a second time for backward instead of being kept: nodes with the attribute
/// `force_mirroring`.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/gradient.hpp>
#include <strop/graph/graph.hpp>

#include <utility>

namespace strop::inline v0::detail {

/// Replaces, in the nodes that gradients are made of, what marked nodes compute by copies of these nodes, which run
/// behind forward, where they are needed first. Not copied is what would not give the same a second time (random
/// numbers, states), and what the caller sees, which is there anyway.
class Mirroring {
 public:
  explicit Mirroring(const NodeOutputs& outputs) : forward_(outputs) {
    copies_.resize(forward_.size());
    seen_.resize(forward_.size());
    for (const NodeOutput& output : outputs) seen_[forward_.find(output.node.get())] = true;
  }

  void run(const NodeOutputs& gradients) {
    for (int n = 0; n < forward_.size(); ++n) copy(n);
    if (!any_) return;
    const Graph all(gradients);
    for (int n = 0; n < all.size(); ++n)
      if (Node& node = all.node(n); !node.is_variable() && forward_.find(&node) < 0) redirect(node);
  }

 private:
  /// In the order of the graph: the inputs' copies are there.
  void copy(int n) {
    const Node& node = forward_.node(n);
    if (seen_[n] || !is_marked(node) || !gives_the_same_again(*node.entry)) return;
    const Ref<Node> made(new Node(node));
    made->name += "_mirror";
    redirect(*made);
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
    bool marked = false;
    for (const auto& [key, text] : node.attributes)
      if (key == "force_mirroring" || key == "__force_mirroring__") marked = parse_bool(text, marked) && marked;
    return marked;
  }
  static bool gives_the_same_again(const Entry& entry) {
    return !entry.mutates && entry.cpu.make_state == nullptr && entry.resources == nullptr;
  }

  Graph forward_;
  List<Ref<Node>> copies_;
  List<bool> seen_;
  bool any_ = false;
};

}  // namespace strop::inline v0::detail
