// SPDX-License-Identifier: Apache-2.0
/// \file
/// How an Executor is set up and runs.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/gradient_impl.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/tensor/create.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// While it lives, calls are not recorded, and train or predict.
class Quiet {
 public:
  explicit Quiet(bool train) : before_(call_mode) {
    call_mode.recording = false;
    call_mode.training = train;
  }
  ~Quiet() { call_mode = before_; }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  CallMode before_;
};

STROP_COLD std::vector<std::string> names_of(const NamedArrays& arrays) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  return names;
}

/// A gradient that is computed elsewhere, or zero (value −1), on its way to the array that was asked for.
struct Delivery {
  int value;
  std::size_t argument;
  Request request;
};

/// A node to run: its values, −1 for an input that was left out.
struct Step {
  Ref<Node> node;
  std::vector<int> in, out;
  std::vector<Request> requests;
};

/// All that an executor holds.
struct BoundGraph : Counted {
  Symbol symbol;
  Device device;
  NamedArrays args, grads, aux;
  std::vector<NDArray> outputs;

  BoundGraph(Symbol s, Device d) : symbol(std::move(s)), device(d) {}
  void take_arrays(const NamedArrays& given, const NamedArrays& states);
  void take_gradients(const NamedArrays& given, const GradRequests& requests, bool make);
  void forward(bool train);
  void set_arguments(const NamedArrays& inputs);
  void backward(const std::vector<NDArray>& heads);
  const NDArray& named(const NamedArrays& arrays, const char* what, std::string_view name) const;

 private:
  std::vector<NodeOutput> gradient_nodes(const std::vector<NodeOutput>& wanted);
  void plan(const std::vector<NodeOutput>& gradients, const std::vector<std::size_t>& wanted, bool make);
  void place_gradients(const Graph& graph, Inference& inference, const std::vector<NodeOutput>& gradients, const std::vector<std::size_t>& wanted, bool make, std::vector<int>& uses);
  void run(const std::vector<Step>& steps);
  void deliver_gradient(const Delivery& delivery);

  std::vector<Request> requests_;  // of the gradients
  std::vector<NodeOutput> arg_nodes_, aux_nodes_, heads_;
  std::vector<NDArray> values_;    // of every value of the graph
  std::vector<int> head_values_;   // of each output; −1: a loss head, or nothing depends on it
  std::vector<Step> forward_, backward_;
  std::vector<Delivery> deliveries_;
  std::string no_gradient_;        // why backward cannot run
  bool train_ = false, ran_ = false;
};

/// Copies the elements of one array to another of the same shape on the same device.
STROP_COLD void copy_into(const NDArray& from, const NDArray& to, Request request = Request::write) {
  if (request == Request::write && (from.is(to) || (to.storage() == dense && from.storage() == dense && from.dtype() == to.dtype() && from.bytes() == to.bytes()))) return;
  deliver(to.storage() == dense ? dense_form(from) : from.storage() == to.storage() ? from.copy() : from, to, request);
  if (to.body().buffer) to.body().buffer->written();
}

STROP_COLD void set_to_zero(const NDArray& a) {
  if (a.storage() != dense) a.allocate_stored(0);
  else std::memset(a.bytes(), 0, static_cast<std::size_t>(a.size() * size_of(a.dtype())));
  if (a.body().buffer) a.body().buffer->written();
}

/// The elements of a dense array at the positions that a sparse one stores.
STROP_COLD NDArray projected(const NDArray& a, const NDArray& onto) {
  const StoredPattern pattern = pattern_of(onto);
  const NDArray values = lay_along(a, pattern, onto.shape(), onto.storage());
  const NDArray result(onto.shape(), a.dtype(), onto.device(), onto.storage());
  store_pattern(result, pattern);
  std::memcpy(result.bytes(), values.bytes(), static_cast<std::size_t>(values.size() * size_of(values.dtype())));
  return result;
}

