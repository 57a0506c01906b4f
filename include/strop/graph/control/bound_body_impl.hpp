// SPDX-License-Identifier: Apache-2.0
/// \file
/// BoundBody: a sub-graph with an executor, whose arrays are put in place for each step.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/fork.hpp>
#include <strop/graph/bound_graph.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/control/flow_impl.hpp>
#include <strop/graph/executor_gradient_impl.hpp>
#include <strop/graph/passes/list.hpp>

#include <mutex>
#include <utility>

namespace strop::inline v0::detail {

/// What a bound body is for. Arrays stand for what they are like.
struct BodyTask {
  const SubGraph* graph = nullptr;
  Device device;
  List<NDArray> in;  // one for each input
  bool gradient = false;
  List<bool> wanted;      // of the inputs: whether a gradient goes there; without one, what passes suppose
  List<NDArray> targets;  // where it goes
  List<Request> requests;
  List<bool> headed;  // of the outputs: whether a head gradient comes
};

/// Runs a sub-graph, or a sub-graph and its gradient. What is decided when it is made holds for all arrays of the same
/// shapes, types and storages.
class BoundBody : public Counted {
 public:
  explicit BoundBody(const BodyTask& task)
      : graph_(*task.graph), gradient_(task.gradient), wanted_(task.wanted), headed_(task.headed) {
    for (const NDArray& a : task.in)
      like_.push_back(NDArray::fresh_shell(a.shape(), a.dtype(), a.device(), a.storage()));
    run_ = Ref<BoundGraph>(new BoundGraph(Symbol(graph_.results), task.device));
    NodeOutputs wanted;
    for (Index i = 0; i < task.in.size(); ++i) {
      run_->args.emplace_back(graph_.inputs[i].node->name, task.in[i]);
      run_->arg_nodes.push_back(graph_.inputs[i]);
      if (task.wanted[i]) wanted.push_back(graph_.inputs[i]);
    }
    BoundVariables variables{{}, {}, wanted};
    variables.add(run_->arg_nodes, run_->args);
    run_->net = optimized(run_->net, task.device, std::move(variables));
    NodeOutputs roots = run_->net;
    if (gradient_)
      plan_gradient(task, wanted, roots);
    else
      run_->plan({}, nullptr);
    const Graph graph(roots, true);
    for (const NodeOutput& in : graph_.inputs) input_values_.push_back(graph.value(in));
    for (const NodeOutput& head : heads_) head_values_.push_back(head.node ? graph.value(head) : -1);
    find_results(graph);
    run_->args.clear();  // the values hold what lasts
    forget();
  }

  bool suits(const BodyTask& task) const {
    if (&graph_ != task.graph || run_->device != task.device || gradient_ != task.gradient ||
        !(wanted_ == task.wanted) || !(headed_ == task.headed))
      return false;
    for (Index i = 0; i < like_.size(); ++i) {
      const NDArray &mine = like_[i], &other = task.in[i];
      if (mine.shape() != other.shape() || mine.dtype() != other.dtype() || mine.storage() != other.storage())
        return false;
    }
    return true;
  }

  // What the next run works on.
  void input(Index i, const NDArray& array) {
    if (input_values_[i] >= 0) run_->values[input_values_[i]] = array;
  }
  /// Where result r goes.
  void result(Index r, const NDArray& array) {
    results_[r].target = array;
    if (results_[r].copied_from >= 0) return;
    for (NDArray* place : results_[r].places) *place = array;
  }
  void head(Index k, const NDArray& array) {
    if (head_values_[k] >= 0) run_->values[head_values_[k]] = array;
  }
  /// Where the gradient of input i goes.
  void target(Index i, const NDArray& array) {
    targets_[i].target = array;
    for (NDArray* place : targets_[i].places) *place = array;
  }

  void forward(bool train) {
    run_->train = train;
    run_->run_one_by_one(run_->forward_steps);
    for (const Place& one : results_)
      if (one.copied_from >= 0 && one.target.defined()) give(run_->values[one.copied_from], one);
  }
  /// After forward, whose results are its own then.
  void backward() {
    run_->run_one_by_one(run_->backward_steps);
    for (const Delivery& one : run_->deliveries) {
      const NDArray& target = targets_[one.argument].target;
      if (one.value >= 0)
        copy_into(run_->values[one.value], target, one.request);
      else if (one.request != Request::add)
        set_to_zero(target);
    }
  }
  std::int64_t bytes(List<const FlowBodies*>& met) const { return run_->placement.bytes + run_->body_bytes(met); }
  /// A new array for result r.
  NDArray fresh_result(Index r) const {
    const NDArray& like = results_[r].like;
    return NDArray::fresh(like.shape(), like.dtype(), like.device());
  }

  /// Lets go of the arrays of the last run.
  void forget() {
    for (const int v : input_values_)
      if (v >= 0) run_->values[v] = NDArray();
    for (const int v : head_values_)
      if (v >= 0) run_->values[v] = NDArray();
    for (List<Place>* all : {&results_, &targets_})
      for (Place& one : *all) {
        if (!one.target.defined()) continue;
        one.target = NDArray();
        for (NDArray* place : one.places) *place = NDArray();
      }
  }

 private:
  /// Handles of one array in the executor.
  struct Place {
    List<NDArray*> places;
    NDArray target, like;
    int copied_from = -1;  // a value that passes have put in its place, or that is sparse
    const Node* made_by = nullptr;
  };

