// SPDX-License-Identifier: Apache-2.0
/// \file
/// Nodes of a symbolic graph, shared and immutable, and the order in which a graph of them is walked.
#pragma once
#include <strop/op/registry.hpp>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// What a variable says of itself: `strop::var("data", {.shape = {32, 784}, .dtype = strop::f32})`.
struct Variable {
  Shape shape = Shape::unknown();  // extents of −1 stay open
  std::optional<Dtype> dtype = {};
  std::optional<Storage> storage = {};
  NamedTexts attributes = {};
};

namespace detail {

struct Node;

/// One output of a node. Without a node: an optional input that was left out.
struct NodeOutput {
  Ref<Node> node;
  int index = 0;
};

/// A variable, or the application of an operator.
struct Node : Counted {
  std::string name;
  const Entry* entry = nullptr;  // none: a variable
  Ref<ParamBox> params;          // shared by a node and its gradients
  Signature signature;
  std::vector<NodeOutput> inputs;
  std::vector<NodeOutput> like;  // of gradients: output k has the shape and the type of like[k]
  Variable variable;
  NamedTexts attributes;

  Node() = default;
  Node(const Node&) = default;
  Node& operator=(const Node&) = delete;
  ~Node();

  int outputs() const { return entry == nullptr ? 1 : static_cast<int>(signature.outputs.size()); }
  int visible() const { return entry == nullptr ? 1 : signature.visible; }
  const void* op() const { return params ? params->get() : nullptr; }
  /// "fc1_output", "split_output1"; a variable's output has the variable's name.
  std::string output_name(int k) const {
    return entry == nullptr ? name : cat(name, '_', signature.outputs[static_cast<std::size_t>(k)]);
  }
};

/// Takes deep graphs down node by node, not by recursion.
inline Node::~Node() {
  std::vector<NodeOutput> last;
  const auto take = [&last](Node& node) {
    for (auto* list : {&node.inputs, &node.like})
      for (NodeOutput& in : *list)
        if (in.node) last.push_back(std::move(in));
  };
  take(*this);
  while (!last.empty()) {
    const NodeOutput next = std::move(last.back());
    last.pop_back();
    if (next.node->owners() == 1) take(*next.node);
  }
}

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

}  // namespace detail
}  // namespace strop::inline v0
