// SPDX-License-Identifier: Apache-2.0
/// \file
/// How bodies are cut out of the graph in which they were made, and become the parameter of a node.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/control/flow_infer_impl.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/symbol_impl.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

STROP_IMPL bool is_same(const NodeOutput& a, const NodeOutput& b) { return a.node == b.node && a.index == b.index; }

/// Which body a node was made in; empty outside of all.
STROP_IMPL std::string_view body_of(const NamedTexts& attributes) {
  const std::string* const found = find_text(attributes, body_key);
  return found != nullptr ? std::string_view(*found) : std::string_view();
}

STROP_IMPL SubGraph::SubGraph(NodeOutputs of) : outputs(std::move(of)) {
  const Graph graph(outputs);
  const List<bool> auxiliary = graph.auxiliary();
  for (int n = 0; n < graph.size(); ++n) {
    Node& node = graph.node(n);
    if (!node.is_variable()) {
      resources = resources || node.entry->resources != nullptr;
      states = states || node.entry->cpu.make_state != nullptr;
      continue;
    }
    inputs.push_back({Ref(&node), 0});
    written.push_back(auxiliary[n]);
  }
  for (const NodeOutput& output : outputs) {
    NodeOutput plain = output;
    while (!plain.node->is_variable() && plain.node->entry->library && plain.node->entry->name == "_copy")
      plain = NodeOutput(plain.node->inputs[0]);
    if (plain.node->is_variable() && auxiliary[graph.find(plain.node.get())]) plain = output;  // as it was then
    int at = -1;
    if (plain.node->is_variable()) {
      for (int i = 0; i < inputs.size(); ++i)
        if (inputs[i].node == plain.node) at = ~i;
    } else {
      at = static_cast<int>(results.size());
      for (int r = at; r-- > 0;)
        if (is_same(results[r], plain)) at = r;
      if (at == results.size()) results.push_back(plain);
    }
    result_of.push_back(at);
  }
}

STROP_IMPL BodyScope::BodyScope(std::string_view hint) : before_(naming().attributes) {
  const std::string_view around = body_of(before_);
  const std::string counted = cat(hint, '$');  // no operator's name
  List<std::pair<std::string, int>>& counters = naming().scopes.back().counters;
  int number = -1;
  for (auto& one : counters)
    if (one.first == counted) number = one.second++;
  if (number < 0) counters.push_back({counted, 1});
  name_ = cat(around, around.empty() ? "" : "$", hint, std::max(number, 0));
  set_text(naming().attributes, body_key, name_);
}
STROP_IMPL BodyScope::~BodyScope() { close(); }
STROP_IMPL void BodyScope::close() {
  if (std::exchange(open_, false)) naming().attributes = std::move(before_);
}

STROP_IMPL std::vector<Symbol> BodyScope::variables(std::string_view what, const std::vector<Symbol>& of) {
  std::vector<Symbol> made;
  List<std::string> names;
  for (const Symbol& symbol : of) {
    if (!symbol.defined()) fail(what, " is an empty symbol");
    const NodeOutput outer = one_output(name_, what, symbol);
    std::string name;
    bool taken = true;
    for (int number = outer.index; taken; ++number) {
      name = cat(outer.node->name, '-', number);
      taken = false;
      for (const std::string& other : names) taken = taken || other == name;
    }
    names.push_back(name);
    made.push_back(Symbol(scoped_variable(name)));
  }
  return made;
}

STROP_IMPL std::vector<bool> lacking_node(std::string_view scope, const std::vector<Symbol>& outputs) {
  std::vector<bool> lacking;
  NodeOutputs seen;
  for (const Symbol& symbol : outputs) {
    if (!symbol.defined()) fail(scope, ": the body returns an empty symbol");
    const NodeOutput output = one_output(scope, "a result of the body", symbol);
    bool lacks = output.node->is_variable() || body_of(output.node->attributes) != scope;
    for (const NodeOutput& other : seen) lacks = lacks || is_same(other, output);
    seen.push_back(output);
    lacking.push_back(lacks);
  }
  return lacking;
}

