// SPDX-License-Identifier: Apache-2.0
/// \file
/// Who watches a function while it is traced, and writes down what it calls.
#pragma once
#include <strop/autograd/tape.hpp>
#include <strop/autograd/views_impl.hpp>
#include <strop/core/call_mode.hpp>
#include <strop/core/config.hpp>
#include <strop/graph/control.hpp>
#include <strop/graph/control/flow_impl.hpp>
#include <strop/graph/naming.hpp>
#include <strop/graph/traced_calls_impl.hpp>
#include <strop/graph/traced_graph_impl.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// What cannot be in a graph, in the body of a loop or a branch: there the calls are not computed, and cannot go on.
struct NotTraced : Error {
  using Error::Error;
};

/// Watches a function that runs, and writes down what it calls.
class Tracing {
 public:
  explicit Tracing(TracedGraph& to) : to_(to), before_(call_mode), outer_(std::exchange(current_, this)) {
    call_mode.recorded = call_mode.recorder;
    call_mode.recorder = &recorder_;
    call_mode.tracer = &tracer_;
  }
  ~Tracing() {
    call_mode = before_;
    current_ = outer_;
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
    if (given.storage() != dense) {
      own_buffers(own);
      given_.set(&given.body(), 0);
    }
    return own;
  }

  /// Why the function has no graph; empty where it has one.
  const std::string& left() const { return left_; }

  void finish(std::span<const NDArray> results) {
    for (const NDArray& result : results) {
      if (!result.defined()) fail("trace_function: the function returned a handle without an array");
      if (!tracer_.left) to_.results.push_back(value(result, "a result"));
    }
    if (tracer_.left) return;
    NodeOutputs used = to_.results;
    for (const TracedCalls::Made& call : to_.calls->all)  // what is written, or drawn, is seen outside, whoever uses it
      if (!call.node->signature.mutated.empty() || call.draws) used.push_back({call.node, 0});
    to_.symbol = Symbol(std::move(used));
    to_.drop_unused();
  }

 private:
  static void record(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, StateBox* state, Site site) {
    if (!current_->tracer_.left) current_->add(entry, op, in, out, site);
    if (call_mode.recorded != nullptr) call_mode.recorded->record(entry, op, in, out, state, site);
  }
  /// What is wrong with a call is said with its line, as in a replay.
  [[noreturn]] static void fail_at(Site site, const Entry& entry, const Error& error) {
    Node node;
    node.name = node_name(entry, {});
    node.site = site;
    fail_in(node, error);
  }
  static void run(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, Span<const Request> requests,
                  Site site, Ref<StateBox>* state) {
    if (current_->tracer_.left) {
      const CallModeScope untraced({call_mode.recorded, call_mode.training, call_mode.operation});
      return dispatch(entry, op, in, out, requests, site, state);
    }
    current_->last_ = {&entry, site};
    CallMode within = call_mode;
    within.recorder = &seeing_;
    const CallModeScope scope(within);
    try {
      dispatch(entry, op, in, out, requests, site, state);
    } catch (const Error& error) {
      fail_at(site, entry, error);
    }
  }
  static void derived(const NDArray& from, const NDArray& made, std::int64_t first, bool linked) {
    current_->add_derived(from, made, first, linked);
  }
  /// In the body of a loop or a branch nothing is computed.
  static void infer(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, Span<const Request> requests,
                    Site site, Ref<StateBox>*) {
    current_->last_ = {&entry, site};
    try {
      for (const NDArray& y : out)
        if (y.defined()) refuse(entry.snake, "its result goes into an array that is there already; let it make one");
      const Plan plan = resolve(entry, op, in, out, requests);
      for (Index k = 0; k < out.size(); ++k)
        out[k] = NDArray::fresh_shell(plan.shapes[k], plan.types[k], plan.device, dense);
      current_->add(entry, op, in, out, site);
    } catch (const NotTraced&) {
      throw;
    } catch (const Error& error) {
      fail_at(site, entry, error);
    }
  }
  static bool flow(TracedFlow& of) {
    Tracing& mine = *current_;
    const CallMode around = mine.body_mode_;
    try {
      mine.add_flow(of);
    } catch (const NotTraced& refused) {
      if (mine.in_body()) throw;
      mine.body_mode_ = around;
      mine.end(refused.what());
    }
    return !mine.tracer_.left;
  }
  static void leave(std::string_view what, std::string_view why) {
    if (current_->in_body()) refuse(what, why);
    current_->end(cat(what, " cannot be traced: ", why));
  }
  [[noreturn]] static void refuse(std::string_view what, std::string_view why) {
    throw NotTraced(cat(what, " cannot be traced: ", why));
  }
  static constexpr Recorder seeing_{&record}, recorder_{&record, &run}, inferring_{&record, &infer};
  static inline thread_local Tracing* current_ = nullptr;

