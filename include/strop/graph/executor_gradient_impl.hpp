// SPDX-License-Identifier: Apache-2.0
/// \file
/// The part of an Executor that has to do with gradients: which are wanted, where they are computed, backward.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/executor_impl.hpp>
#include <strop/graph/gradient_impl.hpp>
#include <strop/graph/mirror_nodes_impl.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/tensor/create.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// Copies the elements of one array to another of the same shape on the same device, or adds them.
STROP_IMPL void copy_into(const NDArray& from, const NDArray& to, Request request = Request::write) {
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

/// Arrays that gradients go to, by name; where `make` says so, arguments without one, or those of floating types, get a
/// new one.
STROP_IMPL void BoundGraph::take_gradients(const NamedArrays& given, const GradRequests& wishes, Make make) {
  const List<std::string_view> names = names_of(args);
  check_given("bind: gradients", names_of(given), names);
  check_given("bind: gradient requests", names_of(wishes.named_), names);
  const NameTable given_at(names_of(given)), wish_at(names_of(wishes.named_));
  NodeOutputs wanted;
  for (Index i = 0; i < std::ssize(args); ++i) {
    const auto& [name, array] = element(args, i);
    const int at = given_at.find(name), wish = wish_at.find(name);
    const NDArray* buffer = at < 0 ? nullptr : &element(given, at).second;
    const bool there = buffer != nullptr && buffer->defined();
    // One of another floating type gets what is computed in the argument's own.
    const bool fits =
        there && (buffer->dtype() == array.dtype() || (is_floating(buffer->dtype()) && is_floating(array.dtype())));
    if (there && (buffer->shape() != array.shape() || !fits || buffer->device() != array.device()))
      fail("bind: the gradient of '", name, "' is ", name_of(buffer->dtype()), ' ', to_text(buffer->shape()), " on ",
           to_text(buffer->device()), ", expected ", name_of(array.dtype()), ' ', to_text(array.shape()), " on ",
           to_text(array.device()));
    grads.emplace_back(name, there ? *buffer : NDArray());
    const GradRequest request = there || make == Make::all || (make == Make::floating && is_floating(array.dtype()))
                                    ? (wish < 0 ? wishes.all_ : wishes.named_[wish].second)
                                    : GradRequest::null;
    if (request == GradRequest::add) adding();
    requests.push_back(static_cast<Request>(request));
    if (request != GradRequest::null) wanted.push_back(arg_nodes[i]);
  }
  find_joint_gradients();
  optimize(wanted);
  NodeOutputs gradients;
  gradients.resize(wanted.size());
  try {
    gradients = gradient_nodes(wanted);
  } catch (const Error& error) {  // of use to those who only predict
    no_gradient = error.what();
  }
  const auto place = [](BoundGraph& self, const Graph& graph, Inference& inference, const NodeOutputs& nodes) {
    self.place_gradients(graph, inference, nodes, false);
  };
  const auto place_and_make = [](BoundGraph& self, const Graph& graph, Inference& inference, const NodeOutputs& nodes) {
    self.place_gradients(graph, inference, nodes, true);
  };
  plan(gradients, make != Make::none ? Place(place_and_make) : Place(place));
}

/// Gradients that go to the same memory are added up there, one after the other; one that goes to the memory of an
/// argument or state, which steps may still read, is put there at the end.
STROP_IMPL void BoundGraph::find_joint_gradients() {
  joint.resize(requests.size());
  struct Lies {
    std::uintptr_t array, begin, end;
  };
  List<Lies> all;
  const auto place = [&all](const NDArray& a) {
    if (!a.defined()) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_of(a).data());
    all.push_back(
        {reinterpret_cast<std::uintptr_t>(&a.body()), begin, begin + static_cast<std::uintptr_t>(memory_of(a).size())});
  };
  for (const NamedArrays* arrays : {&grads, &args, &aux})
    for (const auto& [name, a] : *arrays) place(a);
  bool apart = true;
  std::sort(all.begin(), all.end(), [](const Lies& a, const Lies& b) { return a.array < b.array; });
  for (Index i = 1; i < all.size(); ++i) apart = apart && all[i].array != all[i - 1].array;
  std::sort(all.begin(), all.end(), [](const Lies& a, const Lies& b) { return a.begin < b.begin; });
  std::uintptr_t end = 0;
  for (const Lies& one : all) {
    apart = apart && one.begin >= end;
    end = std::max(end, one.end);
  }
  if (apart) return;  // which many gradients are asked in one sweep
  for (int i = 0; i < requests.size(); ++i)
    for (int j = 0; j < i; ++j) {
      const auto& [name, a] = element(grads, i);
      const auto& [other, b] = element(grads, j);
      if (!a.defined() || !b.defined() || requests[i] == Request::null || requests[j] == Request::null) continue;
      if (!a.is(b) && !overlap(memory_of(a), memory_of(b))) continue;
      if (requests[i] != Request::add || requests[j] != Request::add)
        fail("bind: the gradient of '", name, "' overlaps the memory of that of '", other,
             "'; both have to be added to it");
      joint[i] = joint[j] = true;
    }
  for (int i = 0; i < requests.size(); ++i) {
    const NDArray& a = element(grads, i).second;
    if (!a.defined() || requests[i] == Request::null) continue;
    for (const NamedArrays* arrays : {&args, &aux})
      for (const auto& [name, other] : *arrays) joint[i] = joint[i] || overlap(memory_of(a), memory_of(other));
  }
}