STROP_COLD const NDArray& BoundGraph::named(const NamedArrays& arrays, const char* what, std::string_view name) const {
  if (const NDArray* found = find_named(arrays, name)) return *found;
  const std::vector<std::string> names = names_of(arrays);
  fail("executor: no ", what, " '", name, "'; nearest: ", list_nearest(name, std::vector<std::string_view>(names.begin(), names.end()), 5));
}

/// The arrays of arguments and states, by name. States may stand among the arguments.
STROP_COLD void BoundGraph::take_arrays(const NamedArrays& given, const NamedArrays& states) {
  const Graph graph(symbol.outputs());
  const std::vector<char> written = graph.auxiliary();
  std::vector<std::string> all, state_names, missing;
  for (int n = 0; n < graph.size(); ++n) {
    Node& node = graph.node(n);
    if (node.entry != nullptr) continue;
    for (const std::string& name : all)
      if (name == node.name) fail("bind: two variables are called '", name, "'; give them different names");
    all.push_back(node.name);
    const bool state = written[static_cast<std::size_t>(n)] != 0;
    if (state) state_names.push_back(node.name);
    const NDArray* array = state ? find_named(states, node.name) : nullptr;
    if (array == nullptr) array = find_named(given, node.name);
    if (array == nullptr || !*array) {
      missing.push_back(node.name);
      continue;
    }
    if (array->device() != device) fail("bind: argument '", node.name, "' is on ", to_text(array->device()), ", expected ", to_text(device));
    (state ? aux : args).emplace_back(node.name, *array);
    (state ? aux_nodes_ : arg_nodes_).push_back({Ref(&node), 0});
  }
  check_names("bind", given, all);
  check_names("bind: auxiliary states", states, state_names);
  if (!missing.empty()) fail("bind: no array for ", listed(missing), "; the graph's variables are ", listed(all));
}

STROP_COLD void BoundGraph::take_gradients(const NamedArrays& given, const GradRequests& requests, bool make) {
  const std::vector<std::string> names = names_of(args);
  check_names("bind: gradients", given, names);
  check_names("bind: gradient requests", requests.named(), names);
  std::vector<NodeOutput> wanted;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto& [name, array] = args[i];
    const NDArray* buffer = find_named(given, name);
    const bool there = buffer != nullptr && *buffer;
    if (there && (buffer->shape() != array.shape() || buffer->dtype() != array.dtype() || buffer->device() != device))
      fail("bind: the gradient of '", name, "' is ", name_of(buffer->dtype()), ' ', to_text(buffer->shape()), " on ", to_text(buffer->device()), ", expected ", name_of(array.dtype()), ' ',
           to_text(array.shape()), " on ", to_text(device));
    grads.emplace_back(name, there ? *buffer : NDArray());
    const GradRequest request = there || (make && is_floating(array.dtype())) ? requests.of(name) : GradRequest::null;
    requests_.push_back(static_cast<Request>(request));
    if (request == GradRequest::null) continue;
    wanted.push_back(arg_nodes_[i]);
    which.push_back(i);
  }
  std::vector<NodeOutput> gradients(wanted.size());
  try {
    gradients = gradient_nodes(wanted);
  } catch (const Error& error) {  // of use to those who only predict
    no_gradient_ = error.what();
  }
  plan(gradients, which, make);
}

STROP_COLD std::vector<NodeOutput> BoundGraph::gradient_nodes(const std::vector<NodeOutput>& wanted) {
  std::vector<NodeOutput> out;
  if (wanted.empty()) return out;
  GradientWalk walk(symbol.outputs(), wanted);
  for (const NodeOutput& output : symbol.outputs()) {
    NodeOutput head;
    if (output.node->entry == nullptr || !is_loss(*output.node->entry)) {
      head = var(cat(output.node->output_name(output.index), "_head")).outputs()[0];
      head.node->like.push_back(output);
    }
    heads_.push_back(head);
    walk.start(output, head);
  }
  walk.run();
  for (const NodeOutput& w : wanted) out.push_back(walk.gradient(w));
  return out;
}

