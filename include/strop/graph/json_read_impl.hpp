// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbols from MXNet's files, of every version: the text to records, the records to nodes.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/json.hpp>
#include <strop/graph/attributes_impl.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/control/flow_files_impl.hpp>
#include <strop/graph/entry_maker.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/library_names.hpp>
#include <strop/graph/symbol.hpp>
#include <strop/graph/symbol_impl.hpp>
#include <strop/tensor/format/file.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

struct GraphRecord;

/// What a file says of a node.
struct NodeRecord {
  struct Link {
    std::int64_t node = 0, index = 0;
  };
  std::string op, name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<Link> inputs;
  std::vector<GraphRecord> graphs;  // of a loop or a branch
};

/// What a file says of a symbol.
struct GraphRecord {
  std::vector<NodeRecord> nodes;
  std::vector<NodeRecord::Link> heads;
  int version = 800;            // of the program that wrote it; 0.8 did not say
  bool zero_is_extent = false;  // an extent of 0 is one, and not an unknown one
};

/// The text to records. Keys of all versions: "attrs" was "attr", or "param" beside it, and links had two numbers.
class GraphReader {
 public:
  GraphReader(std::string_view text, std::string what) : in_(text, std::move(what)) {}

  GraphRecord read() {
    GraphRecord whole = graph();
    in_.finish();
    return whole;
  }

 private:
  GraphRecord graph() {
    GraphRecord around = std::exchange(graph_, GraphRecord());
    graph_.version = around.version;
    graph_.zero_is_extent = around.zero_is_extent;
    bool nodes = false, heads = false;
    in_.object([&](const std::string& key) {
      if (key == "nodes") {
        once(nodes, key);
        in_.array([&] { node(); });
      } else if (key == "heads") {
        once(heads, key);
        in_.array([&] { graph_.heads.push_back(link()); });
      } else if (key == "attrs") {
        in_.object([&](const std::string& name) { attribute(name); });
      } else if (key == "arg_nodes" || key == "node_row_ptr") {
        in_.array([&] { in_.integer(); });  // they follow from the nodes
      } else {
        in_.refuse(cat("a symbol has no '", excerpt(key), "'; it has nodes, arg_nodes, node_row_ptr, heads and attrs"));
      }
    });
    if (!nodes || !heads) in_.refuse(cat("a symbol has nodes and heads; there are no ", nodes ? "heads" : "nodes"));
    return std::exchange(graph_, std::move(around));
  }

  void once(bool& seen, std::string_view key) {
    if (seen) in_.refuse(cat("'", key, "' comes twice"));
    seen = true;
  }

  void node() {
    NodeRecord made;
    bool op = false, name = false, inputs = false, graphs = false;
    in_.object([&](const std::string& key) {
      if (key == "op") {
        once(op, key);
        made.op = in_.string();
      } else if (key == "name") {
        once(name, key);
        made.name = in_.string();
      } else if (key == "inputs") {
        once(inputs, key);
        in_.array([&] { made.inputs.push_back(link()); });
      } else if (key == "attrs" || key == "attr" || key == "param") {
        const std::size_t before = made.attributes.size();  // which one of this object replaces
        in_.object([&](const std::string& name_of_one) {
          std::size_t at = 0;
          while (at < before && made.attributes[at].first != name_of_one) ++at;
          if (at >= before) at = made.attributes.size();
          if (at == most_attributes) in_.refuse(cat("a node with more than ", most_attributes, " attributes"));
          if (at == made.attributes.size()) made.attributes.emplace_back(name_of_one, std::string());
          made.attributes[at].second = in_.string();
        });
      } else if (key == "backward_source_id") {
        if (in_.integer() != -1) in_.refuse("gradients are made anew, not read: backward_source_id is -1");
      } else if (key == "control_deps") {
        in_.array([&] { in_.integer(); });  // what a node computes does not depend on them
      } else if (key == "subgraphs") {
        once(graphs, key);
        in_.array([&] { made.graphs.push_back(graph()); });  // as deep as the reader of the text goes
      } else {
        in_.refuse(cat("a node has no '", excerpt(key), "'; it has op, name, attrs and inputs"));
      }
    });
    if (!op || !name || !inputs)
      in_.refuse(cat("node ", graph_.nodes.size(), " has no ", !op ? "op" : !name ? "name" : "inputs"));
    graph_.nodes.push_back(std::move(made));
  }

