// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a function is traced, and how its graph is replayed.
#pragma once
#include <strop/autograd/tape.hpp>
#include <strop/autograd/views_impl.hpp>
#include <strop/core/call_mode.hpp>
#include <strop/core/config.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/executor_impl.hpp>
#include <strop/graph/naming.hpp>
#include <strop/graph/trace.hpp>

#include <mutex>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// Elements of an array from number `first` on, under a shape: what a view or a copy is in a graph.
struct Derived {
  std::int64_t first = 0;
  Shape shape = {};
  bool linked = true;  // its gradient goes to the array
  bool apart = false;  // a copy: what is written into the array later is not seen in it
};

STROP_IMPL void derive_elements(const Call& call, Context&) {
  const Derived& op = *static_cast<const Derived*>(call.params);
  const NDArray &from = call.in(0), &to = call.out[0];
  const std::int64_t size = size_of(from.dtype());
  if (call.request(0) != Request::null)
    memory::detail::copy_bytes(to.device(), to.bytes(), from.device(), from.bytes() + op.first * size,
                               to.size() * size);
}
inline constexpr Kernels derived_kernels{.run = {&derive_elements}};
inline constinit Slot derived_slot{.cuda = &derived_kernels};
constexpr Entry make_derived_entry() {
  Entry e;
  e.name = e.snake = e.qualified = "_view";
  e.doc = "Elements of an array under another shape.";
  e.library = true;
  e.dtypes = any_dtype;
  e.params = &param_table<Derived>;
  e.signature = [](const void*, int, Signature& s) { fill_signature({}, {}, {}, 1, 1, 1, s); };
  e.infer_shape = [](const void* op, Shapes& s) { s.set_out(0, static_cast<const Derived*>(op)->shape); };
  e.infer_type = [](const void*, Types& t) { t.set_out(0, t.in(0)); };
  e.cpu = derived_kernels;
  e.slot = &derived_slot;
  return e;
}
inline constexpr Entry derived_entry = make_derived_entry();

/// Numbers for addresses, the last one said holds.
class Addresses {
 public:
  int find(const void* address) const {
    if (slots_.empty()) return -1;
    return slot(address).number;
  }
  void set(const void* address, int number) {
    if (used_ * 2 >= slots_.size()) grow();
    Slot& s = slot(address);
    if (s.address == nullptr) ++used_;
    s = {address, number};
  }

 private:
  struct Slot {
    const void* address = nullptr;
    int number = -1;
  };
  Slot& slot(const void* address) const {
    const auto mask = slots_.size() - 1;
    auto at = (reinterpret_cast<std::uintptr_t>(address) >> 4) * 0x9e3779b97f4a7c15U >> 20 & mask;
    while (slots_[at].address != nullptr && slots_[at].address != address) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : slots_.size() * 2));
    for (const Slot& s : before)
      if (s.address != nullptr) slot(s.address) = s;
  }
  mutable std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

/// A function's graph for one set of arguments, with its executor or, where calls are recorded, as a list of calls.
struct TracedGraph : Counted {
  // What it is for.
  struct Argument {
    Shape shape;
    Dtype dtype;
    Storage storage;
    Device device;
    bool suits(const NDArray& a) const {
      return a.shape() == shape && a.dtype() == dtype && a.storage() == storage && a.device() == device;
    }
  };
  std::vector<Argument> arguments;
  bool training = false, recorded = false;

  Symbol symbol;
  std::vector<NodeOutput> argument_nodes;
  std::vector<std::pair<NodeOutput, NDArray>> captured;
  NodeOutputs results;
  struct Made {  // a call, and the mode in which the function made it
    Ref<Node> node;
    const Recorder* recorder;
    bool training;
    bool draws;  // random numbers
  };
  std::vector<Made> calls;  // in the order of the function, which operators that write an input or draw numbers go by

  // How it runs unrecorded.
  Ref<BoundGraph> bound;
  struct Fresh {  // a result, which is a new array at each call
    Step* step;
    int output, value;
    Shape shape;
    Dtype dtype;
    Storage storage;
  };
  std::vector<Fresh> fresh;
  std::vector<int> argument_values, result_values;
  std::mutex running;

