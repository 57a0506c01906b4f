// SPDX-License-Identifier: Apache-2.0
/// \file
/// A symbol as `strop graph` shows it: its nodes with the shapes that follow.
#pragma once
#include <strop/core/shape.hpp>
#include <strop/graph/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace strop::command {

/// Where the plan of memory has the result of a node.
struct NodeMemory {
  std::int64_t offset = -1;         // in the arena; −1: elsewhere, or nowhere
  std::string text;                 // "bytes 0 to 128 of the arena, steps 0 to 1"
  std::ptrdiff_t in_place_of = -1;  // place of the node in whose memory it is computed
};

struct GraphNode {
  std::string name, op;             // an argument that is no parameter has no operator
  std::vector<Shape> shapes;        // of its visible outputs
  std::int64_t parameters = 0;      // elements of the parameters that are read here first
  std::int64_t bytes = 0;           // of its visible outputs
  std::vector<std::size_t> inputs;  // places of other nodes, without parameters
  std::vector<GraphNode> inside;    // of a loop or a branch: the nodes of its bodies, as a step sees them
  NodeMemory memory;
};

struct GraphSummary {
  std::vector<GraphNode> nodes;  // each behind its inputs
  std::int64_t parameters = 0, parameter_bytes = 0, states = 0, state_bytes = 0, bytes = 0;
  std::vector<std::string> open;  // arguments whose shape does not follow
  std::int64_t arena = -1;        // bytes; −1: no plan was made
};

/// "(1, 20, 24, 24), (1,)".
std::string shapes_text(const std::vector<Shape>& shapes);

/// Notes in the nodes where a plan has their results.
void note_memory(GraphSummary& graph, const MemoryPlan& plan);

/// Boxes in layers, a node below what it reads, as the text of an SVG file. With a plan, boxes of one colour are
/// results that lie at the same bytes at different times, and a thick line leads to what is computed in place.
std::string draw_graph(const GraphSummary& graph, const std::string& title);

}  // namespace strop::command
