// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop graph`: what a symbol file says, as a table and as a picture.
#include "graph.hpp"
#include "command.hpp"
#include "trace.hpp"

#include <strop/core/printable.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/mirror.hpp>
#include <strop/graph/plan.hpp>
#include <strop/graph/symbol.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace strop::command {
namespace {

/// "data=1,3,224,224" or "data=(1, 3, 224, 224)".
std::pair<std::string, Shape> shape_of(const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string text = equals == std::string::npos ? std::string() : word.substr(equals + 1);
  Shape shape;
  const bool plain = !text.starts_with('(') && !text.starts_with('[');
  if (equals == 0 || text.empty() || !detail::parse_shape(plain ? '(' + text + ')' : text, shape) ||
      std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; }))
    throw WrongCall(cat("graph: --shape is '", detail::printable(word, 200), "', expected NAME=1,3,224,224"));
  return {word.substr(0, equals), shape};
}

/// Elements, or 0 where not all extents are known.
std::int64_t elements_of(const Shape& shape) { return shape.known() ? shape.size() : 0; }

/// Which arguments are parameters: those that no operator takes as `data` or `label`, and whose shape is not given.
detail::List<bool> parameters_of(const detail::Graph& graph, const NamedShapes& given) {
  detail::List<bool> found;
  found.resize(graph.size());
  for (int n = 0; n < graph.size(); ++n)
    found[n] = graph.node(n).is_variable() && std::none_of(given.begin(), given.end(), [&](const auto& one) {
                 return one.first == graph.node(n).name;
               });
  for (int n = 0; n < graph.size(); ++n) {
    const detail::Node& node = graph.node(n);
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      if (!node.inputs[i].node || i >= static_cast<int>(node.signature.inputs.size())) continue;
      const std::string_view name = node.signature.inputs[static_cast<std::size_t>(i)];
      if (name == "data" || name == "label") found[graph.find(node.inputs[i].node.get())] = false;
    }
  }
  return found;
}

/// The nodes of the bodies of a loop or a branch whose inputs have these shapes, with the shapes that a step sees.
void list_bodies(const detail::Node& node, const std::vector<Shape>& in, const std::string& before,
                 std::vector<GraphNode>& rows) {
  static constexpr std::string_view names[][3] = {
      {"body", "", ""}, {"condition", "body", ""}, {"condition", "then", "else"}};
  const detail::Flow* const flow = detail::flow_of(node);
  for (int g = 0; flow != nullptr && g < flow->graphs.size(); ++g) {
    const detail::SubGraph& sub = flow->graphs[g];
    NamedShapes given;
    for (int i = 0; i < sub.inputs.size(); ++i) {
      Shape seen = in[static_cast<std::size_t>(sub.links[i])];
      if (!seen.has_rank()) continue;
      if (sub.links[i] < flow->data && seen.ndim() < 2)
        seen = {1};
      else if (sub.links[i] < flow->data)
        seen.erase(0);
      given.emplace_back(sub.inputs[i].node->name, seen);
    }
    const detail::Graph graph(sub.outputs);
    const std::vector<Shape> shapes = Symbol(sub.outputs).get_internals().infer_shape_partial(given).outputs;
    std::vector<std::size_t> first;
    std::size_t at = 0;
    for (int n = 0; n < graph.size(); ++n) {
      const detail::Node& inner = graph.node(n);
      first.push_back(at);
      at += static_cast<std::size_t>(inner.visible());
      if (inner.is_variable()) continue;
      GraphNode row;
      row.name = cat(before, names[static_cast<int>(flow->kind)][g], '/', inner.name);
      row.op = inner.entry->name;
      row.shapes.assign(shapes.begin() + static_cast<std::ptrdiff_t>(first.back()),
                        shapes.begin() + static_cast<std::ptrdiff_t>(at));
      rows.push_back(std::move(row));
      std::vector<Shape> inner_in;
      for (const detail::NodeOutput& from : inner.inputs)
        inner_in.push_back(from.node && from.index < from.node->visible()
                               ? shapes[first[static_cast<std::size_t>(graph.find(from.node.get()))] +
                                        static_cast<std::size_t>(from.index)]
                               : Shape::unknown());
      list_bodies(inner, inner_in, rows.back().name + '/', rows);
    }
  }
}

