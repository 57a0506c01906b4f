// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a bound graph runs: its steps one by one, or several as one operation of the engine, with a monitor or without.
#pragma once
#include <strop/core/config.hpp>
#include <strop/engine/engine.hpp>
#include <strop/graph/bound_graph.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/executor_bind_impl.hpp>
#include <strop/op/devices.hpp>
#include <strop/op/dispatch.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/tensor/variable.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

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

/// What the engine runs of a segment. It works on arrays of its own over the same memory, which wait for nothing.
class SegmentWork final : public Counted {
 public:
  SegmentWork(Span<const Step> steps, const List<Ref<Buffer>>& blocks, bool training) : training_(training) {
    for (const Step& step : steps) {
      for (Index i = 0; i < step.inputs.size(); ++i) {
        const NDArray& a = *step.inputs[i];
        if (Use* const use = use_of(a)) use->read = use->read || !use->written;
      }
      for (const Step::Handover& bytes : step.handovers)  // written over, and complete when this runs
        use_of(blocks[bytes.earlier]).written = true;
      for (Index k = 0; k < step.outputs.size(); ++k) {
        if (step.requests[k] == Request::null) continue;
        Use& use = *use_of(step.outputs[k]);
        use.read = use.read || (!use.written && !overwrites(step.outputs[k], step.plan->requests[k]));
        use.written = use.changed = true;
      }
      for (int i : step.plan->mutated) {
        Use& use = *use_of(*step.inputs[i]);
        use.written = use.changed = true;
      }
      calls_.push_back(Call(step));
    }
  }

  /// The operation that the segment is: it runs after everything that was pushed before it and touches its arrays.
  EngineStep prepare(Span<const Step> steps, List<Ref<Buffer>>& changed) {
    List<EngineVariable> reads, writes;
    for (const Use& use : uses_) {
      const Pending* order = use.buffer->pending();
      if (order == nullptr) order = &use.buffer->order(order_maker.get("an array that waits")());
      if (use.read) reads.push_back(variable_of(*order));
      if (use.written) writes.push_back(variable_of(*order));
      if (use.changed) changed.push_back(use.buffer);
    }
    std::string names;
    for (const Step& step : steps) names += cat(names.empty() ? "" : ", ", step.node->name);
    const std::string name = steps.size() == 1 ? std::string(steps[0].node->entry->snake)
                                               : cat(steps[0].node->name, " to ", steps[steps.size() - 1].node->name);
    const auto notes = [&names](TraceNotes& note) { note("nodes", names); };
    return Engine::global().prepare([self = Ref(this)] { self->run(); },
                                    {.reads = reads, .writes = writes, .name = name, .notes = notes}, {});
  }

 private:
  struct Call {
    Ref<Node> node;
    Ref<Plan> plan;
    List<NDArray> in, out;
    List<const NDArray*> given;
    explicit Call(const Step& step) : node(step.node), plan(step.plan) {
      for (const NDArray* a : step.inputs) in.push_back(alone(*a));
      for (const NDArray& a : step.outputs) out.push_back(alone(a));
      for (const NDArray& a : in) given.push_back(&a);
    }
    Call(const Call&) = delete;
    Call(Call&&) = default;
  };
  void run() {
    const ModeScope mode(nullptr, training_);
    for (Call& call : calls_) {
      try {
        execute(*call.plan, {call.node->op(), nullptr, nullptr, true}, call.given.span(), call.out.span());
      } catch (const Error& error) {
        fail_in(*call.node, error);
      }
    }
  }
  struct Use {
    Ref<Buffer> buffer;
    bool read = false, written = false;  // of what was there before; at all
    bool changed = false;                // by a result, not as bytes that another one takes over
  };
  Use& use_of(const Ref<Buffer>& buffer) {
    for (Use& use : uses_)
      if (use.buffer == buffer) return use;
    uses_.push_back({buffer});
    return uses_.back();
  }
  Use* use_of(const NDArray& a) { return a.allocated() ? &use_of(a.body().buffer) : nullptr; }
  /// The same elements, which nothing waits for. The memory is kept by the uses.
  static NDArray alone(const NDArray& a) {
    NDArray b = NDArray::fresh_shell(a.shape(), a.dtype(), a.device(), a.storage());
    if (!a.allocated()) return b;
    const std::int64_t bytes = a.size() * size_of(a.dtype());
    b.body().buffer = Ref(new Buffer(a.device(), bytes, a.address(), [](void*, void*) noexcept {}, nullptr));
    return b;
  }

  List<Call> calls_;
  List<Use> uses_;
  bool training_;
};