  bool in_body() const { return call_mode.tracer == &body_tracer_; }
  /// The function goes on without a graph.
  void end(std::string_view why) {
    tracer_.left = true;
    const std::string place = place_of(last_.site);
    left_ = cat(why, last_.entry == nullptr ? "" : cat("; the last call before was ", last_.entry->snake),
                place.empty() ? "" : cat(" at ", place));
  }

  void add(const Entry& entry, const void* op, Inputs in, Span<NDArray> out, Site site) {
    const Ref<Node> node(new Node);
    node->entry = &entry;
    node->site = site;
    node->params = Ref(new ParamBox(entry.params, op));
    node->signature = signature_of(entry, op, static_cast<int>(in.size()));
    node->name = node_name(entry, {});
    for (const NDArray* a : in) node->inputs.push_back(a->defined() ? value(*a, entry.snake) : NodeOutput());
    for (const int i : node->signature.mutated)
      if (!node->inputs[i].node->is_variable())
        return leave(entry.snake,
                     cat("it writes its input '", element(node->signature.inputs, i),
                         "', which the function has computed; write an argument or an array from outside"));
    if (tracer_.left) return;
    note(node, drew());
    for (Index k = 0; k < out.size(); ++k) {
      if (!out[k].defined()) continue;
      keep(out[k], {node, static_cast<int>(k)});
      own_buffers(out[k]);
    }
  }

  /// Whether random numbers were drawn since it was asked last.
  bool drew() {
    const std::uint64_t now = random::detail::streams_taken();
    return std::exchange(taken_, now) != now;
  }

  void add_derived(const NDArray& from, const NDArray& made, std::int64_t first, bool linked) {
    if (from.storage() != dense) {
      if (linked) leave("a view or a copy of a sparse array", "it is no operator");
      return;  // a detached one: refused where it is used, since it shares memory
    }
    const Ref<Node> node(new Node);
    const Derived op{first, made.shape(), linked, made.body().buffer != from.body().buffer};
    const Entry& entry = linked ? view_entry : detached_entry;
    node->entry = &entry;
    node->params = Ref(new ParamBox(entry.params, &op));
    node->signature = signature_of(entry, &op, 1);
    node->name = node_name(entry, {});
    node->inputs.push_back(value(from, "a view"));
    if (tracer_.left) return;
    note(node, false);
    keep(made, {node, 0});
  }

  /// A call of the function, or one in the body of a loop or a branch, which belongs to the node of that.
  void note(const Ref<Node>& node, bool draws) {
    if (!in_body())
      return to_.calls->all.push_back({node, call_mode.recorded, call_mode.training, draws, nullptr, 0, {}, {}});
    if (call_mode.recorded != body_mode_.recorded || call_mode.training != body_mode_.training)
      refuse(node->entry->snake, "a loop or a branch computes in one mode; set pause or train_mode around it");
    node->attributes = {{std::string(body_key), std::string(body_of(naming().attributes))}};
  }