GraphSummary summarise(const Symbol& net, const NamedShapes& given) {
  const std::vector<std::string> arguments = net.list_arguments();
  for (const auto& [name, shape] : given) detail::place_of_name(arguments, name);
  const detail::Graph graph(net.outputs());
  const Symbol all = net.get_internals();
  const std::vector<Shape> shapes = all.infer_shape_partial(given).outputs;
  const std::vector<Dtype> types = all.infer_type().outputs;
  const detail::List<bool> is_parameter = parameters_of(graph, given), is_state = graph.auxiliary();
  GraphSummary out;
  std::vector<std::size_t> place(static_cast<std::size_t>(graph.size())), first(place.size());
  std::vector<bool> counted(place.size());
  std::size_t at = 0;
  for (int n = 0; n < graph.size(); ++n) {
    const detail::Node& node = graph.node(n);
    const auto self = static_cast<std::size_t>(n);
    first[self] = at;
    at += static_cast<std::size_t>(node.visible());
    if (node.is_variable() && !shapes[first[self]].known()) out.open.push_back(node.name);
    if (is_parameter[n] || is_state[n]) continue;
    GraphNode row;
    row.name = node.name;
    if (!node.is_variable()) row.op = node.entry->name;
    for (std::size_t k = first[self]; k < at; ++k) {
      row.shapes.push_back(shapes[k]);
      row.bytes += elements_of(shapes[k]) * size_of(types[k]);
    }
    for (const detail::NodeOutput& in : node.inputs) {
      if (!in.node) continue;
      const int from = graph.find(in.node.get());
      const auto source = static_cast<std::size_t>(from);
      if (!is_parameter[from] && !is_state[from]) {
        if (std::find(row.inputs.begin(), row.inputs.end(), place[source]) == row.inputs.end())
          row.inputs.push_back(place[source]);
      } else if (!counted[source]) {
        counted[source] = true;
        const std::int64_t size = elements_of(shapes[first[source]]), bytes = size * size_of(types[first[source]]);
        row.parameters += is_state[from] ? 0 : size;
        (is_state[from] ? out.states : out.parameters) += size;
        (is_state[from] ? out.state_bytes : out.parameter_bytes) += bytes;
      }
    }
    if (detail::flow_of(node) != nullptr) {
      std::vector<Shape> in;
      for (const detail::NodeOutput& from : node.inputs) {
        const auto source = static_cast<std::size_t>(graph.find(from.node.get()));
        in.push_back(from.index < from.node->visible() ? shapes[first[source] + static_cast<std::size_t>(from.index)]
                                                       : Shape::unknown());
      }
      list_bodies(node, in, "  ", row.inside);
    }
    place[self] = out.nodes.size();
    out.bytes += row.bytes;
    out.nodes.push_back(std::move(row));
  }
  return out;
}

