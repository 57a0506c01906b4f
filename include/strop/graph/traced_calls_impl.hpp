// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the calls of a traced function run one by one, each of which is recorded where calls are.
#pragma once
#include <strop/autograd/function.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/autograd/views_impl.hpp>
#include <strop/core/config.hpp>
#include <strop/graph/control.hpp>
#include <strop/graph/control/flow_infer_impl.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/traced_graph_impl.hpp>
#include <strop/memory/random.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/plan.hpp>
#include <strop/tensor/create.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

STROP_IMPL void run_traced_call(const Node& node, const FlowOperators* flow, Inputs in, Span<NDArray> out);

/// The history of a result that the steps which were taken did not compute from any input: its gradients are zero.
class FlatStep : public Function {
 public:
  explicit FlatStep(Inputs in) {
    for (const NDArray* a : in) zeros_.push_back(shell_of(*a, dense));  // without elements: known to be zero
  }
  std::vector<NDArray> forward(std::span<const NDArray>) override { return {}; }
  std::vector<NDArray> backward(std::span<const NDArray>) override { return zeros_; }

  static void link(Inputs in, const NDArray& made) {
    if (recording() == nullptr || is_tracked(made) || !any_tracked(in)) return;
    record_step(Ref<Function>(new FlatStep(in)), in, {&made, 1});
  }

 private:
  bool is_linear() const override { return true; }
  std::vector<NDArray> zeros_;
};

/// A while_loop or a cond as the calls of its steps, which have gradients of every order. It takes the steps that its
/// node takes, and draws the same numbers.
class UnrolledFlow {
 public:
  UnrolledFlow(const Node& node, const FlowOperators& operators, Inputs in)
      : node_(node), flow_(*flow_of(node)), operators_(operators), in_(in) {
    for (const SubGraph& sub : flow_.graphs) graphs_.emplace_back(sub.results);
    List<Shape> shapes;
    for (const NDArray* a : in) shapes.push_back(a->shape());
    if (flow_.drawn >= 0 && flow_resources(node.op(), shapes.span()).random)
      drawn_ = random::detail::take_stream(in[0]->device());
  }

  /// What a caller of the node sees: arrays of their own, each with a history where an input has one.
  std::vector<NDArray> run() const {
    std::vector<NDArray> out = flow_.kind == FlowKind::while_loop ? loop() : branch();
    for (std::size_t k = 0; k < out.size(); ++k) {
      const auto shares = [&](const NDArray& a) { return a.body().buffer && a.body().buffer == out[k].body().buffer; };
      bool apart = true;
      for (const NDArray* a : in_) apart = apart && !shares(*a);
      for (std::size_t j = 0; j < k; ++j) apart = apart && !shares(out[j]);
      if (!apart) out[k] = operators_.copy(out[k]);
      FlatStep::link(in_, out[k]);
    }
    return out;
  }

 private:
  std::vector<NDArray> loop() const {
    std::vector<NDArray> now;
    for (const int input : flow_.states) now.push_back(*in_[input]);
    CollectedSteps made(flow_.name());
    for (std::int64_t step = 0; step < flow_.most && condition(step, now); ++step) {
      std::vector<NDArray> given = run_body(1, step, now, false);
      now.assign(given.begin() + flow_.stacked, given.end());
      given.resize(unsigned_size(flow_.stacked));
      made.add(std::move(given));
    }
    std::vector<NDArray> out;
    for (const std::vector<NDArray>& steps : made.each(flow_.most)) out.push_back(operators_.stack(steps));
    if (made.count() == 0) out = zeros_of_no_step();
    out.insert(out.end(), now.begin(), now.end());
    return out;
  }
  std::vector<NDArray> branch() const { return run_body(condition(0, {}) ? 1 : 2, 0, {}, false); }
  bool condition(std::int64_t step, const std::vector<NDArray>& now) const {
    return holds(flow_.name(), run_body(0, step, now, true)[0]);
  }