  bool suits(std::span<const NDArray> in) const {
    if (training != call_mode.training || recorded != (call_mode.recorder != nullptr) || in.size() != arguments.size())
      return false;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!arguments[i].suits(in[i])) return false;
    return true;
  }
  /// Whether it is replayed call by call: where calls are recorded, where one writes an input, which may then be part
  /// of another one, where the graph would draw random numbers in another order than the function, and where arrays are
  /// on several devices.
  bool by_calls = false;

  void drop_unused();
  bool draws_in_order(const BoundGraph& made) const;
  void bind(std::span<const NDArray> in);
  std::vector<NDArray> replay(std::span<const NDArray> in);
  std::vector<NDArray> replay_calls(std::span<const NDArray> in) const;
};

struct TracedGraphs : Counted {
  std::mutex changing;
  std::vector<Ref<TracedGraph>> all;
};

STROP_IMPL TracedGraphs* new_traced_graphs() { return new TracedGraphs; }
STROP_IMPL void retain_traced_graphs(const TracedGraphs* traces) { traces->retain(); }
STROP_IMPL void drop_traced_graphs(const TracedGraphs* traces) noexcept {
  if (traces->drop()) delete traces;
}
STROP_IMPL std::size_t count_traced_graphs(const TracedGraphs& traces) {
  std::lock_guard lock(const_cast<TracedGraphs&>(traces).changing);
  return traces.all.size();
}

