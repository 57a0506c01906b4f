// SPDX-License-Identifier: Apache-2.0
/// \file
/// The gradients of a bound graph: which nodes compute them, where they go, and how backward runs.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/bound_graph.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/gradient_impl.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/mirror_nodes_impl.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/tensor/create.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

STROP_IMPL void copy_into(const NDArray& from, const NDArray& to, Request request) {
  const bool same = from.is(to) || (to.storage() == dense && from.storage() == dense && from.dtype() == to.dtype() &&
                                    from.address() == to.address());
  if (same && request == Request::write) return;
  // A sparse array takes over what it is given, so it is given a copy.
  deliver(to.storage() == dense ? dense_form(from) : from.storage() == to.storage() ? from.copy() : from, to, request);
  if (to.body().buffer) to.body().buffer->written();
}

STROP_IMPL void set_to_zero(const NDArray& a) {
  if (a.storage() != dense) {
    a.allocate_stored(0);
  } else if (a.size() != 0) {
    take_for_writing(a, overwrites(a, Request::write));
    clear(a, a.size() * size_of(a.dtype()));
  }
  if (a.body().buffer) a.body().buffer->written();
}

STROP_IMPL NodeOutputs BoundGraph::gradient_nodes(const NodeOutputs& wanted) {
  if (wanted.empty()) return {};
  PassGraph made{net, device, {{}, {}, wanted}};
  made.gradients_of = this;
  run_passes(gradient_passes, made);
  return made.gradients;
}

STROP_IMPL void make_gradients(PassGraph& graph) { graph.gradients_of->make_gradients(graph); }
STROP_IMPL void BoundGraph::make_gradients(PassGraph& graph) {
  NodeOutputs& out = graph.gradients;
  const NodeOutputs& wanted = graph.variables.wanted;
  GradientWalk walk(net, wanted);
  for (Index i = 0; i < net.size(); ++i) {
    const NodeOutput& output = net[i];
    const Head comes = coming.empty() ? Head::gradient : coming[i];
    NodeOutput head;
    if (comes == Head::gradient && (output.node->is_variable() || !output.node->entry->gradient.of_loss())) {
      head = new_variable(cat(output.node->output_name(output.index), "_head"));
      head.node->like.push_back(output);
    }
    heads.push_back(head);
    if (comes == Head::gradient)
      walk.start(output, head);
    else if (comes == Head::zero)
      walk.start_zero(output);
  }
  walk.run();
  for (const NodeOutput& w : wanted) {
    out.push_back(walk.gradient(w));
    reached.push_back(out.back().node || walk.is_zero(w));
  }
  contributions = walk.contributions();
  unread = walk.unread();
}

STROP_IMPL void mirror_marked(PassGraph& graph) {
  BoundGraph& of = *graph.gradients_of;
  NodeOutputs all = of.contributions;
  for (const NodeOutput& gradient : graph.gradients) all.push_back(gradient);
  Mirroring mirroring(graph.outputs);
  mirroring.run(all);
  of.snapshots = mirroring.snapshots();
  of.save_states = [](BoundGraph& self) {
    for (const auto& [from, to] : self.saved) copy_into(from, to);
  };
}

