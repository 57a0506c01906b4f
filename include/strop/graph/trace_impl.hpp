// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a function is traced, and how its graph is replayed.
#pragma once
#include <strop/autograd/tape.hpp>
#include <strop/autograd/views_impl.hpp>
#include <strop/core/call_mode.hpp>
#include <strop/core/config.hpp>
#include <strop/core/environment.hpp>
#include <strop/core/fork.hpp>
#include <strop/core/log.hpp>
#include <strop/graph/bound_graph.hpp>
#include <strop/graph/control.hpp>
#include <strop/graph/control/flow_impl.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/naming.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/graph/trace.hpp>
#include <strop/graph/trace_recorded_impl.hpp>
#include <strop/graph/traced_calls_impl.hpp>
#include <strop/graph/traced_graph_impl.hpp>
#include <strop/graph/tracing_impl.hpp>

#include <mutex>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

struct TracedGraphs : Counted {
  explicit TracedGraphs(Site site) : told(new TraceLog(site)) {}
  ForkMutex changing;
  std::vector<Ref<TracedGraph>> all;
  const Ref<TraceLog> told;
};

STROP_IMPL TracedGraphs* new_traced_graphs(Site site) { return new TracedGraphs(site); }
STROP_IMPL void retain_traced_graphs(const TracedGraphs* traces) { traces->retain(); }
STROP_IMPL void drop_traced_graphs(const TracedGraphs* traces) noexcept {
  if (traces->drop()) delete traces;
}
STROP_IMPL std::size_t count_traced_graphs(const TracedGraphs& traces, Replay replay) {
  std::lock_guard lock(const_cast<TracedGraphs&>(traces).changing);
  std::size_t count = 0;
  for (const Ref<TracedGraph>& one : traces.all)
    if (one->eager ? replay == Replay::eager : replay == Replay::any || (replay == Replay::by_calls && one->by_calls))
      ++count;
  return count;
}

STROP_IMPL void TraceLog::tell(std::string_view what) {
  if (told_.exchange(true) || !environment_flag({"STROP_TRACE_LOG"}, true)) return;
  const std::string place = place_of(site_);
  log(cat("trace_function", place.empty() ? "" : cat(" at ", place), ": ", what, " (STROP_TRACE_LOG=0 silences this)"));
}

/// What the graph does not use is let go.
STROP_IMPL void TracedGraph::drop_unused() {
  const Graph graph(symbol.outputs());
  std::erase_if(captured, [&](const auto& one) { return graph.value(one.first) < 0; });
  std::erase_if(calls->all, [&](const TracedCalls::Made& call) { return graph.find(call.node.get()) < 0; });
  list_results();
  for (const TracedCalls::Made& call : calls->all) {
    calls->draws = calls->draws || call.draws;
    calls->of_loss = calls->of_loss || call.node->entry->gradient.of_loss();
    for (const int i : call.node->signature.mutated) calls->written.push_back(input_at(call.node->inputs[i]));
  }
  if (results.empty())
    by_calls = true;
  else if (const char* why = why_by_calls())
    go_by_calls(why);
  number_values(graph);
}

/// What a bound graph would do in another way than the calls of the function; null where it is the same.
STROP_IMPL const char* TracedGraph::why_by_calls() const {
  if (!writes_apart()) return "what one of its operators writes is read elsewhere in it as well";
  for (const TracedCalls::Made& call : calls->all)
    if ((!recorded && call.recorder != nullptr) || call.training != training)
      return "it records, or trains, otherwise than the call";
  const Device device =
      arguments.empty() ? captured.empty() ? cpu() : captured[0].second.device() : arguments[0].device;
  bool one_device = true;
  for (const Argument& a : arguments) one_device = one_device && a.device == device;
  for (const auto& one : captured) one_device = one_device && one.second.device() == device;
  if (!one_device) return "its arrays are on several devices";
  return recorded ? why_not_one_gradient() : nullptr;
}

STROP_IMPL void TracedGraph::go_by_calls(std::string_view why) {
  by_calls = true;
  told->tell(cat("its graph is replayed call by call, since ", why));
}

/// Which input a variable is: the arguments come first, then the arrays from outside.
STROP_IMPL int TracedGraph::input_at(const NodeOutput& variable) const {
  int at = 0;
  for (const NodeOutput& node : argument_nodes) {
    if (node.node == variable.node) return at;
    ++at;
  }
  for (const auto& one : captured) {
    if (one.first.node == variable.node) return at;
    ++at;
  }
  return at;
}

