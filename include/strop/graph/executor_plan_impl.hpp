// SPDX-License-Identifier: Apache-2.0
/// \file
/// In which order the nodes of a bound graph run, and where their values lie.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/executor_impl.hpp>
#include <strop/graph/placement.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/contributions_impl.hpp>
#include <strop/op/gradient_roles.hpp>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// Forward's nodes, and behind them backward's, as far as the gradients need them, each as soon as what it contributes
/// to can go on.
STROP_IMPL List<Node*> BoundGraph::order_of_nodes(const Graph& ahead, const NodeOutputs& gradients) const {
  NodeOutputs roots = net;
  for (const NodeOutput& g : gradients)
    if (g.node) roots.push_back(g);
  if (!contributions.empty()) {
    const Graph needed(roots, false, 2 * ahead.size());
    NodeOutputs in_order = net;
    for (const NodeOutput& part : contributions)
      if (needed.find(part.node.get()) >= 0) in_order.push_back(part);
    for (const NodeOutput& root : roots) in_order.push_back(root);
    roots = std::move(in_order);
  }
  const Graph executed(roots, false, gradients.empty() ? ahead.size() : 2 * ahead.size());
  List<Node*> order;
  order.reserve(executed.size());
  for (const bool forward : {true, false})
    for (int n = 0; n < executed.size(); ++n)
      if (Node& node = executed.node(n); !node.is_variable() && (ahead.find(&node) >= 0) == forward)
        order.push_back(&node);
  return order;
}

/// Dense inputs that a gradient does not read have no memory there, as on the tape, and are not kept for it.
STROP_IMPL void BoundGraph::find_unread(const Graph& graph, Inference& inference) {
  if (unread.empty()) return;
  List<int> step_of(graph.size(), -1);
  for (int s = 0; s < backward_steps.size(); ++s) step_of[graph.find(backward_steps[s].node.get())] = s;
  Index count = 0;
  for (const UnreadInputs& one : unread) {
    const int n = graph.find(one.reader.get());
    if (n < 0 || step_of[n] < 0) continue;
    Step& step = backward_steps[step_of[n]];
    std::uint64_t inputs = one.inputs;
    if (one.of != nullptr) {
      const Entry& entry = *one.of->entry;
      const Dtype type = stored_type(entry, one.of->inputs.size(),
                                     [&](Index i) { return *inference.type(graph.value(one.of->inputs[i])); });
      const std::uint64_t read = entry.facts.kept(one.of->op(), compute_type(entry, one.of->op(), type));
      const GradientRoles roles = gradient_roles(entry.gradient, one.of->inputs.size(), one.of->outputs());
      for (Index i = 0; i < roles.takes.size() && i < 64; ++i)
        if (roles.takes[i].role == Role::in && !in_mask(read, roles.takes[i].at)) inputs |= std::uint64_t{1} << i;
    }
    for (Index i = 0; i < step.in.size() && i < 64; ++i) {
      if ((inputs >> i & 1U) == 0 || step.in[i] < 0 || inference.storage(step.in[i]) != dense || !step.reads(i))
        continue;
      step.unread |= std::uint64_t{1} << i;
      ++count;
    }
  }
  shells.resize(count);
}

/// Leaves the steps that are marked.
STROP_IMPL void keep_marked(List<Step>& steps, const List<bool>& marks) {
  Index kept = 0;
  for (Index s = 0; s < steps.size(); ++s) {
    if (!marks[s]) continue;
    if (kept != s) steps[kept] = std::move(steps[s]);
    ++kept;
  }
  steps.resize(kept);
}

/// Steps whose results nobody reads do not run.
STROP_IMPL void BoundGraph::drop_unused(List<Step>& steps) {
  List<bool> used(steps.size());
  for (Index s = steps.size(); s-- > 0;) {
    Step& step = steps[s];
    bool needed = !step.on_pattern.empty();
    for (int i : step.node->signature.mutated) {  // what a copy of a node writes into is its own
      bool own = false;
      for (int v : own_states) own = own || v == step.in[i];
      needed = needed || !own;
    }
    for (int v : step.out) needed = needed || uses[v] > 0;
    for (Index i = 0; i < step.in.size() && !needed; ++i)
      if (step.reads(i)) --uses[step.in[i]];
    used[s] = needed;
  }
  keep_marked(steps, used);
}