  /// One step of sub-graph g, node after node in the order in which its executor runs them.
  std::vector<NDArray> run_body(Index g, std::int64_t step, const std::vector<NDArray>& now, bool is_condition) const {
    const random::Replay numbers(drawn_, flow_stream(step, is_condition));
    const SubGraph& sub = flow_.graphs[g];
    const Graph& graph = element(graphs_, g);
    List<NDArray> values(graph.values()), inputs;
    for (Index i = 0; i < sub.inputs.size(); ++i) {
      const int link = sub.links[i], j = flow_.state_of(link);
      inputs.push_back(j >= 0 ? element(now, j) : *in_[link]);
      if (const int v = graph.value(sub.inputs[i]); v >= 0) values[v] = inputs[i];
    }
    const NDArray absent;
    List<const NDArray*> in;
    for (int n = 0; n < graph.size(); ++n) {
      const Node& node = graph.node(n);
      if (node.is_variable()) continue;
      in.clear();
      for (const NodeOutput& from : node.inputs) in.push_back(from.node ? &values[graph.value(from)] : &absent);
      run_traced_call(node, &operators_, in.span(), {&values[graph.value(n, 0)], static_cast<Index>(node.outputs())});
    }
    std::vector<NDArray> out;
    for (const int r : sub.result_of) out.push_back(r >= 0 ? values[graph.value(sub.results[r])] : inputs[~r]);
    return out;
  }

  std::vector<NDArray> zeros_of_no_step() const {
    const List<NDArray> unplaced(flow_.outputs);
    const Plan plan = resolve(*node_.entry, node_.op(), in_, unplaced.span(), {});
    std::vector<NDArray> out;
    for (int k = 0; k < flow_.stacked; ++k) out.push_back(zeros(plan.shapes[k], plan.types[k], plan.device));
    return out;
  }

  const Node& node_;
  const Flow& flow_;
  const FlowOperators& operators_;
  const Inputs in_;
  std::vector<Graph> graphs_;  // of the sub-graphs, for every step
  std::optional<random::Stream> drawn_;
};

/// Runs the node of one call. With `flow`, one that is a loop or a branch runs as the calls of its steps.
STROP_IMPL void run_traced_call(const Node& node, const FlowOperators* flow, Inputs in, Span<NDArray> out) {
  if (is_derived(node)) {
    const Derived& op = *static_cast<const Derived*>(node.op());
    NDArray view = view_as(*in[0], op.shape);
    view.body().offset += op.first * size_of(view.dtype());
    out[0] = op.linked ? linked_view(*in[0], view, op.first) : op.apart ? view.copy() : view;
    return;
  }
  bool steps = flow != nullptr && flow_of(node) != nullptr;
  for (const NDArray* a : in)
    steps = steps && a->defined() && a->storage() == dense;  // a body computes on dense arrays
  try {
    if (steps) {
      Index k = 0;
      for (NDArray& made : UnrolledFlow(node, *flow, in).run()) out[k++] = std::move(made);
    } else {
      dispatch(*node.entry, node.op(), in, out, {}, node.site);
    }
  } catch (const Error& error) {
    fail_in(node, error);
  }
}

STROP_IMPL std::vector<NDArray> TracedCalls::replay(Span<const NDArray> inputs) const {
  List<NDArray> values(value_count);
  for (Index i = 0; i < inputs.size(); ++i)
    if (input_values[i] >= 0) values[input_values[i]] = inputs[i];
  const NDArray absent;
  List<const NDArray*, 8> in;
  for (const Made& call : all) {
    const ModeScope mode(call.recorder, call.training);
    in.clear();
    for (const int v : call.in) in.push_back(v < 0 ? &absent : &values[v]);
    run_traced_call(*call.node, call.recorder != nullptr ? call.flow : nullptr, in.span(),
                    {values.data() + call.first, static_cast<Index>(call.node->outputs())});
    for (const int v : call.spent) values[v] = NDArray();
  }
  std::vector<NDArray> out;
  for (const int v : returned) out.push_back(values[v]);
  return out;
}

}  // namespace strop::inline v0::detail
