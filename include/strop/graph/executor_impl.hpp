// SPDX-License-Identifier: Apache-2.0
/// \file
/// How an Executor is set up and runs.
#pragma once
#include <strop/graph/executor.hpp>

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

inline std::vector<std::string> names_of(const NamedArrays& arrays) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  return names;
}

}  // namespace detail

inline const NDArray& Executor::named(const NamedArrays& arrays, const char* what, std::string_view name) const {
  if (const NDArray* found = detail::find_named(arrays, name)) return *found;
  const std::vector<std::string> names = detail::names_of(arrays);
  fail("executor: no ", what, " '", name, "'; nearest: ", detail::list_nearest(name, std::vector<std::string_view>(names.begin(), names.end()), 5));
}

/// The arrays of arguments and states, by name. States may stand among the arguments.
inline void Executor::take_arrays(const NamedArrays& args, const NamedArrays& aux) {
  const detail::Graph graph(symbol_.outputs());
  const std::vector<char> written = graph.auxiliary();
  std::vector<std::string> all, states, missing;
  for (int n = 0; n < graph.size(); ++n) {
    detail::Node& node = graph.node(n);
    if (node.entry != nullptr) continue;
    for (const std::string& name : all)
      if (name == node.name) fail("bind: two variables are called '", name, "'; give them different names");
    all.push_back(node.name);
    const bool state = written[static_cast<std::size_t>(n)] != 0;
    if (state) states.push_back(node.name);
    const NDArray* array = state ? detail::find_named(aux, node.name) : nullptr;
    if (array == nullptr) array = detail::find_named(args, node.name);
    if (array == nullptr || !*array) {
      missing.push_back(node.name);
      continue;
    }
    if (array->device() != device_) fail("bind: argument '", node.name, "' is on ", to_text(array->device()), ", expected ", to_text(device_));
    (state ? aux_ : args_).emplace_back(node.name, *array);
    (state ? aux_nodes_ : arg_nodes_).push_back({detail::Ref(&node), 0});
  }
  if (!missing.empty()) fail("bind: no array for ", detail::listed(missing), "; the graph's variables are ", detail::listed(all));
  detail::check_names("bind", args, all);
  detail::check_names("bind: auxiliary states", aux, states);
}

inline void Executor::take_gradients(const NamedArrays& grads, const GradRequests& requests, bool make) {
  const std::vector<std::string> names = detail::names_of(args_);
  detail::check_names("bind: gradients", grads, names);
  detail::check_names("bind: gradient requests", requests.named(), names);
  std::vector<detail::NodeOutput> wanted;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < args_.size(); ++i) {
    const auto& [name, array] = args_[i];
    const NDArray* given = detail::find_named(grads, name);
    const bool there = given != nullptr && *given;
    if (there && (given->shape() != array.shape() || given->dtype() != array.dtype() || given->device() != device_))
      fail("bind: the gradient of '", name, "' is ", name_of(given->dtype()), ' ', to_text(given->shape()), " on ", to_text(given->device()), ", expected ", name_of(array.dtype()), ' ',
           to_text(array.shape()), " on ", to_text(device_));
    grads_.emplace_back(name, there ? *given : NDArray());
    const GradRequest request = there || (make && is_floating(array.dtype())) ? requests.of(name) : GradRequest::null;
    requests_.push_back(static_cast<Request>(request));
    if (request == GradRequest::null) continue;
    wanted.push_back(arg_nodes_[i]);
    which.push_back(i);
  }
  std::vector<detail::NodeOutput> gradients(wanted.size());
  try {
    gradients = gradient_nodes(wanted);
  } catch (const Error& error) {  // of use to those who only predict
    no_gradient_ = error.what();
  }
  plan(gradients, which, make);
}