/// Steps that take no memory, because their results lie outside of the arena, and sums, which free some, run as soon as
/// their inputs are there.
STROP_IMPL void BoundGraph::run_early(List<Step>& steps) const {
  const auto count = static_cast<int>(steps.size());
  List<int> maker(values.size(), -1);
  List<bool> written(values.size());  // variables, before or behind whose writers a step has to stay
  for (int s = 0; s < count; ++s) {
    for (int v : steps[s].out) maker[v] = s;
    for (int i : steps[s].node->signature.mutated) written[steps[s].in[i]] = true;
  }
  // Behind which of the steps that stay each runs: −1 is before them all.
  List<int> behind(count), places(count + 2), order(count);
  for (int s = 0; s < count; ++s) {
    const Step& step = steps[s];
    bool outside = true, stays = false;
    for (int v : step.out) outside = outside && (values[v].defined() || uses[v] == 0);
    for (int v : step.in) stays = stays || (v >= 0 && written[v]);
    behind[s] = s;
    if (!stays && (outside || is_sum(*step.node->entry))) {
      behind[s] = -1;
      for (int v : step.in)
        if (v >= 0 && maker[v] >= 0) behind[s] = std::max(behind[s], behind[maker[v]]);
    }
    ++places[behind[s] + 2];
  }
  for (int s = 0; s <= count; ++s) places[s + 1] += places[s];
  for (int s = 0; s < count; ++s) order[places[behind[s] + 1]++] = s;  // those of one place in their own order
  if (std::is_sorted(order.begin(), order.end())) return;
  List<Step> sorted;
  sorted.reserve(count);
  for (int s : order) sorted.push_back(std::move(steps[s]));
  steps = std::move(sorted);
}

/// Whether adding a result to memory costs less than writing it elsewhere and adding then.
STROP_IMPL bool BoundGraph::takes_add(const Step& step, Inference& inference, int value) const {
  const Entry& entry = *step.node->entry;
  if (is_half(*inference.type(value))) return false;  // which go through copies, as do integers:
  if (!step.in.empty() && step.in[0] >= 0 && computes_in_double(entry, *inference.type(step.in[0]))) return false;
  Shape common{};
  for (int v : step.in) {
    if (v >= 0 && inference.storage(v) != dense) return false;
    if (v >= 0 && entry.is_map()) broadcast_into(common, inference.shape(v));
  }
  if (!entry.is_map()) return entry.accumulates;
  return inference.shape(value) != common || common.size() > map_grain;  // small ones have a loop that only writes
}

/// A sum whose terms have no other use needs no step and no memory of its own: those who make the terms add them to the
/// first one.
STROP_IMPL void BoundGraph::add_in_place(List<Step>& steps, Inference& inference) {
  List<int> maker(values.size(), -1), now(values.size(), -1);  // `now`: what a sum has become
  List<int> slot(values.size(), -1);
  List<bool> left(steps.size(), true);
  for (int s = 0; s < steps.size(); ++s)
    for (int k = 0; k < steps[s].out.size(); ++k) maker[steps[s].out[k]] = s, slot[steps[s].out[k]] = k;
  for (int s = 0; s < steps.size(); ++s) {
    Step& sum = steps[s];
    for (int& v : sum.in)
      if (v >= 0 && now[v] >= 0) v = now[v];
    if (!is_sum(*sum.node->entry) || sum.requests[0] == Request::null) continue;
    const int total = sum.out[0];
    List<int, 4> terms;
    // Results are the same to the bit: terms are added in their order, and as one to what the caller's array holds.
    bool may = inference.storage(total) == dense && sum.requests[0] == Request::write;
    for (int v : sum.in) {
      may = may && v >= 0 && maker[v] >= 0 && uses[v] == 1 && !values[v].defined() && inference.storage(v) == dense &&
            inference.shape(v) == inference.shape(total) && inference.type(v) == inference.type(total);
      if (!may) break;
      Index at = terms.size();
      terms.push_back(v);
      for (; at > 0 && maker[terms[at - 1]] > maker[terms[at]]; --at) {
        std::swap(terms[at - 1], terms[at]);
        may = may && at == 1 && terms.size() == 2;
      }
    }
    for (Index i = 1; may && i < terms.size(); ++i) {
      const Step& from = steps[maker[terms[i]]];
      may = maker[terms[i]] != maker[terms[i - 1]] && from.added_to.empty() && from.on_pattern.empty() &&
            takes_add(from, inference, terms[i]);
    }
    if (!may) continue;
    const int last = terms.back();
    for (Index i = 1; i < terms.size(); ++i) {
      Step& from = steps[maker[terms[i]]];
      from.added_to = List<int>(from.out.size(), -1);
      from.added_to[slot[terms[i]]] = terms[i - 1];
      from.requests[slot[terms[i]]] = Request::add;
    }
    for (int v = last; v >= 0 && values[total].defined();) {  // all of it in the caller's array
      values[v] = values[total];
      const Step& from = steps[maker[v]];
      v = from.added_to.empty() ? -1 : from.added_to[slot[v]];
    }
    now[total] = last;
    uses[last] = uses[total];
    left[s] = false;
  }
  for (Delivery& delivery : deliveries)
    if (delivery.value >= 0 && now[delivery.value] >= 0) delivery.value = now[delivery.value];
  keep_marked(steps, left);
}

