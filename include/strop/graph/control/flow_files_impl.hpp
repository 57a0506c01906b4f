// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops and branches in files: MXNet's attributes beside the sub-graphs, which say by position what is what.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/printable.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/control/flow_impl.hpp>
#include <strop/tensor/format/file.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

STROP_IMPL int flow_kind_of(std::string_view op) {
  return op == "_foreach" ? 0 : op == "_while_loop" ? 1 : op == "_cond" ? 2 : -1;
}

STROP_IMPL std::string positions_text(const List<int>& positions) {
  std::string text = "[";
  for (const int at : positions) text += cat(text.size() == 1 ? "" : ", ", at);
  return text + ']';
}

STROP_IMPL void check_in_files(const Flow& flow, std::string_view node) {
  for (int i = 0; i < flow.inputs; ++i)
    if ((i < flow.data || flow.state_of(i) >= 0) && flow.body().input_for(i) < 0)
      fail("to_json: node '", node, "': ", flow.input_names[i],
           " is not used in the body, which files cannot say; use it there, or leave it out");
}

STROP_IMPL NamedTexts flow_attributes(const Flow& flow) {
  NamedTexts out;
  const SubGraph& body = flow.body();
  const auto positions = [&](int from, int to) {
    List<int> found;
    for (int link = from; link < to; ++link) found.push_back(body.input_for(link));
    return positions_text(found);
  };
  const auto say = [&](std::string_view key, std::string text) { out.push_back({std::string(key), std::move(text)}); };
  say("num_args", cat(flow.inputs + flow.graphs.size()));
  say("num_outputs", cat(flow.visible));
  if (flow.kind == FlowKind::cond) {
    say("cond_input_locs", positions_text(flow.graphs[0].links));
    say("then_input_locs", positions_text(flow.graphs[1].links));
    say("else_input_locs", positions_text(flow.graphs[2].links));
    return out;
  }
  say("num_out_data", cat(flow.stacked));
  if (flow.kind == FlowKind::foreach) {
    const int states = flow.data + static_cast<int>(flow.states.size());
    say("in_data_locs", positions(0, flow.data));
    say("in_state_locs", positions(flow.data, states));
    say("remain_locs", positions(states, flow.inputs));
    return out;
  }
  List<int> variables;
  for (const int input : flow.states) variables.push_back(body.input_for(input));
  say("max_iterations", cat(flow.most));
  say("cond_input_locs", positions_text(flow.graphs[0].links));
  say("func_input_locs", positions_text(body.links));
  say("func_var_locs", positions_text(variables));
  return out;
}

/// What the attributes of a node say.
class FlowRecord {
 public:
  FlowRecord(std::string_view op, const std::vector<std::pair<std::string, std::string>>& attributes)
      : op_(op), attributes_(attributes) {}

  std::int64_t number(std::string_view key, std::int64_t most) const {
    std::int64_t value = 0;
    if (!parse_integer(text(key), value) || value < 0 || value > most)
      fail(op_, ": '", key, "' is '", excerpt(text(key)), "', expected a whole number from 0 to ", most);
    return value;
  }
  List<int> positions(std::string_view key, Index count, Index below) const {
    Shape found;
    if (!parse_shape(text(key), found)) fail(op_, ": '", key, "' is '", excerpt(text(key)), "', expected [0, 1]");
    if (found.ndim() != count) fail(op_, ": '", key, "' has ", found.ndim(), " positions, expected ", count);
    List<int> out;
    for (const std::int64_t at : found) {
      if (at < 0 || at >= below) fail(op_, ": '", key, "' has the position ", at, ", expected one below ", below);
      out.push_back(static_cast<int>(at));
    }
    return out;
  }
  /// How many positions there are.
  Index count(std::string_view key) const {
    Shape found;
    if (!parse_shape(text(key), found)) fail(op_, ": '", key, "' is '", excerpt(text(key)), "', expected [0, 1]");
    return found.ndim();
  }

 private:
  const std::string& text(std::string_view key) const {
    for (const auto& one : attributes_)
      if (one.first == key) return one.second;
    fail(op_, ": there is no '", key, "'");
  }
  std::string_view op_;
  const std::vector<std::pair<std::string, std::string>>& attributes_;
};

STROP_IMPL Ref<Flow> flow_of_file(FlowKind kind, int inputs,
                                  const std::vector<std::pair<std::string, std::string>>& attributes,
                                  const std::vector<Symbol>& graphs) {
  static constexpr std::string_view names[] = {"foreach", "while_loop", "cond"};
  const std::string_view name = names[static_cast<int>(kind)];
  const std::size_t expected = kind == FlowKind::foreach ? 1 : kind == FlowKind::while_loop ? 2 : 3;
  if (graphs.size() != expected) fail(name, ": it has ", graphs.size(), " subgraphs, expected ", expected);
  const FlowRecord record(name, attributes);
  const Ref<Flow> flow(new Flow);
  flow->kind = kind;
  flow->inputs = inputs;
  for (const Symbol& graph : graphs) flow->graphs.push_back(SubGraph(graph.outputs()));
  const auto link = [&](SubGraph& graph, std::string_view key) {
    graph.links = record.positions(key, graph.inputs.size(), inputs);
  };
  SubGraph& body = flow->body();
  const std::int64_t outputs = record.number("num_outputs", 1 << 20);
  if (outputs != body.outputs.size())
    fail(name, ": num_outputs is ", outputs, ", and the body has ", body.outputs.size(), " outputs");
  if (kind != FlowKind::cond) flow->stacked = static_cast<int>(record.number("num_out_data", outputs));
  const int states = static_cast<int>(outputs) - flow->stacked;
  if (kind == FlowKind::foreach) {
    flow->data = static_cast<int>(record.count("in_data_locs"));
    if (flow->data + states > inputs)
      fail(name, ": there are ", inputs, " inputs for ", flow->data, " data and ", states, " states");
    body.links = List<int>(body.inputs.size(), -1);
    int next = 0;
    const auto place = [&](std::string_view key, Index count) {
      for (const int at : record.positions(key, count, body.inputs.size())) {
        if (body.links[at] >= 0) fail(name, ": '", key, "' has the position ", at, ", which another input has");
        body.links[at] = next++;
      }
    };
    place("in_data_locs", flow->data);
    for (int j = 0; j < states; ++j) flow->states.push_back(flow->data + j);
    place("in_state_locs", states);
    place("remain_locs", inputs - next);
    for (Index i = 0; i < body.inputs.size(); ++i)
      if (body.links[i] < 0) fail(name, ": no input is for '", excerpt(body.inputs[i].node->name), "' of the body");
  } else if (kind == FlowKind::while_loop) {
    flow->most = record.number("max_iterations", std::int64_t{1} << 53);
    link(flow->graphs[0], "cond_input_locs");
    link(body, "func_input_locs");
    for (const int at : record.positions("func_var_locs", states, body.inputs.size()))
      flow->states.push_back(body.links[at]);
  } else {
    link(flow->graphs[0], "cond_input_locs");
    link(flow->graphs[1], "then_input_locs");
    link(flow->graphs[2], "else_input_locs");
  }
  complete_flow(flow);
  return flow;
}

}  // namespace strop::inline v0::detail
