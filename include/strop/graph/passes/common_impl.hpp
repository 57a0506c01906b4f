// SPDX-License-Identifier: Apache-2.0
/// \file
/// Common subexpressions: of nodes that compute the same from the same, one is left.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/passes/known_graph.hpp>
#include <strop/graph/passes/list.hpp>

#include <cstdint>
#include <string>

namespace strop::inline v0::detail {

/// Whether two nodes of one operator have equal parameters. What no text says, such as a function, is equal to itself.
STROP_IMPL bool same_params(const Node& a, const Node& b) {
  if (a.params == b.params) return true;
  const Entry& entry = *a.entry;
  if (!entry.is_map() && entry.order > 0) return false;  // it finds its operator's state by them
  if (entry.params == nullptr) return true;
  const ParamTable& table = *entry.params;
  if (table.fields.empty()) return table.size <= 1;  // of a struct without fields
  for (std::size_t i = 0; i < table.fields.size(); ++i)
    if (table.fields[i].type->name == "function" || table.print(a.op(), i) != table.print(b.op(), i)) return false;
  return true;
}

STROP_IMPL bool same_links(const NodeOutputs& a, const NodeOutputs& b) {
  bool same = a.size() == b.size();
  for (Index i = 0; same && i < a.size(); ++i) same = Rewriting::same(a[i], b[i]);
  return same;
}

/// A number for the parameters, equal where same_params() says so.
STROP_IMPL std::uint64_t hash_of_params(const Node& node) {
  const auto own = reinterpret_cast<std::uintptr_t>(node.params.get()) >> 4;
  const Entry& entry = *node.entry;
  if (entry.params == nullptr) return 0;
  if (entry.params->fields.empty()) return entry.params->size <= 1 ? 0 : own;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < entry.params->fields.size(); ++i) {
    if (entry.params->fields[i].type->name == "function") return own;
    for (const char c : entry.params->print(node.op(), i))
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    hash = hash * 31 + 1;  // where one text ends
  }
  return hash;
}

/// Nodes by what they compute. Most graphs have few nodes of one operator on the same inputs: only where there are
/// several are parameters printed.
class NodeTable {
 public:
  explicit NodeTable(int nodes) {
    while (mask_ < 2 * static_cast<std::uint64_t>(nodes)) mask_ = 2 * mask_ + 1;
    slots_ = List<int>(static_cast<Index>(mask_) + 1, -1);
  }

  /// The number of the node that computes the same; `n`, which is kept from now on, where there is none.
  /// `node_of(number)` is a node that is kept.
  template <class NodeOf>
  int find(const Node& node, int n, NodeOf node_of) {
    std::uint64_t hash = reinterpret_cast<std::uintptr_t>(node.entry) >> 4;
    for (const NodeOutput& in : node.inputs) {
      const auto link = (reinterpret_cast<std::uintptr_t>(in.node.get()) >> 4) + static_cast<unsigned>(in.index);
      hash = mixed(hash ^ link);
    }
    int* slot = probe(hash, [&](int other) { return same_but_params(node, node_of(other)); });
    if (*slot < 0) return *slot = n;
    if (same_params(node, node_of(*slot))) return *slot;
    slot = probe(mixed(hash ^ hash_of_params(node)),
                 [&](int other) { return same_but_params(node, node_of(other)) && same_params(node, node_of(other)); });
    return *slot < 0 ? *slot = n : *slot;
  }

 private:
  template <class Same>
  int* probe(std::uint64_t hash, Same same) {
    std::uint64_t at = hash & mask_;
    while (slots_[static_cast<Index>(at)] >= 0 && !same(slots_[static_cast<Index>(at)])) at = (at + 1) & mask_;
    return &slots_[static_cast<Index>(at)];
  }
  static std::uint64_t mixed(std::uint64_t hash) {
    hash *= 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 29;
  }
  static bool same_but_params(const Node& a, const Node& b) {
    return a.entry == b.entry && same_links(a.inputs, b.inputs) && same_links(a.like, b.like) &&
           a.attributes == b.attributes && a.variable.shape == b.variable.shape;
  }

  List<int> slots_;
  std::uint64_t mask_ = 63;
};

STROP_IMPL void merge_common(KnownGraph& graph) {
  Rewriting made(graph);
  NodeTable table(graph.graph.size());
  const auto node_of = [&](int n) -> const Node& { return *made.at(graph.graph.value(n, 0)).node; };
  for (int n = 0; n < graph.graph.size(); ++n) {
    made.keep(n);
    if (!graph.is_pure(n) || graph.graph.node(n).outputs() == 0) continue;
    if (graph.graph.node(n).entry->gradient.of_loss()) continue;   // each of them adds its gradient
    const Ref<Node> copy = made.at(graph.graph.value(n, 0)).node;  // which may be replaced, output by output
    const int first = table.find(*copy, n, node_of);
    if (first == n || graph.is_output_of(n)) continue;  // outputs are arrays of their own
    for (int k = 0; k < copy->outputs(); ++k) {
      const NodeOutput other = made.at(graph.graph.value(first, k));
      made.replace(graph.graph.value(n, k), other);
    }
  }
  graph = made.finish();
}

}  // namespace strop::inline v0::detail
