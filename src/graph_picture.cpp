// SPDX-License-Identifier: Apache-2.0
/// \file
/// The picture of `strop graph`: boxes in layers, each below all that it reads.
#include "graph.hpp"
#include "svg.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace strop::command {
namespace {

constexpr double box_width = 190, box_height = 46, gap = 26, below = 30, top = 60, left = 90;
constexpr std::size_t most_letters = 30;

std::string cut(const std::string& text) {
  if (text.size() <= most_letters) return escaped(text);
  std::size_t end = most_letters - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // characters stay whole
  return escaped(text.substr(0, end)) + "...";
}

/// The layer of each node, and its place from left to right within: near the middle of what it reads.
struct Layout {
  std::vector<std::size_t> layer;
  std::vector<double> x;
  std::size_t layers = 0;
  double width = box_width;

  explicit Layout(const GraphSummary& graph) : layer(graph.nodes.size()), x(graph.nodes.size()) {
    std::vector<std::vector<std::size_t>> members;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      for (std::size_t in : graph.nodes[n].inputs) layer[n] = std::max(layer[n], layer[in] + 1);
      if (members.size() <= layer[n]) members.resize(layer[n] + 1);
      members[layer[n]].push_back(n);
    }
    // what reads nothing stands right above its first reader
    std::vector<std::size_t> reader(graph.nodes.size(), members.size());
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
      for (std::size_t in : graph.nodes[n].inputs) reader[in] = std::min(reader[in], layer[n]);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
      if (graph.nodes[n].inputs.empty() && reader[n] < members.size() && reader[n] > 1) {
        std::erase(members[0], n);
        layer[n] = reader[n] - 1;
        members[layer[n]].push_back(n);
      }
    layers = members.size();
    for (const auto& row : members) width = std::max(width, static_cast<double>(row.size()) * (box_width + gap) - gap);
    for (auto& row : members) {
      std::vector<double> wanted(graph.nodes.size());
      for (std::size_t n : row) {
        const auto& inputs = graph.nodes[n].inputs;
        for (std::size_t in : inputs) wanted[n] += x[in] / static_cast<double>(inputs.size());
        if (inputs.empty()) wanted[n] = width;
      }
      std::sort(row.begin(), row.end(),
                [&](std::size_t a, std::size_t b) { return wanted[a] != wanted[b] ? wanted[a] < wanted[b] : a < b; });
      double at = (width - static_cast<double>(row.size()) * (box_width + gap) + gap) / 2;
      for (std::size_t n : row) {
        x[n] = at;
        at += box_width + gap;
      }
    }
  }
  double y(std::size_t n) const { return top + static_cast<double>(layer[n]) * (box_height + below); }
};

/// A colour for each place in the arena at which a result begins, evenly round the circle of hues.
class Colours {
 public:
  explicit Colours(const GraphSummary& graph) : planned_(graph.arena >= 0) {
    for (const GraphNode& node : graph.nodes)
      if (node.memory.offset >= 0) offsets_.push_back(node.memory.offset);
    std::sort(offsets_.begin(), offsets_.end());
    offsets_.erase(std::unique(offsets_.begin(), offsets_.end()), offsets_.end());
  }
  std::string of(const GraphNode& node) const {
    if (node.op.empty()) return planned_ ? "#ffffff" : "#ffd166";
    if (!planned_) return node.parameters != 0 ? "#8ecae6" : "#eef3f7";
    if (node.memory.offset < 0) return "#e4e4e4";
    const auto at = std::lower_bound(offsets_.begin(), offsets_.end(), node.memory.offset) - offsets_.begin();
    return fmt::format("hsl({:.0f}, 70%, 78%)", 360.0 * static_cast<double>(at) / static_cast<double>(offsets_.size()));
  }

 private:
  bool planned_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace

std::string draw_graph(const GraphSummary& graph, const std::string& title) {
  const Layout layout(graph);
  const Colours colours(graph);
  const double height = top + static_cast<double>(layout.layers) * (box_height + below) + 10;
  std::string out = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' viewBox='0 0 {0:.0f} {1:.0f}' "
      "font-family='sans-serif'>\n<rect width='100%' height='100%' fill='white'/>\n<text x='20' y='26' "
      "font-size='15'>{2}</text>\n<text x='20' y='44' font-size='11' fill='#555'>{3} nodes, {4} parameters{5}</text>\n",
      layout.width + 2 * left, height, escaped(title), graph.nodes.size(), graph.parameters,
      graph.arena < 0
          ? ""
          : fmt::format(", arena {} bytes; one colour: beginning at the same byte; thick: in place; grey: not in it",
                        graph.arena));
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (std::size_t in : graph.nodes[n].inputs) {
      const double x1 = left + layout.x[in] + box_width / 2, y1 = layout.y(in) + box_height,
                   x2 = left + layout.x[n] + box_width / 2, y2 = layout.y(n);
      // past the boxes of the layers between
      const double aside = layout.layer[n] - layout.layer[in] > 1 ? box_width * 0.9 : 0;
      const bool in_place = graph.nodes[n].memory.in_place_of == static_cast<std::ptrdiff_t>(in);
      out += fmt::format(
          "<path d='M{0:.1f} {1:.1f} C{2:.1f} {3:.1f} {4:.1f} {5:.1f} {6:.1f} {7:.1f}' fill='none' stroke='#777' "
          "stroke-width='{8}'/><circle cx='{6:.1f}' cy='{7:.1f}' r='2' fill='#777'/>\n",
          x1, y1, x1 + aside, y1 + below / 2, x2 + aside, y2 - below / 2, x2, y2, in_place ? 4 : 1);
    }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode& node = graph.nodes[n];
    const double x = left + layout.x[n], y = layout.y(n), middle = x + box_width / 2;
    out += fmt::format(
        "<g><title>{0}: {1} {2}, {3} parameters, {4} bytes{10}</title><rect x='{5:.1f}' y='{6:.1f}' width='{7:.0f}' "
        "height='{8:.0f}' rx='4' fill='{9}' stroke='#555'/>",
        escaped(node.name), escaped(node.op), escaped(shapes_text(node.shapes)), node.parameters, node.bytes, x, y,
        box_width, box_height, colours.of(node),
        node.memory.text.empty() ? std::string() : cat("; ", escaped(node.memory.text)));
    const auto line = [&](double down, int size, const char* colour, const std::string& text) {
      out += fmt::format("<text x='{:.1f}' y='{:.1f}' font-size='{}' text-anchor='middle' fill='{}'>{}</text>", middle,
                         y + down, size, colour, text);
    };
    line(13, 10, "#333", cut(node.name));
    line(27, 12, "#000", node.op.empty() ? "(input)" : cut(node.op));
    line(40, 10, "#333", cut(shapes_text(node.shapes)));
    out += "</g>\n";
  }
  return out + "</svg>\n";
}

}  // namespace strop::command