  /// [node, index, version]; the version follows from the nodes.
  NodeRecord::Link link() {
    NodeRecord::Link made;
    int n = 0;
    in_.array([&] {
      const std::int64_t value = in_.integer();
      if (n == 0) made.node = value;
      if (n == 1) made.index = value;
      ++n;
    });
    if (n != 2 && n != 3) in_.refuse(cat("a link to an output is [node, index, version], not ", n, " numbers"));
    return made;
  }

  /// ["int", 10700] and its like.
  void attribute(const std::string& name) {
    int n = 0;
    in_.array([&] {
      if (n++ == 1 && (name == "mxnet_version" || name == "is_np_shape")) {
        const std::int64_t value = in_.integer();
        if (name == "mxnet_version")
          graph_.version = static_cast<int>(std::clamp<std::int64_t>(value, 0, 1000000));
        else
          graph_.zero_is_extent = value != 0;
      } else {
        in_.skip();
      }
    });
  }

  JsonReader in_;
  GraphRecord graph_;
};

/// Records to nodes.
class GraphMaker {
 public:
  /// Tensors that parameters say nodes have, beside those that the file names, sub-graphs included: outputs, and inputs
  /// that are left out, of which each becomes a variable and counts for many.
  struct Tensors {
    static constexpr std::size_t of_input = 16;
    std::size_t found = 0, most = 0;
    explicit Tensors(const GraphRecord& file) : most(std::size_t{1 << 20} + 8 * of_input * nodes_of(file)) {}
    static std::size_t nodes_of(const GraphRecord& graph) {
      std::size_t count = graph.nodes.size();
      for (const NodeRecord& node : graph.nodes)
        for (const GraphRecord& part : node.graphs) count += nodes_of(part);
      return count;
    }
  };

  GraphMaker(const GraphRecord& from, std::string what, Tensors& tensors)
      : from_(from), what_(std::move(what)), tensors_(tensors) {}