/// Makes the arrays of all values that steps write: those of the arena, and others of their own.
STROP_IMPL void BoundGraph::make_values(const Graph& graph, Inference& inference) {
  MemoryTask task;
  task.apart = side_by_side;
  task.bytes = List<std::int64_t>(values.size(), MemoryTask::outside);
  List<bool> seen(values.size());
  for (const NodeOutput& output : net) seen[graph.value(output)] = true;
  for (List<Step>* steps : {&forward_steps, &backward_steps})
    for (Step& step : *steps)
      for (Index k = 0; k < step.out.size(); ++k) {
        const int v = step.out[k];
        if ((steps == &backward_steps || step.node->entry->skips_null) && uses[v] == 0)
          step.requests[k] = Request::null;
        if (values[v].defined()) continue;
        const Shape& shape = inference.shape(v);
        const Dtype type = *inference.type(v);
        const Storage storage = inference.storage(v);
        if (!shape.known())
          fail("bind: the shape of ", step.node->output_name(static_cast<int>(k)),
               " does not follow from the arguments; known is ", to_text(shape));
        if (step.requests[k] == Request::null)
          values[v] = NDArray::fresh_shell(shape, type, device_of(v), storage);
        else if (dry && seen[v])
          values[v] = NDArray::fresh_shell(shape, type, device_of(v), storage);
        else if (seen[v] || storage != dense || shape.size() == 0)
          values[v] = NDArray(shape, type, device_of(v), storage);
        else
          task.bytes[v] = byte_count(shape, type);
      }
  task.steps.reserve(forward_steps.size() + backward_steps.size());
  for (List<Step>* steps : {&forward_steps, &backward_steps})
    for (const Step& step : *steps) {
      MemoryTask::Step of;
      for (Index i = 0; i < step.in.size(); ++i)
        if (step.reads(i) && task.bytes[step.in[i]] > 0) of.reads.push_back(step.in[i]);
      for (Index k = 0; k < step.out.size(); ++k) {
        const int v = step.out[k], before = step.added_to.empty() ? -1 : step.added_to[k];
        if (task.bytes[v] <= 0) continue;
        of.writes.push_back(v);
        if (before < 0) continue;
        of.reads.push_back(before);
        of.shares.push_back({before, v});  // the first of the step: it is always taken
      }
      if (!of.reads.empty() && !of.writes.empty()) add_shares(of, inference, step, task.bytes);
      task.steps.push_back(std::move(of));
    }
  for (const Delivery& delivery : deliveries)
    if (delivery.value >= 0) task.kept.push_back(delivery.value);
  find_places(task);
  if (!dry) make_arena(inference);
}

