// SPDX-License-Identifier: Apache-2.0
/// \file
/// Common subexpressions: of nodes that compute the same from the same, one is left.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/passes/known_graph.hpp>

#include <cstdint>

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

STROP_IMPL KnownGraph merge_common(const KnownGraph& graph) {
  Rewriting made(graph);
  List<int> slots;  // nodes by what they compute
  std::uint64_t mask = 63;
  while (mask < 2 * static_cast<std::uint64_t>(graph.graph.size())) mask = 2 * mask + 1;
  slots = List<int>(static_cast<Index>(mask) + 1, -1);
  const auto node_of = [&](int n) -> const Node& { return *made.at(graph.graph.value(n, 0)).node; };
  for (int n = 0; n < graph.graph.size(); ++n) {
    made.keep(n);
    if (!graph.is_pure(n) || graph.graph.node(n).outputs() == 0) continue;
    if (graph.graph.node(n).entry->gradient.of_loss()) continue;   // each of them adds its gradient
    const Ref<Node> copy = made.at(graph.graph.value(n, 0)).node;  // which may be replaced, output by output
    const Node& node = *copy;
    std::uint64_t hash = reinterpret_cast<std::uintptr_t>(node.entry) >> 4;
    for (const NodeOutput& in : node.inputs) {
      const auto link = (reinterpret_cast<std::uintptr_t>(in.node.get()) >> 4) + static_cast<unsigned>(in.index);
      hash = (hash ^ link) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 29;
    }
    for (std::uint64_t at = hash & mask;; at = (at + 1) & mask) {
      int& slot = slots[static_cast<Index>(at)];
      if (slot < 0) {
        slot = n;
        break;
      }
      const Node& other = node_of(slot);
      if (node.entry != other.entry || !same_links(node.inputs, other.inputs) || !same_links(node.like, other.like) ||
          !(node.attributes == other.attributes) || !same_params(node, other))
        continue;
      if (graph.is_output_of(n)) break;  // outputs are arrays of their own
      for (int k = 0; k < node.outputs(); ++k) {
        const NodeOutput first = made.at(graph.graph.value(slot, k));
        made.replace(graph.graph.value(n, k), first);
      }
      break;
    }
  }
  return made.finish();
}

}  // namespace strop::inline v0::detail