  Symbol make() {
    find_operators();
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
      const NodeRecord& record = from_.nodes[i];
      try {
        made_.push_back(entries_[i] != nullptr         ? application(record, i)
                        : record.op == "null"          ? variable(record)
                        : flow_kind_of(record.op) >= 0 ? control(record, i)
                                                       : made_entry(record, i));
      } catch (const Error& error) {
        fail(what_, ": node ", i, " '", excerpt(record.name), "': ", error.what());
      }
    }
    NodeOutputs heads;
    for (std::size_t i = 0; i < from_.heads.size(); ++i) {
      try {
        heads.push_back(linked(from_.heads[i], from_.nodes.size()));
      } catch (const Error& error) {
        fail(what_, ": head ", i, ": ", error.what());
      }
    }
    if (heads.empty()) fail(what_, ": the symbol has no heads, which are its outputs");
    return Symbol(std::move(heads));
  }

 private:
  void find_operators() {
    std::vector<std::pair<std::string_view, std::string_view>> missing;  // operators, and the first node of each
    bool more = false;
    entries_.assign(from_.nodes.size(), nullptr);
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
      const NodeRecord& record = from_.nodes[i];
      if (record.op == "null" || flow_kind_of(record.op) >= 0) continue;
      const Entry* const entry = look_up(record.op);
      if (entry != nullptr && entry->is_gradient())
        fail(what_, ": node ", i, " '", excerpt(record.name),
             "' is a gradient, which is made anew from what it is the gradient of, not read");
      entries_[i] = entry;
      bool known = entry != nullptr || (maker_ != nullptr && maker_->op == record.op);
      for (const auto& one : missing) known = known || one.first == record.op;
      if (known) continue;
      if (missing.size() == 16)
        more = true;
      else
        missing.emplace_back(record.op, record.name);
    }
    if (!missing.empty()) fail(what_, ": ", missing_sentence(missing, more));
  }

  static std::string missing_sentence(const std::vector<std::pair<std::string_view, std::string_view>>& missing,
                                      bool more) {
    std::string all, library, unknown;
    for (const auto& [op, node] : missing) {
      const std::string name = excerpt(op);
      all += cat(all.empty() ? "" : ", ", name, " (node '", excerpt(node), "')");
      std::string& list = in_library(op) ? library : unknown;
      list += cat(list.empty() ? "" : ", ", name);
    }
    std::string out = cat("this program has no operators ", all, more ? " and others" : "");
    if (!library.empty())
      out +=
          cat("; the library's join where the program calls them, or all together with #include "
              "<strop/ops/all.hpp>: ",
              library);
    if (!unknown.empty()) out += cat("; the library has none called ", unknown);
    return out;
  }

  /// The output that a link names, among the first `before` nodes.
  NodeOutput linked(const NodeRecord::Link& link, std::size_t before) const {
    const auto nodes = static_cast<std::int64_t>(before);
    if (link.node < 0 || link.node >= nodes)
      fail("it links to node ", link.node, ", expected one of the ", nodes, " before it");
    const NodeOutput& to = made_[static_cast<int>(link.node)];
    if (link.index < 0 || link.index >= to.node->outputs())
      fail("it links to output ", link.index, " of '", excerpt(to.node->name), "', which has ", to.node->outputs());
    return {to.node, static_cast<int>(link.index)};
  }

  NodeOutput variable(const NodeRecord& record) const {
    if (!record.inputs.empty()) fail("a variable has no inputs");
    const Ref<Node> node(new Node);
    node->name = record.name;
    for (const auto& [key, text] : record.attributes)
      if (!describe(node->variable, key, text, from_.zero_is_extent)) set(*node, attribute_key(key), text);
    return {node, 0};
  }

  static void set(Node& node, std::string_view key, std::string_view text) { set_text(node.attributes, key, text); }

  /// A loop or a branch.
  NodeOutput control(const NodeRecord& record, std::size_t i) {
    std::vector<Symbol> graphs;
    for (const GraphRecord& one : record.graphs) {
      GraphRecord whole = one;
      whole.version = from_.version;  // which stands at the end of the file
      whole.zero_is_extent = whole.zero_is_extent || from_.zero_is_extent;
      graphs.push_back(GraphMaker(whole, cat("sub-graph ", graphs.size()), tensors_).make());
    }
    const Ref<Flow> flow = flow_of_file(static_cast<FlowKind>(flow_kind_of(record.op)),
                                        static_cast<int>(record.inputs.size()), record.attributes, graphs);
    const FlowOp op{flow};
    const Ref<Node> node(new Node);
    node->name = record.name;
    node->entry = &flow->entry;
    node->params = Ref(new ParamBox(&flow_table, &op));
    node->signature = signature_of(flow->entry, &op, flow->inputs);
    for (const auto& [key, text] : record.attributes)
      if (is_hidden(key) || (key.starts_with("__") && key.ends_with("__"))) set(*node, attribute_key(key), text);
    take_inputs(*node, record, i);
    return {node, 0};
  }

  /// A node whose entry is made for it.
  NodeOutput made_entry(const NodeRecord& record, std::size_t i) {
    const Ref<Node> node(new Node);
    node->name = record.name;
    std::vector<std::pair<std::string_view, std::string_view>> parameters;
    for (const auto& [key, text] : record.attributes)
      if (is_hidden(key) || (key.starts_with("__") && key.ends_with("__")))
        set(*node, attribute_key(key), text);
      else
        parameters.emplace_back(key, text);
    const EntryMaker::Made made = maker_->make(parameters);
    node->entry = made.entry;
    node->params = made.params;
    node->signature = signature_of(*made.entry, made.params->get(), static_cast<int>(record.inputs.size()));
    take_inputs(*node, record, i);
    return {node, 0};
  }

  NodeOutput application(const NodeRecord& record, std::size_t i) {
    const Entry& entry = *entries_[i];
    refuse_found(entry);
    const Ref<Node> node(new Node);
    node->name = record.name;
    node->entry = &entry;
    std::int64_t count = -1;  // num_args of an operator that counts by itself
    std::vector<std::pair<std::string_view, std::string_view>> parameters, of_inputs;
    std::string opened;  // what stands in place of the file's text of a shape
    const bool counts = entry.inputs < 0 && (entry.params == nullptr || !entry.params->find("num_args"));
    for (const auto& [key, text] : record.attributes) {
      if (const auto field = entry.params != nullptr ? entry.params->find(key) : std::nullopt) {
        parameters.emplace_back(key, upgraded(*entry.params, key, text, from_.version));
        if (!from_.zero_is_extent && says_shape(entry, key))
          parameters.back().second = opened = with_open_extents(parameters.back().second);
        if (parameters.back().second == text)  // else it is another one, which nobody has written
          set_text(node->said, entry.params->fields[*field].name, text);
      } else if (counts && key == "num_args" && parse_integer(text, count))
        continue;
      else if (is_hidden(key) || (key.starts_with("__") && key.ends_with("__")))
        set(*node, attribute_key(key), text);
      else if (of_input(key))
        of_inputs.emplace_back(key, text);
      else if (entry.params == nullptr || entry.params->fields.empty())
        set(*node, key, text);  // MXNet takes any, and so do its files
      else
        parameters.emplace_back(key, text);  // which says what there is
    }
    node->params = parse_params(entry, parameters);
    node->signature = signature_of(entry, node->params->get(), static_cast<int>(record.inputs.size()));
    take_inputs(*node, record, i);
    if (count >= 0 && count != node->inputs.size())
      fail(entry.snake, ": num_args is ", count, ", and there are ", node->inputs.size(), " inputs");
    for (const auto& [key, text] : of_inputs) set_of_input(*node, key, text);
    return {node, 0};
  }

  /// weight_lr_mult: an attribute of the variable that is the input `weight`.
  static bool of_input(std::string_view key) {
    for (const std::string_view hidden : hidden_keys)
      if (key.size() > hidden.size() + 1 && key.ends_with(hidden) && key[key.size() - hidden.size() - 1] == '_')
        return true;
    return false;
  }
  static void set_of_input(Node& node, std::string_view key, std::string_view text) {
    for (const std::string_view hidden : hidden_keys) {
      if (!key.ends_with(hidden) || key.size() < hidden.size() + 2) continue;
      const std::string_view input = key.substr(0, key.size() - hidden.size() - 1);
      for (int k = 0; k < node.inputs.size(); ++k)
        if (element(node.signature.inputs, k) == input && node.inputs[k].node->is_variable())
          return set(*node.inputs[k].node, attribute_key(hidden), std::string(text));
    }
    fail(node.entry->snake, ": attribute '", excerpt(key), "' is of no input that is a variable");
  }

  void take_inputs(Node& node, const NodeRecord& record, std::size_t i) {
    const std::vector<std::string_view>& names = node.signature.inputs;
    const std::size_t given = record.inputs.size();
    tensors_.found +=
        Tensors::of_input * (names.size() - std::min(names.size(), given)) + node.signature.outputs.size();
    // What a parameter says that a node has takes memory before shapes are compared.
    if (tensors_.found > tensors_.most)
      fail("with its ", names.size(), " inputs and ", node.signature.outputs.size(),
           " outputs the symbol has more than is taken from a file");
    if (given > names.size() || (given < names.size() && from_.version >= 900))
      fail(node.entry->snake, ": takes ", names.size(), names.size() == 1 ? " input (" : " inputs (", listed(names),
           "), and the file gives ", given);
    for (const NodeRecord::Link& link : record.inputs) node.inputs.push_back(linked(link, i));
    // Files of 0.8 leave out what an operator writes, such as running means, and how variables begin.
    for (std::size_t k = 0; k < given && from_.version < 900; ++k)
      if (Node& source = *node.inputs[static_cast<int>(k)].node; source.is_variable())
        say_initial(*node.entry, names[k], source);
    for (std::size_t k = given; k < names.size(); ++k)
      node.inputs.push_back(missing_input(node, names, static_cast<int>(k)));
    for (int k : node.signature.mutated)
      if (!node.inputs[k].node->is_variable())
        fail(node.entry->snake, ": input '", element(names, k),
             "' is written and so must be a variable, not the output of '", excerpt(node.inputs[k].node->name), "'");
  }

  const GraphRecord& from_;
  const std::string what_;
  const EntryMaker* const maker_ = entry_maker.load();
  std::vector<const Entry*> entries_;
  NodeOutputs made_;
  Tensors& tensors_;
};

STROP_IMPL Symbol symbol_of_text(std::string_view text, const std::string& what) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";  // a byte order mark, as some editors write it
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  const GraphRecord record = GraphReader(text, what).read();
  GraphMaker::Tensors tensors(record);
  return GraphMaker(record, what, tensors).make();
}

}  // namespace detail

STROP_IMPL Symbol Symbol::from_json(std::string_view text) { return detail::symbol_of_text(text, "from_json"); }

STROP_IMPL Symbol Symbol::load(const std::string& path) {
  detail::Input in(path);
  try {
    return detail::symbol_of_text(in.text(in.size(), "the symbol"), cat("strop: load(\"", path, "\")"));
  } catch (const std::bad_alloc&) {
    in.refuse(cat("there is not enough memory for a file of ", in.size(), " bytes"));
  }
}

}  // namespace strop::inline v0
