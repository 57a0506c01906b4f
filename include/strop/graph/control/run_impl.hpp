// SPDX-License-Identifier: Apache-2.0
/// \file
/// How loops and branches run, and their gradients.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/control/bound_body_impl.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/control/flow_infer_impl.hpp>
#include <strop/memory/random.hpp>
#include <strop/op/gradient_roles.hpp>

#include <cstdint>
#include <mutex>
#include <optional>

namespace strop::inline v0::detail {

/// Entry i of what is collected along a first axis, and of data, of which the entry of a vector has shape (1).
STROP_IMPL NDArray part_of(const NDArray& whole, std::int64_t i, const Shape& shape) {
  NDArray part = view_as(whole, shape);
  part.body().offset += i * shape.size() * size_of(whole.dtype());
  return part;
}
STROP_IMPL NDArray collected_part(const NDArray& whole, std::int64_t i) {
  Shape shape = whole.shape();
  shape.erase(0);
  return part_of(whole, i, shape);
}
STROP_IMPL NDArray data_part(const NDArray& whole, std::int64_t i) {
  return part_of(whole, i, entry_shape(whole.shape()));
}

/// What forward and gradient share.
class FlowRun {
 protected:
  FlowRun(const Call& call, const Context& ctx)
      : call_(call),
        flow_(flow_in(call.params)),
        device_(ctx.device()),
        train_(ctx.train),
        state_(static_cast<Ref<FlowBodies>*>(ctx.state())),
        spare_(flow_.states.size()) {}

  bool asked(int k) const { return call_.request(k) != Request::null; }
  /// Memory for a state, in turns.
  const NDArray& spare(int j, std::int64_t step, const NDArray& like) {
    NDArray& made = spare_[j].at[step & 1];
    if (!made.defined()) made = NDArray::fresh(like.shape(), like.dtype(), device_);
    return made;
  }
  BodyTask task(const SubGraph& sub, const List<NDArray>& in) const {
    BodyTask made;
    made.graph = &sub;
    made.device = device_;
    made.in = in;
    made.wanted = List<bool>(in.size(), false);
    return made;
  }
  /// Bodies that keep states belong to the executor, as states do; others serve all executors.
  BodyPool& pool() const {
    const std::lock_guard lock(flow_.binding);
    Ref<FlowBodies>& bodies = state_ != nullptr ? *state_ : flow_.bodies;
    if (!bodies) bodies = Ref<FlowBodies>(new BodyPool);
    return static_cast<BodyPool&>(*bodies);
  }
  /// Whether the bodies of this call draw random numbers.
  bool draws(const List<Shape>& shapes) const {
    return flow_.drawn >= 0 && flow_resources(call_.params, shapes.span()).random;
  }
  static List<bool> floating_ones(const List<NDArray>& arrays) {
    List<bool> found;
    for (const NDArray& a : arrays) found.push_back(is_floating(a.dtype()));
    return found;
  }

  struct Turns {
    NDArray at[2];
  };
  const Call& call_;
  const Flow& flow_;
  const Device device_;
  const bool train_;
  Ref<FlowBodies>* const state_;
  std::optional<random::Stream> drawn_;
  List<Turns> spare_;
};

class FlowForward : FlowRun {
 public:
  FlowForward(const Call& call, Context& ctx) : FlowRun(call, ctx) {
    List<Shape> shapes;
    for (const NDArray* a : call.inputs) shapes.push_back(a->shape());
    if (!draws(shapes)) return;
    drawn_ = ctx.random();
    if (!asked(flow_.drawn)) return;
    auto* const to = call.out[flow_.drawn].pointer<std::int64_t>();
    to[0] = static_cast<std::int64_t>(drawn_->seed);
    to[1] = static_cast<std::int64_t>(drawn_->call);
  }

  void run() { flow_.is_loop() ? loop() : branch(); }

 private:
  List<NDArray> inputs(const SubGraph& sub, std::int64_t step, const List<NDArray>& now) const {
    List<NDArray> in;
    for (const int link : sub.links) {
      const int j = flow_.state_of(link);
      in.push_back(link < flow_.data ? data_part(call_.in(link), step) : j >= 0 ? now[j] : call_.in(link));
    }
    return in;
  }

