// SPDX-License-Identifier: Apache-2.0
/// \file
/// Placement: nodes on the devices of their groups, and the copies between them.
#include "operators.hpp"

#include <strop/graph/graph.hpp>
#include <strop/graph/passes/devices.hpp>

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <vector>

using namespace graph_tests;

namespace {

struct PlMix {
  constexpr auto forward(auto a, auto b) const { return std::tuple(a * b, a - 0.5f * b); }
};
constexpr Op<PlMix> mix;

}  // namespace

TEST_CASE("placement: one copy for each device that reads a value, and every node says where it runs") {
  using strop::detail::BoundVariables, strop::detail::Graph, strop::detail::place_nodes, strop::detail::value_devices;
  Symbol net, near;
  const Symbol x = var("x");
  {
    const AttrScope scope{{"ctx_group", "far"}};
    const Symbol y = quadratic(x, {}, "y");  // x is copied there once
    net = mix(squash(y, {}, "z"), times(x, y, {}, "p"), {}, "m")[0];
  }
  {
    const AttrScope scope{{"ctx_group", "home"}};
    near = quadratic(net, {}, "back");  // and copied back
  }
  const Symbol after = squash(quadratic(net, {}, "still"), {}, "there");  // says nothing, and stays where its input is
  const Symbol all = group({near, after, x});
  BoundVariables variables;
  variables.add(x.outputs()[0], array({1, 2}));
  const NamedDevices groups = {{"far", cpu(3)}, {"home", cpu()}};
  const auto placed = place_nodes(all.outputs(), cpu(), groups, variables);
  const Graph graph(placed, true);
  const auto devices = value_devices(graph, cpu(), groups, variables);
  std::vector<std::string> names;
  for (int n = 0; n < graph.size(); ++n) {
    const auto& node = graph.node(n);
    names.push_back(node.name);
    const bool far =
        std::string("y z p m still there x_on_cpu(3)").find(node.name) != std::string::npos && node.name != "x";
    CHECK(devices[graph.value(n, 0)] == (far ? cpu(3) : cpu()));
    if (far && node.name != "x_on_cpu(3)")
      CHECK(Symbol(strop::detail::NodeOutput{strop::detail::Ref(&graph.node(n)), 0}).attr("ctx_group") == "far");
    for (const auto& in : node.inputs)
      if (!node.name.ends_with(")")) CHECK(devices[graph.value(in)] == devices[graph.value(n, 0)]);
  }
  CHECK(names == std::vector<std::string>{"x", "x_on_cpu(3)", "y", "z", "p", "m", "m_output0_on_cpu(0)", "back",
                                          "still", "there"});
  CHECK(placed[2].node == x.outputs()[0].node);
  // On one device there is nothing to copy.
  CHECK(Graph(place_nodes(all.outputs(), cpu(), {{"far", cpu()}}, variables)).size() == graph.size() - 2);
}