/// Whether the engine orders what works on the array.
STROP_IMPL bool stays(const NDArray& a) {
  if (!a.defined() || a.storage() != dense || !backend_of(a.device()).defers) return false;
  return !a.allocated() || !a.body().buffer->is_foreign();
}

/// Whether a step's arrays stay from call to call and the engine may run it whenever they are there: as for calls that
/// are enqueued one by one, and no random numbers, which are drawn at the call. Head gradients are looked at when
/// they are there.
STROP_IMPL bool BoundGraph::is_ordered(const Step& step) const {
  const Plan& plan = *step.plan;
  // A state that is written outlives the run: a failure of the steps beside it must not become its own.
  const bool draws = plan.resources.random || (step.predicting && step.predicting->resources.random);
  if (!plan.asked || !plan.why.empty() || draws || !plan.mutated.empty() || step.state >= 0 ||
      step.node->entry->cpu.make_state != nullptr || !step.on_pattern.empty())
    return false;
  bool all = true;
  for (Index i = 0; i < step.inputs.size(); ++i) {
    if (step.takes_head && step.in[i] >= 0 &&
        std::find(head_values.begin(), head_values.end(), step.in[i]) != head_values.end())
      continue;
    const NDArray& a = *step.inputs[i];
    all = all && stays(a) && (!step.reads(i) || a.allocated() || a.size() == 0);
  }
  for (Index k = 0; k < step.outputs.size(); ++k)
    all = all && stays(step.outputs[k]) && (step.requests[k] == Request::null || step.outputs[k].allocated());
  return all;
}

/// Of one segment, so that it begins to run before all of a long graph has been pushed.
inline constexpr int most_segment_steps = 256;

/// A step goes on a segment where it reads what its last step has computed, nobody else does, and what it reads besides
/// is there when the segment begins. All others begin one: branches stay apart, and so does what reads a head gradient,
/// which may be another array each time.
STROP_IMPL void BoundGraph::make_segments(const List<Step>& steps, List<Segment>& segments) const {
  const auto count = static_cast<int>(steps.size());
  List<int> maker(values.size(), -1), followers(count), last_follower(count, -1), segment_of(count);
  const auto makers_of = [&](const Step& step, auto use) {
    for (int v : step.in)
      if (v >= 0 && maker[v] >= 0) use(maker[v]);
    for (int v : step.added_to)
      if (v >= 0 && maker[v] >= 0) use(maker[v]);
  };
  for (int s = 0; s < count; ++s) {
    makers_of(steps[s], [&](int from) {
      if (last_follower[from] != s) ++followers[from];
      last_follower[from] = s;
    });
    for (int v : steps[s].out) maker[v] = s;
  }
  List<int> waits;  // segments that the last one waits for
  for (int s = 0; s < count; ++s) {
    const Step& step = steps[s];
    const int last = static_cast<int>(segments.size()) - 1;
    const bool ordered = is_ordered(step);
    bool goes_on = ordered && last >= 0 && segments[last].whole && followers[s - 1] == 1 && !step.takes_head &&
                   !segments[last].takes_head && s - segments[last].begin < most_segment_steps,
         follows = false;
    makers_of(step, [&](int from) {
      if (from >= s) return;  // none: steps read what steps before them have made
      follows = follows || from == s - 1;
      bool there = segment_of[from] == last;
      for (int other : waits) there = there || segment_of[from] == other;
      goes_on = goes_on && there;
    });
    std::int64_t elements = 0;
    for (const NDArray* a : step.inputs) elements = std::max(elements, a != nullptr && a->defined() ? a->size() : 0);
    for (const NDArray& a : step.outputs) elements = std::max(elements, a.defined() ? a.size() : 0);
    if (goes_on && follows) {
      segments[last].end = s + 1;
      segments[last].elements = std::max(segments[last].elements, elements);
    } else {
      waits.clear();
      makers_of(step, [&](int from) {
        if (from < s) waits.push_back(segment_of[from]);
      });
      Segment fresh;
      fresh.begin = s;
      fresh.end = s + 1;
      fresh.whole = ordered;
      fresh.takes_head = step.takes_head;
      fresh.elements = elements;
      segments.push_back(std::move(fresh));
    }
    segment_of[s] = static_cast<int>(segments.size()) - 1;
  }
}

STROP_IMPL void BoundGraph::make_segments() {
  make_segments(forward_steps, forward_segments);
  make_segments(backward_steps, backward_segments);
}