  /// Whether the condition holds.
  bool holds(std::int64_t step, const List<NDArray>& now) const {
    const SubGraph& sub = flow_.graphs[0];
    const List<NDArray> in = inputs(sub, step, now);
    const int at = sub.result_of[0];
    if (at < 0) return truth(in[~at]);
    const UsedBody run(pool(), task(sub, in));
    for (Index i = 0; i < in.size(); ++i) run->input(i, in[i]);
    const NDArray result = run->fresh_result(at);
    run->result(at, result);
    const random::Replay numbers(drawn_, flow_stream(step, true));
    run->forward(train_);
    return truth(result);
  }
  bool truth(const NDArray& a) const {
    if (a.size() != 1) fail(flow_.name(), ": the condition has shape ", a.shape(), ", expected one element");
    return a.item<double>() != 0;
  }

  /// What stands in written inputs, for the gradient.
  void keep_written(const SubGraph& sub, std::int64_t step) {
    for (Index i = 0; i < sub.inputs.size(); ++i) {
      const int k = sub.written[i] ? flow_.before[sub.links[i]] : -1;
      if (k < 0 || !asked(k)) continue;
      copy_into(call_.in(sub.links[i]), flow_.is_loop() ? collected_part(call_.out[k], step) : call_.out[k]);
    }
  }

  /// Runs a body with its outputs in these places (none: nobody wants it).
  void run_body(const SubGraph& sub, const UsedBody& run, const List<NDArray>& in, const List<NDArray>& places,
                std::int64_t step) {
    keep_written(sub, step);
    for (Index i = 0; i < in.size(); ++i) run->input(i, in[i]);
    List<NDArray> results(sub.results.size());
    for (Index k = 0; k < places.size(); ++k)
      if (const int r = sub.result_of[k]; r >= 0 && places[k].defined() && !results[r].defined())
        results[r] = places[k];
    for (Index r = 0; r < results.size(); ++r) {
      if (!results[r].defined()) results[r] = run->fresh_result(r);
      run->result(r, results[r]);
    }
    {
      const random::Replay numbers(drawn_, flow_stream(step));
      run->forward(train_);
    }
    for (Index k = 0; k < places.size(); ++k) {
      const int r = sub.result_of[k];
      if (places[k].defined())
        copy_into(r >= 0 ? results[r] : in[~r], places[k]);  // which is nothing where it is itself
    }
  }

  /// What the gradient runs again has to be the same nodes in the same order where they draw.
  BodyTask body_task(const SubGraph& sub, const List<NDArray>& in) const {
    BodyTask made = task(sub, in);
    if (drawn_) made.wanted = floating_ones(in);
    return made;
  }

  void loop() {
    const SubGraph& body = flow_.body();
    const int states = static_cast<int>(flow_.states.size());
    const std::int64_t most = flow_.kind == FlowKind::foreach ? call_.in(0).shape()[0] : flow_.most;
    List<NDArray> now;
    for (const int input : flow_.states) now.push_back(call_.in(input));
    std::optional<UsedBody> run;
    std::int64_t step = 0;
    for (; step < most; ++step) {
      if (flow_.kind == FlowKind::while_loop && !holds(step, now)) break;
      const List<NDArray> in = inputs(body, step, now);
      if (!run) run.emplace(pool(), body_task(body, in));
      List<NDArray> places(body.outputs.size()), next(states);
      for (int k = 0; k < flow_.stacked; ++k)
        if (asked(k)) places[k] = collected_part(call_.out[k], step);
      for (int j = 0; j < states; ++j) {
        const int k = flow_.stacked + j, history = flow_.history[j], own = body.result_of[k];
        if (asked(history))
          next[j] = history < flow_.stacked ? places[history] : collected_part(call_.out[history], step);
        else if (own < 0 && body.links[~own] == flow_.states[j])
          next[j] = now[j];  // it stays as it is
        else
          next[j] = spare(j, step, now[j]);
        if (!next[j].is(now[j])) places[k] = next[j];
      }
      run_body(body, *run, in, places, step);
      now = std::move(next);
    }
    if (flow_.taken >= 0) {
      for (int k = 0; k < flow_.stacked && step < most; ++k) {
        if (!asked(k)) continue;
        Shape rest = call_.out[k].shape();
        const Shape entry = entry_of(rest);
        rest[0] = most - step;
        NDArray empty = view_as(call_.out[k], rest);
        empty.body().offset += step * entry.size() * size_of(empty.dtype());
        set_to_zero(empty);
      }
      if (asked(flow_.taken)) *call_.out[flow_.taken].pointer<std::int64_t>() = step;
    }
    for (int j = 0; j < states; ++j)
      if (const int k = flow_.stacked + j; asked(k)) copy_into(now[j], call_.out[k]);
  }
  static Shape entry_of(Shape whole) {
    whole.erase(0);
    return whole;
  }

