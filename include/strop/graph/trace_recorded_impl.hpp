// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the graph of a traced function runs where calls are recorded: bound with its gradients, as one step of the tape.
#pragma once
#include <strop/autograd/backward_impl.hpp>
#include <strop/autograd/function_impl.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/core/config.hpp>
#include <strop/graph/executor_gradient_impl.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/graph/traced_graph_impl.hpp>
#include <strop/memory/random.hpp>

#include <mutex>
#include <optional>
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
  bool tells_zeros() const override { return true; }
  bool of_loss() const override { return calls_->loss_head; }
  STROP_IMPL void open_step(TapeNode& node) override;
  std::vector<NDArray> backward_by_calls(Span<const NDArray> heads) const;
  List<NDArray> record_calls(Span<NDArray> in) const;
  void check_input(Index i) const;
  void give_back() noexcept;

  Ref<TracedCalls> calls_;
  Ref<RecordedRuns> runs_;
  Ref<RecordedRun> run_;
  const bool training_ = call_mode.training;
  List<NDArray> inputs_, results_;  // without their history, which the tape has
  List<std::uint64_t> versions_, result_versions_;
  List<NDArray> before_;  // what stood in inputs that are written
  List<random::Stream> drawn_;
};

/// The results of a call that the tape has as the calls that it consists of. Gradients go through it, and the graph is
/// told which of them come.
class HandedOn final : public Function {
 public:
  HandedOn(const Ref<TracedCalls>& calls, const Ref<RecordedRuns>& runs) : calls_(calls), runs_(runs) {}
  std::vector<NDArray> forward(std::span<const NDArray> in) override {
    std::vector<NDArray> out;
    for (const NDArray& a : in) out.push_back(a.detach());
    return out;
  }
  std::vector<NDArray> backward(std::span<const NDArray> heads) override {
    runs_->expect(calls_->coming(heads));
    return {heads.begin(), heads.end()};
  }

 private:
  bool tells_zeros() const override { return true; }

  Ref<TracedCalls> calls_;
  Ref<RecordedRuns> runs_;
};

STROP_IMPL std::vector<NDArray> TracedStep::forward(std::span<const NDArray> in) {
  for (const NDArray& a : in) {
    inputs_.push_back(a.detach());
    versions_.push_back(version_of(a));
  }
  run_->put(inputs_.span());
  BoundGraph& bound = *run_->bound;
  for (Exchanged& result : run_->results) results_.push_back(result.put(bound.device));
  for (const int w : calls_->written) before_.push_back(inputs_[w].copy());
  {
    std::optional<random::Noting> noting;
    if (calls_->draws) noting.emplace(drawn_);
    bound.forward(bound.train);
  }
  for (const int w : calls_->written) versions_[w] = version_of(inputs_[w]);
  std::vector<NDArray> out;
  for (const NDArray& result : results_) {
    result_versions_.push_back(version_of(result));
    out.push_back(result.detach());
  }
  return out;
}

STROP_IMPL void TracedStep::check_input(Index i) const {
  if (version_of(inputs_[i]) != versions_[i])
    fail("backward: input ", i, " of a traced function (shape ", inputs_[i].shape(),
         ") was overwritten after it was recorded");
}

STROP_IMPL std::vector<NDArray> TracedStep::backward(std::span<const NDArray> heads) {
  const List<Head> coming = calls_->coming(heads);
  std::vector<NDArray> out(unsigned_size(inputs_.size()));
  for (const Index i : run_->zeros) element(out, i) = shell_of(inputs_[i]);
  if (coming.size() == 1 && coming[0] == Head::zero && !calls_->of_loss) {
    for (const RecordedRun::Gradient& one : run_->gradients) element(out, one.input) = shell_of(inputs_[one.input]);
    return out;
  }
  const bool other = !(coming == run_->coming), again = run_->bound->spent;  // forward's nodes run once more
  if (other) runs_->expect(coming);
  if (other || (again && !(calls_->written.empty() && drawn_.empty()))) return backward_by_calls(heads);
  for (Index i = 0; i < inputs_.size(); ++i)
    if (run_->read_back[i] || (again && run_->input_values[i] >= 0)) check_input(i);
  for (Index k = 0; k < results_.size(); ++k)
    if (run_->reads_result[k] && version_of(results_[k]) != result_versions_[k])
      fail("backward: the result of a traced function (shape ", results_[k].shape(),
           ") was overwritten after it was recorded");
  if (run_->gradients.empty()) return out;
  for (RecordedRun::Gradient& one : run_->gradients) element(out, one.input) = one.array.put(run_->bound->device);
  run_->bound->backward(heads);
  for (RecordedRun::Gradient& one : run_->gradients) one.array.clear();
  return out;
}

/// The calls once more, on these inputs, for the tape: with what stood in those that they write, and the numbers that
/// they drew.
STROP_IMPL List<NDArray> TracedStep::record_calls(Span<NDArray> in) const {
  for (Index k = 0; k < before_.size(); ++k) {
    Body& body = in[calls_->written[k]].body();
    body.buffer = before_[k].copy().body().buffer;
    body.offset = 0;
  }
  for (Index i = 0; i < inputs_.size(); ++i) {
    bool written = false;
    for (const int w : calls_->written) written = written || w == i;
    if (run_->input_values[i] >= 0 && !written) check_input(i);
  }
  const random::Replay numbers(drawn_.span());
  const ModeScope mode(&tape, training_);
  return calls_->computed_of(calls_->replay(in));
}

