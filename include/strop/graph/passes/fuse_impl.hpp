// SPDX-License-Identifier: Apache-2.0
/// \file
/// Fusion: chains and trees of maps become one map.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/attributes_impl.hpp>
#include <strop/graph/passes/fused_map.hpp>
#include <strop/graph/passes/known_graph.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/gradient_roles.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// Groups of maps of one shape and type, each of which ends in one node: a map joins the group of those that read its
/// results where that is one group and nobody else reads them. Its results may be outputs of the graph as well. As only
/// the end of a group is read by others, no group waits for what waits for it.
class Fusion {
 public:
  Fusion(const KnownGraph& graph, const NodeOutputs& wanted)
      : graph_(graph),
        made_(graph),
        leads_(graph.graph.values()),
        shown_(graph.is_output),
        reader_(graph.graph.values(), nobody),
        group_(graph.graph.size(), nobody) {
    for (int n = 0; n < graph.graph.size(); ++n)
      for (int k = 0; k < graph.graph.node(n).outputs(); ++k) owner_.push_back(n);
    for (const NodeOutput& w : wanted)
      if (const int v = graph.graph.value(w); v >= 0) leads_[v] = true;
    for (int n = 0; n < graph.graph.size(); ++n)
      if (leads_through(n))
        for (int k = 0; k < graph.graph.node(n).outputs(); ++k) leads_[graph.graph.value(n, k)] = true;
    for (int n = 0; n < graph.graph.size(); ++n)
      for (int v : read_by_gradient(n))
        shown_[v] = shown_[v] || (is_cached(v) && !is_mirrored(graph.graph.node(owner_[v])));
  }

  KnownGraph run() {
    for (int n = graph_.graph.size(); n-- > 0;) join(n);
    for (int n = 0; n < graph_.graph.size(); ++n)
      if (group_[n] >= 0) groups_[group_[n]].members.push_back(n);
    for (int n = 0; n < graph_.graph.size(); ++n) {
      if (group_[n] < 0 || groups_[group_[n]].members.size() == 1 || groups_[group_[n]].failed) {
        made_.keep(n);
        continue;
      }
      Group& group = groups_[group_[n]];
      if (n == group.members.back() && !fuse(group))
        for (int member : group.members) made_.keep(member);
    }
    return made_.finish();
  }

 private:
  static constexpr int nobody = -1, several = -2;
  struct Group {
    Shape shape;
    Dtype type = f32;
    std::string_view place;  // its ctx_group
    bool mirrored = false;   // its members are computed again for backward
    List<int> members;       // in their order
    List<int> inputs;        // values from outside
    int maps = 0, values = 0, outputs = 0;
    bool failed = false;
  };

  int value(const NodeOutput& of) const { return graph_.graph.value(of); }
  bool leads_through(int n) const {
    for (const NodeOutput& in : graph_.graph.node(n).inputs)
      if (in.node && leads_[value(in)]) return true;
    return false;
  }
  static std::string_view place_of(const Node& node) {
    const std::string* const found = find_text(node.attributes, "__ctx_group__");
    return found != nullptr ? std::string_view(*found) : std::string_view();
  }

  /// What is computed again and what is kept are not one node.
  static bool is_mirrored(const Node& node) {
    const std::string* const text = find_text(node.attributes, "__force_mirroring__");
    bool found = false;
    return text != nullptr && parse_bool(*text, found) && found;
  }

  /// Whether a node may be a part of a fused map at all: dense, of one type in and out, its results of one shape, which
  /// no input for which a gradient is wanted is broadcast to.
  bool is_plain(int n) const {
    const Node& node = graph_.graph.node(n);
    if (node.is_variable() || !node.entry->is_map() || !graph_.is_pure(n) || node.inputs.empty() ||
        node.inputs.size() > most_fused_inputs || node.outputs() > most_fused_outputs)
      return false;
    const int first = graph_.graph.value(n, 0);
    const Shape& shape = graph_.shapes[first];
    const Dtype type = graph_.types[first];
    if (!shape.known() || usual_loop(*node.entry, node.op(), type) == nullptr) return false;
    for (int k = 0; k < node.outputs(); ++k)
      if (graph_.shapes[first + k] != shape || graph_.types[first + k] != type || graph_.storages[first + k] != dense)
        return false;
    const bool leads = leads_through(n);
    for (const NodeOutput& in : node.inputs) {
      if (!in.node) return false;
      const int v = value(in);
      if (graph_.types[v] != type || graph_.storages[v] != dense || !graph_.shapes[v].known()) return false;
      if (graph_.shapes[v] == shape) continue;
      Shape common = shape;
      if (leads_[v] || !broadcast_into(common, graph_.shapes[v]) || common != shape) return false;
    }
    return !leads || has_plain_gradient(node, type);
  }
  static bool has_plain_gradient(const Node& node, Dtype type) {
    const GradientRule& rule = node.entry->gradient;
    if (rule.zero) return true;
    return rule.entry != nullptr && rule.compose_symbols == nullptr && is_floating(type) && rule.heads != 0 &&
           usual_loop(*rule.entry, node.op(), type) != nullptr;
  }