/// Whether nobody else in the graph sees what a call writes, and every call that writes is part of it: then it is the
/// same in which order they run.
STROP_IMPL bool TracedGraph::writes_apart() const {
  if (calls->written.empty()) return true;
  if (results.empty()) return false;
  const Graph graph(results);
  List<int> uses(graph.values());
  for (const TracedCalls::Made& call : calls->all) {
    const int n = graph.find(call.node.get());
    if (n < 0 && !call.node->signature.mutated.empty()) return false;
    for (const NodeOutput& from : call.node->inputs)
      if (from.node && graph.value(from) >= 0) ++uses[graph.value(from)];
  }
  for (const TracedCalls::Made& call : calls->all)
    for (const int i : call.node->signature.mutated)
      if (uses[graph.value(call.node->inputs[i])] != 1) return false;
  const auto first = std::ssize(argument_nodes);  // of the arrays from outside
  for (const int w : calls->written)
    for (Index i = 0; i < std::ssize(captured) && w >= first; ++i) {
      const NDArray &to = element(captured, w - first).second, &other = element(captured, i).second;
      if (to.storage() != dense || (i != w - first && overlap(memory_of(other), memory_of(to)))) return false;
    }
  return true;
}

/// Whether a call would write memory of an argument that is another input as well.
STROP_IMPL bool TracedGraph::writes_others(std::span<const NDArray> in) const {
  const auto count = std::ssize(in);
  const auto input = [&](Index i) -> const NDArray& {
    return i < count ? element(in, i) : element(captured, i - count).second;
  };
  for (const int w : calls->written) {
    if (w < count && input(w).storage() != dense) return true;
    for (Index i = 0; i < (w < count ? count + std::ssize(captured) : count); ++i)
      if (i != w && overlap(memory_of(input(i)), memory_of(input(w)))) return true;
  }
  return false;
}

/// Which results calls have made, each once, and which are inputs.
STROP_IMPL void TracedGraph::list_results() {
  for (Index r = 0; r < results.size(); ++r) {
    const NodeOutput& result = results[r];
    if (result.node->is_variable()) {
      calls->result_of.push_back(~input_at(result));
      continue;
    }
    int at = 0;
    const auto is_it = [&](const NodeOutput& other) {
      return other.node == result.node && other.index == result.index;
    };
    while (at < calls->computed.size() && !is_it(results[calls->computed[at]])) ++at;
    calls->result_of.push_back(at);
    if (at < calls->computed.size()) continue;
    calls->computed.push_back(r);
  }
  calls->loss_head = calls->computed.size() == 1 && results[calls->computed[0]].node->entry->gradient.of_loss();
}

/// What a replay of the calls has to know of their values.
STROP_IMPL void TracedGraph::number_values(const Graph& graph) {
  calls->value_count = graph.values();
  for (const NodeOutput& node : argument_nodes) calls->input_values.push_back(graph.value(node));
  for (const auto& one : captured) calls->input_values.push_back(graph.value(one.first));
  for (const NodeOutput& result : results) calls->returned.push_back(graph.value(result));
  List<bool> seen(calls->value_count);
  for (const int v : calls->returned) seen[v] = true;
  for (const int v : calls->input_values)
    if (v >= 0) seen[v] = true;  // which the caller holds
  for (auto call = calls->all.rbegin(); call != calls->all.rend(); ++call) {
    const Node& node = *call->node;
    call->first = graph.value({call->node, 0});
    const auto read = [&](int v) {
      if (v >= 0 && !std::exchange(seen[v], true)) call->spent.push_back(v);
    };
    for (const NodeOutput& from : node.inputs) {
      call->in.push_back(from.node ? graph.value(from) : -1);
      read(call->in.back());
    }
    for (int k = 0; k < node.outputs(); ++k) read(call->first + k);
  }
}

/// Whether a bound graph draws random numbers where the function did: its order of nodes is another one, and what no
/// result needs it does not have.
STROP_IMPL bool TracedGraph::draws_in_order(const BoundGraph& made) const {
  List<std::string_view> order;
  for (const TracedCalls::Made& call : calls->all)
    if (call.draws) order.push_back(call.node->name);
  const NameTable drawing(order);
  int next = 0;
  for (const Step& step : made.forward_steps) {
    const int at = drawing.find(step.node->name);
    if (at < 0 && !step.plan_for(training)->resources.random) continue;
    if (at != next++) return false;
  }
  return next == order.size();
}