STROP_IMPL SubGraph BodyCutter::cut(std::string_view scope, const std::vector<Symbol>& outputs,
                                    const std::vector<Symbol>& own) {
  NodeOutputs roots;
  for (const Symbol& output : outputs) roots.push_back(one_output(scope, "a result of the body", output));
  const Graph graph(roots);
  List<Ref<Node>> copies(graph.size());
  NodeOutputs stands(graph.values());  // variables, in place of values from outside
  const auto own_place = [&](const Node* node) {
    for (Index i = 0; i < std::ssize(own); ++i)
      if (element(own, i).outputs()[0].node.get() == node) return static_cast<int>(i);
    return -1;
  };
  const auto check_outside = [&](const Node& node) {
    const std::string_view made_in = body_of(node.attributes);
    if (made_in.empty() || made_in == scope) return;
    if (!scope.starts_with(made_in) || scope.substr(made_in.size(), 1) != "$")
      fail(scope, ": its body uses '", node.name, "', which was made in the body of another loop or branch, ", made_in);
  };
  const auto moved = [&](const NodeOutput& from) -> NodeOutput {
    if (!from.node || own_place(from.node.get()) >= 0) return from;
    const int n = graph.find(from.node.get());
    if (copies[n]) return {copies[n], from.index};
    NodeOutput& stand = stands[graph.value(from)];
    if (!stand.node) {
      check_outside(*from.node);
      stand = {Ref<Node>(new Node), 0};
      stand.node->name = from.node->output_name(from.index);
    }
    return stand;
  };
  for (int n = 0; n < graph.size(); ++n) {
    const Node& node = graph.node(n);
    if (node.is_variable() || body_of(node.attributes) != scope) continue;
    if (node.entry->is_gradient())
      fail(scope, ": its body has the gradient '", node.name, "'; differentiate what the loop or branch gives");
    copies[n] = Ref(new Node(node));
    for (NodeOutput& in : copies[n]->inputs) in = moved(in);
  }
  NodeOutputs made;
  for (const NodeOutput& root : roots) made.push_back(moved(root));
  SubGraph sub(std::move(made));
  for (const NodeOutput& input : sub.inputs) {
    int link = own_place(input.node.get());
    if (link < 0) {
      NodeOutput outer;
      for (int n = 0; n < graph.size() && !outer.node; ++n)
        for (int k = 0; k < graph.node(n).outputs(); ++k)
          if (stands[graph.value(n, k)].node == input.node) outer = {Ref(&graph.node(n)), k};
      int at = 0;
      while (at < outside_.size() && !is_same(outside_[at], outer)) ++at;
      if (at == outside_.size()) outside_.push_back(outer);
      link = static_cast<int>(own.size()) + at;
    }
    sub.links.push_back(link);
  }
  return sub;
}

/// The node on what the caller gives and what the bodies read from outside.
STROP_IMPL Symbol flow_node(const Ref<Flow>& flow, std::vector<Symbol> in, const NodeOutputs& outside,
                            std::string_view name) {
  for (const NodeOutput& outer : outside) in.push_back(Symbol(outer));
  flow->inputs = static_cast<int>(in.size());
  complete_flow(flow);
  const FlowOp op{flow};
  return build_node(flow->entry, Ref(new ParamBox(&flow_table, &op)), in, name);
}

STROP_IMPL void check_states(std::string_view op, std::size_t given, std::size_t states) {
  if (given != states)
    fail(op, ": the body returns ", given, given == 1 ? " state" : " states", ", expected ", states, " as it is given");
}

STROP_IMPL Symbol make_foreach(std::string_view scope, const std::vector<Symbol>& data,
                               const std::vector<Symbol>& states, const std::vector<Symbol>& own,
                               const std::vector<Symbol>& outputs, const std::vector<Symbol>& next,
                               std::string_view name) {
  check_states("foreach", next.size(), states.size());
  const Ref<Flow> flow(new Flow);
  flow->data = static_cast<int>(data.size());
  flow->stacked = static_cast<int>(outputs.size());
  std::vector<Symbol> in = data, all = outputs;
  for (const Symbol& state : states) {
    flow->states.push_back(static_cast<int>(in.size()));
    in.push_back(state);
  }
  all.insert(all.end(), next.begin(), next.end());
  BodyCutter cutter;
  flow->graphs.push_back(cutter.cut(scope, all, own));
  return flow_node(flow, std::move(in), cutter.outside(), name);
}