STROP_IMPL NodeOutputs BoundGraph::gradient_nodes(const NodeOutputs& wanted) {
  NodeOutputs out;
  if (wanted.empty()) return out;
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
  NodeOutputs all = contributions;
  for (const NodeOutput& gradient : out) all.push_back(gradient);
  Mirroring mirroring(net);
  mirroring.run(all);
  snapshots = mirroring.snapshots();
  save_states = [](BoundGraph& self) {
    for (const auto& [from, to] : self.saved) copy_into(from, to);
  };
  return out;
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

STROP_IMPL Executor BoundGraph::reshape(const NamedShapes& shapes) {
  check_given("reshape", names_of(shapes), names_of(args));
  const NameTable given(names_of(shapes));
  NamedShapes known = shapes;
  for (Index i = 0; i < std::ssize(args); ++i) {  // bound to another shape than their variables say
    const auto& [name, array] = element(args, i);
    Shape said = arg_nodes[i].node->variable.shape;
    if (!unify(said, array.shape()) && given.find(name) < 0) known.emplace_back(name, array.shape());
  }
  const Inferred<Shape> found = symbol.infer_shape_partial(known);
  NamedArrays new_args, new_grads, new_aux;
  GradRequests wishes(GradRequest::null);
  const auto of_shape = [&](const NDArray& like, const Shape& shape) {
    return !like.defined() || like.shape() == shape ? like : zeros(shape, like.storage(), like.dtype(), like.device());
  };
  for (Index i = 0; i < std::ssize(args); ++i) {
    const auto& [name, array] = element(args, i);
    const Shape& inferred = element(found.args, i);
    const Shape shape = inferred.known() ? inferred : array.shape();
    if (shape != array.shape() && given.find(name) < 0)
      fail("reshape: argument '", name, "' would have shape ", to_text(shape), " instead of ", to_text(array.shape()),
           "; name it as well, if that is meant");
    new_args.emplace_back(name, of_shape(array, shape));
    if (requests.empty()) continue;
    new_grads.emplace_back(name, of_shape(element(grads, i).second, shape));
    wishes.named_.push_back({name, static_cast<GradRequest>(requests[i])});
  }
  for (Index i = 0; i < std::ssize(aux); ++i) {
    const auto& [name, array] = element(aux, i);
    const Shape& inferred = element(found.aux, i);
    new_aux.emplace_back(name, of_shape(array, inferred.known() ? inferred : array.shape()));
  }
  const Executor self{Ref<BoundGraph>(this)};
  return symbol.bind(device, new_args, new_grads, wishes, new_aux,
                     {.group2ctx = groups, .shared = &self, .side_by_side = side_by_side});
}

/// Copies each into its place, all as they are before any of them is written: a source may lie where another goes.
STROP_IMPL void copy_all(Span<const NDArray> from, Span<const NDArray> to) {
  List<NDArray> sources, places;  // of those that have somewhere to go
  List<const NDArray*> read;
  for (Index i = 0; i < from.size(); ++i) {
    if (from[i].is(to[i])) continue;
    sources.push_back(from[i]);
    places.push_back(to[i]);
  }
  for (const NDArray& source : sources) read.push_back(&source);
  const bool apart = sources.size() < 2 || lie_apart(read.span(), places.span());
  for (NDArray& source : sources)
    if (!apart) source = source.copy();
  for (Index i = 0; i < sources.size(); ++i) copy_into(sources[i], places[i]);
}

STROP_IMPL void BoundGraph::set_arguments(const NamedArrays& inputs) {
  check_given("forward", names_of(inputs), names_of(args));
  const NameTable known(names_of(args));
  List<NDArray, 4> sources, places;
  for (const auto& [name, from] : inputs) {
    const NDArray& to = element(args, known.find(name)).second;
    if (!from.defined()) fail("forward: argument '", name, "' is a handle without an array");
    if (from.shape() != to.shape())
      fail("forward: argument '", name, "' has shape ", to_text(from.shape()), ", expected ", to_text(to.shape()));
    if (from.device() != to.device())
      fail("forward: argument '", name, "' is on ", to_text(from.device()), ", expected ", to_text(to.device()));
    sources.push_back(from);
    places.push_back(to);
  }
  copy_all(sources.span(), places.span());
}

/// What is to be copied where. Nothing is copied before all of it is known to be right.
STROP_IMPL void BoundGraph::gather_params(const NamedArrays& from, const NamedArrays& to, const char* what,
                                          bool allow_extra, List<NDArray>& sources, List<NDArray>& places) const {
  const NameTable known(names_of(to));
  for (const auto& [name, array] : from) {
    const int at = known.find(name);
    if (at < 0 && allow_extra) continue;
    if (at < 0) fail_unknown(cat("copy_params_from: no ", what), name, names_of(to));
    const NDArray& own = element(to, at).second;
    if (!array.defined()) fail("copy_params_from: ", what, " '", name, "' is a handle without an array");
    if (array.shape() != own.shape())
      fail("copy_params_from: ", what, " '", name, "' has shape ", to_text(array.shape()), ", expected ",
           to_text(own.shape()));
    sources.push_back(array);
    places.push_back(own);
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

STROP_IMPL GradRequests::GradRequests(std::initializer_list<std::pair<std::string_view, GradRequest>> named)
    : GradRequests(std::span(named.begin(), named.size())) {}
STROP_IMPL GradRequests::GradRequests(std::span<const std::pair<std::string_view, GradRequest>> named) {
  for (const auto& [name, request] : named) named_.push_back({std::string(name), request});
}
STROP_IMPL GradRequest GradRequests::of(std::string_view argument) const {
  for (const auto& [name, request] : named_)
    if (name == argument) return request;
  return all_;
}

STROP_IMPL void Executor::copy_params_from(const NamedArrays& args, const NamedArrays& aux, bool allow_extra) {
  const std::lock_guard mine(graph_->running);
  detail::List<NDArray> sources, places;
  graph_->gather_params(args, graph_->args, "argument", allow_extra, sources, places);
  graph_->gather_params(aux, graph_->aux, "auxiliary state", allow_extra, sources, places);
  for (detail::Index i = 0; i < sources.size(); ++i)
    if (sources[i].device() != places[i].device()) sources[i] = sources[i].to(places[i].device());
  detail::copy_all(sources.span(), places.span());
}

STROP_IMPL const std::vector<NDArray>& Executor::forward(bool train, const NamedArrays& inputs) {
  const detail::Ref<detail::BoundGraph> graph = graph_;
  const std::lock_guard mine(graph->running);
  graph->set_arguments(inputs);
  return forward(train);
}
STROP_IMPL Executor Executor::reshape(const NamedShapes& shapes) const {
  const std::lock_guard mine(graph_->running);
  return graph_->reshape(shapes);
}
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

STROP_IMPL Executor Symbol::bind(Device device, const NamedArrays& args, const NamedArrays& grads,
                                 const GradRequests& requests, const NamedArrays& aux,
                                 const BindOptions& options) const {
  if (!defined()) fail("bind: the symbol is empty");
  const detail::Ref<detail::BoundGraph> run(new detail::BoundGraph(*this, device));
  run->groups = options.group2ctx;
  run->share_with(options.shared);
  run->side_by_side = options.side_by_side;
  run->take_arrays(args, aux);
  run->take_gradients(grads, requests, detail::BoundGraph::Make::none);
  return run->as_executor();
}

STROP_IMPL Executor Symbol::simple_bind(Device device, const NamedShapes& shapes, const GradRequests& requests,
                                        const NamedTypes& types, const BindOptions& options) const {
  if (!defined()) fail("simple_bind: the symbol is empty");
  const Inferred<Shape> found = infer_shape(shapes);
  const Inferred<Dtype> type = infer_type(types);
  const detail::Graph graph(outputs_);
  const detail::List<bool> written = graph.auxiliary();
  detail::List<std::string_view> names;
  for (int n = 0; n < graph.size(); ++n)
    if (graph.node(n).is_variable()) names.push_back(graph.node(n).name);
  detail::check_given("simple_bind: storages", detail::names_of(options.storages), names);
  const detail::NameTable storages(detail::names_of(options.storages));
  const detail::SharedArrays shared(options);
  NamedArrays args, aux, grads;
  bool integers = false;
  for (int n = 0; n < graph.size(); ++n) {
    const detail::Node& node = graph.node(n);
    if (!node.is_variable()) continue;
    NamedArrays& kind = written[n] ? aux : args;
    const std::size_t i = kind.size();
    const int asked = storages.find(node.name);
    const NDArray made = NDArray::fresh_shell(
        written[n] ? found.aux[i] : found.args[i], written[n] ? type.aux[i] : type.args[i],
        detail::device_of_group(node.attributes, options.group2ctx, device),
        asked >= 0 ? detail::element(options.storages, asked).second : node.variable.storage.value_or(dense));
    NDArray gradient;
    const NDArray there = shared.find(node.name, written[n], made, gradient);
    kind.emplace_back(node.name,
                      there.defined() ? there : zeros(made.shape(), made.storage(), made.dtype(), made.device()));
    if (gradient.defined()) grads.emplace_back(node.name, gradient);
    integers = integers || (!written[n] && !is_floating(made.dtype()) && requests.of(node.name) != GradRequest::null);
  }
  using detail::BoundGraph;
  const auto bound = [&](BoundGraph::Make make) {
    const detail::Ref<BoundGraph> run(new BoundGraph(*this, device));
    run->groups = options.group2ctx;
    run->share_with(options.shared);
    run->side_by_side = options.side_by_side;
    run->take_arrays(args, aux);
    run->take_gradients(grads, requests, make);
    return run;
  };
  if (integers) try {
      const detail::Ref<BoundGraph> run = bound(BoundGraph::Make::all);
      if (run->no_gradient.empty()) return run->as_executor();
    } catch (const Error&) {  // numbers of classes, positions and the like have no gradient: the others have theirs
    }
  return bound(BoundGraph::Make::floating)->as_executor();
}

}  // namespace strop::inline v0
