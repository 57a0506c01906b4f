// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a graph is bound to its arrays and runs forward.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/fork.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/name_table.hpp>
#include <strop/graph/passes/devices.hpp>
#include <strop/graph/passes/passes.hpp>
#include <strop/graph/placement.hpp>
#include <strop/graph/steps.hpp>
#include <strop/op/devices.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/tensor/arena.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// What comes to an output of a graph from what was computed of it.
enum class Head : std::uint8_t { none, zero, gradient };

/// Arenas, one for each device, and who has used them last.
struct ArenaUse : Counted {
  List<Ref<Arena>> arenas;
  std::uint64_t turn = 0;
  List<Ref<Buffer>> blocks;  // of the last one
};
/// The arenas of executors that run one after the other. One that was bound to smaller ones moves when it runs forward.
class ArenaPool : public Counted {
 public:
  explicit ArenaPool(Ref<ArenaUse> first) : now_(std::move(first)) {}
  /// The arenas that a run moves to. Another thread that binds may put larger ones in their place at any time.
  Ref<ArenaUse> now() {
    const std::lock_guard lock(changing_);
    return now_;
  }
  /// Puts f(arenas of now) in their place; those are there afterwards.
  template <class F>
  Ref<ArenaUse> replace(F&& f) {
    Ref<ArenaUse> before;  // goes when the lock is free again
    const std::lock_guard lock(changing_);
    before = now_;
    return now_ = f(now_);
  }

  std::atomic<bool> running{false};
  std::uint64_t turns = 0;  // for the one that is running

 private:
  ForkMutex changing_;
  Ref<ArenaUse> now_;
};
struct BoundGraph;
/// What executors do that share: constant, and in programs where one does.
struct Sharing {
  void (*fit)(BoundGraph&);                  // before blocks are taken, makes the arenas large enough
  void (*enter)(BoundGraph&, bool forward);  // around a run
  void (*leave)(BoundGraph&) noexcept;
};

/// All that an executor holds.
struct BoundGraph : Counted {
  Symbol symbol;
  NodeOutputs net;  // what runs in its place, output by output
  Device device;
  NamedArrays args, grads, aux;
  std::vector<NDArray> outputs;

  List<Request> requests;  // of the gradients, per argument
  List<bool> joint;        // of the gradients: another's goes to the same memory
  NodeOutputs arg_nodes, aux_nodes, heads;
  List<Head> coming;          // of the outputs; empty: a gradient to each
  List<Ref<KeptState>> kept;  // shared with the graph that runs in place of this one while a monitor looks on
  List<NDArray> values;       // of every value of the graph
  List<NDArray> absent;       // for inputs that were left out, one for each device
  List<NDArray> shells;       // for inputs that are not read
  List<int> uses;             // how many read it
  List<int> head_values;      // of each output; −1: a loss head, or nothing depends on it
  List<Step> forward_steps, backward_steps;
  List<Segment> forward_segments, backward_segments;
  List<Delivery> deliveries;
  std::string no_gradient;  // why backward cannot run
  bool train = false, ran = false;
  bool sparse_heads = false;  // the last backward has brought one that is sparse
  /// Where the head gradients of the last backward lie. Their memory is held until the next one, which is what tells
  /// whether it brings the same arrays: another one cannot lie there.
  struct HeadPlace {
    Ref<Buffer> buffer;
    const std::byte* bytes = nullptr;
  };
  List<HeadPlace> last_heads;
  bool heads_stay = false;  // it did, dense ones
  Placement placement;
  List<Ref<Buffer>> blocks;  // of the arena
  bool overwrites = false;   // backward writes over what it reads of forward
  bool spent = false;        // and has done so
  List<int> output_values;

  NamedDevices groups;   // devices of what has a ctx_group
  List<Device> devices;  // of every value, where there are groups
  struct Region {        // of the placement: what lies in the arena of one device
    Device device;
    std::int64_t offset, bytes;
  };
  List<Region> regions;
  Ref<ArenaUse> arenas;
  const Sharing* sharing = nullptr;  // with an arena pool
  Ref<ArenaPool> pool;
  std::uint64_t turn = 0;  // in the pool, when this one used it last
  bool lost = false;       // another one has, since forward

  Ref<Monitor> monitor;
  Ref<BoundGraph> watched;  // what runs in place of this one while a monitor looks on: its nodes as they are written
  void (*show)(BoundGraph&, const Step&, bool results) = nullptr;
  bool as_written = false;  // each node computes what it is said to, and nothing else

  TurnLock running;           // held by whoever runs it, or changes what runs
  bool dry = false;           // it is planned, and not run
  bool side_by_side = false;  // as BindOptions says

  /// A state of a copy of a node, which begins as the node's own state was at the last forward.
  struct Snapshot {
    NodeOutput made, of;
  };
  List<Snapshot> snapshots;
  List<int> own_states;                     // the values that they are
  List<std::pair<NDArray, NDArray>> saved;  // the states' arrays, from and to
  void (*save_states)(BoundGraph&) = nullptr;