  void join(int n) {
    if (!graph_.runs[n]) return;
    const Node& node = graph_.graph.node(n);
    graph_.at = &node;
    int group = is_plain(n) ? readers(n) : several;
    // An output that a gradient may come to ends a map: where none comes, others do not compute with zeros (0 · ∞).
    if (group >= 0 && leads_through(n) && graph_.is_output_of(n)) group = nobody;
    if (group != several && (group == nobody || !fits(n, groups_[group]))) {
      group = static_cast<int>(groups_.size());
      Group fresh;
      fresh.shape = graph_.shapes[graph_.graph.value(n, 0)];
      fresh.type = graph_.types[graph_.graph.value(n, 0)];
      fresh.place = place_of(node);
      fresh.mirrored = is_mirrored(node);
      groups_.push_back(std::move(fresh));
    }
    if (group >= 0) {
      add(n, groups_[group]);
      group_[n] = group;
    }
    for (const NodeOutput& in : node.inputs)
      if (in.node) {
        int& reader = reader_[value(in)];
        reader = reader == nobody || reader == group ? group : several;
      }
  }
  /// Whether a gradient had better read a value than compute it again: where arrays stay in a cache.
  bool is_cached(int v) const {
    constexpr std::int64_t cached_bytes = 1 << 20;
    return graph_.shapes[v].known() && graph_.shapes[v].size() * size_of(graph_.types[v]) <= cached_bytes;
  }
  /// The one group that reads results of a node; nobody where there is none, or where others read them as well.
  int readers(int n) const {
    int group = nobody;
    for (int k = 0; k < graph_.graph.node(n).outputs(); ++k) {
      const int reader = reader_[graph_.graph.value(n, k)];
      if (reader == nobody) continue;
      if (reader == several || (group != nobody && group != reader)) return nobody;
      group = reader;
    }
    return group;
  }
  bool fits(int n, const Group& group) const {
    const Node& node = graph_.graph.node(n);
    const int first = graph_.graph.value(n, 0), outputs = node.outputs();
    if (graph_.shapes[first] != group.shape || graph_.types[first] != group.type || place_of(node) != group.place ||
        is_mirrored(node) != group.mirrored || group.maps == most_fused_maps ||
        group.values + outputs > most_fused_values)
      return false;
    int shown = group.outputs;
    for (int k = 0; k < outputs; ++k)
      if (shown_[first + k]) ++shown;
    Index inputs = 0;
    for (int v : group.inputs)
      if (v < first || v >= first + outputs) ++inputs;
    List<int, 8> more;
    for (const NodeOutput& in : node.inputs) {
      const int v = value(in);
      if (!has(group.inputs, v) && !has(more, v)) more.push_back(v);
    }
    return shown < most_fused_outputs && inputs + more.size() <= most_fused_inputs;
  }
  static bool has(const auto& list, int v) {
    for (int one : list)
      if (one == v) return true;
    return false;
  }
  void add(int n, Group& group) const {
    const Node& node = graph_.graph.node(n);
    const int first = graph_.graph.value(n, 0), outputs = node.outputs();
    List<int> inputs;
    for (int v : group.inputs)
      if (v < first || v >= first + outputs) inputs.push_back(v);
    for (const NodeOutput& in : node.inputs)
      if (!has(inputs, value(in))) inputs.push_back(value(in));
    group.inputs = std::move(inputs);
    for (int k = 0; k < outputs; ++k)
      if (shown_[first + k] || group.maps == 0) ++group.outputs;
    group.values += outputs;
    ++group.maps;
  }

