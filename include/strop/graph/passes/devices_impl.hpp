// SPDX-License-Identifier: Apache-2.0
/// \file
/// How nodes are placed, and the operator that copies a value to another device.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/passes/devices.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/names.hpp>
#include <strop/op/param_box.hpp>
#include <strop/op/sparse_parts.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/device_work.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

constexpr Device device_of(std::int32_t kind, std::int32_t id) {
  return {static_cast<DeviceKind>(kind), static_cast<std::int16_t>(id)};
}
constexpr CopyAcross copy_from_to(Device from, Device to) {
  return {static_cast<std::int32_t>(to.kind), to.id, static_cast<std::int32_t>(from.kind), from.id};
}

STROP_IMPL void copy_across(const Call& call, Context&) {
  const NDArray &from = call.in(0), &to = call.out[0];
  if (call.request(0) == Request::null) return;
  if (from.storage() != dense || to.storage() != dense)
    return deliver(on_device(from, to.device()), to, Request::write);
  copy_between(to, to.bytes(), from, from.bytes(), to.size() * size_of(to.dtype()));
}
STROP_IMPL Symbol copy_back(const void* op, const Symbol& head);

inline constexpr Kernels copy_kernels{.run = {&copy_across}, .run_sparse = {&copy_across}};
inline constinit Slot copy_slot{.cuda = &copy_kernels};
constexpr Entry make_copy_entry() {
  Entry e;
  e.name = e.snake = e.qualified = "_copy_across";
  e.doc = "The same elements on another device.";
  e.library = true;
  e.dtypes = any_dtype;
  e.params = &param_table<CopyAcross>;
  e.signature = [](const void*, int, Signature& s) { fill_signature({}, {}, {}, 1, 1, 1, s); };
  e.infer_shape = [](const void*, Shapes& s) {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
  };
  e.infer_type = [](const void*, Types& t) {
    t.set_out(0, t.in(0));
    t.set_in(0, t.out(0));
  };
  e.infer_storage = [](const void*, Storages& s) { return s.set_out(0, s.in(0)); };
  e.sparse = &all_sparse_parts;
  e.cpu = copy_kernels;
  e.slot = &copy_slot;
  e.gradient.heads = 1;
  e.gradient.gives = 1;
  e.gradient.compose_symbols = [](const void* op, std::span<const Symbol> dy, std::span<const Symbol>) {
    return std::vector<Symbol>{copy_back(op, dy[0])};
  };
  return e;
}
inline constexpr Entry copy_entry = make_copy_entry();

STROP_IMPL Ref<Node> copy_node(const NodeOutput& of, const CopyAcross& op, std::string name) {
  const Ref<Node> node(new Node);
  node->name = std::move(name);
  node->entry = &copy_entry;
  node->params = Ref(new ParamBox(copy_entry.params, &op));
  node->signature = signature_of(copy_entry, &op, 1);
  node->inputs.push_back(of);
  return node;
}
/// The gradient of a copy is the copy back.
STROP_IMPL Symbol copy_back(const void* op, const Symbol& head) {
  const CopyAcross& there = *static_cast<const CopyAcross*>(op);
  const NodeOutput& from = head.outputs()[0];
  const CopyAcross back{there.from_kind, there.from_id, there.to_kind, there.to_id};
  return Symbol(NodeOutput{
      copy_node(from, back,
                cat(from.node->output_name(from.index), "_on_", to_text(device_of(back.to_kind, back.to_id)))),
      0});
}

STROP_IMPL const std::pair<std::string, Device>* group_of(const NamedTexts& attributes, const NamedDevices& groups) {
  const std::pair<std::string, Device>* found = nullptr;
  for (const auto& [key, text] : attributes)  // the last one said holds
    if (key == "__ctx_group__" || key == "ctx_group") {
      found = nullptr;
      for (const auto& group : groups)
        if (group.first == text) found = &group;
    }
  return found;
}
STROP_IMPL Device device_of_group(const NamedTexts& attributes, const NamedDevices& groups, Device otherwise) {
  const auto* const group = group_of(attributes, groups);
  return group != nullptr ? group->second : otherwise;
}