/// Watches a function that runs, and writes down what it calls.
class Tracing {
 public:
  explicit Tracing(TracedGraph& to) : to_(to), before_(call_mode) {
    current_ = this;
    call_mode.recorded = call_mode.recorder;
    call_mode.recorder = &recorder_;
    call_mode.tracer = &tracer_;
  }
  ~Tracing() {
    call_mode = before_;
    current_ = nullptr;
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  /// An argument as the function sees it: another handle of the same elements, so that it is told from an array from
  /// outside that happens to be the same.
  NDArray argument(const NDArray& given) {
    const NDArray own(Ref(new Body(given.body())));
    const NodeOutput node = new_variable(cat("argument", to_.argument_nodes.size()));
    to_.argument_nodes.push_back(node);
    keep(own, node);
    if (given.storage() != dense) own_buffers(own);
    return own;
  }

  void finish(std::span<const NDArray> results) {
    for (const NDArray& result : results) {
      if (!result) fail("trace_function: the function returned a handle without an array");
      to_.results.push_back(value(result, "a result"));
    }
    NodeOutputs used = to_.results;
    for (const TracedGraph::Made& call : to_.calls)  // what is written, or drawn, is seen outside, whoever uses it
      if (!call.node->signature.mutated.empty() || call.draws) used.push_back({call.node, 0});
    to_.symbol = Symbol(std::move(used));
    to_.drop_unused();
  }

 private:
  static void record(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, StateBox* state, Site site) {
    current_->add(entry, op, in, out, site);
    if (call_mode.recorded != nullptr) call_mode.recorded->record(entry, op, in, out, state, site);
  }
  static void derived(const NDArray& from, const NDArray& made, std::int64_t first, bool linked) {
    current_->add_derived(from, made, first, linked);
  }
  static constexpr Recorder recorder_{&record};
  static constexpr FunctionTracer tracer_{&recorder_, &derived};
  static inline thread_local Tracing* current_ = nullptr;

  void add(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, Site site) {
    const Ref<Node> node(new Node);
    node->entry = &entry;
    node->site = site;
    node->params = Ref(new ParamBox(entry.params, op));
    node->signature = signature_of(entry, op, static_cast<int>(in.size()));
    node->name = node_name(entry, {});
    for (const NDArray* a : in) node->inputs.push_back(*a ? value(*a, entry.snake) : NodeOutput());
    for (const int i : node->signature.mutated)
      if (!node->inputs[i].node->is_variable())
        refuse_traced(entry.snake,
                      cat("it writes its input '", element(node->signature.inputs, i),
                          "', which the function has computed; write an argument or an array from outside"));
    to_.calls.push_back({node, call_mode.recorded, call_mode.training, draws(entry, op, in)});
    for (Index k = 0; k < out.size(); ++k) {
      if (!out[k]) continue;
      keep(out[k], {node, static_cast<int>(k)});
      own_buffers(out[k]);
    }
  }

  static bool draws(const Entry& entry, const void* op, Inputs in) {
    if (entry.resources == nullptr) return false;
    List<Shape, 4> shapes;
    for (const NDArray* a : in) shapes.push_back(*a ? a->shape() : Shape{0});
    return entry.resources(op, shapes.span()).random;
  }

  void add_derived(const NDArray& from, const NDArray& made, std::int64_t first, bool linked) {
    if (from.storage() != dense) {
      if (linked) refuse_traced("a slice of a sparse array", "it is no operator");
      return;  // where it is used, it is told by the memory that it shares
    }
    const Ref<Node> node(new Node);
    const Derived op{first, made.shape(), linked, made.body().buffer != from.body().buffer};
    node->entry = &derived_entry;
    node->params = Ref(new ParamBox(derived_entry.params, &op));
    node->signature = signature_of(derived_entry, &op, 1);
    node->name = node_name(derived_entry, {});
    node->inputs.push_back(value(from, "a view"));
    to_.calls.push_back({node, call_mode.recorded, call_mode.training, false});
    keep(made, {node, 0});
  }

  /// The value of the graph that an array is; one that is unknown comes from outside.
  NodeOutput value(const NDArray& a, std::string_view where) {
    if (const int at = known_.find(&a.body()); at >= 0) return values_[at];
    if (a.storage() == dense && a.body().buffer && buffers_.find(a.body().buffer.get()) >= 0)
      refuse_traced(where, "it takes a part of an array that is no operator's result (data(), indices(), indptr())");
    const NodeOutput node = new_variable(cat("captured", to_.captured.size()));
    to_.captured.emplace_back(node, a);
    keep(a, node);
    return node;
  }

  void keep(const NDArray& a, const NodeOutput& value) {
    known_.set(&a.body(), static_cast<int>(values_.size()));
    values_.push_back(value);
    arrays_.push_back(a);  // so that no other comes to stand where it stood
  }
  void own_buffers(const NDArray& a) {
    const Body& body = a.body();
    if (body.buffer) buffers_.set(body.buffer.get(), 0);
    for (const Body* part : {body.indices.get(), body.indptr.get()})
      if (part != nullptr && part->buffer) buffers_.set(part->buffer.get(), 0);
  }

  TracedGraph& to_;
  const CallMode before_;
  const NameScope names_;
  Addresses known_, buffers_;
  NodeOutputs values_;
  std::vector<NDArray> arrays_;
};

/// What the graph does not use is let go.
STROP_IMPL void TracedGraph::drop_unused() {
  const Graph graph(symbol.outputs());
  std::erase_if(captured, [&](const auto& one) { return graph.value(one.first) < 0; });
  std::erase_if(calls, [&](const Made& call) { return graph.find(call.node.get()) < 0; });
  by_calls = recorded || results.empty();
  for (const Made& call : calls)
    by_calls =
        by_calls || call.recorder != nullptr || call.training != training || !call.node->signature.mutated.empty();
  const Device device =
      arguments.empty() ? captured.empty() ? cpu() : captured[0].second.device() : arguments[0].device;
  for (const Argument& a : arguments) by_calls = by_calls || a.device != device;
  for (const auto& one : captured) by_calls = by_calls || one.second.device() != device;
}

/// Whether a bound graph draws random numbers where the function did: its order of nodes is another one, and what no
/// result needs it does not have.
STROP_IMPL bool TracedGraph::draws_in_order(const BoundGraph& made) const {
  std::size_t next = 0;
  const auto pass = [&] {
    while (next < calls.size() && !calls[next].draws) ++next;
    return next < calls.size();
  };
  for (const Step& step : made.forward_steps) {
    if (!step.plan_for(training)->resources.random) continue;
    if (!pass() || calls[next++].node->name != step.node->name) return false;
  }
  return !pass();
}

/// Makes the executor. Its arrays are those of the arguments of each call and, for results, new ones.
STROP_IMPL void TracedGraph::bind(std::span<const NDArray> in) {
  const Device device = in.empty() ? captured.empty() ? cpu() : captured[0].second.device() : in[0].device();
  BoundVariables variables;
  for (std::size_t i = 0; i < in.size(); ++i) variables.add(argument_nodes[i], in[i]);
  for (const auto& [node, array] : captured) variables.add(node, array);
  const NodeOutputs net = optimized(results, device, variables);
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
  by_calls = !draws_in_order(*made);
  if (by_calls) return;
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

/// Call by call, each of which is recorded where calls are.
STROP_IMPL std::vector<NDArray> TracedGraph::replay_calls(std::span<const NDArray> in) const {
  const Graph graph(symbol.outputs());
  List<NDArray> values(graph.values());
  const auto at = [&](const NodeOutput& of) -> NDArray& { return values[graph.value(of)]; };
  for (std::size_t i = 0; i < in.size(); ++i)
    if (graph.value(argument_nodes[i]) >= 0) at(argument_nodes[i]) = in[i];
  for (const auto& [node, array] : captured)
    if (graph.value(node) >= 0) at(node) = array;
  const NDArray absent;
  for (const Made& call : calls) {
    Node& node = *call.node;
    const int first = graph.value({call.node, 0});
    const ModeScope mode(call.recorder, call.training);
    if (node.entry == &derived_entry) {
      const Derived& op = *static_cast<const Derived*>(node.op());
      const NDArray& whole = at(node.inputs[0]);
      NDArray view = view_as(whole, op.shape);
      view.body().offset += op.first * size_of(view.dtype());
      values[first] = op.linked ? linked_view(whole, view, op.first) : op.apart ? view.copy() : view;
      continue;
    }
    std::vector<const NDArray*> inputs;
    for (const NodeOutput& from : node.inputs) inputs.push_back(from.node ? &at(from) : &absent);
    try {
      dispatch(*node.entry, node.op(), inputs, {values.data() + first, static_cast<Index>(node.outputs())}, {},
               node.site);
    } catch (const Error& error) {
      fail_in(node, error);
    }
  }
  std::vector<NDArray> out;
  for (const NodeOutput& result : results) out.push_back(at(result));
  return out;
}

STROP_IMPL std::vector<NDArray> call_traced(TracedGraphs& traces, std::span<const NDArray> in, TracedCall run,
                                            void* with) {
  if (call_mode.tracer != nullptr) return run(with, in);  // part of the graph that is being written
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!in[i]) fail("trace_function: argument ", i, " is a handle without an array");
  Ref<TracedGraph> found;
  {
    std::lock_guard lock(traces.changing);
    for (const Ref<TracedGraph>& trace : traces.all)
      if (trace->suits(in)) {
        found = trace;
        break;
      }
  }
  if (found) return found->by_calls ? found->replay_calls(in) : found->replay(in);
  const Ref<TracedGraph> made(new TracedGraph);
  made->training = call_mode.training;
  made->recorded = call_mode.recorder != nullptr;
  for (const NDArray& a : in) made->arguments.push_back({a.shape(), a.dtype(), a.storage(), a.device()});
  std::vector<NDArray> results, own;
  {
    Tracing watching(*made);
    for (const NDArray& a : in) own.push_back(watching.argument(a));
    results = run(with, own);
    watching.finish(results);
  }
  try {
    if (!made->by_calls) made->bind(in);
  } catch (const Error&) {  // a call may know more than inference on a graph does
    made->by_calls = true;
  }
  for (NDArray& result : results)
    for (std::size_t i = 0; i < in.size(); ++i)
      if (result.is(own[i])) result = in[i];
  std::lock_guard lock(traces.changing);
  traces.all.push_back(made);
  return results;
}

}  // namespace detail
}  // namespace strop::inline v0
