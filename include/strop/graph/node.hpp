// SPDX-License-Identifier: Apache-2.0
/// \file
/// Nodes of a symbolic graph, shared and immutable.
#pragma once
#include <strop/core/list.hpp>
#include <strop/op/mode.hpp>
#include <strop/op/registry.hpp>

#include <optional>
#include <string>
#include <utility>

namespace strop::inline v0 {

/// Keys and texts, in the order in which they were said.
using NamedTexts = detail::List<std::pair<std::string, std::string>>;

/// What a variable says of itself: `strop::var("data", {.shape = {32, 784}, .dtype = strop::f32})`.
struct Variable {
  Shape shape = Shape::unknown();  // extents of −1 stay open
  std::optional<Dtype> dtype = {};
  std::optional<Storage> storage = {};
  NamedTexts attributes = {};  // as of set_attr
};

namespace detail {

struct Node;

/// One output of a node. Without a node: an optional input that was left out.
struct NodeOutput {
  Ref<Node> node;
  int index = 0;
};
using NodeOutputs = List<NodeOutput>;

/// A variable, or the application of an operator.
struct Node : Counted {
  std::string name;
  const Entry* entry = nullptr;  // none: a variable
  Ref<ParamBox> params;          // shared by a node and its gradients
  Signature signature;
  NodeOutputs inputs;
  NodeOutputs like;   // of gradients: output k has the shape and the type of like[k]
  Variable variable;  // of an operator without inputs its shape, where a pass has found it
  NamedTexts attributes;
  NamedTexts said;  // parameters that were given as text: what they were set to, to the letter
  Site site = {};   // where the call stands that it was traced from

  Node();
  Node(const Node&);
  Node& operator=(const Node&) = delete;
  ~Node();

  bool is_variable() const { return entry == nullptr; }
  int outputs() const { return entry == nullptr ? 1 : static_cast<int>(signature.outputs.size()); }
  int visible() const { return entry == nullptr ? 1 : signature.visible; }
  const void* op() const { return params ? params->get() : nullptr; }
  /// "fc1_output", "split_output1", as MXNet's; a variable's output has the variable's name.
  std::string output_name(int k) const;
};

/// Throws the Error of a node: "Error in node fc1: …", with the place of the call that it was traced from.
[[noreturn]] void fail_in(const Node& node, const Error& error);

}  // namespace detail
}  // namespace strop::inline v0
