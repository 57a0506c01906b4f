// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which steps a bound graph runs, in which order, and what is decided for each of them.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/bound_graph.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/passes/devices.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/contributions_impl.hpp>
#include <strop/op/devices.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/gradient_roles.hpp>

#include <algorithm>
#include <utility>

namespace strop::inline v0::detail {

/// Lets the passes make of the symbol what runs in its place.
STROP_IMPL void BoundGraph::optimize(const NodeOutputs& wanted) {
  PassGraph made{net, device, variables(), groups, as_written, std::move(known_net)};
  made.variables.wanted = wanted;
  run_passes(graph_passes, made);
  net = made.outputs;
  known_net = std::move(made.known);
}

/// Where the state of a node lies: a node of its own operator makes room for it, its gradients find it.
STROP_IMPL Index BoundGraph::find_state(const Node& node) {
  for (Index i = 0; i < kept.size(); ++i)
    if (kept[i]->keeper == node.params.get()) return i;
  if (node.entry->cpu.make_state == nullptr) return -1;
  kept.push_back(Ref(new KeptState(node.params.get())));
  return kept.size() - 1;
}

/// Infers everything, fixes the order, and makes the arrays of all values.
STROP_IMPL void BoundGraph::plan(const NodeOutputs& gradients, Place place) {
  NodeOutputs roots = net;
  const Graph ahead(roots);
  for (const NodeOutput& g : gradients)
    if (g.node) roots.push_back(g);
  const Graph graph(roots, true, gradients.empty() ? ahead.size() : 2 * ahead.size());
  Inference inference(graph);
  if (known_net) inference.take(*known_net, groups.empty());
  known_net.reset();
  values.resize(graph.values());
  uses.resize(graph.values());
  const auto give = [&](const NamedArrays& arrays, const NodeOutputs& nodes) {
    for (int i = 0; i < nodes.size(); ++i) {
      const NDArray& array = element(arrays, i).second;
      const int n = graph.find(nodes[i].node.get());
      if (n < 0) continue;  // a pass left nothing that reads it
      const int value = graph.value(n, 0);
      inference.give_shape(n, array.shape());
      inference.give_type(n, array.dtype());
      inference.storage(value) = array.storage();
      values[value] = array;
    }
  };
  give(args, arg_nodes);
  give(aux, aux_nodes);
  if (!groups.empty()) devices = value_devices(graph, device, groups, variables());
  for (Index i = 0; i < std::ssize(outputs); ++i)  // that are there already
    if (NDArray& output = values[graph.value(net[i])]; !output.defined()) output = element(outputs, i);
  for (const Snapshot& state : snapshots) {
    const int n = graph.find(state.made.node.get());
    if (n < 0) continue;
    const NDArray& from = values[graph.value(state.of)];
    NDArray& to = values[graph.value(n, 0)] = NDArray(from.shape(), from.dtype(), from.device(), from.storage());
    if (!devices.empty()) devices[graph.value(n, 0)] = from.device();
    inference.give_shape(n, to.shape());
    inference.give_type(n, to.dtype());
    inference.storage(graph.value(n, 0)) = to.storage();
    saved.push_back({from, to});
    own_states.push_back(graph.value(n, 0));
  }
  inference.infer_shapes();
  inference.infer_types();
  inference.infer_storages(device);

  const List<Node*> order = order_of_nodes(ahead, gradients);
  const auto is_ahead = [&](const Node* node) { return ahead.find(node) >= 0; };
  const Index split = std::find_if_not(order.begin(), order.end(), is_ahead) - order.begin();
  forward_steps.reserve(split);
  backward_steps.reserve(order.size() - split);
  for (Node* node : order) {
    Step step;
    step.node = Ref(node);
    step.state = find_state(*node);
    for (const NodeOutput& in : node->inputs) step.in.push_back(graph.value(in));
    for (int k = 0; k < node->outputs(); ++k) {
      step.out.push_back(graph.value(graph.find(node), k));
      step.requests.push_back(Request::write);
    }
    (is_ahead(node) ? forward_steps : backward_steps).push_back(std::move(step));
  }
  find_unread(graph, inference);
  for (const List<Step>* steps : {&forward_steps, &backward_steps})
    for (const Step& step : *steps)
      for (Index i = 0; i < step.in.size(); ++i)
        if (step.reads(i)) ++uses[step.in[i]];
  for (const NodeOutput& output : net) ++uses[graph.value(output)];
  if (place != nullptr) place(*this, graph, inference, gradients);
  run_passes(step_passes, *this, inference);
  make_values(graph, inference);
  if (const auto look = planned_graphs.load(std::memory_order_acquire); look != nullptr) look(*this);
  if (dry) return;
  resolve_steps(inference, forward_steps);
  resolve_steps(inference, backward_steps);
  outputs.clear();
  for (const NodeOutput& output : net) {
    output_values.push_back(graph.value(output));
    outputs.push_back(values[output_values.back()]);
  }
  for (const NodeOutput& head : heads) head_values.push_back(graph.value(head));
  contributions = {};
  unread = {};
}

/// Forward's nodes, and behind them backward's, as far as the gradients need them, each as soon as what it contributes
/// to can go on.
STROP_IMPL List<Node*> BoundGraph::order_of_nodes(const Graph& ahead, const NodeOutputs& gradients) const {
  NodeOutputs roots = net;
  for (const NodeOutput& g : gradients)
    if (g.node) roots.push_back(g);
  if (!contributions.empty()) {
    const Graph needed(roots, false, 2 * ahead.size());
    NodeOutputs in_order = net;
    for (const NodeOutput& part : contributions)
      if (needed.find(part.node.get()) >= 0) in_order.push_back(part);
    for (const NodeOutput& root : roots) in_order.push_back(root);
    roots = std::move(in_order);
  }
  const Graph executed(roots, false, gradients.empty() ? ahead.size() : 2 * ahead.size());
  List<Node*> order;
  order.reserve(executed.size());
  for (const bool forward : {true, false})
    for (int n = 0; n < executed.size(); ++n)
      if (Node& node = executed.node(n); !node.is_variable() && (ahead.find(&node) >= 0) == forward)
        order.push_back(&node);
  return order;
}

/// Dense inputs that a gradient does not read have no memory there, as on the tape, and are not kept for it.
STROP_IMPL void BoundGraph::find_unread(const Graph& graph, Inference& inference) {
  if (unread.empty()) return;
  List<int> step_of(graph.size(), -1);
  for (int s = 0; s < backward_steps.size(); ++s) step_of[graph.find(backward_steps[s].node.get())] = s;
  Index count = 0;
  for (const UnreadInputs& one : unread) {
    const int n = graph.find(one.reader.get());
    if (n < 0 || step_of[n] < 0) continue;
    Step& step = backward_steps[step_of[n]];
    std::uint64_t inputs = one.inputs;
    if (one.of != nullptr) {
      const Entry& entry = *one.of->entry;
      const Dtype type = stored_type(entry, one.of->inputs.size(),
                                     [&](Index i) { return *inference.type(graph.value(one.of->inputs[i])); });
      const std::uint64_t read = entry.facts.kept(one.of->op(), compute_type(entry, one.of->op(), type));
      const GradientRoles roles = gradient_roles(entry.gradient, one.of->inputs.size(), one.of->outputs());
      for (Index i = 0; i < roles.takes.size() && i < 64; ++i)
        if (roles.takes[i].role == Role::in && !in_mask(read, roles.takes[i].at)) inputs |= std::uint64_t{1} << i;
    }
    for (Index i = 0; i < step.in.size() && i < 64; ++i) {
      if ((inputs >> i & 1U) == 0 || step.in[i] < 0 || inference.storage(step.in[i]) != dense || !step.reads(i))
        continue;
      step.unread |= std::uint64_t{1} << i;
      ++count;
    }
  }
  shells.resize(count);
}

/// Leaves the steps that are marked.
STROP_IMPL void keep_marked(List<Step>& steps, const List<bool>& marks) {
  Index kept = 0;
  for (Index s = 0; s < steps.size(); ++s) {
    if (!marks[s]) continue;
    if (kept != s) steps[kept] = std::move(steps[s]);
    ++kept;
  }
  steps.resize(kept);
}

/// Steps whose results nobody reads do not run.
STROP_IMPL void BoundGraph::drop_unused(List<Step>& steps) {
  List<bool> used(steps.size());
  for (Index s = steps.size(); s-- > 0;) {
    Step& step = steps[s];
    bool needed = !step.on_pattern.empty();
    for (int i : step.node->signature.mutated) {  // what a copy of a node writes into is its own
      bool own = false;
      for (int v : own_states) own = own || v == step.in[i];
      needed = needed || !own;
    }
    for (int v : step.out) needed = needed || uses[v] > 0;
    for (Index i = 0; i < step.in.size() && !needed; ++i)
      if (step.reads(i)) --uses[step.in[i]];
    used[s] = needed;
  }
  keep_marked(steps, used);
}

/// Steps that take no memory, because their results lie outside of the arena, and sums, which free some, run as soon as
/// their inputs are there.
STROP_IMPL void BoundGraph::run_early(List<Step>& steps) const {
  const auto count = static_cast<int>(steps.size());
  List<int> maker(values.size(), -1);
  List<bool> written(values.size());  // variables, before or behind whose writers a step has to stay
  for (int s = 0; s < count; ++s) {
    for (int v : steps[s].out) maker[v] = s;
    for (int i : steps[s].node->signature.mutated) written[steps[s].in[i]] = true;
  }
  // Behind which of the steps that stay each runs: −1 is before them all.
  List<int> behind(count), places(count + 2), order(count);
  for (int s = 0; s < count; ++s) {
    const Step& step = steps[s];
    bool outside = true, stays = false;
    for (int v : step.out) outside = outside && (values[v].defined() || uses[v] == 0);
    for (int v : step.in) stays = stays || (v >= 0 && written[v]);
    behind[s] = s;
    if (!stays && (outside || is_sum(*step.node->entry))) {
      behind[s] = -1;
      for (int v : step.in)
        if (v >= 0 && maker[v] >= 0) behind[s] = std::max(behind[s], behind[maker[v]]);
    }
    ++places[behind[s] + 2];
  }
  for (int s = 0; s <= count; ++s) places[s + 1] += places[s];
  for (int s = 0; s < count; ++s) order[places[behind[s] + 1]++] = s;  // those of one place in their own order
  if (std::is_sorted(order.begin(), order.end())) return;
  List<Step> sorted;
  sorted.reserve(count);
  for (int s : order) sorted.push_back(std::move(steps[s]));
  steps = std::move(sorted);
}

/// Whether adding a result to memory costs less than writing it elsewhere and adding then.
STROP_IMPL bool BoundGraph::takes_add(const Step& step, Inference& inference, int value) const {
  const Entry& entry = *step.node->entry;
  if (is_half(*inference.type(value))) return false;  // which go through copies, as do integers:
  if (!step.in.empty() && step.in[0] >= 0 && computes_in_double(entry, *inference.type(step.in[0]))) return false;
  Shape common{};
  for (int v : step.in) {
    if (v >= 0 && inference.storage(v) != dense) return false;
    if (v >= 0 && entry.is_map()) broadcast_into(common, inference.shape(v));
  }
  if (!entry.is_map()) return entry.accumulates;
  return inference.shape(value) != common || common.size() > map_grain;  // small ones have a loop that only writes
}

/// A sum whose terms have no other use needs no step and no memory of its own: those who make the terms add them to the
/// first one.
STROP_IMPL void BoundGraph::add_in_place(List<Step>& steps, Inference& inference) {
  List<int> maker(values.size(), -1), now(values.size(), -1);  // `now`: what a sum has become
  List<int> slot(values.size(), -1);
  List<bool> left(steps.size(), true);
  for (int s = 0; s < steps.size(); ++s)
    for (int k = 0; k < steps[s].out.size(); ++k) maker[steps[s].out[k]] = s, slot[steps[s].out[k]] = k;
  for (int s = 0; s < steps.size(); ++s) {
    Step& sum = steps[s];
    for (int& v : sum.in)
      if (v >= 0 && now[v] >= 0) v = now[v];
    if (!is_sum(*sum.node->entry) || sum.requests[0] == Request::null) continue;
    const int total = sum.out[0];
    List<int, 4> terms;
    // Results are the same to the bit: terms are added in their order, and as one to what the caller's array holds.
    bool may = inference.storage(total) == dense && sum.requests[0] == Request::write;
    for (int v : sum.in) {
      may = may && v >= 0 && maker[v] >= 0 && uses[v] == 1 && !values[v].defined() && inference.storage(v) == dense &&
            inference.shape(v) == inference.shape(total) && inference.type(v) == inference.type(total);
      if (!may) break;
      Index at = terms.size();
      terms.push_back(v);
      for (; at > 0 && maker[terms[at - 1]] > maker[terms[at]]; --at) {
        std::swap(terms[at - 1], terms[at]);
        may = may && at == 1 && terms.size() == 2;
      }
    }
    for (Index i = 1; may && i < terms.size(); ++i) {
      const Step& from = steps[maker[terms[i]]];
      may = maker[terms[i]] != maker[terms[i - 1]] && from.added_to.empty() && from.on_pattern.empty() &&
            takes_add(from, inference, terms[i]);
    }
    if (!may) continue;
    const int last = terms.back();
    for (Index i = 1; i < terms.size(); ++i) {
      Step& from = steps[maker[terms[i]]];
      from.added_to = List<int>(from.out.size(), -1);
      from.added_to[slot[terms[i]]] = terms[i - 1];
      from.requests[slot[terms[i]]] = Request::add;
    }
    for (int v = last; v >= 0 && values[total].defined();) {  // all of it in the caller's array
      values[v] = values[total];
      const Step& from = steps[maker[v]];
      v = from.added_to.empty() ? -1 : from.added_to[slot[v]];
    }
    now[total] = last;
    uses[last] = uses[total];
    left[s] = false;
  }
  for (Delivery& delivery : deliveries)
    if (delivery.value >= 0 && now[delivery.value] >= 0) delivery.value = now[delivery.value];
  keep_marked(steps, left);
}

/// What stands for an input that was left out. Steps point to it: there is room for one on each device from the start.
STROP_IMPL const NDArray* BoundGraph::absent_on(Device there) {
  if (absent.empty()) absent.resize(1 + std::ssize(groups));
  for (NDArray& one : absent) {
    if (!one.defined()) one = NDArray::shell({0}, f32, there);
    if (one.device() == there) return &one;
  }
  return nullptr;  // which is not met: each device is that of bind or of a group
}

/// Decides every step once: what runs later only executes. A head gradient, which backward brings, is taken to be
/// dense; where it is not, who reads it decides at the run. A copy from another device is decided as if its input were
/// there.
STROP_IMPL void BoundGraph::resolve_steps(Inference& inference, List<Step>& steps) {
  Index next_shell = 0;  // steps of forward read all that they are given
  for (Step& step : steps) {
    List<NDArray> arrays;  // or what will be known of them
    const Device here = step.out.empty() ? device : device_of(step.out[0]);
    for (Index i = 0; i < step.in.size(); ++i) {
      const int v = step.in[i];
      if (v < 0) {
        step.inputs.push_back(absent_on(here));
        arrays.push_back(*step.inputs.back());
        continue;
      }
      const bool shell = !step.reads(i);
      arrays.push_back(!shell && values[v].defined() && values[v].device() == here
                           ? values[v]
                           : NDArray::fresh_shell(inference.shape(v), *inference.type(v), here,
                                                  shell ? dense : inference.storage(v)));
      if (shell) shells[next_shell] = arrays.back();
      step.inputs.push_back(shell ? &shells[next_shell++] : &values[v]);
    }
    InferredResults results;
    for (int v : step.out) {
      step.outputs.push_back(values[v]);
      results.shapes.push_back(inference.shape(v));
      results.types.push_back(*inference.type(v));
    }
    const Entry& entry = *step.node->entry;
    List<const NDArray*, 8> in;
    for (const NDArray& a : arrays) in.push_back(&a);
    try {
      const Span<NDArray> out = step.outputs.span();
      step.plan = Ref<Plan>(new Plan(resolve(entry, step.node->op(), in.span(), out, step.requests.span(),
                                             step.node->like.empty() ? &results : nullptr)));
      make_outputs(*step.plan, step.node->op(), in.span(), out);
      // One plan serves prediction and training but for random numbers: who drew some that it does not need would leave
      // others than a call does to the nodes behind.
      const Resources predicting = step.resources(in.span(), false), training = step.resources(in.span(), true);
      step.plan->resources = {.random = training.random,
                              .temp_bytes = std::max(predicting.temp_bytes, training.temp_bytes)};
      if (predicting.random != training.random) {
        step.predicting = Ref<Plan>(new Plan(*step.plan));
        step.predicting->resources.random = predicting.random;
      }
    } catch (const Error& error) {
      fail_in(*step.node, error);
    }
  }
}

}  // namespace strop::inline v0::detail