/// One arena for each device. In the placement they lie one behind the other.
STROP_IMPL void BoundGraph::find_places(const MemoryTask& task) {
  List<Device> apart;
  for (Device there : devices) {
    bool known = false;
    for (Device other : apart) known = known || there == other;
    if (!known) apart.push_back(there);
  }
  if (apart.size() <= 1) {
    placement = place_values(task);
    regions.push_back({apart.empty() ? device : apart[0], 0, placement.bytes});
    return;
  }
  const Index count = task.bytes.size();
  for (List<int>* list : {&placement.block, &placement.first, &placement.last, &placement.in_place_of})
    *list = List<int>(count, -1);
  for (Device there : apart) {
    MemoryTask part = task;
    for (Index v = 0; v < count; ++v)
      if (part.bytes[v] > 0 && devices[v] != there) part.bytes[v] = MemoryTask::outside;
    Placement one = place_values(part);
    const auto first = static_cast<int>(placement.blocks.size());
    for (Index v = 0; v < count; ++v) {
      if (one.block[v] < 0) continue;
      placement.block[v] = first + one.block[v];
      placement.first[v] = one.first[v];
      placement.last[v] = one.last[v];
      placement.in_place_of[v] = one.in_place_of[v];
    }
    regions.push_back({there, placement.bytes, one.bytes});
    for (Placement::Block block : one.blocks) {
      block.offset += placement.bytes;
      placement.blocks.push_back(block);
    }
    placement.bytes += one.bytes;
    placement.bound += one.bound;
    placement.unshared += one.unshared;
    if (!one.blocks.empty()) placement.strategy = one.strategy;
  }
}

/// Which results a step may compute in the memory of which inputs: as wholes, on dense arrays, where the operator says
/// so for every place at which it takes the input.
STROP_IMPL void BoundGraph::add_shares(MemoryTask::Step& task, Inference& inference, const Step& step,
                                       const List<std::int64_t>& bytes) const {
  const Entry& entry = *step.node->entry;
  if (!entry.is_map() && entry.inplace.empty()) return;
  Shape common{};
  for (int v : step.in) {
    if (v < 0) continue;
    if (inference.storage(v) != dense) return;
    broadcast_into(common, inference.shape(v));
  }
  for (Index k = 0; k < step.out.size(); ++k) {
    const int out = step.out[k];
    if (bytes[out] <= 0) continue;
    for (Index i = 0; i < step.in.size(); ++i) {
      const int in = step.in[i];
      if (!step.reads(i) || bytes[in] != bytes[out] || inference.type(in) != inference.type(out)) continue;
      bool may = !entry.is_map() || (inference.shape(in) == common && inference.shape(out) == common);
      for (Index j = 0; j < step.in.size(); ++j)
        if (step.in[j] == in) may = may && may_share(entry, static_cast<int>(j), static_cast<int>(k));
      for (int j : step.node->signature.mutated) may = may && step.in[j] != in;
      if (may) task.shares.push_back({in, out});
    }
  }
}

/// One allocation for forward and backward on each device, and the arrays in it.
STROP_IMPL void BoundGraph::make_arena(Inference& inference) {
  arenas = Ref(new ArenaUse);
  if (sharing != nullptr)
    sharing->fit(*this);
  else
    for (const Region& region : regions)
      if (region.bytes > 0) arenas->arenas.push_back(Ref(new Arena(region.device, region.bytes)));
  if (placement.bytes == 0) return;
  const auto count = static_cast<int>(forward_steps.size());
  const auto step_at = [&](int s) -> Step& { return s < count ? forward_steps[s] : backward_steps[s - count]; };
  for (int s = 0; s < count + static_cast<int>(backward_steps.size()); ++s) {
    Step& step = step_at(s);
    for (Index k = 0; k < step.out.size(); ++k) {
      const int v = step.out[k], block = placement.block[v];
      if (block < 0) continue;
      values[v] = NDArray::fresh_shell(inference.shape(v), *inference.type(v), device_of(v), dense);
      if (placement.in_place_of[v] >= 0 && step.requests[k] != Request::add) step.requests[k] = Request::inplace;
    }
  }
  for (const Takeover& bytes : takeovers(placement, count))
    step_at(bytes.step).handovers.push_back({bytes.later, bytes.earlier});
  use_parts(parts_of(*arenas));
  overwrites = overwrites_inputs(placement, count) || !saved.empty();  // a state is written again by backward
}