/// Decides where each gradient is computed: in its buffer where nothing else uses it, else delivered there at the end.
STROP_IMPL void BoundGraph::place_gradients(const Graph& graph, Inference& inference, const NodeOutputs& gradients,
                                            bool make) {
  for (const NodeOutput& g : gradients)
    if (g.node) ++uses[graph.value(g)];
  List<bool> brought(values.size());
  for (const NodeOutput& head : heads)
    if (const int v = graph.value(head); v >= 0) brought[v] = true;
  for (Step& step : backward_steps)
    for (Index i = 0; i < step.in.size(); ++i)
      step.takes_head = step.takes_head || (step.reads(i) && brought[step.in[i]]);
  List<int> step_of(values.size(), -1);
  for (int s = 0; s < backward_steps.size(); ++s)
    for (int v : backward_steps[s].out) step_of[v] = s;
  int next = 0;
  for (int i = 0; i < requests.size(); ++i) {
    if (requests[i] == Request::null) continue;
    const NodeOutput& gradient = gradients[next++];
    const int value = graph.value(gradient);
    const auto& [name, array] = element(args, i);
    NDArray& buffer = element(grads, i).second;
    if (value >= 0 && inference.shape(value) != array.shape())
      fail("bind: the gradient of '", name, "' comes as ", to_text(inference.shape(value)), ", expected ",
           to_text(array.shape()));
    const Storage storage = value >= 0 ? inference.storage(value) : dense;
    if (make && !buffer.defined())
      buffer = dry ? NDArray::fresh_shell(array.shape(), array.dtype(), array.device(), storage)
                   : zeros(array.shape(), storage, array.dtype(), array.device());
    Step* const maker = value >= 0 && step_of[value] >= 0 ? &backward_steps[step_of[value]] : nullptr;
    // In a CSR buffer of a CSR argument of a map: computed at the argument's stored positions alone.
    const bool typed = buffer.defined() && buffer.dtype() == array.dtype();
    if (maker != nullptr && maker->node->entry->is_map() && uses[value] == 1 && array.storage() == csr &&
        buffer.storage() == csr && typed && !maker->node->like.empty() &&
        inference.shape(maker->in[0]) == array.shape()) {
      maker->on_pattern.push_back({gradient.index, i});
      maker->requests[gradient.index] = Request::null;
      inference.storage(value) = array.storage();
    }
    if (maker == nullptr || joint[i] || !typed || uses[value] != 1 || storage != dense || buffer.storage() != dense ||
        (as_written && requests[i] == Request::add)) {
      deliveries.push_back({value, i, requests[i]});
      continue;
    }
    values[value] = buffer;
    maker->requests[gradient.index] = requests[i];
  }
}

/// The head gradients become values of the graph until the end of backward (their memory is held until the next one),
/// sparse ones as they are: operators that have no form for one take it as a dense copy, which is logged, as of every
/// call.
STROP_IMPL void BoundGraph::set_heads(Span<const NDArray> given) {
  if (!given.empty() && given.size() != std::ssize(outputs))
    fail("backward: ", given.size(), " head gradients for ", outputs.size(), " outputs");
  const NDArray none;
  sparse_heads = false;
  for (int i = 0; i < head_values.size(); ++i) {
    if (head_values[i] < 0) continue;
    const NDArray &output = element(outputs, i), &head = i < given.size() ? given[i] : none;
    const auto name = [&] { return element(symbol.list_outputs(), i); };
    if (!head.defined())
      fail("backward: output '", name(), "' is no loss and needs a head gradient of shape ", to_text(output.shape()));
    if (head.shape() != output.shape())
      fail("backward: the head gradient of '", name(), "' has shape ", to_text(head.shape()), ", expected ",
           to_text(output.shape()));
    if (head.device() != output.device())
      fail("backward: the head gradient of '", name(), "' is on ", to_text(head.device()), ", expected ",
           to_text(output.device()));
    check_structure_of(head, [&] { return cat("backward: the head gradient of '", name(), '\''); });
    NDArray& slot = values[head_values[i]];
    slot = head;
    // GPUs and gradients of integers are for dense arrays alone.
    const Storage storage =
        head.device().kind == DeviceKind::cpu && is_floating(output.dtype()) ? head.storage() : dense;
    sparse_heads = sparse_heads || storage != dense;
    bool apart = head.dtype() == output.dtype() && head.storage() == storage;  // and from what backward writes
    for (const auto& [argument, buffer] : grads)
      apart = apart && !(buffer.defined() && (buffer.is(head) || overlap(memory_of(buffer), memory_of(head))));
    if (apart) continue;
    slot = NDArray(output.shape(), output.dtype(), output.device(), storage);
    copy_into(head, slot);
  }
  compare_heads();
}

