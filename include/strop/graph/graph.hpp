// SPDX-License-Identifier: Apache-2.0
/// \file
/// The order in which a symbolic graph is walked, and numbers for its nodes and values.
#pragma once
#include <strop/core/list.hpp>
#include <strop/graph/node.hpp>

#include <bit>
#include <cstdint>

namespace strop::inline v0::detail {

/// The nodes that some outputs are computed from, each behind its inputs (depth first, inputs in their order). A value
/// is an output of a node; values are numbered through. The outputs that it was made of must outlive it.
class Graph {
 public:
  /// `with_like` follows the links of gradients to what they are shaped like as well. `expected` nodes take no memory
  /// by the way.
  explicit Graph(const NodeOutputs& roots, bool with_like = false, int expected = 0) {
    if (expected > 0) {
      slots_.resize(std::bit_ceil(2U * static_cast<unsigned>(expected) + 2));
      nodes_.reserve(expected);
      first_.reserve(expected);
    }
    List<Frame> stack;
    for (const NodeOutput& root : roots)
      if (root.node) visit(root.node.get(), with_like, stack);
  }

  int size() const { return static_cast<int>(nodes_.size()); }
  Node& node(int n) const { return *nodes_[n]; }
  /// Position of a node; −1 where it is not in the graph.
  int find(const Node* node) const {
    if (slots_.empty()) return -1;
    for (unsigned at = hash(node);; at = (at + 1) & mask()) {
      const Slot& s = slots_[static_cast<int>(at)];
      if (s.node == node) return s.position;
      if (s.node == nullptr) return -1;
    }
  }
  /// Number of a value; −1 where it is not in the graph.
  int value(const NodeOutput& output) const {
    const int n = output.node ? find(output.node.get()) : -1;
    return n < 0 ? -1 : value(n, output.index);
  }
  int value(int n, int k) const { return first_[n] + k; }
  int values() const { return values_; }
  /// Which nodes are variables that an operator of the graph writes: auxiliary states.
  List<bool> auxiliary() const {
    List<bool> found;
    found.resize(size());
    for (const Node* node : nodes_)
      for (int i : node->signature.mutated)
        if (const NodeOutput& in = node->inputs[i]; in.node) found[find(in.node.get())] = true;
    return found;
  }

 private:
  struct Slot {
    const Node* node = nullptr;
    int position = -1;
  };
  struct Frame {
    Node* node;
    int next;
  };

  void visit(Node* root, bool with_like, List<Frame>& stack) {
    if (!enter(root)) return;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& top = stack.back();
      const Index inputs = top.node->inputs.size(), all = inputs + (with_like ? top.node->like.size() : 0);
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
  unsigned mask() const { return static_cast<unsigned>(slots_.size()) - 1; }
  unsigned hash(const Node* node) const {
    const auto bits = reinterpret_cast<std::uintptr_t>(node) >> 4;
    return static_cast<unsigned>(bits ^ (bits >> 9)) & mask();
  }
  Slot& slot(const Node* node) {
    unsigned at = hash(node);
    while (slots_[static_cast<int>(at)].node != nullptr && slots_[static_cast<int>(at)].node != node)
      at = (at + 1) & mask();
    return slots_[static_cast<int>(at)];
  }
  void grow() {
    const List<Slot> before = std::move(slots_);
    slots_ = {};
    slots_.resize(before.empty() ? 32 : before.size() * 2);
    for (const Slot& s : before)
      if (s.node != nullptr) slot(s.node) = s;
  }

  List<Node*> nodes_;
  List<int> first_;
  List<Slot> slots_;
  int met_ = 0, values_ = 0;
};

}  // namespace strop::inline v0::detail