/// Infers everything, makes the arrays of all values and fixes the order.
STROP_COLD void BoundGraph::plan(const std::vector<NodeOutput>& gradients, const std::vector<std::size_t>& wanted, bool make) {
  std::vector<NodeOutput> roots = symbol.outputs();
  const Graph ahead(roots);
  for (const NodeOutput& g : gradients)
    if (g.node) roots.push_back(g);
  const Graph executed(roots), graph(roots, true);
  Inference inference(graph);
  values_.resize(static_cast<std::size_t>(graph.values()));
  const auto give = [&](const NamedArrays& arrays, const std::vector<NodeOutput>& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const int n = graph.find(nodes[i].node.get()), value = graph.value(n, 0);
      inference.give_shape(n, arrays[i].second.shape());
      inference.give_type(n, arrays[i].second.dtype());
      inference.storage(value) = arrays[i].second.storage();
      values_[static_cast<std::size_t>(value)] = arrays[i].second;
    }
  };
  give(args, arg_nodes_);
  give(aux, aux_nodes_);
  inference.infer_shapes();
  inference.infer_types();
  inference.infer_storages(device);

  std::vector<int> uses(values_.size());
  for (int n = 0; n < executed.size(); ++n) {
    const Node& node = executed.node(n);
    if (node.entry == nullptr) continue;
    Step step{Ref(&executed.node(n)), {}, {}, {}};
    for (const NodeOutput& in : node.inputs) {
      step.in.push_back(graph.value(in));
      if (in.node) ++uses[static_cast<std::size_t>(step.in.back())];
    }
    for (int k = 0; k < node.outputs(); ++k) step.out.push_back(graph.value(graph.find(&node), k));
    (ahead.find(&node) >= 0 ? forward_ : backward_).push_back(std::move(step));
  }
  for (const NodeOutput& output : symbol.outputs()) ++uses[static_cast<std::size_t>(graph.value(output))];
  place_gradients(graph, inference, gradients, wanted, make, uses);
  for (auto* steps : {&forward_, &backward_})
    for (Step& step : *steps)
      for (std::size_t k = 0; k < step.out.size(); ++k) {
        const int v = step.out[k];
        // Gradients that nobody reads are not computed.
        const bool idle = steps == &backward_ && uses[static_cast<std::size_t>(v)] == 0;
        if (step.requests.size() <= k) step.requests.resize(k + 1, Request::write);
        if (idle) step.requests[k] = Request::null;
        NDArray& value = values_[static_cast<std::size_t>(v)];
        if (idle || value) continue;
        if (!inference.shape(v).known())
          fail("bind: the shape of ", step.node->output_name(static_cast<int>(k)), " does not follow from the arguments; known is ", to_text(inference.shape(v)));
        value = NDArray(inference.shape(v), *inference.type(v), device, inference.storage(v));
      }
  for (const NodeOutput& output : symbol.outputs()) outputs.push_back(values_[static_cast<std::size_t>(graph.value(output))]);
  for (const NodeOutput& head : heads_) head_values_.push_back(graph.value(head));
}

/// Decides where each gradient is computed: in its buffer where nothing else uses it, else delivered there at the end.
STROP_COLD void BoundGraph::place_gradients(const Graph& graph, Inference& inference, const std::vector<NodeOutput>& gradients, const std::vector<std::size_t>& wanted,
                                      bool make, std::vector<int>& uses) {
  for (const NodeOutput& g : gradients)
    if (g.node) ++uses[static_cast<std::size_t>(graph.value(g))];
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t argument = wanted[i];
    const auto& [name, array] = args[argument];
    NDArray& buffer = grads[argument].second;
    const Request request = requests_[argument];
    const int value = graph.value(gradients[i]);
    if (value >= 0 && inference.shape(value) != array.shape())
      fail("bind: the gradient of '", name, "' comes as ", to_text(inference.shape(value)), ", expected ", to_text(array.shape()));
    const Storage storage = value >= 0 ? inference.storage(value) : dense;
    if (make && !buffer) buffer = zeros(array.shape(), storage, array.dtype(), device);
    Step* maker = nullptr;
    for (Step& step : backward_)
      if (step.node == gradients[i].node) maker = &step;
    const bool direct = maker != nullptr && uses[static_cast<std::size_t>(value)] == 1 && storage == dense && buffer.storage() == dense;
    if (!direct) {
      deliveries_.push_back({value, argument, request});
      continue;
    }
    values_[static_cast<std::size_t>(value)] = buffer;
    maker->requests.resize(maker->out.size(), Request::write);
    maker->requests[static_cast<std::size_t>(gradients[i].index)] = request;
  }
}

