// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the graph of a traced function runs where calls are recorded: bound with its gradients, as one step of the tape.
#pragma once
#include <strop/autograd/function_impl.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/core/config.hpp>
#include <strop/graph/executor_gradient_impl.hpp>
#include <strop/graph/traced_graph_impl.hpp>

#include <mutex>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// One recorded call. Where gradients are differentiated again it is opened: the tape then has the calls that it
/// consists of.
class TracedStep final : public Function {
 public:
  TracedStep(const TracedGraph& graph, Ref<RecordedRun> run)
      : calls_(graph.calls), runs_(graph.runs), run_(std::move(run)) {}
  ~TracedStep() override { give_back(); }
  // (Inline in the class, or g++ would put the whole class into every unit that sees it.)
  STROP_IMPL std::vector<NDArray> forward(std::span<const NDArray> in) override;
  STROP_IMPL std::vector<NDArray> backward(std::span<const NDArray> heads) override;
  void forget() override { give_back(); }

 private:
  bool is_linear() const override { return true; }
  STROP_IMPL void open_step(TapeNode& node) override;
  void check_input(Index i) const;
  void give_back() noexcept;

  Ref<TracedCalls> calls_;
  Ref<RecordedRuns> runs_;
  Ref<RecordedRun> run_;
  List<NDArray> inputs_;  // without their history, which the tape has
  List<std::uint64_t> versions_;
  NDArray result_;
  std::uint64_t result_version_ = 0;
};

/// What is left of a call that was opened: gradients go through it.
class HandedOn final : public Function {
 public:
  std::vector<NDArray> forward(std::span<const NDArray>) override { return {}; }
  std::vector<NDArray> backward(std::span<const NDArray> heads) override { return {heads.begin(), heads.end()}; }

 private:
  bool is_linear() const override { return true; }
};

STROP_IMPL std::vector<NDArray> TracedStep::forward(std::span<const NDArray> in) {
  for (const NDArray& a : in) {
    inputs_.push_back(a.detach());
    versions_.push_back(version_of(a));
  }
  run_->put(inputs_.span());
  BoundGraph& bound = *run_->bound;
  result_ = run_->result.put(bound.device);
  bound.forward(bound.train);
  result_version_ = version_of(result_);
  return {result_.detach()};
}

STROP_IMPL void TracedStep::check_input(Index i) const {
  if (version_of(inputs_[i]) != versions_[i])
    fail("backward: input ", i, " of a traced function (shape ", inputs_[i].shape(),
         ") was overwritten after it was recorded");
}

STROP_IMPL std::vector<NDArray> TracedStep::backward(std::span<const NDArray> heads) {
  const bool again = run_->bound->spent;  // forward's nodes run once more
  for (Index i = 0; i < inputs_.size(); ++i)
    if (run_->read_back[i] || (again && run_->input_values[i] >= 0)) check_input(i);
  if (run_->reads_result && version_of(result_) != result_version_)
    fail("backward: the result of a traced function (shape ", result_.shape(),
         ") was overwritten after it was recorded");
  std::vector<NDArray> out(unsigned_size(inputs_.size()));
  for (RecordedRun::Gradient& one : run_->gradients) element(out, one.input) = one.array.put(run_->bound->device);
  run_->bound->backward(heads);
  for (RecordedRun::Gradient& one : run_->gradients) one.array.clear();
  return out;
}

STROP_IMPL void TracedStep::open_step(TapeNode& node) {
  std::vector<NDArray> in;
  for (Index i = 0; i < inputs_.size(); ++i) {
    if (run_->input_values[i] >= 0) check_input(i);
    const Ref<Body> body(new Body(inputs_[i].body()));
    const TapeInput& from = node.inputs[i];
    (from.leaf ? body->leaf : body->lineage) = from.source;
    body->lineage_index = from.index;
    in.emplace_back(body);
  }
  const ModeScope mode(&tape, node.training);
  const std::vector<NDArray> results = calls_->replay(in);
  const Ref<Function> self = node.function;  // this
  node.function = Ref<Function>(new HandedOn);
  node.inputs.clear();
  node.inputs.resize(1);
  fill_input(node.inputs[0], results[0], false);
}

STROP_IMPL void TracedStep::give_back() noexcept {
  if (!run_) return;
  run_->clear();
  inputs_.clear();
  result_ = NDArray();
  try {
    std::lock_guard lock(runs_->changing);
    runs_->free.push_back(run_);
  } catch (...) {  // no room to keep it: the next call makes another one
  }
  run_ = nullptr;
}