/// Compares the head gradients with those of the last backward. What was prepared for others goes.
STROP_IMPL void BoundGraph::compare_heads() {
  heads_stay = last_heads.size() == head_values.size();
  last_heads.resize(head_values.size());
  for (Index k = 0; k < head_values.size(); ++k) {
    if (head_values[k] < 0) continue;
    const NDArray& head = values[head_values[k]];
    HeadPlace place;
    if (stays(head) && head.allocated()) place = {head.body().buffer, head.address()};
    HeadPlace& last = last_heads[k];
    heads_stay = heads_stay && place.buffer && place.buffer == last.buffer && place.bytes == last.bytes;
    last = std::move(place);
  }
  if (heads_stay) return;
  for (Segment& segment : backward_segments)
    if (segment.takes_head) segment.prepared[0] = segment.prepared[1] = {};
}

/// As for single calls: where one is large, or what the first one needs is pending.
STROP_IMPL bool BoundGraph::goes_as_one(const List<Step>& steps, const Segment& segment) const {
  if (!segment.whole || call_mode.operation != nullptr || !order_maker || (segment.takes_head && !heads_stay))
    return false;
  if (is_handed_over(segment.elements)) return true;
  const Step& first = steps[segment.begin];
  for (const NDArray* a : first.inputs)
    if (a->busy()) return true;
  for (const NDArray& a : first.outputs)
    if (a.busy()) return true;
  return false;
}

STROP_IMPL void BoundGraph::push(const List<Step>& steps, Segment& segment) {
  std::optional<Segment::Prepared>& prepared = segment.prepared[train ? 1 : 0];
  if (!prepared) {
    const Span<const Step> own = steps.span().subspan(segment.begin, segment.end - segment.begin);
    const Ref<SegmentWork> work(new SegmentWork(own, blocks, train));
    List<Ref<Buffer>> changed;
    EngineStep step = work->prepare(own, changed);
    prepared = Segment::Prepared{std::move(step), std::move(changed)};
  }
  for (const Ref<Buffer>& buffer : prepared->changed) buffer->written();
  prepared->step.push();
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

/// A value may be written over by the next step: what is shown is a copy.
STROP_IMPL void show_value(Monitor& monitor, const std::string& name, const NDArray& value) {
  monitor.see(name, value.copy());
}

/// Shows the inputs of a step before it runs, or its results behind it.
STROP_IMPL void show_step(BoundGraph& graph, const Step& step, bool results) {
  Monitor& monitor = *graph.monitor;
  const Node& node = *step.node;
  if (results) {
    for (Index k = 0; k < step.out.size(); ++k) {
      bool computed = step.requests[k] != Request::null;
      for (const Step::OnPattern& one : step.on_pattern) computed = computed || one.result == k;
      if (computed) show_value(monitor, node.output_name(static_cast<int>(k)), graph.values[step.out[k]]);
    }
    return;
  }
  for (Index i = 0; monitor.inputs && i < step.in.size(); ++i) {
    if (!step.reads(i)) continue;
    const NDArray& value = graph.values[step.in[i]];
    if (const Node& from = *node.inputs[i].node; from.is_variable()) show_value(monitor, from.name, value);
    const std::string_view name = element(node.signature.inputs, i);
    show_value(monitor, name == "argument" ? cat(node.name, "_argument", i) : cat(node.name, '_', name), value);
  }
}

/// The graph once more with the same arrays, outputs included, as it is written: what passes join is there again.
STROP_IMPL void BoundGraph::watch(const Ref<Monitor>& by) {
  ran = false;
  watched = {};
  if (!by) return;
  const Ref<BoundGraph> made(new BoundGraph(symbol, device));
  made->as_written = true;
  made->groups = groups;
  made->side_by_side = side_by_side;
  made->kept = kept;  // states go on, and what they have become stays when the monitor goes
  made->outputs = outputs;
  made->take_arrays(args, aux);
  if (requests.empty()) {
    for (const auto& arg : made->args) made->grads.emplace_back(arg.first, NDArray());
    made->optimize({});
    made->plan({}, nullptr);
  } else {
    GradRequests wishes(GradRequest::null);
    for (Index i = 0; i < std::ssize(args); ++i)
      wishes.named_.push_back({element(args, i).first, static_cast<GradRequest>(requests[i])});
    made->take_gradients(grads, wishes, BoundGraph::Make::none);
  }
  made->monitor = by;
  made->show = &show_step;
  watched = made;
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

STROP_IMPL const std::vector<NDArray>& Executor::forward(bool train, const NamedArrays& inputs) {
  const detail::Ref<detail::BoundGraph> graph = graph_;
  const std::lock_guard mine(graph->running);
  graph->set_arguments(inputs);
  return forward(train);
}

STROP_IMPL void Executor::watch(const detail::Ref<detail::Monitor>& monitor) {
  const detail::Ref<detail::BoundGraph> graph = graph_;
  const std::lock_guard mine(graph->running);
  graph->watch(monitor);
}

}  // namespace strop::inline v0
