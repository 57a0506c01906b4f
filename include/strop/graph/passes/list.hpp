// SPDX-License-Identifier: Apache-2.0
/// \file
/// The passes: what is made of a graph between a symbol and the steps of an executor, by name, in the order in which
/// they run. The environment's STROP_PASSES has them printed and checked. Internal.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/span.hpp>
#include <strop/graph/bound_graph.hpp>
#include <strop/graph/passes/devices.hpp>
#include <strop/graph/passes/known_graph.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// A graph on its way through the passes.
struct PassGraph {
  NodeOutputs outputs;  // what stands for the symbol's, in their order
  Device device = {};
  BoundVariables variables = {};
  NamedDevices groups = {};
  bool as_written = false;               // passes that are there for speed alone leave it
  std::optional<KnownGraph> known = {};  // the outputs, which such passes rewrite
  BoundGraph* gradients_of = nullptr;    // which graph the passes that make gradients work for
  NodeOutputs gradients = {};            // of variables.wanted; without a node where nothing leads there
};

/// What makes another graph of one, with the same results.
struct Pass {
  /// Whether it runs always, unless the graph is to stay as written, or then only where loops of maps are the device's.
  enum When : std::uint8_t { always, for_speed, for_loops };
  std::string_view name;
  void (*run)(PassGraph&);
  When when = always;
};

void settle_shapes(KnownGraph& graph);
void merge_common(KnownGraph& graph);
void fold_constants(KnownGraph& graph);
void fuse_maps(KnownGraph& graph, const NodeOutputs& wanted);
void make_gradients(PassGraph& graph);
void mirror_marked(PassGraph& graph);

/// What becomes of a symbol.
inline constexpr Pass graph_passes[] = {
    // Nodes get their devices by ctx_group, and copies stand where values cross.
    {"place",
     [](PassGraph& graph) {
       if (!graph.groups.empty())
         graph.outputs = place_nodes(graph.outputs, graph.device, graph.groups, graph.variables);
     }},
    // Nodes without inputs are told the shapes that they have met.
    {"settle", [](PassGraph& graph) { settle_shapes(*graph.known); }, Pass::for_speed},
    // Of nodes that compute the same one is left.
    {"merge", [](PassGraph& graph) { merge_common(*graph.known); }, Pass::for_speed},
    // Maps of constants are computed, and what changes no bit is left out.
    {"fold", [](PassGraph& graph) { fold_constants(*graph.known); }, Pass::for_loops},
    // Several maps become one.
    {"fuse", [](PassGraph& graph) { fuse_maps(*graph.known, graph.variables.wanted); }, Pass::for_loops},
};

/// What comes to it where gradients are wanted.
inline constexpr Pass gradient_passes[] = {
    // The nodes that compute gradients.
    {"gradient", &make_gradients},
    // They read copies of nodes with force_mirroring, which compute their values again.
    {"mirror", &mirror_marked},
};

/// What makes another list of the steps of backward.
struct StepPass {
  std::string_view name;
  void (*run)(BoundGraph&, Inference&);
  bool for_speed = false;
};
inline constexpr StepPass step_passes[] = {
    // Steps whose results nobody reads are left out.
    {"drop_unused", [](BoundGraph& graph, Inference&) { graph.drop_unused(graph.backward_steps); }},
    // Those that take no memory, or free some, run as soon as they can.
    {"run_early", [](BoundGraph& graph, Inference&) { graph.run_early(graph.backward_steps); }},
    // Those who compute the terms of a sum add them to the first one.
    {"add_in_place",
     [](BoundGraph& graph, Inference& inference) { graph.add_in_place(graph.backward_steps, inference); }, true},
};

/// For tests: has every graph and list of steps checked, as STROP_PASSES=check does, and is given the sentence where
/// one is not legal, before it is thrown.
inline constinit std::atomic<void (*)(const std::string& sentence)> illegal_graphs{nullptr};

/// A fault of a pass, which nothing takes for a graph that has another way to run.
class PassError : public Error {
  using Error::Error;
};

/// Runs passes. Throws PassError where one that is there for speed fails, or what any has made is not legal, with the
/// names of the pass and of the node. What the others throw is a refusal of what a user says.
void run_passes(Span<const Pass> passes, PassGraph& graph);
void run_passes(Span<const StepPass> passes, BoundGraph& graph, Inference& inference);

/// The outputs of what graph_passes make of the graph of `roots`.
NodeOutputs optimized(NodeOutputs roots, Device device, BoundVariables variables);

/// What inference says of a graph with the variables of another. Throws Error where it is wrong.
KnownGraph infer_known(const NodeOutputs& outputs, const PassGraph& of);

}  // namespace strop::inline v0::detail