/// Makes the executor. Its arrays are those of the arguments of each call and, for results, new ones.
STROP_IMPL void TracedGraph::bind(std::span<const NDArray> in) {
  const Device device = in.empty() ? captured.empty() ? cpu() : captured[0].second.device() : in[0].device();
  BoundVariables variables;
  for (std::size_t i = 0; i < in.size(); ++i) variables.add(argument_nodes[i], in[i]);
  for (const auto& [node, array] : captured) variables.add(node, array);
  const NodeOutputs net = optimized(results, device, std::move(variables));
  const Graph graph(net, true);
  const Ref<BoundGraph> made(new BoundGraph(Symbol(net), device));
  const auto give = [&](const NodeOutput& node, const NDArray& array) {
    if (graph.value(node) < 0) return;  // nothing depends on it
    made->args.emplace_back(node.node->name, array);
    made->arg_nodes.push_back(node);
  };
  for (std::size_t i = 0; i < in.size(); ++i) give(argument_nodes[i], in[i]);
  for (const auto& [node, array] : captured) give(node, array);
  made->train = training;
  made->plan({}, nullptr);
  if (!draws_in_order(*made)) return go_by_calls("a plan would draw random numbers in another order");
  made->args.clear();  // the values hold what lasts
  for (const NodeOutput& node : argument_nodes) argument_values.push_back(graph.value(node));
  for (const NodeOutput& node : net) result_values.push_back(graph.value(node));
  for (const int v : result_values)
    for (Step& step : made->forward_steps)
      for (int k = 0; k < step.out.size(); ++k) {
        bool known = step.out[k] != v;
        for (const Fresh& other : fresh) known = known || other.value == v;
        const NDArray& y = made->values[v];
        if (!known) fresh.push_back({&step, k, v, y.shape(), y.dtype(), y.storage()});
      }
  made->outputs.clear();
  bound = made;
}

STROP_IMPL std::vector<NDArray> TracedGraph::replay(std::span<const NDArray> in) {
  std::lock_guard lock(running);
  List<NDArray>& values = bound->values;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (argument_values[i] >= 0) values[argument_values[i]] = in[i];
  for (const Fresh& result : fresh)
    result.step->outputs[result.output] = values[result.value] =
        NDArray(result.shape, result.dtype, bound->device, result.storage);
  std::vector<NDArray> out;
  out.reserve(result_values.size());
  const auto forget = [&] {
    for (std::size_t i = 0; i < in.size(); ++i)
      if (argument_values[i] >= 0) values[argument_values[i]] = NDArray();
    for (const Fresh& result : fresh) result.step->outputs[result.output] = values[result.value] = NDArray();
  };
  try {
    bound->run_one_by_one(bound->forward_steps);
    for (const int v : result_values) out.push_back(values[v]);
  } catch (...) {
    forget();
    throw;
  }
  forget();
  return out;
}

STROP_IMPL std::vector<NDArray> TracedGraph::inputs_of(std::span<const NDArray> in) const {
  std::vector<NDArray> inputs(in.begin(), in.end());
  for (const auto& one : captured) inputs.push_back(one.second);
  return inputs;
}

STROP_IMPL std::vector<NDArray> TracedGraph::run(std::span<const NDArray> in) {
  return by_calls || writes_others(in) ? calls->replay(inputs_of(in)) : recorded ? replay_recorded(in) : replay(in);
}

STROP_IMPL std::vector<NDArray> call_traced(TracedGraphs& traces, std::span<const NDArray> in, TracedCall run,
                                            void* with) {
  if (call_mode.tracer != nullptr) return run(with, in);  // part of what is being traced
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!in[i].defined()) fail("trace_function: argument ", i, " is a handle without an array");
  Ref<TracedGraph> found;
  {
    std::lock_guard lock(traces.changing);
    for (const Ref<TracedGraph>& trace : traces.all)
      if (trace->suits(in)) {
        found = trace;
        break;
      }
  }
  if (found) return found->eager ? run(with, in) : found->run(in);
  const Ref<TracedGraph> made(new TracedGraph(traces.told));
  made->training = call_mode.training;
  made->recorded = call_mode.recorder != nullptr;
  for (const NDArray& a : in) made->arguments.push_back({a.shape(), a.dtype(), a.storage(), a.device()});
  std::vector<NDArray> results, own;
  {
    Tracing watching(*made);
    for (const NDArray& a : in) own.push_back(watching.argument(a));
    results = run(with, own);
    watching.finish(results);
    if (!watching.left().empty()) {
      made->forget();
      traces.told->tell(cat("it stays without a graph, since ", watching.left()));
    }
  }
  try {
    if (!made->eager && !made->by_calls && !made->recorded) made->bind(in);
  } catch (const PassError&) {
    throw;
  } catch (const Error& error) {  // a call may know more than inference on a graph does
    made->go_by_calls(cat("its graph cannot be bound: ", error.what()));
  }
  for (NDArray& result : results)
    for (std::size_t i = 0; i < in.size(); ++i)
      if (result.is(own[i])) result = in[i];
  if (made->recorded && !made->eager && !made->by_calls) results = made->watched(results, made->inputs_of(in));
  std::lock_guard lock(traces.changing);
  traces.all.push_back(made);
  return results;
}

}  // namespace detail
}  // namespace strop::inline v0