/// Where other results have gradients than the graph was bound for, and where it cannot run forward again.
STROP_IMPL std::vector<NDArray> TracedStep::backward_by_calls(Span<const NDArray> heads) const {
  List<NDArray> in, leaves, results, given;
  List<Index> places;
  for (Index i = 0; i < inputs_.size(); ++i) {
    in.push_back(inputs_[i].detach());
    if (!run_->wanted[i]) continue;
    in.back().body().leaf = Ref<GradientNode>(new Leaf);
    leaves.push_back(in.back());
    places.push_back(i);
  }
  const List<NDArray> made = record_calls(in.span());
  for (Index k = 0; k < made.size(); ++k) {
    if ((!heads[k].defined() && !calls_->loss_head) || !is_tracked(made[k])) continue;
    results.push_back(made[k]);
    given.push_back(heads[k]);
  }
  BackwardPass pass(false, false);
  pass.collect(leaves.span());
  pass.run(results.span(), given.span());
  std::vector<NDArray> out(unsigned_size(inputs_.size()));
  for (Index n = 0; n < places.size(); ++n) element(out, places[n]) = std::move(element(pass.collected(), n));
  return out;
}

STROP_IMPL void TracedStep::open_step(TapeNode& node) {
  List<NDArray> in;
  for (Index i = 0; i < inputs_.size(); ++i) {
    const Ref<Body> body(new Body(inputs_[i].body()));
    const TapeInput& from = node.inputs[i];
    (from.leaf ? body->leaf : body->gradient_node) = from.source;
    body->gradient_index = from.index;
    in.push_back(NDArray(body));
  }
  const List<NDArray> made = record_calls(in.span());
  const Ref<Function> self = node.function;  // this
  node.function = Ref<Function>(new HandedOn(calls_, runs_));
  node.inputs.clear();
  node.inputs.resize(made.size());
  for (Index k = 0; k < made.size(); ++k) fill_input(node.inputs[k], made[k], false);
}

STROP_IMPL void TracedStep::give_back() noexcept {
  if (!run_) return;
  run_->clear();
  for (List<NDArray>* arrays : {&inputs_, &results_, &before_}) arrays->clear();
  try {
    std::lock_guard lock(runs_->changing);
    runs_->free.push_back(run_);
  } catch (...) {  // no room to keep it: the next call makes another one
  }
  run_ = nullptr;
}

/// What makes its gradient by a graph another one than by a tape of its calls: a graph goes through all nodes as often
/// as they are asked to compute the same.
STROP_IMPL const char* TracedGraph::why_not_one_gradient() const {
  if (calls->computed.empty()) return "it returns nothing that it computes";
  if (calls->of_loss && calls->computed.size() > 1) return "of its several results one counts for itself alone, a loss";
  bool all_dense = true;
  for (const Argument& a : arguments) all_dense = all_dense && a.storage == dense;
  for (const auto& [node, array] : captured) all_dense = all_dense && array.storage() == dense;
  if (!all_dense) return "gradients of sparse arrays are those of calls";
  for (const TracedCalls::Made& call : calls->all) {
    if (call.recorder != &tape) return "it pauses the recording";
    if (call.node->entry->cpu.make_state != nullptr) return "an operator in it keeps a state";
  }
  return nullptr;
}

/// Whether there is a call that all results come from: a backward from one of them then frees the others' history, on
/// a tape of the calls as where they are one step.
STROP_IMPL bool TracedGraph::shares_history(const List<bool>& wanted) const {
  const Graph graph(results);
  List<bool> tracked(graph.size());
  List<int> needed_by(graph.size()), last(graph.size(), -1);
  for (Index i = 0; i < std::ssize(argument_nodes) + std::ssize(captured); ++i) {
    const Index c = i - std::ssize(argument_nodes);
    const int n = graph.find((c < 0 ? element(argument_nodes, i) : element(captured, c).first).node.get());
    if (n >= 0) tracked[n] = wanted[i];
  }
  const auto visit_inputs = [&](int n, const auto& visit) {
    const Node& node = graph.node(n);
    if (node.is_variable() || node.entry->gradient.constant) return;
    for (const NodeOutput& in : node.inputs)
      if (in.node) visit(graph.find(in.node.get()));
  };
  for (int n = 0; n < graph.size(); ++n) visit_inputs(n, [&](int in) { tracked[n] = tracked[n] || tracked[in]; });
  int count = 0;
  for (const Index r : calls->computed) {
    const int root = graph.find(results[r].node.get());
    if (!tracked[root]) continue;
    List<int> stack{root};
    last[root] = count;
    while (!stack.empty()) {
      const int n = stack.back();
      stack.pop_back();
      ++needed_by[n];
      visit_inputs(n, [&](int in) {
        if (tracked[in] && last[in] != count) {
          last[in] = count;
          stack.push_back(in);
        }
      });
    }
    ++count;
  }
  for (int n = 0; n < graph.size(); ++n)
    if (!graph.node(n).is_variable() && needed_by[n] == count) return true;
  return false;
}

