// SPDX-License-Identifier: Apache-2.0
/// \file
/// How passes run one after the other, and what is known of a graph before them.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/environment.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/passes/check_impl.hpp>
#include <strop/graph/passes/common_impl.hpp>
#include <strop/graph/passes/constants_impl.hpp>
#include <strop/graph/passes/fuse_impl.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/graph/passes/passes.hpp>
#include <strop/graph/symbol_impl.hpp>
#include <strop/op/devices.hpp>

#include <exception>
#include <new>
#include <string_view>
#include <utility>

namespace strop::inline v0 {
namespace detail {

/// One of the graph's devices that allows least.
STROP_IMPL Device narrowest_device(const PassGraph& graph) {
  Device at = graph.device;
  for (const auto& [name, there] : graph.groups)
    if (!backend_of(there).defers) at = there;
  return at;
}

STROP_IMPL void Inference::take(const KnownGraph& known, bool storages) {
  for (int n = 0; n < graph_.size(); ++n) {
    const int there = known.graph.find(&graph_.node(n));
    if (there < 0) continue;
    bool all = true;
    for (int k = 0; k < graph_.node(n).outputs(); ++k) {
      const int mine = graph_.value(n, k), other = known.graph.value(there, k);
      shape(mine) = known.shapes[other];
      type(mine) = known.types[other];
      storage(mine) = known.storages[other];
      all = all && shape(mine).known();
    }
    type_waits_[n] = false;
    storage_waits_[n] = !storages;
    shape_waits_[n] = !all;
  }
}

STROP_IMPL void KnownGraph::take(Inference& inference, Device device) {
  inference.infer_storages(device);
  for (int v = 0; v < graph.values(); ++v) {
    shapes[v] = inference.shape(v);
    types[v] = *inference.type(v);
    storages[v] = inference.storage(v);
  }
}

STROP_IMPL KnownGraph infer_known(const NodeOutputs& outputs, const PassGraph& of) {
  KnownGraph known(outputs);
  const Graph& graph = known.graph;
  const BoundVariables& variables = of.variables;
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
  known.take(inference, narrowest_device(of));
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
STROP_IMPL void settle_shapes(KnownGraph& graph) {
  List<bool> open(graph.graph.size());
  bool any = false;
  for (int n = 0; n < graph.graph.size(); ++n) {
    graph.at = &graph.graph.node(n);
    any = (open[n] = takes_extents(*graph.at) && graph.shapes[graph.graph.value(n, 0)].known()) || any;
  }
  if (!any) return;
  Rewriting made(graph);
  for (int n = 0; n < graph.graph.size(); ++n) {
    made.keep(n);
    if (!open[n]) continue;
    const Ref<Node> settled(new Node(graph.graph.node(n)));
    settled->variable.shape = graph.shapes[graph.graph.value(n, 0)];
    made.replace(graph.graph.value(n, 0), {settled, 0});
  }
  graph = made.finish();
}

/// A pass that is there for speed has nothing to refuse: what it throws is a fault of the pass, or of the code of an
/// operator that it has called.
STROP_IMPL void run_for_speed(const Pass& pass, PassGraph& graph) {
  try {
    pass.run(graph);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw PassError(sentence_of(graph.known->at, cat("the pass ", pass.name, " failed: ", error.what())));
  }
  graph.outputs = graph.known->roots;
}

/// Infers what the passes for speed go by, unless it is known. Where they do not run, the graph is as it was written.
STROP_IMPL bool know(PassGraph& graph) {
  graph.as_written = !environment_flag({"STROP_FUSE"}, true);
  if (graph.as_written || graph.known) return !graph.as_written;
  try {
    graph.known = infer_known(graph.outputs, graph);
  } catch (const Error&) {  // the graph is wrong, which binding it as it is finds as well, and says
    graph.as_written = true;
  }
  return !graph.as_written;
}

STROP_IMPL void run_passes(Span<const Pass> passes, PassGraph& graph) {
  PassWatch watch;
  bool knows = false;
  for (const Pass& pass : passes) {
    if (pass.when != Pass::always) {
      if (graph.as_written || (pass.when == Pass::for_loops && !backend_of(narrowest_device(graph)).defers)) continue;
      if (!knows) knows = know(graph);
      if (!knows) continue;
    }
    watch.before(graph);
    if (pass.when == Pass::always)
      pass.run(graph);
    else
      run_for_speed(pass, graph);
    watch.behind(pass, graph);
  }
}

STROP_IMPL void run_passes(Span<const StepPass> passes, BoundGraph& graph, Inference& inference) {
  StepWatch watch;
  for (const StepPass& pass : passes) {
    if (pass.for_speed && graph.as_written) continue;
    watch.before(graph);
    pass.run(graph, inference);
    watch.behind(pass, graph);
  }
}

STROP_IMPL NodeOutputs optimized(NodeOutputs roots, Device device, BoundVariables variables) {
  PassGraph made{std::move(roots), device, std::move(variables)};
  run_passes(graph_passes, made);
  return std::move(made.outputs);
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
    variables.add({detail::Ref(&node), 0}, *array);
    for (std::string_view name : differentiated)
      if (name == node.name) variables.wanted.push_back(variables.nodes.back());
  }
  return Symbol(detail::optimized(symbol.outputs(), device, std::move(variables)));
}

}  // namespace strop::inline v0