STROP_COLD void BoundGraph::run(const std::vector<Step>& steps) {
  const Quiet quiet(train_);
  static const NDArray nothing = NDArray::shell({0}, f32);
  std::vector<NDArray> held, out;
  std::vector<const NDArray*> in;
  for (const Step& step : steps) {
    const bool densify = !step.node->like.empty() && step.node->entry->is_map();
    in.clear();
    out.clear();
    held.clear();
    held.reserve(step.in.size());
    for (int v : step.in) {
      const NDArray* a = v < 0 ? &nothing : &values_[static_cast<std::size_t>(v)];
      if (densify && a->storage() != dense) {
        held.push_back(dense_form(*a));
        a = &held.back();
      }
      in.push_back(a);
    }
    for (std::size_t k = 0; k < step.out.size(); ++k) out.push_back(step.requests[k] == Request::null ? NDArray() : values_[static_cast<std::size_t>(step.out[k])]);
    try {
      dispatch(*step.node->entry, step.node->op(), in, out, step.requests);
    } catch (const Error& error) {
      fail("Error in node ", step.node->name, ": ", error.what());
    }
  }
}

STROP_COLD void BoundGraph::forward(bool train) {
  train_ = train;
  run(forward_);
  ran_ = true;
}

STROP_COLD void BoundGraph::set_arguments(const NamedArrays& inputs) {
  check_names("forward", inputs, names_of(args));
  for (const auto& [name, from] : inputs) {
    const NDArray& to = named(args, "argument", name);
    if (!from) fail("forward: argument '", name, "' is a handle without an array");
    if (from.shape() != to.shape()) fail("forward: argument '", name, "' has shape ", to_text(from.shape()), ", expected ", to_text(to.shape()));
    if (from.device() != to.device()) fail("forward: argument '", name, "' is on ", to_text(from.device()), ", expected ", to_text(to.device()));
  }
  for (const auto& [name, from] : inputs) copy_into(from, named(args, "argument", name));
}

STROP_COLD void BoundGraph::backward(const std::vector<NDArray>& heads) {
  if (!no_gradient_.empty()) throw Error(no_gradient_);
  if (!ran_) fail("backward: forward has not run");
  if (backward_.empty() && deliveries_.empty()) fail("backward: no argument asked for its gradient when the graph was bound");
  if (!heads.empty() && heads.size() != outputs.size()) fail("backward: ", heads.size(), " head gradients for ", outputs.size(), " outputs");
  const std::vector<std::string> names = symbol.list_outputs();
  for (std::size_t i = 0; i < head_values_.size(); ++i) {
    if (head_values_[i] < 0) continue;
    const NDArray& output = outputs[i];
    if (i >= heads.size() || !heads[i]) fail("backward: output '", names[i], "' is no loss and needs a head gradient of shape ", to_text(output.shape()));
    const NDArray& head = heads[i];
    if (head.shape() != output.shape()) fail("backward: the head gradient of '", names[i], "' has shape ", to_text(head.shape()), ", expected ", to_text(output.shape()));
    if (head.device() != output.device()) fail("backward: the head gradient of '", names[i], "' is on ", to_text(head.device()), ", expected ", to_text(output.device()));
    NDArray& slot = values_[static_cast<std::size_t>(head_values_[i])];
    slot = head;
    if (head.dtype() != output.dtype()) {
      slot = NDArray(output.shape(), output.dtype(), device);
      copy_into(head, slot);
    }
  }
  run(backward_);
  for (const Delivery& delivery : deliveries_) deliver_gradient(delivery);
  for (int v : head_values_)
    if (v >= 0) values_[static_cast<std::size_t>(v)] = NDArray();
}

