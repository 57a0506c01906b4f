// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a symbol is bound: which arrays are its arguments, states and gradients, given, made or shared, and how others
/// are put in their place.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/bound_graph.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/executor_gradient_impl.hpp>
#include <strop/graph/graph.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/name_table.hpp>
#include <strop/graph/passes/devices.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/tensor/create.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0 {
namespace detail {

/// What simple_bind takes from another executor, as its options say.
class SharedArrays {
 public:
  explicit SharedArrays(const BindOptions& options);
  /// The array for an argument or state like `made`, and its gradient; none where the options do not say so, or it is
  /// another kind of array.
  NDArray find(std::string_view name, bool state, const NDArray& made, NDArray& gradient) const;

 private:
  const Executor* other_ = nullptr;  // none: nothing is shared
  NameTable shared_, args_, states_, gradients_;
};

STROP_IMPL BoundGraph::BoundGraph(Symbol s, Device d) : symbol(std::move(s)), net(symbol.outputs()), device(d) {
  flow_runner.install(flow_kernels);
}

STROP_IMPL const NDArray& BoundGraph::named(const NamedArrays& arrays, const char* what, std::string_view name) const {
  if (const NDArray* found = find_named(arrays, name)) return *found;
  fail_unknown(cat("executor: no ", what), name, names_of(arrays));
}

/// The arrays of arguments and states, by name. States may stand among the arguments.
STROP_IMPL void BoundGraph::take_arrays(const NamedArrays& given, const NamedArrays& states) {
  const Graph graph(symbol.outputs());
  const List<bool> written = graph.auxiliary();
  List<std::string_view> all, state_names, missing;
  const NameTable given_at(names_of(given)), state_at(names_of(states));
  NameTable known;
  const auto find = [](const NameTable& at, const NamedArrays& arrays, std::string_view name) {
    const int i = at.find(name);
    return i < 0 ? nullptr : &element(arrays, i).second;
  };
  for (int n = 0; n < graph.size(); ++n) {
    Node& node = graph.node(n);
    if (!node.is_variable()) continue;
    if (!known.add(node.name)) fail("bind: two variables are called '", node.name, "'; give them different names");
    all.push_back(node.name);
    if (written[n]) state_names.push_back(node.name);
    const NDArray* array = written[n] ? find(state_at, states, node.name) : nullptr;
    if (array == nullptr) array = find(given_at, given, node.name);
    if (array == nullptr || !array->defined()) {
      missing.push_back(node.name);
      continue;
    }
    if (array->device() != device && groups.empty())
      fail("bind: argument '", node.name, "' is on ", to_text(array->device()), ", expected ", to_text(device));
    (written[n] ? aux : args).emplace_back(node.name, *array);
    (written[n] ? aux_nodes : arg_nodes).push_back({Ref(&node), 0});
  }
  check_given("bind", names_of(given), all);
  check_given("bind: auxiliary states", names_of(states), state_names);
  if (!missing.empty()) fail("bind: no array for ", listed(missing), "; the graph's variables are ", listed(all));
}

STROP_IMPL BoundVariables BoundGraph::variables() const {
  BoundVariables all;
  all.add(arg_nodes, args);
  all.add(aux_nodes, aux);
  return all;
}

STROP_IMPL SharedArrays::SharedArrays(const BindOptions& options) {
  if (options.shared == nullptr || options.shared_args.empty()) return;
  other_ = options.shared;
  for (const std::string& name : options.shared_args) shared_.add(name);
  args_ = NameTable(names_of(other_->args()));
  states_ = NameTable(names_of(other_->aux_states()));
  gradients_ = NameTable(names_of(other_->grads()));
}

STROP_IMPL NDArray SharedArrays::find(std::string_view name, bool state, const NDArray& made, NDArray& gradient) const {
  if (other_ == nullptr || (!state && shared_.find(name) < 0)) return {};
  const int at = state ? states_.find(name) : args_.find(name);
  if (at < 0) return {};
  const auto like = [&](const NDArray& a) {
    return a.defined() && a.shape() == made.shape() && a.dtype() == made.dtype() && a.device() == made.device();
  };
  const NDArray& found = element(state ? other_->aux_states() : other_->args(), at).second;
  if (!like(found) || found.storage() != made.storage()) return {};
  if (const int buffer = state ? -1 : gradients_.find(name); buffer >= 0)
    if (const NDArray& g = element(other_->grads(), buffer).second; like(g)) gradient = g;
  return found;
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
  } catch (const PassError&) {
    throw;
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

STROP_IMPL Executor BoundGraph::as_executor() {
  make_segments();
  return Executor(Ref(this));
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

STROP_IMPL Executor Executor::reshape(const NamedShapes& shapes) const {
  const std::lock_guard mine(graph_->running);
  return graph_->reshape(shapes);
}

STROP_IMPL Executor Symbol::bind(Device device, const NamedArrays& args) const {
  if (!defined()) fail("bind: the symbol is empty");
  const detail::Ref<detail::BoundGraph> run(new detail::BoundGraph(*this, device));
  run->take_arrays(args, {});
  for (const auto& arg : run->args) run->grads.emplace_back(arg.first, NDArray());
  run->optimize({});
  run->plan({}, nullptr);
  return run->as_executor();
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
  detail::NamedInference inferred(*this);
  const Inferred<Shape> found = inferred.all_shapes(*this, shapes);
  const Inferred<Dtype> type = inferred.types(*this, types);
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
    inferred.inference.storage(inferred.graph.value(inferred.graph.find(&node), 0)) = kind.back().second.storage();
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
    if (run->groups.empty()) run->known_net.emplace(run->net).take(inferred.inference, device);
    run->take_gradients(grads, requests, make);
    return run;
  };
  if (integers) try {
      const detail::Ref<BoundGraph> run = bound(BoundGraph::Make::all);
      if (run->no_gradient.empty()) return run->as_executor();
    } catch (const detail::PassError&) {
      throw;
    } catch (const Error&) {  // numbers of classes, positions and the like have no gradient: the others have theirs
    }
  return bound(BoundGraph::Make::floating)->as_executor();
}

}  // namespace strop::inline v0
