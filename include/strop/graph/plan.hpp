// SPDX-License-Identifier: Apache-2.0
/// \file
/// MemoryPlan: where the values of a bound graph lie, as an object that can be printed, drawn and checked.
#pragma once
#include <strop/fwd.hpp>
#include <strop/tensor/print.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {

namespace detail {

struct BoundGraph;
struct Placement;

/// For tests: is given every graph when it is planned, those of bodies of loops and branches, of traced functions and
/// of no executor at all as well.
inline constinit std::atomic<void (*)(const BoundGraph&)> planned_graphs{nullptr};
MemoryPlan plan_of(const BoundGraph& graph);

}  // namespace detail

/// What `fmt::print("{}", plan)` prints: a line of sums, and a table with a line for each value.
std::string to_text(const MemoryPlan& plan);

/// `run.plan()`: values that only the graph sees lie in one block of memory, the arena, at the same bytes at different
/// times. Sizes are counted in multiples of 64 bytes, which is what values begin at.
///
/// bound() ≤ bytes() ≤ unshared().
class MemoryPlan {
 public:
  /// Where a value lies: in the arena; in an array of its own that the caller sees, which an output and a gradient are;
  /// in one that is allocated when the size is known, as the sparse ones are.
  enum class Place : std::uint8_t { arena, output, gradient, sparse };

  /// What a step computes. Inputs of the graph are not in the list, nor what nobody asks for.
  struct Value {
    std::string node, output;  // "fc1", "fc1_output"
    Place place = Place::arena;
    std::int64_t bytes = 0, offset = -1;  // −1: not in the arena
    int first = 0,
        last = 0;  // from the step that computes it to the last that reads it; steps() where backward's end does
    int in_place_of = -1;  // position in values() of the one in whose memory it is computed
  };

  /// The arena, allocated once when the graph is bound.
  std::int64_t bytes() const { return bytes_; }
  /// What is alive at once, at most: no arena can be smaller.
  std::int64_t bound() const { return bound_; }
  /// The same values, each in memory of its own.
  std::int64_t unshared() const { return unshared_; }
  /// The arenas of bodies of loops and branches beside it: of those that are bound, which they are when they first run.
  std::int64_t bodies() const { return bodies_; }
  /// Nodes in the order in which they run, those of backward behind those of forward.
  int steps() const { return steps_; }
  int forward_steps() const { return forward_steps_; }
  /// In the order in which they are computed.
  const std::vector<Value>& values() const& { return values_; }
  std::vector<Value> values() && { return std::move(values_); }  // for (… : run.plan().values())
  /// Which strategy found the offsets.
  const std::string& strategy() const { return strategy_; }

  /// Throws Error where two values lie at the same bytes while both are needed, or one reaches beyond the arena.
  void check() const;
  /// A picture: time across, bytes up; a colour for each block of values that are computed in place of one another.
  std::string to_svg() const;

  // For the layers above.
  friend std::string text_of(const MemoryPlan& plan) { return to_text(plan); }
  MemoryPlan(const detail::Placement& placement, int forward_steps, int steps, std::vector<Value> values,
             std::int64_t bodies = 0);

 private:
  std::int64_t bytes_ = 0, bound_ = 0, unshared_ = 0;
  int steps_ = 0, forward_steps_ = 0;
  std::vector<Value> values_;
  std::string strategy_;
  std::int64_t bodies_ = 0;
};

}  // namespace strop::inline v0

template <>
struct fmt::formatter<strop::MemoryPlan> : strop::detail::TextFormatter<strop::MemoryPlan> {};

#if !defined(STROP_COMPILED)
#include <strop/graph/plan_impl.hpp>
#endif
