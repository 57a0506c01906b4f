// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a monitor is shown the values of a graph.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/executor_gradient_impl.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0 {
namespace detail {

/// A value may be written over by the next step: what is shown is a copy.
STROP_IMPL void show_value(Monitor& monitor, const std::string& name, const NDArray& value) {
  monitor.see(name, value.copy());
}

/// Shows the inputs of a step before it runs, or its results behind it.
STROP_IMPL void show_step(BoundGraph& graph, const Step& step, bool results) {
  Monitor& monitor = *graph.monitor;
  const Node& node = *step.node;
  if (results) {
    for (Index k = 0; k < step.out.size(); ++k) {
      bool computed = step.requests[k] != Request::null;
      for (const Step::OnPattern& one : step.on_pattern) computed = computed || one.result == k;
      if (computed) show_value(monitor, node.output_name(static_cast<int>(k)), graph.values[step.out[k]]);
    }
    return;
  }
  for (Index i = 0; monitor.inputs && i < step.in.size(); ++i) {
    if (!step.reads(i)) continue;
    const NDArray& value = graph.values[step.in[i]];
    if (const Node& from = *node.inputs[i].node; from.is_variable()) show_value(monitor, from.name, value);
    const std::string_view name = element(node.signature.inputs, i);
    show_value(monitor, name == "argument" ? cat(node.name, "_argument", i) : cat(node.name, '_', name), value);
  }
}

/// The graph once more with the same arrays, outputs included, as it is written: what passes join is there again.
STROP_IMPL void BoundGraph::watch(const Ref<Monitor>& by) {
  ran = false;
  watched = {};
  if (!by) return;
  const Ref<BoundGraph> made(new BoundGraph(symbol, device));
  made->as_written = true;
  made->groups = groups;
  made->side_by_side = side_by_side;
  made->kept = kept;  // states go on, and what they have become stays when the monitor goes
  made->outputs = outputs;
  made->take_arrays(args, aux);
  if (requests.empty()) {
    for (const auto& arg : made->args) made->grads.emplace_back(arg.first, NDArray());
    made->optimize({});
    made->plan({}, nullptr);
  } else {
    GradRequests wishes(GradRequest::null);
    for (Index i = 0; i < std::ssize(args); ++i)
      wishes.named_.push_back({element(args, i).first, static_cast<GradRequest>(requests[i])});
    made->take_gradients(grads, wishes, BoundGraph::Make::none);
  }
  made->monitor = by;
  made->show = &show_step;
  watched = made;
}

}  // namespace detail

STROP_IMPL void Executor::watch(const detail::Ref<detail::Monitor>& monitor) {
  const detail::Ref<detail::BoundGraph> graph = graph_;
  const std::lock_guard mine(graph->running);
  graph->watch(monitor);
}

}  // namespace strop::inline v0