inline std::vector<detail::NodeOutput> Executor::gradient_nodes(const std::vector<detail::NodeOutput>& wanted) {
  std::vector<detail::NodeOutput> out;
  if (wanted.empty()) return out;
  detail::GradientWalk walk(symbol_.outputs(), wanted);
  for (const detail::NodeOutput& output : symbol_.outputs()) {
    detail::NodeOutput head;
    if (output.node->entry == nullptr || !detail::is_loss(*output.node->entry)) {
      head = var(cat(output.node->output_name(output.index), "_head")).outputs()[0];
      head.node->like.push_back(output);
    }
    heads_.push_back(head);
    walk.start(output, head);
  }
  walk.run();
  for (const detail::NodeOutput& w : wanted) out.push_back(walk.gradient(w));
  return out;
}

/// Infers everything, makes the arrays of all values and fixes the order.
inline void Executor::plan(const std::vector<detail::NodeOutput>& gradients, const std::vector<std::size_t>& wanted, bool make) {
  std::vector<detail::NodeOutput> roots = symbol_.outputs();
  const detail::Graph ahead(roots);
  for (const detail::NodeOutput& g : gradients)
    if (g.node) roots.push_back(g);
  const detail::Graph executed(roots), graph(roots, true);
  detail::Inference inference(graph);
  values_.resize(static_cast<std::size_t>(graph.values()));
  const auto give = [&](const NamedArrays& arrays, const std::vector<detail::NodeOutput>& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const int n = graph.find(nodes[i].node.get()), value = graph.value(n, 0);
      inference.give_shape(n, arrays[i].second.shape());
      inference.give_type(n, arrays[i].second.dtype());
      inference.storage(value) = arrays[i].second.storage();
      values_[static_cast<std::size_t>(value)] = arrays[i].second;
    }
  };
  give(args_, arg_nodes_);
  give(aux_, aux_nodes_);
  inference.infer_shapes();
  inference.infer_types();
  inference.infer_storages(device_);

  std::vector<int> uses(values_.size());
  for (int n = 0; n < executed.size(); ++n) {
    const detail::Node& node = executed.node(n);
    if (node.entry == nullptr) continue;
    Step step{detail::Ref(&executed.node(n)), {}, {}, {}};
    for (const detail::NodeOutput& in : node.inputs) {
      step.in.push_back(graph.value(in));
      if (in.node) ++uses[static_cast<std::size_t>(step.in.back())];
    }
    for (int k = 0; k < node.outputs(); ++k) step.out.push_back(graph.value(graph.find(&node), k));
    (ahead.find(&node) >= 0 ? forward_ : backward_).push_back(std::move(step));
  }
  for (const detail::NodeOutput& output : symbol_.outputs()) ++uses[static_cast<std::size_t>(graph.value(output))];
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
        value = NDArray(inference.shape(v), *inference.type(v), device_, inference.storage(v));
      }
  for (const detail::NodeOutput& output : symbol_.outputs()) outputs_.push_back(values_[static_cast<std::size_t>(graph.value(output))]);
  for (const detail::NodeOutput& head : heads_) head_values_.push_back(graph.value(head));
}

/// Decides where each gradient is computed: in its buffer where nothing else uses it, else delivered there at the end.
inline void Executor::place_gradients(const detail::Graph& graph, detail::Inference& inference, const std::vector<detail::NodeOutput>& gradients, const std::vector<std::size_t>& wanted,
                                      bool make, std::vector<int>& uses) {
  for (const detail::NodeOutput& g : gradients)
    if (g.node) ++uses[static_cast<std::size_t>(graph.value(g))];
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t argument = wanted[i];
    const auto& [name, array] = args_[argument];
    NDArray& buffer = grads_[argument].second;
    const Request request = requests_[argument];
    const int value = graph.value(gradients[i]);
    if (value >= 0 && inference.shape(value) != array.shape())
      fail("bind: the gradient of '", name, "' comes as ", to_text(inference.shape(value)), ", expected ", to_text(array.shape()));
    const Storage storage = value >= 0 ? inference.storage(value) : dense;
    if (make && !buffer) buffer = zeros(array.shape(), storage, array.dtype(), device_);
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

inline void Executor::run(const std::vector<Step>& steps) {
  const detail::Quiet quiet(train_);
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
        held.push_back(detail::cast_storage(*a, dense));
        a = &held.back();
      }
      in.push_back(a);
    }
    for (std::size_t k = 0; k < step.out.size(); ++k) out.push_back(step.requests[k] == Request::null ? NDArray() : values_[static_cast<std::size_t>(step.out[k])]);
    try {
      detail::dispatch(*step.node->entry, step.node->op(), in, out, step.requests);
    } catch (const Error& error) {
      fail("Error in node ", step.node->name, ": ", error.what());
    }
  }
}