/// The arrays of the variables of a graph, by value.
STROP_IMPL void place_variables(const Graph& graph, const BoundVariables& variables, List<Device>& devices) {
  for (Index i = 0; i < variables.nodes.size(); ++i)
    if (const int v = graph.value(variables.nodes[i]); v >= 0) devices[v] = variables.arrays[i].device();
}

STROP_IMPL NodeOutputs place_nodes(const NodeOutputs& roots, Device device, const NamedDevices& groups,
                                   const BoundVariables& variables) {
  const Graph graph(roots, true);
  List<Device> at(graph.values(), device);
  place_variables(graph, variables, at);
  NodeOutputs moved(graph.values());
  List<NodeOutputs> copies(graph.values());
  const auto on = [&](const NodeOutput& in, Device there) {
    const int v = graph.value(in);
    if (at[v] == there) return moved[v];
    for (const NodeOutput& copy : copies[v])
      if (const auto& op = *static_cast<const CopyAcross*>(copy.node->op()); device_of(op.to_kind, op.to_id) == there)
        return copy;
    const NodeOutput& from = moved[v];
    copies[v].push_back(
        {copy_node(from, copy_from_to(at[v], there), cat(from.node->output_name(from.index), "_on_", to_text(there))),
         0});
    return copies[v].back();
  };
  for (int n = 0; n < graph.size(); ++n) {
    Node& node = graph.node(n);
    const int first = graph.value(n, 0);
    Ref<Node> made(&node);
    if (!node.is_variable()) {
      const auto* group = group_of(node.attributes, groups);
      Device here = group != nullptr ? group->second : device;
      bool says = true;
      for (Index i = 0; group == nullptr && says && i < node.inputs.size(); ++i)
        if (const NodeOutput& in = node.inputs[i]; in.node && !in.node->is_variable()) {
          says = false;
          here = at[graph.value(in)];
        }
      for (int i : node.signature.mutated)
        if (const Device there = at[graph.value(node.inputs[i])]; there != here)
          fail("Error in node ", node.name, ": ", node.entry->name, " writes '", node.inputs[i].node->name,
               "', which is on ", to_text(there), ", expected ", to_text(here), " like the node");
      made = Ref(new Node(node));
      for (NodeOutput& in : made->inputs)
        if (in.node) in = on(in, here);
      for (NodeOutput& like : made->like)
        if (like.node) like = moved[graph.value(like)];
      if (!says && here != device)
        for (const auto& [name, there] : groups)
          if (there == here) {
            made->attributes.push_back({"__ctx_group__", name});
            break;
          }
      for (int k = 0; k < node.outputs(); ++k) at[first + k] = here;
    }
    for (int k = 0; k < node.outputs(); ++k) moved[first + k] = {made, k};
  }
  NodeOutputs placed;
  for (const NodeOutput& root : roots) placed.push_back(moved[graph.value(root)]);
  return placed;
}

STROP_IMPL List<Device> value_devices(const Graph& graph, Device device, const NamedDevices& groups,
                                      const BoundVariables& variables) {
  List<Device> at(graph.values(), device);
  place_variables(graph, variables, at);
  List<bool> known(graph.values());
  for (Index i = 0; i < variables.nodes.size(); ++i)
    if (const int v = graph.value(variables.nodes[i]); v >= 0) known[v] = true;
  for (int n = 0; n < graph.size(); ++n) {
    const Node& node = graph.node(n);
    const int first = graph.value(n, 0);
    if (node.is_variable() && known[first]) continue;
    Device here = device_of_group(node.attributes, groups, device);
    if (node.entry == &copy_entry) {
      const auto& op = *static_cast<const CopyAcross*>(node.op());
      here = device_of(op.to_kind, op.to_id);
    } else {
      const NodeOutput* from = nullptr;  // of a head gradient, a variable that is like an output: that output
      for (const auto* list : {&node.inputs, &node.like})
        for (const NodeOutput& in : *list)
          if (from == nullptr && in.node) from = &in;
      if (from != nullptr) here = at[graph.value(*from)];
    }
    for (int k = 0; k < node.outputs(); ++k) at[first + k] = here;
  }
  return at;
}

}  // namespace strop::inline v0::detail