  /// What is collected, or goes on to the next step, is dense.
  static void give(const NDArray& made, const Place& to) {
    if (made.storage() != dense && !to.made_by->is_variable())
      note_fallback(*to.made_by->entry, to.made_by->op(), cat("() -> (", name_of(made.storage()), ")"),
                    cat("what a loop or a branch gives is dense, on ", to_text(made.device())), to.made_by->site);
    copy_into(made, to.target);
  }

  void plan_gradient(const BodyTask& task, const NodeOutputs& wanted, NodeOutputs& roots) {
    for (Index i = 0; i < task.in.size(); ++i) {
      run_->grads.emplace_back(graph_.inputs[i].node->name, task.wanted[i] ? task.targets[i] : NDArray());
      run_->requests.push_back(task.wanted[i] ? task.requests[i] : Request::null);
    }
    run_->joint.resize(task.in.size());
    GradientWalk walk(run_->net, wanted);
    for (Index k = 0; k < graph_.outputs.size(); ++k) {
      const int at = graph_.result_of[k];
      const NodeOutput of = at >= 0 ? run_->net[at] : graph_.inputs[~at];
      const bool loss = !of.node->is_variable() && of.node->entry->gradient.of_loss();
      NodeOutput head;
      if (task.headed[k] && !loss && (at >= 0 || task.wanted[~at])) {
        head = new_variable(cat("head", k));
        head.node->like.push_back(of);
      }
      heads_.push_back(head);
      if (head.node || loss)
        walk.start(of, head);
      else if (!task.headed[k] && !of.node->is_variable())
        walk.start_zero(of);  // a loss head before an integer has its gradient, as that of a recorded call has
    }
    walk.run();
    NodeOutputs gradients;
    for (const NodeOutput& w : wanted) gradients.push_back(walk.gradient(w));
    run_->contributions = walk.contributions();
    run_->unread = walk.unread();
    run_->plan(gradients, [](BoundGraph& self, const Graph& graph, Inference& inference, const NodeOutputs& nodes) {
      self.place_gradients(graph, inference, nodes, false);
    });
    for (const NodeOutput& gradient : gradients)
      if (gradient.node) roots.push_back(gradient);
    targets_.resize(task.in.size());
    for (Index i = 0; i < task.in.size(); ++i)
      if (task.wanted[i]) find_places(task.targets[i], targets_[i]);
    run_->grads.clear();
  }

  void find_results(const Graph& graph) {
    results_.resize(graph_.results.size());
    for (Index r = 0; r < results_.size(); ++r) {
      const NodeOutput& made = run_->net[r];
      const NDArray& own = element(run_->outputs, r);
      results_[r].made_by = made.node.get();
      results_[r].like = NDArray::fresh_shell(own.shape(), own.dtype(), own.device(), dense);
      bool apart = !made.node->is_variable() && own.storage() == dense;
      for (Index other = 0; other < r; ++other) apart = apart && !is_same(run_->net[other], made);
      if (!apart)
        results_[r].copied_from = graph.value(made);
      else if (!gradient_)
        find_places(own, results_[r]);
    }
    if (!gradient_) run_->outputs.clear();  // others are put in their place
  }
  /// Where the executor has this array.
  void find_places(const NDArray& array, Place& to) {
    for (NDArray& value : run_->values)
      if (value.defined() && value.is(array)) to.places.push_back(&value);
    for (List<Step>* steps : {&run_->forward_steps, &run_->backward_steps})
      for (Step& step : *steps)
        for (NDArray& output : step.outputs)
          if (output.defined() && output.is(array)) to.places.push_back(&output);
    to.target = array;
  }

  const SubGraph& graph_;
  const bool gradient_;
  const List<bool> wanted_, headed_;
  List<NDArray> like_;
  Ref<BoundGraph> run_;
  NodeOutputs heads_;
  List<int> input_values_, head_values_;
  List<Place> results_, targets_;
};

/// Bodies that are bound, some of them at work.
struct BodyPool : FlowBodies {
  static constexpr Index most = 8;
  ForkMutex changing;
  List<Ref<BoundBody>, 8> free;  // the one that was used last stands last

  Ref<BoundBody> take(const BodyTask& task) {
    {
      const std::lock_guard lock(changing);
      for (Index i = free.size(); i-- > 0;)
        if (free[i]->suits(task)) {
          Ref<BoundBody> found = free[i];
          for (; i + 1 < free.size(); ++i) free[i] = free[i + 1];
          free.pop_back();
          return found;
        }
    }
    return Ref<BoundBody>(new BoundBody(task));
  }
  std::int64_t bytes(List<const FlowBodies*>& met) override {
    const std::lock_guard lock(changing);
    std::int64_t sum = 0;
    for (const Ref<BoundBody>& body : free) sum += body->bytes(met);
    return sum;
  }
  void give_back(const Ref<BoundBody>& body) {
    body->forget();
    const std::lock_guard lock(changing);
    if (free.size() == most) {
      for (Index i = 0; i + 1 < most; ++i) free[i] = free[i + 1];
      free.pop_back();
    }
    free.push_back(body);
  }
};

/// A bound body while it works.
class UsedBody {
 public:
  UsedBody(BodyPool& pool, const BodyTask& task) : pool_(pool), body_(pool.take(task)) {}
  ~UsedBody() { pool_.give_back(body_); }
  UsedBody(const UsedBody&) = delete;
  UsedBody& operator=(const UsedBody&) = delete;
  BoundBody* operator->() const { return body_.get(); }

 private:
  BodyPool& pool_;
  Ref<BoundBody> body_;
};

}  // namespace strop::inline v0::detail