  // What the walk that makes gradients says of them.
  List<bool> reached;         // of what is wanted: whether it gets one, if only zeros
  NodeOutputs contributions;  // in the order in which they are best computed
  List<UnreadInputs> unread;

  BoundGraph(Symbol s, Device d) : symbol(std::move(s)), net(symbol.outputs()), device(d) {
    flow_runner.install(flow_kernels);
  }
  /// What follows from gradients in plan(): a function, so that programs without gradients do without its code.
  using Place = void (*)(BoundGraph&, const Graph&, Inference&, const NodeOutputs& gradients);

  Device device_of(int value) const { return devices.empty() ? device : devices[value]; }
  BoundGraph& active() { return watched ? *watched : *this; }

  void take_arrays(const NamedArrays& given, const NamedArrays& states);
  BoundVariables variables() const;
  void optimize(const NodeOutputs& wanted);
  void plan(const NodeOutputs& gradients, Place place);
  List<Node*> order_of_nodes(const Graph& ahead, const NodeOutputs& gradients) const;
  void find_unread(const Graph& graph, Inference& inference);
  void drop_unused(List<Step>& steps);
  void run_early(List<Step>& steps) const;
  void add_in_place(List<Step>& steps, Inference& inference);
  bool takes_add(const Step& step, Inference& inference, int value) const;
  void make_values(const Graph& graph, Inference& inference);
  void add_shares(MemoryTask::Step& task, Inference& inference, const Step& step,
                  const List<std::int64_t>& bytes) const;
  void find_places(const MemoryTask& task);
  void make_arena(Inference& inference);
  List<Ref<Buffer>> parts_of(const ArenaUse& use) const;
  void use_parts(List<Ref<Buffer>> parts) noexcept;
  MemoryPlan memory_plan() const;
  std::int64_t body_bytes(List<const FlowBodies*>& met) const;
  const NDArray* absent_on(Device there);
  void resolve_steps(Inference& inference, List<Step>& steps);
  Index find_state(const Node& node);
  void forward(bool training);
  void run(List<Step>& steps, List<Segment>& segments);
  void run_one_by_one(List<Step>& steps);
  void run_step(Step& step);
  void run_on_patterns(Step& step);
  void make_segments();
  void make_segments(const List<Step>& steps, List<Segment>& segments) const;
  bool is_ordered(const Step& step) const;
  void compare_heads();
  bool goes_as_one(const List<Step>& steps, const Segment& segment) const;
  void push(const List<Step>& steps, Segment& segment);
  const NDArray& named(const NamedArrays& arrays, const char* what, std::string_view name) const;

  // In executor_gradient_impl.hpp.
  enum class Make : std::uint8_t { none, floating, all };
  void take_gradients(const NamedArrays& given, const GradRequests& requests, Make make);
  void find_joint_gradients();
  NodeOutputs gradient_nodes(const NodeOutputs& wanted);
  void place_gradients(const Graph& graph, Inference& inference, const NodeOutputs& gradients, bool make);
  Executor reshape(const NamedShapes& shapes);
  void set_arguments(const NamedArrays& inputs);
  void set_heads(Span<const NDArray> given);
  void gather_params(const NamedArrays& from, const NamedArrays& to, const char* what, bool allow_extra,
                     List<NDArray>& sources, List<NDArray>& places) const;
  void check_repeatable() const;
  void backward(Span<const NDArray> given);
  Executor as_executor();

  // In executor_share_impl.hpp and executor_watch_impl.hpp.
  void share_with(const Executor* other);
  void watch(const Ref<Monitor>& by);
};

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