/// Whether its gradient is the same by a graph as by a tape of its calls: a graph goes through all nodes, from one
/// result, as often as they are asked to compute the same.
STROP_IMPL bool TracedGraph::has_one_gradient() const {
  if (results.size() != 1 || results[0].node->is_variable()) return false;
  for (const Argument& a : arguments)
    if (a.storage != dense) return false;
  for (const auto& [node, array] : captured)
    if (array.storage() != dense) return false;
  for (const TracedCalls::Made& call : calls->all) {
    const Entry& entry = *call.node->entry;
    if (call.recorder != &tape || call.draws || &entry == &derived_entry || entry.gradient.of_loss() ||
        entry.cpu.make_state != nullptr)
      return false;
  }
  return true;
}

STROP_IMPL Ref<RecordedRun> TracedGraph::bind_recorded(Span<const NDArray> inputs, const List<bool>& wanted) const {
  const Graph all(results);
  Ref<RecordedRun> run(new RecordedRun);
  const Ref<BoundGraph> made(new BoundGraph(Symbol(results), inputs[0].device()));
  NamedArrays gradients;
  List<NodeOutput> nodes;
  for (const NodeOutput& node : argument_nodes) nodes.push_back(node);
  for (const auto& one : captured) nodes.push_back(one.first);
  List<Index> argument_of(nodes.size(), -1);
  for (Index i = 0; i < nodes.size(); ++i) {
    const NDArray& array = inputs[i];
    if (all.value(nodes[i]) < 0) continue;
    argument_of[i] = std::ssize(made->args);
    made->args.emplace_back(nodes[i].node->name, array.detach());
    made->arg_nodes.push_back(nodes[i]);
    if (wanted[i]) gradients.emplace_back(nodes[i].node->name, NDArray(array.shape(), array.dtype(), array.device()));
  }
  made->train = training;
  made->take_gradients(gradients, GradRequest::write, BoundGraph::Make::none);
  if (!made->no_gradient.empty()) return {};
  for (const NDArray& value : made->values)
    if (value && value.storage() != dense) return {};
  run->wanted = wanted;
  run->bound = made;
  List<bool> read(made->values.size());
  for (const Step& step : made->backward_steps)
    for (Index i = 0; i < step.in.size(); ++i)
      if (step.reads(i)) read[step.in[i]] = true;
  Addresses values;
  for (Index v = 0; v < made->values.size(); ++v)
    if (made->values[v]) values.set(&made->values[v].body(), static_cast<int>(v));
  for (Index i = 0; i < nodes.size(); ++i) {
    NDArray* const argument = argument_of[i] < 0 ? nullptr : &element(made->args, argument_of[i]).second;
    const int value = argument == nullptr ? -1 : values.find(&argument->body());
    run->input_values.push_back(value);
    run->read_back.push_back(value >= 0 && read[value]);
    if (argument_of[i] < 0 || !wanted[i]) continue;
    const NDArray& gradient = element(made->grads, argument_of[i]).second;
    if (!gradient.allocated()) return {};
    run->gradients.push_back({i, Exchanged(*made, gradient)});
  }
  const NDArray& result = made->outputs[0];
  if (!result.allocated()) return {};
  run->reads_result = read[made->output_values[0]];
  run->result = Exchanged(*made, result);
  for (auto& [name, array] : made->args) array = shell_of(array);
  run->clear();
  return run;
}

STROP_IMPL std::vector<NDArray> TracedGraph::replay_recorded(std::span<const NDArray> in) {
  const std::vector<NDArray> inputs = inputs_of(in);
  List<bool> wanted;
  bool any = false, suits = true;
  for (const NDArray& a : inputs) {
    const bool asks = is_tracked(a);
    if (a.body().leaf) {  // grad() may ask for what backward() leaves out
      const auto& leaf = static_cast<const Leaf&>(*a.body().leaf);
      suits = suits && leaf.request != GradRequest::null && leaf.gradient.storage() == dense;
    }
    suits = suits && (!asks || is_floating(a.dtype()));
    any = any || asks;
    wanted.push_back(asks);
  }
  if (!any || !suits) return calls->replay(inputs);
  Ref<RecordedRun> run;
  {
    std::lock_guard lock(runs->changing);
    for (auto one = runs->free.rbegin(); one != runs->free.rend() && !run; ++one)
      if ((*one)->wanted == wanted) {
        run = std::move(*one);
        runs->free.erase(std::next(one).base());
        break;
      }
  }
  if (!run) {
    try {
      run = bind_recorded(inputs, wanted);
    } catch (const Error&) {  // a call may know more than inference on a graph does
    }
    if (!run) {
      by_calls = true;
      return calls->replay(inputs);
    }
  }
  return apply_function(Ref<Function>(new TracedStep(*this, run)), inputs);
}

}  // namespace strop::inline v0::detail
