// SPDX-License-Identifier: Apache-2.0
/// \file
/// What STROP_PASSES asks for: each pass says what it has made, and what it has made is checked.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/environment.hpp>
#include <strop/core/log.hpp>
#include <strop/graph/attributes_impl.hpp>
#include <strop/graph/passes/fused_map.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/tensor/print.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// What is not legal, and the node that it is said of, where it is one.
struct Illegal {
  const Node* node = nullptr;
  std::string sentence = {};
};

/// Whether a node fits its operator, and what it reads stands before it: of a cycle one node does not.
STROP_IMPL std::string illegal_in(const Graph& graph, int n) {
  const Node& node = graph.node(n);
  const auto wrong = [&](const NodeOutput& in) {
    const int from = graph.find(in.node.get());
    if (from < 0 || from >= n) return cat("it reads '", in.node->name, "', which does not come before it");
    if (in.index < 0 || in.index >= in.node->outputs())
      return cat("it reads output ", in.index, " of '", in.node->name, "', which has ", in.node->outputs());
    return std::string();
  };
  for (const auto* list : {&node.inputs, &node.like})
    for (const NodeOutput& in : *list)
      if (in.node)
        if (std::string what = wrong(in); !what.empty()) return what;
  if (node.is_variable()) return node.inputs.empty() ? std::string() : std::string("it is a variable and has inputs");
  const Entry& entry = *node.entry;
  const Index inputs = node.inputs.size();
  if (const Index takes = std::ssize(node.signature.inputs); inputs != takes)
    return cat("it has ", inputs, inputs == 1 ? " input, and " : " inputs, and ", entry.name, " takes ", takes);
  for (Index i = 0; i < inputs; ++i)
    if (!node.inputs[i].node && i < entry.min_inputs && !entry.is_gradient())
      return cat("it has no '", element(node.signature.inputs, i), '\'');
  if (node.outputs() == 0 || node.visible() > node.outputs())
    return cat("it shows ", node.visible(), " outputs of ", node.outputs());
  if (!node.like.empty() && node.like.size() != node.outputs())
    return cat("it has ", node.outputs(), " outputs, and ", node.like.size(), " say what they are like");
  for (const int i : node.signature.mutated)
    if (i >= inputs || !node.inputs[i].node || !node.inputs[i].node->is_variable())
      return cat("it writes input ", i, ", which is no variable");
  return {};
}

STROP_IMPL std::optional<Illegal> illegal_in(const NodeOutputs& roots) {
  for (const NodeOutput& root : roots)
    if (root.node && (root.index < 0 || root.index >= root.node->outputs()))
      return Illegal{root.node.get(),
                     cat("the graph gives its output ", root.index, ", and it has ", root.node->outputs())};
  const Graph graph(roots, true);
  for (int n = 0; n < graph.size(); ++n)
    if (std::string what = illegal_in(graph, n); !what.empty()) return Illegal{&graph.node(n), std::move(what)};
  return {};
}

/// "Error in node first, called at file:3: what".
STROP_IMPL std::string sentence_of(const Node* node, const std::string& what) {
  try {
    if (node != nullptr) fail_in(*node, Error(what));
  } catch (const Error& error) {
    return error.what();
  }
  return what;
}

[[noreturn]] STROP_IMPL void refuse_illegal(std::string_view pass, const Illegal& what) {
  const std::string whole = sentence_of(what.node, cat("the pass ", pass, " made what is not legal: ", what.sentence));
  if (const auto told = illegal_graphs.load(std::memory_order_acquire); told != nullptr) told(whole);
  throw PassError(whole);
}

/// One node: "second = bend(first, k=2)", an output that is not the only one as "split[1]".
STROP_IMPL std::string line_of(const Node& node) {
  std::string out = cat(node.name, " = ", node.entry->name);
  if (is_fused(node)) out += cat('[', node.entry->doc, ']');
  std::string_view between = "(";
  for (const NodeOutput& in : node.inputs) {
    out += cat(between, in.node ? in.node->name : std::string("nothing"));
    if (in.node && in.node->outputs() > 1) out += cat('[', in.index, ']');
    between = ", ";
  }
  if (!is_fused(node))
    for (const auto& [name, text] : parameters_of(node)) out += cat(std::exchange(between, ", "), name, '=', text);
  return cat(out, node.inputs.empty() && between == "(" ? "()" : ")");
}

/// "pass merge: 3 nodes to 2" and the nodes of the graph; of one of more than these, those that it did not have before.
inline constexpr Index most_lines = 16;

STROP_IMPL void print_pass(const Pass& pass, const NodeOutputs& roots_before, const NodeOutputs& roots, bool first) {
  const Graph before(roots_before), graph(roots);
  const auto count = [](const Graph& of) {
    Index nodes = 0;
    for (int n = 0; n < of.size(); ++n) nodes += of.node(n).is_variable() ? 0 : 1;
    return nodes;
  };
  const Index then = count(before), now = count(graph);
  List<const Node*> shown;
  bool changed = then != now;
  for (int n = 0; n < graph.size(); ++n) {
    const Node& node = graph.node(n);
    if (node.is_variable()) continue;
    const bool made = before.find(&node) < 0;
    changed = changed || made;
    if (made || now <= most_lines) shown.push_back(&node);
  }
  std::string line = cat("pass ", pass.name, ": ", then, then == 1 ? " node" : " nodes");
  if (changed) line += cat(" to ", now);
  if (!changed && !first) return log(cat(line, ", as before"));
  for (Index i = 0; i < shown.size() && i < most_lines; ++i) line += cat(i == 0 ? ": " : "; ", line_of(*shown[i]));
  if (shown.size() > most_lines) line += cat("; and ", shown.size() - most_lines, " more");
  log(line);
}