/// One run, of an executor that may share its arenas: it has them to itself meanwhile.
class Turn {
 public:
  Turn(BoundGraph& graph, bool forward) : graph_(graph) {
    if (graph_.sharing != nullptr) graph_.sharing->enter(graph_, forward);
  }
  ~Turn() {
    if (graph_.sharing != nullptr) graph_.sharing->leave(graph_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  BoundGraph& graph_;
};

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

/// Lets the passes make of the symbol what runs in its place.
STROP_IMPL void BoundGraph::optimize(const NodeOutputs& wanted) {
  BoundVariables known = variables();
  known.wanted = wanted;
  Device at = device;  // one that allows least, of all
  if (!groups.empty()) net = place_nodes(net, device, groups, known);
  for (const auto& [name, there] : groups)
    if (!way_of(there).defers) at = there;
  if (!as_written) net = optimized(net, at, known);
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
  drop_unused(backward_steps);
  run_early(backward_steps);
  if (!as_written) add_in_place(backward_steps, inference);
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
    List<NDArray> known;  // arrays, or what will be known of them
    const Device here = step.out.empty() ? device : device_of(step.out[0]);
    for (Index i = 0; i < step.in.size(); ++i) {
      const int v = step.in[i];
      if (v < 0) {
        step.inputs.push_back(absent_on(here));
        known.push_back(*step.inputs.back());
        continue;
      }
      const bool shell = !step.reads(i);
      known.push_back(!shell && values[v].defined() && values[v].device() == here
                          ? values[v]
                          : NDArray::fresh_shell(inference.shape(v), *inference.type(v), here,
                                                 shell ? dense : inference.storage(v)));
      if (shell) shells[next_shell] = known.back();
      step.inputs.push_back(shell ? &shells[next_shell++] : &values[v]);
    }
    for (int v : step.out) step.outputs.push_back(values[v]);
    const Entry& entry = *step.node->entry;
    List<const NDArray*, 8> in;
    for (const NDArray& a : known) in.push_back(&a);
    try {
      const Span<NDArray> out = step.outputs.span();
      step.plan = Ref<Plan>(new Plan(resolve(entry, step.node->op(), in.span(), out, step.requests.span())));
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

STROP_IMPL void BoundGraph::run_on_patterns(Step& step) {
  if (step.on_pattern.empty()) return;
  List<NDArray> in;
  for (const NDArray* a : step.inputs) in.push_back(*a);
  for (const Step::OnPattern& one : step.on_pattern)
    values[step.out[one.result]] = map_on_pattern(*step.node->entry, step.node->op(), in.span(), step.out.size(),
                                                  one.result, element(args, one.argument).second);
}

STROP_IMPL void BoundGraph::run_step(Step& step) {
  try {
    for (const Step::Handover& bytes : step.handovers) follow(*blocks[bytes.later], *blocks[bytes.earlier]);
    run_on_patterns(step);
    const Inputs in = step.inputs.span();
    Ref<StateBox>* const state = step.state < 0 ? nullptr : &kept[step.state]->box;
    if (step.takes_head && sparse_heads)
      dispatch(*step.node->entry, step.node->op(), in, step.outputs.span(), step.requests.span(), step.node->site,
               state);
    else
      dispatch_planned(step.plan_for(train), step.node->op(), in, step.outputs.span(), step.node->site, state);
  } catch (const Error& error) {
    fail_in(*step.node, error);
  }
}

STROP_IMPL void BoundGraph::run_one_by_one(List<Step>& steps) {
  const ModeScope unrecorded(nullptr, train);
  for (Step& step : steps) {
    if (show != nullptr) show(*this, step, false);
    run_step(step);
    if (show != nullptr) show(*this, step, true);
  }
}

STROP_IMPL void BoundGraph::run(List<Step>& steps, List<Segment>& segments) {
  if (segments.empty()) return run_one_by_one(steps);
  const ModeScope unrecorded(nullptr, train);
  for (Segment& segment : segments) {
    if (goes_as_one(steps, segment)) {
      push(steps, segment);
      continue;
    }
    for (int s = segment.begin; s < segment.end; ++s) run_step(steps[s]);
  }
}

STROP_IMPL void BoundGraph::forward(bool training) {
  const Turn mine(*this, true);
  train = training;
  ran = spent = lost = false;
  if (!saved.empty()) save_states(*this);
  run(forward_steps, forward_segments);
  ran = true;
}

STROP_IMPL Executor BoundGraph::as_executor() {
  make_segments();
  return Executor(Ref(this));
}

}  // namespace detail

STROP_IMPL Executor::Executor(detail::Ref<detail::BoundGraph> graph) : graph_(std::move(graph)) {}
STROP_IMPL Executor::Executor(const Executor&) = default;
STROP_IMPL Executor::Executor(Executor&&) noexcept = default;
STROP_IMPL Executor& Executor::operator=(Executor other) noexcept {
  graph_ = std::move(other.graph_);
  return *this;
}
STROP_IMPL Executor::~Executor() = default;

STROP_IMPL const std::vector<NDArray>& Executor::forward(bool train) {
  detail::leave_trace("an Executor", "it has a graph of its own; call its symbol's operators");
  const detail::Ref<detail::BoundGraph> graph = graph_;
  const std::lock_guard mine(graph->running);
  const detail::Ref<detail::BoundGraph> now(&graph->active());  // a monitor may put another in its place
  now->forward(train);
  return graph->outputs;
}
STROP_IMPL const std::vector<NDArray>& Executor::outputs() const { return graph_->outputs; }
STROP_IMPL const NDArray& Executor::arg(std::string_view name) const {
  return graph_->named(graph_->args, "argument", name);
}
STROP_IMPL const NDArray& Executor::grad(std::string_view name) const {
  return graph_->named(graph_->grads, "argument", name);
}
STROP_IMPL const NDArray& Executor::aux(std::string_view name) const {
  return graph_->named(graph_->aux, "auxiliary state", name);
}
STROP_IMPL const NamedArrays& Executor::args() const { return graph_->args; }
STROP_IMPL const NamedArrays& Executor::grads() const { return graph_->grads; }
STROP_IMPL const NamedArrays& Executor::aux_states() const { return graph_->aux; }
STROP_IMPL const Symbol& Executor::symbol() const { return graph_->symbol; }
STROP_IMPL MemoryPlan Executor::plan() const {
  const std::lock_guard mine(graph_->running);
  return graph_->memory_plan();
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

}  // namespace strop::inline v0
