// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the calls of a traced function run one by one, each of which is recorded where calls are.
#pragma once
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

/// A loop or a branch as the calls of its steps, which have gradients of every order. It takes the steps that its node
/// takes, and draws the same numbers.
class UnrolledFlow {
 public:
  UnrolledFlow(const Node& node, const FlowOperators& operators, Inputs in)
      : node_(node), flow_(*flow_of(node)), operators_(operators), in_(in) {
    List<Shape> shapes;
    for (const NDArray* a : in) shapes.push_back(a->shape());
    if (flow_.drawn >= 0 && flow_resources(node.op(), shapes.span()).random) drawn_ = random::next(in[0]->device());
  }

  /// What a caller of the node sees.
  std::vector<NDArray> run() const {
    std::vector<NDArray> out = flow_.is_loop() ? loop() : branch();
    for (NDArray& made : out)
      for (const NDArray* a : in_)
        if (made.is(*a)) made = operators_.copy(made);  // results are arrays of their own
    return out;
  }

 private:
  std::vector<NDArray> loop() const {
    const std::int64_t most = flow_.kind == FlowKind::foreach ? in_[0]->shape()[0] : flow_.most;
    std::vector<NDArray> now;
    for (const int input : flow_.states) now.push_back(*in_[input]);
    CollectedSteps made(flow_.name());
    for (std::int64_t step = 0; step < most; ++step) {
      if (flow_.kind == FlowKind::while_loop && !condition(step, now)) break;
      std::vector<NDArray> given = run_body(flow_.body(), step, now, false);
      now.assign(given.begin() + flow_.stacked, given.end());
      given.resize(unsigned_size(flow_.stacked));
      made.add(std::move(given));
    }
    std::vector<NDArray> out;
    for (const std::vector<NDArray>& steps : made.each(most)) out.push_back(operators_.stack(steps));
    if (made.count() == 0) out = zeros_of_no_step();
    out.insert(out.end(), now.begin(), now.end());
    return out;
  }
  std::vector<NDArray> branch() const { return run_body(flow_.body(condition(0, {}) ? 0 : 1), 0, {}, false); }
  bool condition(std::int64_t step, const std::vector<NDArray>& now) const {
    return holds(flow_.name(), run_body(flow_.graphs[0], step, now, true)[0]);
  }

  /// One step of a sub-graph, node after node in the order in which its executor runs them.
  std::vector<NDArray> run_body(const SubGraph& sub, std::int64_t step, const std::vector<NDArray>& now,
                                bool is_condition) const {
    std::optional<random::Replay> numbers;
    if (drawn_) numbers.emplace(*drawn_, flow_stream(step, is_condition));
    const Graph graph(sub.results);
    List<NDArray> values(graph.values()), inputs;
    for (Index i = 0; i < sub.inputs.size(); ++i) {
      const int link = sub.links[i], j = flow_.state_of(link);
      inputs.push_back(link < flow_.data ? (*in_[link])[step] : j >= 0 ? element(now, j) : *in_[link]);
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
  for (const NDArray* a : in) steps = steps && *a && a->storage() == dense;  // a body computes on dense arrays
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