/// What is asked for.
struct PassesAsked {
  bool print_, check_;
  PassesAsked() {
    const std::string asked = environment({"STROP_PASSES"}).value;
    print_ = asked.find("print") != std::string::npos;
    check_ = asked.find("check") != std::string::npos || illegal_graphs.load(std::memory_order_acquire) != nullptr;
  }
};

/// Stands beside the passes of one graph.
class PassWatch : PassesAsked {
 public:
  void before(const PassGraph& graph) {
    if (!print_ && !check_) return;
    roots_ = roots_of(graph);
    outputs_ = graph.outputs;
  }

  void behind(const Pass& pass, const PassGraph& graph) {
    if (!print_ && !check_) return;
    if (print_) print_pass(pass, roots_, roots_of(graph), std::exchange(first_, false));
    if (!check_) return;
    if (const std::optional<Illegal> what = illegal_in(roots_of(graph))) refuse_illegal(pass.name, *what);
    check_outputs(pass, graph);
  }

 private:
  static NodeOutputs roots_of(const PassGraph& graph) {
    NodeOutputs roots = graph.outputs;
    for (const NodeOutput& gradient : graph.gradients)
      if (gradient.node) roots.push_back(gradient);
    return roots;
  }
  /// Outputs have to stay what they were, and what passes know of values has to be what follows from the graph.
  void check_outputs(const Pass& pass, const PassGraph& graph) {
    bool same = graph.outputs.size() == outputs_.size();
    if (!same)
      refuse_illegal(pass.name,
                     {nullptr, cat("the graph has ", graph.outputs.size(), " outputs instead of ", outputs_.size())});
    for (Index i = 0; i < outputs_.size(); ++i) same = same && Rewriting::same(outputs_[i], graph.outputs[i]);
    if (same) return;
    if (!inferred_) try {
        inferred_ = infer_known(outputs_, graph);
      } catch (const Error&) {  // the graph was wrong before, which binding it says
        return;
      }
    std::optional<KnownGraph> now;
    try {
      now = infer_known(graph.outputs, graph);
    } catch (const Error& error) {
      refuse_illegal(pass.name, {nullptr, cat("its shapes, types and storages do not fit: ", error.what())});
    }
    const auto compare = [&](const NodeOutput& of, const KnownGraph& was, int v, int w) {
      const bool shapes = was.shapes[v] == now->shapes[w] || !was.shapes[v].known() || !now->shapes[w].known();
      if (shapes && was.types[v] == now->types[w] && was.storages[v] == now->storages[w]) return;
      refuse_illegal(pass.name, {of.node.get(),
                                 cat("its output ", of.index, " was ", text_of(was, v), " and is ", text_of(*now, w))});
    };
    for (Index i = 0; i < outputs_.size(); ++i)
      compare(graph.outputs[i], *inferred_, inferred_->graph.value(outputs_[i]), now->graph.value(graph.outputs[i]));
    for (int n = 0; graph.known && n < now->graph.size(); ++n)
      for (int k = 0; k < now->graph.node(n).outputs(); ++k) {
        const NodeOutput of{Ref(&now->graph.node(n)), k};
        compare(of, *graph.known, graph.known->graph.value(of), now->graph.value(n, k));
      }
    inferred_ = std::move(now);
  }
  static std::string text_of(const KnownGraph& graph, int v) {
    return cat(name_of(graph.storages[v]), ' ', name_of(graph.types[v]), ' ', to_text(graph.shapes[v]));
  }

  bool first_ = true;
  NodeOutputs roots_, outputs_;         // before the pass
  std::optional<KnownGraph> inferred_;  // of outputs_
};

/// The same for the steps of a bound graph: what one reads is computed before it, if it was computed at all.
class StepWatch : PassesAsked {
 public:
  void before(const BoundGraph& graph) {
    steps_ = graph.backward_steps.size();
    if (check_) made_ = made_by(graph);
  }
  void behind(const StepPass& pass, const BoundGraph& graph) const {
    const Index now = graph.backward_steps.size();
    if (print_ && (steps_ != 0 || now != 0))
      log(cat("pass ", pass.name, ": ", steps_, steps_ == 1 ? " step" : " steps",
              now == steps_ ? std::string() : cat(" to ", now)));
    if (check_) check(pass, graph);
  }

 private:
  static List<bool> made_by(const BoundGraph& graph) {
    List<bool> made(graph.values.size());
    for (const List<Step>* steps : {&graph.forward_steps, &graph.backward_steps})
      for (const Step& step : *steps)
        for (const int v : step.out) made[v] = true;
    return made;
  }
  void check(const StepPass& pass, const BoundGraph& graph) const {
    List<bool> there(graph.values.size());
    for (const List<Step>* steps : {&graph.forward_steps, &graph.backward_steps})
      for (const Step& step : *steps) {
        const auto look = [&](int v) {
          if (v >= 0 && made_[v] && !there[v])
            refuse_illegal(pass.name, {step.node.get(), "its step reads what no step before it computes"});
        };
        for (Index i = 0; i < step.in.size(); ++i)
          if (step.reads(i)) look(step.in[i]);
        for (const int v : step.added_to) look(v);
        for (const int v : step.out) {
          if (there[v]) refuse_illegal(pass.name, {step.node.get(), "two steps compute one value"});
          there[v] = true;
        }
      }
    for (const Delivery& one : graph.deliveries)
      if (one.value >= 0 && made_[one.value] && !there[one.value])
        refuse_illegal(pass.name, {nullptr, "no step computes a gradient that is asked for"});
  }

  Index steps_ = 0;
  List<bool> made_;
};

}  // namespace strop::inline v0::detail
