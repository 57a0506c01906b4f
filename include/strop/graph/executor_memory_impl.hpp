// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where the values of a bound graph lie: their places, the arenas, and who shares these.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/bound_graph.hpp>
#include <strop/graph/control/flow.hpp>
#include <strop/graph/executor.hpp>
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/placement.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/tensor/arena.hpp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

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

STROP_IMPL const Ref<Arena>* arena_on(const ArenaUse& use, Device device) {
  for (const Ref<Arena>& arena : use.arenas)
    if (arena->device() == device) return &arena;
  return nullptr;
}

/// Arenas as large as the graph needs: those that there are, or larger ones.
STROP_IMPL Ref<ArenaUse> large_enough(const BoundGraph& graph, const Ref<ArenaUse>& now) {
  bool fits = true;
  for (const BoundGraph::Region& region : graph.regions) {
    const Ref<Arena>* const there = arena_on(*now, region.device);
    fits = fits && (region.bytes == 0 || (there != nullptr && (*there)->bytes() >= region.bytes));
  }
  if (fits) return now;
  const Ref<ArenaUse> larger(new ArenaUse);
  for (const BoundGraph::Region& region : graph.regions) {
    const Ref<Arena>* const there = arena_on(*now, region.device);
    const std::int64_t bytes = std::max(region.bytes, there != nullptr ? (*there)->bytes() : 0);
    if (bytes > 0) larger->arenas.push_back(Ref(new Arena(region.device, bytes)));
  }
  for (const Ref<Arena>& arena : now->arenas)  // of devices that this graph does not use
    if (arena_on(*larger, arena->device()) == nullptr)
      larger->arenas.push_back(Ref(new Arena(arena->device(), arena->bytes())));
  return larger;
}

/// The pool's arenas are made as large as the graph needs. Those who lie in smaller ones move when they run next.
STROP_IMPL void fit_into_pool(BoundGraph& graph) {
  graph.arenas = graph.pool->replace([&graph](const Ref<ArenaUse>& now) { return large_enough(graph, now); });
}

/// The graph's blocks go to these arenas of the pool; what they held is lost. Where memory runs out they stay.
STROP_IMPL void move_to_arenas(BoundGraph& graph, const Ref<ArenaUse>& now) {
  List<Ref<Buffer>> parts = graph.parts_of(*now);  // nothing behind this throws
  graph.arenas = now;
  graph.turn = 0;
  graph.use_parts(std::move(parts));
  for (List<Segment>* segments : {&graph.forward_segments, &graph.backward_segments})
    for (Segment& segment : *segments) segment.prepared[0] = segment.prepared[1] = {};  // which hold addresses
}

STROP_IMPL void enter_pool(BoundGraph& graph, bool forward) {
  ArenaPool& pool = *graph.pool;
  if (pool.running.exchange(true, std::memory_order_acquire))
    fail(forward ? "forward" : "backward",
         ": an executor that shares its memory with this one is running; those that share run one after the other");
  try {
    if (const Ref<ArenaUse> now = forward ? pool.now() : Ref<ArenaUse>(); now && graph.arenas != now)
      move_to_arenas(graph, now);
    ArenaUse& use = *graph.arenas;
    if (graph.turn != 0 && use.turn == graph.turn) return;
    List<Ref<Buffer>> blocks = graph.blocks;
    graph.lost = !forward;
    if (!forward) graph.check_repeatable();  // before it writes over what the other one keeps
    for (const Ref<Buffer>& block : use.blocks) {
      Pending* const order = block->pending();
      if (order == nullptr || !order->busy()) continue;
      try {
        order->wait(true);
      } catch (...) {  // what failed there is told to whoever looks there
      }
    }
    use.blocks = std::move(blocks);
    use.turn = graph.turn = ++pool.turns;
  } catch (...) {
    pool.running.store(false, std::memory_order_release);
    throw;
  }
}
STROP_IMPL void leave_pool(BoundGraph& graph) noexcept { graph.pool->running.store(false, std::memory_order_release); }

inline constexpr Sharing sharing_of_pools{&fit_into_pool, &enter_pool, &leave_pool};

STROP_IMPL void BoundGraph::share_with(const Executor* other) {
  if (other == nullptr) return;
  BoundGraph& first = *other->graph_;
  const std::lock_guard still(first.running);
  if (!first.pool) {
    const Ref<ArenaPool> made(new ArenaPool(first.arenas));
    first.arenas->blocks = first.blocks;
    first.arenas->turn = first.turn = made->turns = 1;
    first.pool = made;
    first.sharing = &sharing_of_pools;
  }
  pool = first.pool;
  sharing = &sharing_of_pools;
}

}  // namespace strop::inline v0::detail