STROP_IMPL Symbol make_while(std::string_view of_condition, const std::vector<Symbol>& own_of_condition,
                             const Symbol& condition, std::string_view scope, const std::vector<Symbol>& own,
                             const std::vector<Symbol>& states, const std::vector<Symbol>& outputs,
                             const std::vector<Symbol>& next, std::int64_t most, std::string_view name) {
  check_states("while_loop", next.size(), states.size());
  const Ref<Flow> flow(new Flow);
  flow->kind = FlowKind::while_loop;
  flow->most = most;
  flow->stacked = static_cast<int>(outputs.size());
  for (int j = 0; j < static_cast<int>(states.size()); ++j) flow->states.push_back(j);
  std::vector<Symbol> all = outputs;
  all.insert(all.end(), next.begin(), next.end());
  BodyCutter cutter;
  flow->graphs.push_back(cutter.cut(of_condition, {condition}, own_of_condition));
  flow->graphs.push_back(cutter.cut(scope, all, own));
  return flow_node(flow, states, cutter.outside(), name);
}

STROP_IMPL Symbol make_cond(std::string_view of_predicate, const std::vector<Symbol>& own, const Symbol& passed,
                            const Symbol& predicate, std::string_view of_then, const std::vector<Symbol>& then,
                            std::string_view of_else, const std::vector<Symbol>& otherwise, std::string_view name) {
  const Ref<Flow> flow(new Flow);
  flow->kind = FlowKind::cond;
  BodyCutter cutter;
  flow->graphs.push_back(cutter.cut(of_predicate, {passed}, own));
  flow->graphs.push_back(cutter.cut(of_then, then, own));
  flow->graphs.push_back(cutter.cut(of_else, otherwise, own));
  return flow_node(flow, {predicate}, cutter.outside(), name);
}

STROP_IMPL void check_flow(const Flow& flow) {
  const auto in_range = [&](int input) { return input >= 0 && input < flow.inputs; };
  const SubGraph& body = flow.body();
  if (flow.kind == FlowKind::foreach && flow.data == 0) fail(flow.name(), ": there is no data to go along");
  if (flow.kind == FlowKind::while_loop && flow.most < 1)
    fail(flow.name(), ": max_iterations is ", flow.most, ", expected at least 1");
  if (flow.is_loop() && body.outputs.size() != flow.stacked + flow.states.size())
    fail(flow.name(), ": the body has ", body.outputs.size(), " outputs, expected ", flow.stacked, " to collect and ",
         flow.states.size(), " states");
  if (flow.kind == FlowKind::cond && body.outputs.size() != flow.body(1).outputs.size())
    fail(flow.name(), ": one branch has ", body.outputs.size(), " outputs and the other ", flow.body(1).outputs.size());
  if (body.outputs.empty()) fail(flow.name(), ": the body computes nothing");
  if (flow.kind != FlowKind::foreach && flow.graphs[0].outputs.size() != 1)
    fail(flow.name(), ": the condition has ", flow.graphs[0].outputs.size(), " outputs, expected one");
  for (Index i = 0; i < flow.states.size(); ++i) {
    const int input = flow.states[i];
    if (!in_range(input)) fail(flow.name(), ": a state is input ", input, " of ", flow.inputs);
    if (flow.state_of(input) != i) fail(flow.name(), ": two states are the same input, ", input);
  }
  for (const SubGraph& graph : flow.graphs)
    for (int i = 0; i < graph.inputs.size(); ++i) {
      const int link = graph.links[i];
      const std::string& name = graph.inputs[i].node->name;
      if (!in_range(link)) fail(flow.name(), ": '", name, "' of a body is input ", link, " of ", flow.inputs);
      if (graph.input_for(link) != i)
        fail(flow.name(), ": '", name, "' and '", graph.inputs[graph.input_for(link)].node->name,
             "' of a body are the same input");
      if (!graph.written[i]) continue;
      if (&graph == flow.graphs.begin() && flow.kind != FlowKind::foreach)
        fail(flow.name(), ": the condition writes '", name, "'; conditions only read");
      if (link < flow.data || flow.state_of(link) >= 0)
        fail(flow.name(), ": the body writes '", name, "', which is an entry of the data or a state of the loop");
    }
}

STROP_IMPL void name_tensors(Flow& flow) {
  const auto number = [](std::string_view of, int i, int count) { return count == 1 ? std::string(of) : cat(of, i); };
  flow.input_names.resize(flow.inputs);
  for (const SubGraph& graph : flow.graphs)
    for (int i = 0; i < graph.inputs.size(); ++i) flow.input_names[graph.links[i]] = graph.inputs[i].node->name;
  for (int i = 0; i < flow.data; ++i) flow.input_names[i] = number("data", i, flow.data);
  for (int j = 0; j < flow.states.size(); ++j)
    flow.input_names[flow.states[j]] = number("state", j, static_cast<int>(flow.states.size()));
  for (int k = 0; k < flow.visible; ++k) flow.output_names.push_back(number("output", k, flow.visible));
}

