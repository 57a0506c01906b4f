// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbols as text: the layout of MXNet's version 1.7, to the blank.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/json.hpp>
#include <strop/core/output.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/entry_maker.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/original_outputs.hpp>
#include <strop/graph/symbol.hpp>
#include <strop/graph/symbol_impl.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// Writes one symbol.
class GraphWriter {
 public:
  explicit GraphWriter(const Symbol& symbol, int depth = 0) : symbol_(symbol), graph_(symbol.outputs()), depth_(depth) {
    if (depth > most_depth)
      fail("to_json: loops and branches stand more than ", most_depth, " deep in one another, and no file is read so");
    for (int n = 0; n < graph_.size(); ++n)
      if (const Node& node = graph_.node(n); node.is_variable()) {
        const Shape& shape = node.variable.shape;
        zero_is_extent_ = zero_is_extent_ || (shape.has_rank() && shape.empty()) || has_zero_extent(shape);
      } else if (node.inputs.empty()) {
        for (const auto& [key, text] : parameters_of(node))
          if (Shape shape; says_shape(*node.entry, key) && parse_shape(text, shape))
            zero_is_extent_ = zero_is_extent_ || has_zero_extent(shape);
      }
  }

  std::string text() {
    versions_.resize(graph_.size());
    out_ = "{\n  \"nodes\": [";
    for (int n = 0; n < graph_.size(); ++n) {
      out_ += n == 0 ? "\n" : ", \n";
      node(n);
    }
    out_ += "\n  ], \n  \"arg_nodes\": ";
    List<std::string> items;
    for (int n = 0; n < graph_.size(); ++n)
      if (graph_.node(n).is_variable()) items.push_back(cat(n));
    list(items, 2);
    items = {"0"};
    for (int n = 0, values = 0; n < graph_.size(); ++n) items.push_back(cat(values += outputs_there(graph_.node(n))));
    out_ += ", \n  \"node_row_ptr\": ";
    list(items, 2);
    items.clear();
    for (const NodeOutput& head : symbol_.outputs())
      items.push_back(cat('[', graph_.find(head.node.get()), ", ", head.index, ", 0]"));
    out_ += ", \n  \"heads\": ";
    list(items, 2);
    if (depth_ > 0 && !zero_is_extent_) return shifted(out_ + "\n}");
    out_ += zero_is_extent_
                ? ", \n  \"attrs\": {\n    \"is_np_shape\": [\"int\", 1], \n    \"mxnet_version\": [\"int\", "
                  "10700]\n  }\n}"
                : ", \n  \"attrs\": {\"mxnet_version\": [\"int\", 10700]}\n}";
    return depth_ > 0 ? shifted(out_) : std::move(out_);
  }

 private:
  /// As it stands in the node that it is a part of.
  static std::string shifted(const std::string& text) {
    std::string out;
    for (const char c : text) {
      out += c;
      if (c == '\n') out.append(8, ' ');
    }
    return out;
  }

  void node(int n) {
    const Node& node = graph_.node(n);
    out_ += "    {\n      \"op\": ";
    append_json(out_, node.is_variable() ? std::string_view("null") : operator_name_of(node));
    out_ += ", \n      \"name\": ";
    append_json(out_, checked(node, node.name));
    attributes(node);
    out_ += ", \n      \"inputs\": ";
    List<std::string> links;
    for (int i = 0; i < node.inputs.size(); ++i) {
      const NodeOutput& in = node.inputs[i];
      const int from = graph_.find(in.node.get());
      const bool written =
          std::find(node.signature.mutated.begin(), node.signature.mutated.end(), i) != node.signature.mutated.end();
      links.push_back(cat('[', from, ", ", in.index, ", ", written ? ++versions_[from] : 0, ']'));
    }
    list(links, 6);
    if (const Flow* const flow = flow_of(node)) {
      out_ += ", \n      \"subgraphs\": [";
      for (int g = 0; g < flow->graphs.size(); ++g)
        out_ += cat(g == 0 ? "\n        " : ", \n        ",
                    GraphWriter(Symbol(flow->graphs[g].outputs), depth_ + 1).text());
      out_ += "\n      ]";
    }
    out_ += "\n    }";
  }

  /// How many outputs MXNet counts.
  static int outputs_there(const Node& node) {
    if (flow_of(node) != nullptr) return node.visible();
    const OriginalOutputs* const original = original_outputs_of(node);
    return original != nullptr ? count_of(*original, node) : node.outputs();
  }