void print_table(const GraphSummary& graph) {
  std::size_t name = 4, op = 8, shape = 6;
  const auto widen = [&](const GraphNode& node) {
    name = std::max(name, std::min<std::size_t>(node.name.size(), 40));
    op = std::max(op, node.op.size());
    shape = std::max(shape, std::min<std::size_t>(shapes_text(node.shapes).size(), 40));
  };
  for (const GraphNode& node : graph.nodes) {
    widen(node);
    for (const GraphNode& inner : node.inside) widen(inner);
  }
  const auto line = [&](const std::string& a, const std::string& b, const std::string& c, const std::string& d,
                        const std::string& e) {
    const std::string text = fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>12}  {:>14}\n", a, name, b, op, c, shape, d, e);
    std::fwrite(text.data(), 1, text.size(), stdout);
  };
  line("node", "operator", "output", "parameters", "bytes");
  for (const GraphNode& node : graph.nodes) {
    line(detail::printable(node.name, 200), node.op.empty() ? "(input)" : node.op, shapes_text(node.shapes),
         node.parameters == 0 ? "" : std::to_string(node.parameters), std::to_string(node.bytes));
    for (const GraphNode& inner : node.inside)
      line(detail::printable(inner.name, 200), inner.op, shapes_text(inner.shapes), "", "");
  }
  line("", "", "", std::to_string(graph.parameters), std::to_string(graph.bytes));
  std::printf("parameters %lld bytes", static_cast<long long>(graph.parameter_bytes));
  if (graph.states != 0)
    std::printf(", %lld states %lld bytes", static_cast<long long>(graph.states),
                static_cast<long long>(graph.state_bytes));
  std::printf("\n");
  if (graph.open.empty()) return;
  std::string names;
  for (const std::string& open : graph.open) names += cat(names.empty() ? "" : ", ", open);
  std::printf("shapes that do not follow, left out of the sums: %s; give --shape NAME=1,3,224,224\n",
              detail::printable(names, 300).c_str());
}

}  // namespace

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += cat(text.empty() ? "" : ", ", shape);
  return text;
}

void note_memory(GraphSummary& graph, const MemoryPlan& plan) {
  graph.arena = plan.bytes();
  std::map<std::string_view, std::ptrdiff_t> places;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    places.emplace(graph.nodes[n].name, static_cast<std::ptrdiff_t>(n));
  for (GraphNode& node : graph.nodes)
    node.memory.text =
        node.op.empty() ? "in an array that the caller sees" : "no memory of its own: computed within another node";
  std::vector<bool> noted(graph.nodes.size());  // of several outputs the first stands for the node
  const auto values = plan.values();
  for (const MemoryPlan::Value& value : values) {
    const auto found = places.find(value.node);
    if (value.first >= plan.forward_steps() || found == places.end()) continue;
    const auto n = static_cast<std::size_t>(found->second);
    if (noted[n]) continue;
    noted[n] = true;
    NodeMemory& memory = graph.nodes[n].memory;
    if (value.place != MemoryPlan::Place::arena) {
      memory.text = value.place == MemoryPlan::Place::sparse ? "allocated when it is computed"
                                                             : "in an array that the caller sees";
      continue;
    }
    memory.offset = value.offset;
    memory.text = cat("bytes ", value.offset, " to ", value.offset + value.bytes, " of the arena, steps ", value.first,
                      " to ", value.last);
    if (value.in_place_of < 0) continue;
    const std::string& source = values[static_cast<std::size_t>(value.in_place_of)].node;
    memory.text += cat(", in place of ", source);
    if (const auto other = places.find(source); other != places.end()) memory.in_place_of = other->second;
  }
}

int graph(const GraphOptions& options) {
  NamedShapes given;
  for (const std::string& word : options.shapes) given.push_back(shape_of(word));
  const Symbol net = Symbol::load(options.file);
  GraphSummary summary = summarise(net, given);
  print_table(summary);
  std::optional<MemoryPlan> plan;
  if (!options.plan.empty() || (!options.svg.empty() && summary.open.empty())) try {
      plan = detail::dry_plan(net, given, !options.predict);
    } catch (const Error& error) {
      if (!options.plan.empty()) throw;
      std::printf("the picture does not show memory: %s\n", error.what());
    }
  if (!options.svg.empty()) {
    if (plan) note_memory(summary, *plan);
    write_whole(options.svg, draw_graph(summary, options.file));
    std::printf("picture: %s\n", options.svg.c_str());
  }
  if (!options.plan.empty()) {
    write_whole(options.plan, plan->to_svg());
    const std::string table = fmt::format("{}", *plan);
    std::printf("%s\npicture: %s\n", table.substr(0, table.find('\n')).c_str(), options.plan.c_str());
  }
  return 0;
}

}  // namespace strop::command