STROP_IMPL Ref<RecordedRun> TracedGraph::bind_recorded(Span<const NDArray> inputs, const List<bool>& wanted,
                                                       const List<Head>& coming) const {
  if (calls->computed.size() > 1 && !shares_history(wanted)) return {};
  NodeOutputs computed;
  for (const Index at : calls->computed) computed.push_back(results[at]);
  const Graph all(computed);
  Ref<RecordedRun> run(new RecordedRun);
  const Ref<BoundGraph> made(new BoundGraph(Symbol(computed), inputs[0].device()));
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
  made->coming = coming;
  made->take_gradients(gradients, GradRequest::write, BoundGraph::Make::none);
  if (!made->no_gradient.empty() || !draws_in_order(*made)) return {};
  for (const NDArray& value : made->values)
    if (value.defined() && value.storage() != dense) return {};
  run->wanted = wanted;
  run->coming = coming;
  run->bound = made;
  List<bool> zero(made->args.size());  // or nothing, which nobody has to write
  List<Delivery> deliveries;
  for (const Delivery& one : made->deliveries)
    if (one.value >= 0)
      deliveries.push_back(one);
    else
      zero[one.argument] = true;
  made->deliveries = std::move(deliveries);
  List<bool> read(made->values.size());
  for (const Step& step : made->backward_steps)
    for (Index i = 0; i < step.in.size(); ++i)
      if (step.reads(i)) read[step.in[i]] = true;
  Addresses values;
  for (Index v = 0; v < made->values.size(); ++v)
    if (made->values[v].defined()) values.set(&made->values[v].body(), static_cast<int>(v));
  Index next = 0;
  for (Index i = 0; i < nodes.size(); ++i) {
    NDArray* const argument = argument_of[i] < 0 ? nullptr : &element(made->args, argument_of[i]).second;
    const int value = argument == nullptr ? -1 : values.find(&argument->body());
    run->input_values.push_back(value);
    run->read_back.push_back(value >= 0 && read[value]);
    if (argument_of[i] < 0 || !wanted[i]) continue;
    const bool reached = made->reached[next++];
    if (zero[argument_of[i]]) {
      if (reached) run->zeros.push_back(i);
      continue;
    }
    const NDArray& gradient = element(made->grads, argument_of[i]).second;
    if (!gradient.allocated()) return {};
    run->gradients.push_back({i, Exchanged(*made, gradient)});
  }
  for (Index k = 0; k < computed.size(); ++k) {
    const NDArray& result = element(made->outputs, k);
    if (!result.allocated()) return {};
    for (Index j = 0; j < k; ++j)
      if (result.body().buffer == element(made->outputs, j).body().buffer) return {};
    run->reads_result.push_back(read[made->output_values[k]]);
    run->results.push_back(Exchanged(*made, result));
  }
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
  List<Head> coming(calls->computed.size(), Head::gradient);
  {
    std::lock_guard lock(runs->changing);
    if (coming.size() > 1) coming = runs->coming;
    for (auto one = runs->free.rbegin(); one != runs->free.rend() && !run; ++one)
      if ((*one)->wanted == wanted && (*one)->coming == coming) {
        run = std::move(*one);
        runs->free.erase(std::next(one).base());
        break;
      }
  }
  if (coming.empty()) return watched(calls->replay(inputs), inputs);
  if (!run) {
    std::string why = "its gradients have no plan that does what the calls do";
    try {
      run = bind_recorded(inputs, wanted, coming);
    } catch (const PassError&) {
      throw;
    } catch (const Error& error) {  // a call may know more than inference on a graph does
      why = cat("its graph cannot be bound: ", error.what());
    }
    if (!run) {
      go_by_calls(why);
      return calls->replay(inputs);
    }
  }
  return results_from(apply_function(Ref<Function>(new TracedStep(*this, run)), inputs), inputs);
}

STROP_IMPL std::vector<NDArray> TracedGraph::results_from(Span<const NDArray> computed,
                                                          Span<const NDArray> inputs) const {
  std::vector<NDArray> out;
  for (const int at : calls->result_of) out.push_back(at >= 0 ? computed[at] : inputs[~at]);
  return out;
}

/// Results of recorded calls. Which of several have gradients, and so what the graph computes, a backward tells.
STROP_IMPL std::vector<NDArray> TracedGraph::watched(const std::vector<NDArray>& made, Span<const NDArray> inputs) {
  if (calls->computed.size() == 1) return made;
  List<bool> wanted;
  for (const NDArray& a : inputs) wanted.push_back(is_tracked(a));
  if (!shares_history(wanted)) {
    go_by_calls("its results have no call in common");
    return made;
  }
  const Ref<Function> watching(new HandedOn(calls, runs));
  const List<NDArray> computed = calls->computed_of(made);
  return results_from(apply_function(watching, computed.span()), inputs);
}

}  // namespace strop::inline v0::detail