inline const std::vector<NDArray>& Executor::forward(bool train, const NamedArrays& inputs) {
  detail::check_names("forward", inputs, detail::names_of(args_));
  for (const auto& [name, from] : inputs) {
    const NDArray& to = arg(name);
    if (!from) fail("forward: argument '", name, "' is a handle without an array");
    if (from.shape() != to.shape()) fail("forward: argument '", name, "' has shape ", to_text(from.shape()), ", expected ", to_text(to.shape()));
    if (from.device() != to.device()) fail("forward: argument '", name, "' is on ", to_text(from.device()), ", expected ", to_text(to.device()));
  }
  for (const auto& [name, from] : inputs) detail::copy_into(from, arg(name));
  return forward(train);
}

inline void Executor::backward(const std::vector<NDArray>& heads) {
  if (!no_gradient_.empty()) throw Error(no_gradient_);
  if (!ran_) fail("backward: forward has not run");
  if (backward_.empty() && deliveries_.empty()) fail("backward: no argument asked for its gradient when the graph was bound");
  if (!heads.empty() && heads.size() != outputs_.size()) fail("backward: ", heads.size(), " head gradients for ", outputs_.size(), " outputs");
  const std::vector<std::string> names = symbol_.list_outputs();
  for (std::size_t i = 0; i < head_values_.size(); ++i) {
    if (head_values_[i] < 0) continue;
    const NDArray& output = outputs_[i];
    if (i >= heads.size() || !heads[i]) fail("backward: output '", names[i], "' is no loss and needs a head gradient of shape ", to_text(output.shape()));
    const NDArray& head = heads[i];
    if (head.shape() != output.shape()) fail("backward: the head gradient of '", names[i], "' has shape ", to_text(head.shape()), ", expected ", to_text(output.shape()));
    if (head.device() != output.device()) fail("backward: the head gradient of '", names[i], "' is on ", to_text(head.device()), ", expected ", to_text(output.device()));
    NDArray& slot = values_[static_cast<std::size_t>(head_values_[i])];
    slot = head;
    if (head.dtype() != output.dtype()) {
      slot = NDArray(output.shape(), output.dtype(), device_);
      detail::copy_into(head.storage() == dense ? head : detail::cast_storage(head, dense), slot);
    }
  }
  run(backward_);
  for (const Delivery& delivery : deliveries_) deliver(delivery);
  for (int v : head_values_)
    if (v >= 0) values_[static_cast<std::size_t>(v)] = NDArray();
}

inline void Executor::deliver(const Delivery& delivery) {
  const NDArray& buffer = grads_[delivery.argument].second;
  if (delivery.value >= 0) detail::settle_gradient(values_[static_cast<std::size_t>(delivery.value)], args_[delivery.argument].second, buffer, delivery.request);
  else if (delivery.request != Request::add) detail::set_to_zero(buffer);
}

inline Executor Symbol::bind(Device device, const NamedArrays& args, const NamedArrays& grads, const GradRequests& requests, const NamedArrays& aux) const {
  if (!*this) fail("bind: the symbol is empty");
  Executor run(*this, device);
  run.take_arrays(args, aux);
  run.take_gradients(grads, requests, false);
  return run;
}

inline Executor Symbol::simple_bind(Device device, const NamedShapes& shapes, const GradRequests& requests, const NamedTypes& types) const {
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
  Executor run(*this, device);
  run.take_arrays(arrays[0], arrays[1]);
  run.take_gradients({}, requests, true);
  return run;
}

}  // namespace strop::inline v0
