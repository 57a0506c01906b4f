// SPDX-License-Identifier: Apache-2.0
/// \file
/// The passes in their order.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/environment.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/passes/common_impl.hpp>
#include <strop/graph/passes/constants_impl.hpp>
#include <strop/graph/passes/fuse_impl.hpp>
#include <strop/graph/passes/passes.hpp>
#include <strop/graph/symbol_impl.hpp>
#include <strop/op/devices.hpp>

#include <string_view>
#include <utility>

namespace strop::inline v0 {
namespace detail {

STROP_IMPL KnownGraph infer_known(const NodeOutputs& roots, Device device, const BoundVariables& variables) {
  KnownGraph known(roots);
  const Graph& graph = known.graph;
  Inference inference(graph);
  for (Index i = 0; i < variables.nodes.size(); ++i) {
    const int n = graph.find(variables.nodes[i].node.get());
    if (n < 0) continue;
    inference.give_shape(n, variables.arrays[i].shape());
    inference.give_type(n, variables.arrays[i].dtype());
    inference.storage(graph.value(n, 0)) = variables.arrays[i].storage();
  }
  inference.infer_shapes();
  inference.infer_types();
  inference.infer_storages(device);
  for (int v = 0; v < graph.values(); ++v) {
    known.shapes[v] = inference.shape(v);
    known.types[v] = *inference.type(v);
    known.storages[v] = inference.storage(v);
  }
  return known;
}

/// Whether the node has no inputs and takes extents from what it meets.
STROP_IMPL bool takes_extents(const Node& node) {
  if (node.is_variable() || !node.inputs.empty() || node.outputs() != 1) return false;
  Shape said[] = {Shape::unknown()};
  const CallNames names{node.entry->name, node.signature.inputs, node.signature.outputs};
  Shapes shapes(names, {}, said);
  try {
    infer_shapes(*node.entry, node.op(), shapes);
  } catch (const Error&) {  // it knows its shape, and was asked for another one
    return false;
  }
  return !said[0].known();
}
/// Tells such nodes which extents these are: what stands in place of the nodes that they meet may not say so, and two
/// of them that look alike may not be.
STROP_IMPL KnownGraph settle_shapes(KnownGraph graph) {
  List<bool> open(graph.graph.size());
  bool any = false;
  for (int n = 0; n < graph.graph.size(); ++n)
    any = (open[n] = takes_extents(graph.graph.node(n)) && graph.shapes[graph.graph.value(n, 0)].known()) || any;
  if (!any) return graph;
  Rewriting made(graph);
  for (int n = 0; n < graph.graph.size(); ++n) {
    made.keep(n);
    if (!open[n]) continue;
    const Ref<Node> settled(new Node(graph.graph.node(n)));
    settled->variable.shape = graph.shapes[graph.graph.value(n, 0)];
    made.replace(graph.graph.value(n, 0), {settled, 0});
  }
  return made.finish();
}

STROP_IMPL NodeOutputs optimized(const NodeOutputs& roots, Device device, const BoundVariables& variables) {
  if (!environment_flag({"STROP_FUSE"}, true)) return roots;
  try {
    const KnownGraph merged = merge_common(settle_shapes(infer_known(roots, device, variables)));
    if (!way_of(device).defers) return merged.roots;
    return fuse_maps(fold_constants(merged), variables.wanted).roots;
  } catch (const Error&) {  // which binding the graph as it is finds as well, and says
    return roots;
  }
}

}  // namespace detail

STROP_IMPL Symbol optimized(const Symbol& symbol, Device device, const NamedArrays& args,
                            std::initializer_list<std::string_view> differentiated) {
  detail::BoundVariables variables;
  const detail::Graph graph(symbol.outputs());
  for (int n = 0; n < graph.size(); ++n) {
    detail::Node& node = graph.node(n);
    const NDArray* array = node.is_variable() ? detail::find_named(args, node.name) : nullptr;
    if (array == nullptr || !array->defined()) continue;
    variables.nodes.push_back({detail::Ref(&node), 0});
    variables.arrays.push_back(*array);
    for (std::string_view name : differentiated)
      if (name == node.name) variables.wanted.push_back(variables.nodes.back());
  }
  return Symbol(detail::optimized(symbol.outputs(), device, variables));
}

}  // namespace strop::inline v0