/// The blocks of the plan as parts of these arenas.
STROP_IMPL List<Ref<Buffer>> BoundGraph::parts_of(const ArenaUse& use) const {
  List<Ref<Buffer>> parts(placement.blocks.size());
  for (Index v = 0; v < placement.block.size(); ++v) {
    const int block = placement.block[v];
    if (block < 0) continue;
    Ref<Buffer>& memory = parts[block];
    const std::int64_t offset = placement.blocks[block].offset;
    for (Index r = 0; !memory && r < regions.size(); ++r) {
      if (offset < regions[r].offset || offset >= regions[r].offset + regions[r].bytes) continue;
      for (const Ref<Arena>& arena : use.arenas)
        if (arena->device() == regions[r].device)
          memory = Arena::part(arena, offset - regions[r].offset, byte_count(values[v].shape(), values[v].dtype()));
    }
  }
  return parts;
}

/// Gives the values their memory.
STROP_IMPL void BoundGraph::use_parts(List<Ref<Buffer>> parts) noexcept {
  blocks = std::move(parts);
  for (Index v = 0; v < placement.block.size(); ++v)
    if (const int block = placement.block[v]; block >= 0) values[v].body().buffer = blocks[block];
}

/// The arenas of the bodies of loops and branches that are bound, each once: loops in loops share theirs.
STROP_IMPL std::int64_t BoundGraph::body_bytes(List<const FlowBodies*>& met) const {
  std::int64_t sum = 0;
  for (const Step& step : forward_steps) {
    const Flow* const flow = flow_of(*step.node);
    if (flow == nullptr) continue;
    const Ref<StateBox> own = step.state < 0 ? Ref<StateBox>() : kept[step.state]->box;
    Ref<FlowBodies> bodies;
    {
      const std::lock_guard lock(flow->binding);
      bodies = own ? *static_cast<const Ref<FlowBodies>*>(own->get()) : flow->bodies;
    }
    if (!bodies || std::find(met.begin(), met.end(), bodies.get()) != met.end()) continue;
    met.push_back(bodies.get());
    sum += bodies->bytes(met);
  }
  return sum;
}

STROP_IMPL MemoryPlan BoundGraph::memory_plan() const {
  const auto forward = static_cast<int>(forward_steps.size());
  std::vector<MemoryPlan::Value> rows;
  List<int> last(values.size(), -1), row(values.size(), -1);
  int s = 0;
  for (const List<Step>* steps : {&forward_steps, &backward_steps})
    for (const Step& step : *steps) {
      for (Index i = 0; i < step.in.size(); ++i)
        if (step.reads(i)) last[step.in[i]] = s;
      for (int v : step.added_to)
        if (v >= 0) last[v] = s;
      ++s;
    }
  for (const Delivery& delivery : deliveries)
    if (delivery.value >= 0) last[delivery.value] = s;
  s = 0;
  for (const List<Step>* steps : {&forward_steps, &backward_steps})
    for (const Step& step : *steps) {
      for (Index k = 0; k < step.out.size(); ++k) {
        const int v = step.out[k], block = placement.block.empty() ? -1 : placement.block[v];
        const NDArray& array = values[v];
        const bool is_sparse = array.defined() && array.storage() != dense;
        // (A dry plan has no arrays for what lies in the arena.)
        if (block < 0 && (!array.defined() || (!is_sparse && (step.requests[k] == Request::null || array.size() == 0))))
          continue;
        MemoryPlan::Value value;
        value.node = step.node->name;
        value.output = step.node->output_name(static_cast<int>(k));
        value.first = s;
        value.last = std::max(last[v], s);  // as the steps read it, not as the placement has it
        if (block >= 0) {
          value.bytes = placement.blocks[block].bytes;
          value.offset = placement.blocks[block].offset;
          if (placement.in_place_of[v] >= 0) value.in_place_of = row[placement.in_place_of[v]];
        } else {
          value.place = is_sparse                 ? MemoryPlan::Place::sparse
                        : steps == &forward_steps ? MemoryPlan::Place::output
                                                  : MemoryPlan::Place::gradient;
          if (!is_sparse) value.bytes = array.size() * size_of(array.dtype());
        }
        row[v] = static_cast<int>(rows.size());
        rows.push_back(std::move(value));
      }
      ++s;
    }
  List<const FlowBodies*> met;
  return MemoryPlan(placement, forward, s, std::move(rows), body_bytes(met));
}
STROP_IMPL MemoryPlan plan_of(const BoundGraph& graph) { return graph.memory_plan(); }

}  // namespace detail
}  // namespace strop::inline v0
