// SPDX-License-Identifier: Apache-2.0
/// \file
/// The order in which a symbolic graph is walked, and numbers for its nodes and values.
#pragma once
#include <strop/graph/node.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace strop::inline v0::detail {

/// The nodes that some outputs are computed from, each behind its inputs (depth first, inputs in their order). Outputs of
/// nodes are numbered through. The outputs that it was made of must outlive it.
class Graph {
 public:
  /// `with_like` follows the links of gradients to what they are shaped like as well.
  explicit Graph(std::span<const NodeOutput> roots, bool with_like = false) {
    for (const NodeOutput& root : roots)
      if (root.node) visit(root.node.get(), with_like);
  }

  int size() const { return static_cast<int>(nodes_.size()); }
  Node& node(int n) const { return *nodes_[static_cast<std::size_t>(n)]; }
  /// Position of a node; −1 where it is not in the graph.
  int find(const Node* node) const {
    if (slots_.empty()) return -1;
    for (std::size_t at = hash(node);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].node == node) return slots_[at].position;
      if (slots_[at].node == nullptr) return -1;
    }
  }
  /// Number of an output among the outputs of all nodes; −1 where it is not in the graph.
  int value(const NodeOutput& output) const {
    const int n = output.node ? find(output.node.get()) : -1;
    return n < 0 ? -1 : value(n, output.index);
  }
  int value(int n, int k) const { return first_[static_cast<std::size_t>(n)] + k; }
  int values() const { return values_; }
  /// Which nodes are variables that an operator of the graph writes: auxiliary states.
  std::vector<char> auxiliary() const {
    std::vector<char> found(nodes_.size());
    for (const Node* node : nodes_)
      for (int i : node->signature.mutated)
        if (const NodeOutput& in = node->inputs[static_cast<std::size_t>(i)]; in.node) found[static_cast<std::size_t>(find(in.node.get()))] = 1;
    return found;
  }

 private:
  struct Slot {
    const Node* node = nullptr;
    int position = -1;
  };
  struct Frame {
    Node* node;
    std::size_t next;
  };

  void visit(Node* root, bool with_like) {
    if (!enter(root)) return;
    std::vector<Frame> stack{{root, 0}};
    while (!stack.empty()) {
      Frame& top = stack.back();
      const std::size_t inputs = top.node->inputs.size(), all = inputs + (with_like ? top.node->like.size() : 0);
      if (top.next < all) {
        const NodeOutput& in = top.next < inputs ? top.node->inputs[top.next] : top.node->like[top.next - inputs];
        ++top.next;
        if (in.node && enter(in.node.get())) stack.push_back({in.node.get(), 0});
        continue;
      }
      slot(top.node).position = size();
      nodes_.push_back(top.node);
      first_.push_back(values_);
      values_ += top.node->outputs();
      stack.pop_back();
    }
  }

  /// False when the node has been met before.
  bool enter(const Node* node) {
    if (met_ * 2 >= slots_.size()) grow();
    Slot& s = slot(node);
    if (s.node == node) return false;
    s.node = node;
    ++met_;
    return true;
  }
  Slot& slot(const Node* node) {
    std::size_t at = hash(node);
    while (slots_[at].node != nullptr && slots_[at].node != node) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  std::size_t hash(const Node* node) const {
    const auto bits = reinterpret_cast<std::uintptr_t>(node) >> 4;
    return (bits ^ (bits >> 9)) & (slots_.size() - 1);
  }
  void grow() {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(before.empty() ? 32 : before.size() * 2, Slot{});
    for (const Slot& s : before)
      if (s.node != nullptr) slot(s.node) = s;
  }

  std::vector<Node*> nodes_;
  std::vector<int> first_;
  std::vector<Slot> slots_;
  std::size_t met_ = 0;
  int values_ = 0;
};

}  // namespace strop::inline v0::detail
