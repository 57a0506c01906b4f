// SPDX-License-Identifier: Apache-2.0
/// \file
/// Executors that run one after the other in the same memory.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/executor_impl.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

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

STROP_IMPL SharedArrays::SharedArrays(const BindOptions& options) {
  if (options.shared == nullptr || options.shared_args.empty()) return;
  other_ = options.shared;
  for (const std::string& name : options.shared_args) shared_.add(name);
  args_ = NameTable(names_of(other_->args()));
  states_ = NameTable(names_of(other_->aux_states()));
  gradients_ = NameTable(names_of(other_->grads()));
}

STROP_IMPL NDArray SharedArrays::find(std::string_view name, bool state, const NDArray& made, NDArray& gradient) const {
  if (other_ == nullptr || (!state && shared_.find(name) < 0)) return {};
  const int at = state ? states_.find(name) : args_.find(name);
  if (at < 0) return {};
  const auto like = [&](const NDArray& a) {
    return a.defined() && a.shape() == made.shape() && a.dtype() == made.dtype() && a.device() == made.device();
  };
  const NDArray& found = element(state ? other_->aux_states() : other_->args(), at).second;
  if (!like(found) || found.storage() != made.storage()) return {};
  if (const int buffer = state ? -1 : gradients_.find(name); buffer >= 0)
    if (const NDArray& g = element(other_->grads(), buffer).second; like(g)) gradient = g;
  return found;
}

}  // namespace strop::inline v0::detail