  void branch() {
    const int taken = holds(0, {}) ? 0 : 1;
    const SubGraph& body = flow_.body(taken);
    const List<NDArray> in = inputs(body, 0, {});
    List<NDArray> places(body.outputs.size());
    for (int k = 0; k < flow_.visible; ++k)
      if (asked(k)) places[k] = call_.out[k];
    {
      const UsedBody run(pool(), body_task(body, in));
      run_body(body, run, in, places, 0);
    }
    if (asked(flow_.taken)) *call_.out[flow_.taken].pointer<std::int64_t>() = taken;
  }
};

/// The gradient, from the last step to the first: the body once more from the states that forward has left, then its
/// gradient.
class FlowBackward : FlowRun {
 public:
  FlowBackward(const Call& call, Context& ctx) : FlowRun(call, ctx) {
    const GradientRoles roles = gradient_roles(flow_.entry.gradient, flow_.inputs, flow_.outputs);
    heads_.resize(flow_.outputs);
    out_.resize(flow_.outputs);
    in_.resize(flow_.inputs);
    List<Shape> shapes;
    for (Index i = 0; i < roles.takes.size(); ++i) {
      const GradientArgument& argument = roles.takes[i];
      (argument.role == Role::head ? heads_
       : argument.role == Role::in ? in_
                                   : out_)[argument.at] = call.in(static_cast<int>(i));
    }
    for (const NDArray& a : in_) shapes.push_back(a.shape());
    if (!draws(shapes)) return;
    const auto* const from = out_[flow_.drawn].pointer<const std::int64_t>();
    drawn_ = random::Stream{static_cast<std::uint64_t>(from[0]), 0, static_cast<std::uint64_t>(from[1])};
  }

  void run() { flow_.is_loop() ? loop() : branch(); }

 private:
  /// Whether a gradient of this input of the body is computed.
  bool wanted(const SubGraph& sub, Index i) const {
    const int link = sub.links[i];
    if (sub.written[i] || !is_floating(in_[link].dtype())) return false;
    return flow_.state_of(link) >= 0 || asked(link);
  }
  BodyTask gradient_task(const SubGraph& sub, const List<NDArray>& in) const {
    BodyTask made = task(sub, in);
    made.gradient = true;
    for (Index i = 0; i < in.size(); ++i) {
      made.wanted[i] = drawn_ ? is_floating(in[i].dtype()) : wanted(sub, i);
      const int link = sub.links[i];
      const bool adds = flow_.is_loop() && link >= flow_.data && flow_.state_of(link) < 0;
      made.requests.push_back(adds ? Request::add : Request::write);
    }
    for (int k = 0; k < flow_.visible; ++k) made.headed.push_back(is_floating(heads_[k].dtype()));
    made.targets.resize(in.size());
    return made;
  }
  /// A place for a gradient that nobody asked for.
  NDArray unasked(const NDArray& like) const { return NDArray::fresh(like.shape(), like.dtype(), device_); }

  /// A copy of what stood in a written input, which the body writes once more.
  void again(const SubGraph& sub, List<NDArray>& in, std::int64_t step) const {
    for (Index i = 0; i < in.size(); ++i) {
      const int k = sub.written[i] ? flow_.before[sub.links[i]] : -1;
      if (k < 0) continue;
      const NDArray stood = flow_.is_loop() ? collected_part(out_[k], step) : out_[k];
      in[i] = NDArray::fresh(stood.shape(), stood.dtype(), device_);
      copy_into(stood, in[i]);
    }
  }
  void compute(const UsedBody& run, std::int64_t step) const {
    {
      const random::Replay numbers(drawn_, flow_stream(step));
      run->forward(train_);
    }
    run->backward();
  }