/// Dense where the buffer is dense; in a sparse buffer of a sparse argument the projection on the argument's stored positions.
STROP_COLD void BoundGraph::deliver_gradient(const Delivery& delivery) {
  const NDArray &buffer = grads[delivery.argument].second, &argument = args[delivery.argument].second;
  if (delivery.value < 0) {
    if (delivery.request != Request::add) set_to_zero(buffer);
    return;
  }
  NDArray gradient = values_[static_cast<std::size_t>(delivery.value)];
  if (gradient.storage() == dense && buffer.storage() != dense && argument.storage() == buffer.storage()) gradient = projected(gradient, argument);
  copy_into(gradient, buffer, delivery.request);
}

}  // namespace detail

STROP_COLD Executor::Executor(detail::Ref<detail::BoundGraph> graph) : graph_(std::move(graph)) {}
STROP_COLD Executor::Executor(const Executor&) = default;
STROP_COLD Executor::Executor(Executor&&) noexcept = default;
STROP_COLD Executor& Executor::operator=(Executor other) noexcept {
  graph_ = std::move(other.graph_);
  return *this;
}
STROP_COLD Executor::~Executor() = default;

STROP_COLD const std::vector<NDArray>& Executor::forward(bool train) {
  graph_->forward(train);
  return graph_->outputs;
}
STROP_COLD const std::vector<NDArray>& Executor::forward(bool train, const NamedArrays& inputs) {
  graph_->set_arguments(inputs);
  return forward(train);
}
STROP_COLD void Executor::backward(const std::vector<NDArray>& heads) { graph_->backward(heads); }
STROP_COLD const std::vector<NDArray>& Executor::outputs() const { return graph_->outputs; }
STROP_COLD const NDArray& Executor::arg(std::string_view name) const { return graph_->named(graph_->args, "argument", name); }
STROP_COLD const NDArray& Executor::grad(std::string_view name) const { return graph_->named(graph_->grads, "argument", name); }
STROP_COLD const NDArray& Executor::aux(std::string_view name) const { return graph_->named(graph_->aux, "auxiliary state", name); }
STROP_COLD const NamedArrays& Executor::args() const { return graph_->args; }
STROP_COLD const NamedArrays& Executor::grads() const { return graph_->grads; }
STROP_COLD const NamedArrays& Executor::aux_states() const { return graph_->aux; }
STROP_COLD const Symbol& Executor::symbol() const { return graph_->symbol; }

STROP_COLD Executor Symbol::bind(Device device, const NamedArrays& args, const NamedArrays& grads, const GradRequests& requests, const NamedArrays& aux) const {
  if (!*this) fail("bind: the symbol is empty");
  const detail::Ref<detail::BoundGraph> run(new detail::BoundGraph(*this, device));
  run->take_arrays(args, aux);
  run->take_gradients(grads, requests, false);
  return Executor(run);
}

STROP_COLD Executor Symbol::simple_bind(Device device, const NamedShapes& shapes, const GradRequests& requests, const NamedTypes& types) const {
  if (!*this) fail("simple_bind: the symbol is empty");
  const Inferred<Shape> found = infer_shape(shapes);
  const Inferred<Dtype> type = infer_type(types);
  const detail::Graph graph(outputs_);
  NamedArrays arrays[2];
  const std::vector<std::string> names[2] = {list_arguments(), list_auxiliary_states()};
  for (std::size_t kind = 0; kind < 2; ++kind)
    for (std::size_t i = 0; i < names[kind].size(); ++i) {
      Storage storage = dense;
      for (int n = 0; n < graph.size(); ++n)
        if (graph.node(n).entry == nullptr && graph.node(n).name == names[kind][i]) storage = graph.node(n).variable.storage.value_or(dense);
      arrays[kind].emplace_back(names[kind][i], zeros(kind == 0 ? found.args[i] : found.aux[i], storage, kind == 0 ? type.args[i] : type.aux[i], device));
    }
  const detail::Ref<detail::BoundGraph> run(new detail::BoundGraph(*this, device));
  run->take_arrays(arrays[0], arrays[1]);
  run->take_gradients({}, requests, true);
  return Executor(run);
}

}  // namespace strop::inline v0