/// A bit for each, as far as there are bits.
STROP_IMPL std::uint64_t mask_of(const List<bool>& chosen) {
  std::uint64_t mask = 0;
  for (int k = 0; k < chosen.size(); ++k)
    if (chosen[k]) mask = chosen.size() > 64 ? every : mask | std::uint64_t{1} << k;
  return mask;
}

/// A flow's states are those of its bodies, which the box holds once they are bound.
STROP_IMPL Ref<StateBox> make_flow_state(const void*, Context&, std::span<const Shape>) {
  return Ref<StateBox>(new StateOf<Ref<FlowBodies>>({}));
}

STROP_IMPL void complete_flow(const Ref<Flow>& ref) {
  static constexpr std::string_view names[][3] = {{"_foreach", "foreach", "_backward__foreach"},
                                                  {"_while_loop", "while_loop", "_backward__while_loop"},
                                                  {"_cond", "cond", "_backward__cond"}};
  Flow& flow = *ref;
  const auto& name = names[static_cast<int>(flow.kind)];
  Entry& e = flow.entry;
  e.name = e.qualified = name[0];
  e.snake = name[1];
  check_flow(flow);

  const SubGraph& body = flow.body();
  flow.visible = static_cast<int>(body.outputs.size());
  name_tensors(flow);
  flow.outputs = flow.visible;
  const auto hidden = [&](std::string output) {
    flow.output_names.push_back(std::move(output));
    return flow.outputs++;
  };
  for (int j = 0; j < flow.states.size(); ++j) {
    int at = -1;
    const int result = body.result_of[flow.stacked + j];
    for (int k = 0; k < flow.stacked && result >= 0; ++k)
      if (body.result_of[k] == result) at = k;
    flow.history.push_back(at >= 0 ? at : hidden(cat("history", j)));
  }
  flow.written.resize(flow.inputs);
  bool draws = false, states = false;
  for (const SubGraph& graph : flow.graphs) {
    draws = draws || graph.resources;
    states = states || graph.states;
    for (int i = 0; i < graph.inputs.size(); ++i)
      flow.written[graph.links[i]] = flow.written[graph.links[i]] || graph.written[i];
  }
  for (int i = 0; i < flow.inputs; ++i) {
    flow.before.push_back(flow.written[i] ? hidden(cat("before", i)) : -1);
    e.mutates = e.mutates || flow.written[i];
  }
  if (draws) flow.drawn = hidden("drawn");
  if (flow.kind != FlowKind::foreach) flow.taken = hidden("taken");

  e.doc = "Runs sub-graphs: a loop or a branch.";
  e.params = &flow_table;
  e.library = e.skips_null = true;
  e.inputs = e.min_inputs = flow.inputs;
  e.outputs = flow.outputs;
  e.visible = flow.visible;
  e.dtypes = any_dtype;
  e.signature = &flow_signature;
  e.infer_shape = &infer_flow_shape;
  e.infer_type = &infer_flow_type;
  e.infer_storage = &infer_flow_storage;
  if (draws) e.resources = &flow_resources;
  List<bool> heads(flow.outputs), kept(flow.outputs);
  for (int k = 0; k < flow.outputs; ++k) {
    heads[k] = k < flow.visible;
    kept[k] = k >= flow.visible;
  }
  for (int at : flow.history) kept[at] = true;
  e.gradient.entry = &flow.gradient_entry;
  e.gradient.heads = mask_of(heads);
  e.gradient.in = e.gradient.gives = every;
  e.gradient.out = mask_of(kept);

  Entry& g = flow.gradient_entry;
  g.name = g.qualified = g.snake = name[2];
  g.doc = "The gradient of a loop or a branch.";
  g.params = &flow_table;
  g.library = g.skips_null = true;
  g.inputs = g.min_inputs = -1;
  g.dtypes = any_dtype;
  g.order = 1;
  g.infer_shape = [](const void*, Shapes&) {};
  g.infer_type = [](const void*, Types&) {};
  g.infer_storage = &infer_flow_gradient_storage;
  // Whoever keeps a state runs at the call: so does what it is a part of.
  if (states) e.cpu.make_state = g.cpu.make_state = &make_flow_state;
  e.cpu.run[0] = [](const Call& call, Context& ctx) { flow_runner.get("a loop in a graph").forward(call, ctx); };
  g.cpu.run[1] = [](const Call& call, Context& ctx) { flow_runner.get("a loop in a graph").backward(call, ctx); };
}

}  // namespace strop::inline v0::detail