  /// The name by which the operator is found again.
  static std::string_view operator_name_of(const Node& node) {
    const Entry& entry = *node.entry;
    if (entry.is_gradient())
      fail("to_json: node '", node.name,
           "' is a gradient; save what it is the gradient of, and differentiate what is loaded");
    if (const Flow* const flow = flow_of(node)) {
      check_in_files(*flow, node.name);
      return entry.name;
    }
    if (const EntryMaker* const maker = entry_maker.load(); maker != nullptr && maker->made(entry)) return maker->op;
    if (entry.slot != nullptr && !entry.slot->listed.load())
      fail("to_json: node '", node.name,
           "' is a function without a name, by which no file could find it; give it a struct and an Op");
    if (const Entry* const found = look_up(entry.name); found == &entry || (found != nullptr && same(*found, entry)))
      return entry.name;
    fail("to_json: node '", node.name, "' is of the operator ", entry.qualified, ", which its name ", entry.name,
         " does not find");
  }
  static bool same(const Entry& a, const Entry& b) { return a.qualified == b.qualified && a.file == b.file; }

  /// Text as it stands: what is not UTF-8 cannot be written.
  static std::string_view checked(const Node& node, std::string_view text) {
    if (!is_utf8(text)) fail("to_json: a name or an attribute of node '", node.name, "' is not UTF-8");
    return text;
  }

  void attributes(const Node& node) {
    std::vector<std::pair<std::string, std::string>> all;
    if (node.is_variable()) describe(node.variable, all);
    for (auto& one : parameters_of(node)) all.push_back(std::move(one));
    if (const Flow* const flow = flow_of(node))
      for (auto& one : flow_attributes(*flow)) all.push_back(std::move(one));
    for (const auto& [key, text] : node.attributes) {
      const bool plain = key.size() < 5 || !key.starts_with("__") || !key.ends_with("__");
      if (plain && !node.is_variable() && node.entry->params != nullptr && !node.entry->params->fields.empty())
        fail("to_json: node '", node.name, "' has an attribute '", key, "', which files take for a parameter of ",
             node.entry->name, "; call it __", key, "__");
      all.emplace_back(key, text);
    }
    if (all.empty()) return;
    if (all.size() > most_attributes)
      fail("to_json: node '", node.name, "' has ", all.size(), " attributes, and no file is read with more than ",
           most_attributes, " of one node");
    std::sort(all.begin(), all.end());
    out_ += ", \n      \"attrs\": {";
    for (const auto& [key, text] : all) {
      if (all.size() > 1) out_ += &key == &all.front().first ? "\n        " : ", \n        ";
      append_json(out_, checked(node, key));
      out_ += ": ";
      append_json(out_, checked(node, text));
    }
    out_ += all.size() > 1 ? "\n      }" : "}";
  }

  void describe(const Variable& variable, std::vector<std::pair<std::string, std::string>>& all) const {
    if (variable.dtype) all.emplace_back("__dtype__", cat(static_cast<int>(*variable.dtype)));
    if (variable.shape.has_rank()) all.emplace_back("__shape__", text_of(variable.shape, zero_is_extent_));
    if (variable.storage) all.emplace_back("__storage_type__", cat(static_cast<int>(*variable.storage)));
  }

  /// In one line up to ten items, else one line for each.
  void list(const List<std::string>& items, int indent) {
    const bool lines = items.size() > 10;
    out_ += '[';
    for (int i = 0; i < items.size(); ++i) {
      if (i != 0) out_ += ", ";
      if (lines) out_.append(1, '\n').append(static_cast<std::size_t>(indent) + 2, ' ');
      out_ += items[i];
    }
    if (lines) out_.append(1, '\n').append(static_cast<std::size_t>(indent), ' ');
    out_ += ']';
  }

  const Symbol& symbol_;
  Graph graph_;
  List<int> versions_;                   // of each variable: how often it was written so far
  static constexpr int most_depth = 60;  // for each the text is nested four deep, as JsonReader counts
  const int depth_;
  bool zero_is_extent_ = false;
  std::string out_;
};

}  // namespace detail

STROP_IMPL std::string Symbol::to_json() const {
  if (!defined()) fail("to_json: the symbol is empty");
  return detail::GraphWriter(*this).text();
}

STROP_IMPL void Symbol::save(const std::string& path) const {
  const std::string text = to_json();
  detail::Output out(path);
  out.write(text);
  out.commit();
}

}  // namespace strop::inline v0