  /// A loop or a branch: its functions run once, on arrays without elements, and what they call is its sub-graph.
  void add_flow(TracedFlow& of) {
    flow_runner.install(flow_kernels);
    const bool loop = of.kind == FlowKind::while_loop;
    const char* const what = loop ? "while_loop: a state" : "cond: the predicate";
    std::vector<Symbol> in;
    for (const NDArray& a : of.in) {
      if (!a.defined()) fail(what, " is a handle without an array");
      in.push_back(Symbol(value(a, what)));
    }
    if (tracer_.left) return;
    struct Made {
      std::string scope;
      std::vector<Symbol> own, outputs, next;
    };
    /// `which` of the functions; below 0 what passes the predicate on.
    const auto make = [&](const char* hint, int which) {
      BodyScope scope(hint);
      Made made{scope.name(), {}, {}, {}};
      CallMode inferring = call_mode;
      inferring.recorder = &inferring_;
      inferring.tracer = &body_tracer_;
      const CallMode around = std::exchange(body_mode_, inferring);
      const CallModeScope mode(inferring);
      TracedFlow::Body body{which, {}, {}, {}};
      if (loop || which < 0) {
        made.own = scope.variables(what, in);
        for (std::size_t i = 0; i < in.size(); ++i) {
          body.in.push_back(NDArray::fresh_shell(of.in[i].shape(), of.in[i].dtype(), of.in[i].device(), dense));
          keep(body.in[i], made.own[i].outputs()[0]);
        }
      }
      if (which < 0)
        body.outputs = {of.operators->copy(body.in[0])};
      else
        of.run(of.with, body);
      std::vector<NDArray> all = body.outputs;
      all.insert(all.end(), body.next.begin(), body.next.end());
      std::vector<Symbol> nodes;
      for (const NDArray& a : all) {
        if (!a.defined()) fail(scope.name(), ": the body returns a handle without an array");
        nodes.push_back(Symbol(value(a, scope.name())));
      }
      const std::vector<bool> lacking = lacking_node(scope.name(), nodes);
      for (std::size_t k = 0; k < all.size(); ++k) {
        if (lacking[k]) nodes[k] = Symbol(value(of.operators->copy(all[k]), scope.name()));
        (k < body.outputs.size() ? made.outputs : made.next).push_back(nodes[k]);
      }
      body_mode_ = around;
      return made;
    };
    Symbol made;
    if (loop) {
      const Made holds = make("while_loop_condition", 0), step = make("while_loop", 1);
      made = make_while(holds.scope, holds.own, holds.outputs[0], step.scope, step.own, in, step.outputs, step.next,
                        of.most, of.name);
    } else {
      const Made passed = make("cond_predicate", -1), then = make("cond_then", 0), otherwise = make("cond_else", 1);
      made = make_cond(passed.scope, passed.own, passed.outputs[0], in[0], then.scope, then.outputs, otherwise.scope,
                       otherwise.outputs, of.name);
    }
    const Node& node = *made.outputs()[0].node;
    List<NDArray> given, out(node.outputs());
    List<const NDArray*> arrays;
    for (const NodeOutput& from : node.inputs) given.push_back(array_of(from));
    for (const NDArray& a : given) arrays.push_back(&a);
    if (in_body() || call_mode.recorded == nullptr) {
      dispatch(*node.entry, node.op(), arrays.span(), out.span());
      if (!in_body()) to_.calls->all.back().flow = of.operators;
    } else {  // recorded as the calls of its steps, as a replay call by call is
      {
        CallMode apart = call_mode;
        apart.recorder = std::exchange(apart.recorded, nullptr);
        apart.tracer = nullptr;
        const CallModeScope mode(apart);
        run_traced_call(node, of.operators, arrays.span(), out.span());
      }
      add(*node.entry, node.op(), arrays.span(), out.span(), node.site);
      to_.calls->all.back().flow = of.operators;
    }
    for (Index k = 0; k < made.size(); ++k) of.out.push_back(out[k]);
  }
  /// The array that is this value of the graph.
  const NDArray& array_of(const NodeOutput& of) const {
    int at = static_cast<int>(values_.size());
    while (at-- > 0)
      if (is_same(values_[at], of)) break;
    return element(arrays_, at);
  }

  /// The value of the graph that an array is; one that is unknown comes from outside.
  NodeOutput value(const NDArray& a, std::string_view where) {
    if (const int at = known_.find(&a.body()); at >= 0) return values_[at];
    // An argument may be an array from outside as well; anything else that shares memory with a sparse array is not.
    if (a.body().buffer && buffers_.find(a.body().buffer.get()) >= 0 && given_.find(&a.body()) < 0)
      leave(where,
            "it takes a part of an array that is no operator's result (data(), indices(), indptr(), or detach() of a "
            "sparse array)");
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

  FunctionTracer tracer_{{{&derived, &leave}, &recorder_}, &flow},
      body_tracer_{{{&derived, &leave}, &inferring_}, &flow};
  TracedGraph& to_;
  const CallMode before_;
  CallMode body_mode_;
  struct {
    const Entry* entry = nullptr;
    Site site;
  } last_;  // call
  std::string left_;
  Tracing* const outer_;  // a kernel may call a traced function, which is no part of the graph
  const NameScope names_;
  std::uint64_t taken_ = random::detail::streams_taken();
  Addresses known_, buffers_, given_;
  NodeOutputs values_;
  std::vector<NDArray> arrays_;
};

}  // namespace strop::inline v0::detail