  void loop() {
    const SubGraph& body = flow_.body();
    const int states = static_cast<int>(flow_.states.size());
    const std::int64_t steps = flow_.taken >= 0 ? *out_[flow_.taken].pointer<const std::int64_t>() : in_[0].shape()[0];
    List<NDArray> now(states), ignored(body.inputs.size());  // gradients of the states behind a step
    for (int j = 0; j < states; ++j) now[j] = heads_[flow_.stacked + j];
    for (int i = 0; i < flow_.inputs; ++i)  // what no step reaches, or all add to
      if (asked(i) && flow_.state_of(i) < 0) set_to_zero(call_.out[i]);
    std::optional<UsedBody> run;
    for (std::int64_t step = steps; step-- > 0;) {
      List<NDArray> in;
      for (const int link : body.links) {
        const int j = flow_.state_of(link);
        in.push_back(link < flow_.data    ? data_part(in_[link], step)
                     : j < 0 || step == 0 ? in_[link]
                                          : collected_part(out_[flow_.history[j]], step - 1));
      }
      again(body, in, step);
      BodyTask made = gradient_task(body, in);
      for (Index i = 0; i < in.size(); ++i) {
        if (!made.wanted[i]) continue;
        const int link = body.links[i], j = flow_.state_of(link);
        if (j >= 0) {
          made.targets[i] = spare(j, step, in[i]);
        } else if (asked(link)) {
          made.targets[i] = link < flow_.data ? data_part(call_.out[link], step) : call_.out[link];
        } else {
          if (!ignored[i].defined()) set_to_zero(ignored[i] = unasked(in[i]));
          made.targets[i] = ignored[i];
        }
      }
      if (!run) run.emplace(pool(), made);
      for (Index i = 0; i < in.size(); ++i) {
        (*run)->input(i, in[i]);
        if (made.wanted[i]) (*run)->target(i, made.targets[i]);
      }
      for (int k = 0; k < flow_.visible; ++k)
        if (made.headed[k])
          (*run)->head(k, k < flow_.stacked ? collected_part(heads_[k], step) : now[k - flow_.stacked]);
      compute(*run, step);
      for (int j = 0; j < states; ++j) {
        const int i = body.input_for(flow_.states[j]);
        const NDArray& like = in_[flow_.states[j]];
        now[j] = spare(j, step, like);
        if (i < 0 || !made.wanted[i]) set_to_zero(now[j]);
      }
    }
    for (int j = 0; j < states; ++j)
      if (const int i = flow_.states[j]; asked(i)) {
        if (is_floating(in_[i].dtype()))
          copy_into(now[j], call_.out[i]);
        else
          set_to_zero(call_.out[i]);
      }
  }

  void branch() {
    const std::int64_t taken = *out_[flow_.taken].pointer<const std::int64_t>();
    const SubGraph& body = flow_.body(static_cast<int>(taken));
    List<NDArray> in;
    for (const int link : body.links) in.push_back(in_[link]);
    again(body, in, 0);
    BodyTask made = gradient_task(body, in);
    List<bool> reached(flow_.inputs, false);
    for (Index i = 0; i < in.size(); ++i) {
      if (!made.wanted[i]) continue;
      const int link = body.links[i];
      made.targets[i] = asked(link) ? call_.out[link] : unasked(in[i]);
      reached[link] = true;
    }
    for (int i = 0; i < flow_.inputs; ++i)
      if (asked(i) && !reached[i]) set_to_zero(call_.out[i]);
    const UsedBody run(pool(), made);
    for (Index i = 0; i < in.size(); ++i) {
      run->input(i, in[i]);
      if (made.wanted[i]) run->target(i, made.targets[i]);
    }
    for (int k = 0; k < flow_.visible; ++k)
      if (made.headed[k]) run->head(k, heads_[k]);
    compute(run, 0);
  }

  List<NDArray> heads_, in_, out_;  // gradients of the outputs, inputs and outputs of the call
};

STROP_IMPL void run_flow(const Call& call, Context& ctx) { FlowForward(call, ctx).run(); }
STROP_IMPL void run_flow_gradient(const Call& call, Context& ctx) { FlowBackward(call, ctx).run(); }

}  // namespace strop::inline v0::detail
