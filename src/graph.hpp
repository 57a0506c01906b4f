// SPDX-License-Identifier: Apache-2.0
/// \file
/// A symbol as `strop graph` shows it: its nodes with the shapes that follow.
#pragma once
#include <strop/core/shape.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace strop::command {

struct GraphNode {
  std::string name, op;             // an argument that is no parameter has no operator
  std::vector<Shape> shapes;        // of its visible outputs
  std::int64_t parameters = 0;      // elements of the parameters that are read here first
  std::int64_t bytes = 0;           // of its visible outputs
  std::vector<std::size_t> inputs;  // places of other nodes, without parameters
  std::vector<GraphNode> inside;    // of a loop or a branch: the nodes of its bodies, as a step sees them
};

struct GraphSummary {
  std::vector<GraphNode> nodes;  // each behind its inputs
  std::int64_t parameters = 0, parameter_bytes = 0, states = 0, state_bytes = 0, bytes = 0;
  std::vector<std::string> open;  // arguments whose shape does not follow
};

/// "(1, 20, 24, 24), (1,)".
std::string shapes_text(const std::vector<Shape>& shapes);

/// Boxes in layers, a node below what it reads, as the text of an SVG file.
std::string draw_graph(const GraphSummary& graph, const std::string& title);

}  // namespace strop::command