  /// Puts one node in place of a group.
  bool fuse(Group& group) {
    graph_.at = &graph_.graph.node(group.members.back());
    // In the order of the graph: nodes that draw numbers or write states run in the order of what reads them.
    std::sort(group.inputs.begin(), group.inputs.end());
    FusedParts parts;
    parts.stored = group.type;
    parts.inputs = static_cast<int>(group.inputs.size());
    parts.cached = !group.mirrored && is_cached(graph_.graph.value(group.members.back(), 0));
    List<int> numbered = group.inputs;  // values of the graph by their numbers within
    for (int v : group.inputs) parts.wanted.push_back(leads_[v]);
    List<int> shown;
    for (int n : group.members) {
      FusedMember member{Ref(&graph_.graph.node(n)),
                         {},
                         static_cast<int>(numbered.size()),
                         leads_through(n),
                         is_costly(graph_.graph.node(n))};
      for (const NodeOutput& in : member.node->inputs) {
        int at = 0;
        while (numbered[at] != value(in)) ++at;
        member.in.push_back(at);
      }
      for (int k = 0; k < member.node->outputs(); ++k) {
        const int v = graph_.graph.value(n, k);
        const bool read_outside = n == group.members.back() && reader_[v] != nobody;
        if (shown_[v] || read_outside) {
          if (!graph_.is_output[v] && !read_outside) parts.inner |= std::uint64_t{1} << parts.outputs.size();
          parts.outputs.push_back(static_cast<int>(numbered.size()));
          shown.push_back(v);
        }
        numbered.push_back(v);
        parts.wanted.push_back(member.leads);
      }
      parts.members.push_back(std::move(member));
    }
    const Ref<Node> node = parts.outputs.empty() ? Ref<Node>() : fused_node(parts);
    group.failed = !node || keeps_more(group, *node, shown);
    if (group.failed) return false;
    for (int v : group.inputs) {
      const int n = owner_[v];
      node->inputs.push_back(made_.moved({Ref(&graph_.graph.node(n)), v - graph_.graph.value(n, 0)}));
    }
    for (Index k = 0; k < shown.size(); ++k) made_.replace(shown[k], {node, static_cast<int>(k)});
    return true;
  }

  /// Whether the gradient of the fused node keeps more bytes until backward than those of the members would.
  bool keeps_more(const Group& group, const Node& node, const List<int>& shown) const {
    List<int> apart, together;
    for (int n : group.members)
      for (int v : read_by_gradient(n)) note(apart, v);
    for (const GradientArgument& kept : kept_by(node))
      note(together, kept.role == Role::out ? shown[kept.at] : group.inputs[kept.at]);
    return bytes_of(together) > bytes_of(apart);
  }
  /// Values that a map's own gradient reads, where one is wanted.
  List<int> read_by_gradient(int n) const {
    List<int> values;
    const Node& node = graph_.graph.node(n);
    if (node.is_variable() || !node.entry->is_map() || !leads_through(n)) return values;
    const int first = graph_.graph.value(n, 0);
    const auto& facts = node.entry->facts;
    const std::uint64_t read =
        facts.kept != nullptr ? facts.kept(node.op(), usual_compute_type(graph_.types[first])) : every;
    for (const GradientArgument& kept : kept_by(node))
      if (kept.role == Role::out)
        values.push_back(first + kept.at);
      else if (in_mask(read, kept.at) && node.inputs[kept.at].node)
        values.push_back(value(node.inputs[kept.at]));
    return values;
  }
  static List<GradientArgument, 8> kept_by(const Node& node) {
    List<GradientArgument, 8> kept;
    const GradientRule& rule = node.entry->gradient;
    if (rule.entry == nullptr || rule.zero) return kept;
    const Index inputs = node.entry->inputs < 0 ? node.inputs.size() : node.entry->inputs;
    for (const GradientArgument& argument : gradient_roles(rule, inputs, node.outputs()).takes)
      if (argument.role != Role::head) kept.push_back(argument);
    return kept;
  }
  static void note(List<int>& values, int v) {
    if (!has(values, v)) values.push_back(v);
  }
  std::int64_t bytes_of(const List<int>& values) const {
    std::int64_t bytes = 0;
    for (int v : values) bytes += graph_.shapes[v].size() * size_of(graph_.types[v]);
    return bytes;
  }

  const KnownGraph& graph_;
  Rewriting made_;
  List<bool> leads_;
  List<bool> shown_;  // values that are in memory for the caller or for a gradient
  List<int> reader_;  // of each value: the group that reads it, nobody or several
  List<int> group_;   // of each node
  List<int> owner_;   // of each value: its node
  List<Group> groups_;
};

STROP_IMPL void fuse_maps(KnownGraph& graph, const NodeOutputs& wanted) { graph = Fusion(graph, wanted).run(); }

}  // namespace strop::inline v0::detail