/// Before forward's nodes run once more, because what backward reads has been written over.
STROP_IMPL void BoundGraph::check_repeatable() const {
  for (const Step& step : forward_steps)
    if (const Entry& entry = *step.node->entry;
        entry.mutates || step.state >= 0 || step.resources(step.inputs.span(), train).random)
      fail("backward: ",
           lost ? "another executor has run in the same memory since the last forward"
                : "it has run since the last forward and has written over what it reads",
           ", and node '", step.node->name, "' (", entry.name,
           ") does not compute the same twice; call forward before each backward");
}

/// Has the outputs computed in other arrays while it lives: those that the caller holds stay as forward left them, also
/// where arguments have changed since.
class OutputsApart {
 public:
  explicit OutputsApart(BoundGraph& graph) : graph_(graph) {
    List<bool> shown(graph.values.size());
    for (int v : graph.output_values) shown[v] = true;
    for (Step& step : graph.forward_steps)
      for (Index k = 0; k < step.out.size(); ++k)
        if (const int v = step.out[k]; shown[v]) {
          const NDArray& before = graph.values[v];
          NDArray other(before.shape(), before.dtype(), before.device(), before.storage());
          others_.push_back({&step.outputs[k], v, before, std::move(other)});
        }
    for (const Other& one : others_) *one.output = graph.values[one.value] = one.made;  // which throws nothing
  }
  ~OutputsApart() {
    for (const Other& one : others_) *one.output = graph_.values[one.value] = one.before;
  }
  OutputsApart(const OutputsApart&) = delete;
  OutputsApart& operator=(const OutputsApart&) = delete;

 private:
  struct Other {
    NDArray* output;
    int value;
    NDArray before, made;
  };
  BoundGraph& graph_;
  List<Other> others_;
};

STROP_IMPL void BoundGraph::backward(Span<const NDArray> given) {
  if (!no_gradient.empty()) throw Error(no_gradient);
  if (!ran) fail("backward: forward has not run");
  if (backward_steps.empty() && deliveries.empty())
    fail("backward: no argument asked for its gradient when the graph was bound");
  const Turn mine(*this, false);
  set_heads(given);
  const bool again = spent || lost;
  std::optional<OutputsApart> apart;
  if (again) {
    check_repeatable();
    apart.emplace(*this);
    run_one_by_one(forward_steps);
    lost = false;
  }
  spent = overwrites || again;  // a second time of this one would read outputs of the forward before
  if (again)
    run_one_by_one(backward_steps);
  else
    run(backward_steps, backward_segments);
  for (const Delivery& delivery : deliveries) {
    const NDArray& buffer = element(grads, delivery.argument).second;
    const NDArray& argument = element(args, delivery.argument).second;
    if (delivery.value < 0) {
      if (delivery.request != Request::add) set_to_zero(buffer);
      continue;
    }
    // In a CSR buffer of a CSR argument: the projection on the argument's stored positions.
    NDArray gradient = values[delivery.value];
    if (gradient.storage() == dense && buffer.storage() == csr && argument.storage() == csr)
      gradient = projected(gradient, argument);
    if (gradient.storage() == dense) gradient = as_type(gradient, buffer.dtype());
    copy_into(gradient, buffer, delivery.request);
  }
  for (int v : head_values)
    if (v >= 0) values[v] = NDArray();
}

}  // namespace detail

STROP_IMPL void Executor::backward(const std::vector<NDArray>& heads) {
  const detail::Ref<detail::BoundGraph> graph = graph_;
  const std::lock_guard mine(graph->running);
  const detail::Ref<detail::BoundGraph> now(&graph->active());  // as in forward
  now->backward(heads);
}
STROP_IMPL void Executor::backward(const NDArray& head) {
  const detail::Ref<detail::BoundGraph> graph = graph_;
  const std::lock_guard mine(graph->running);
  const detail::Ref<detail::BoundGraph> now(&graph->active());
  now->backward({&head, 1});
}

}  // namespace strop::inline v0
