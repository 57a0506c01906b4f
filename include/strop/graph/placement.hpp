// SPDX-License-Identifier: Apache-2.0
/// \file
/// The planner of memory: from steps and the sizes of what they read and write to offsets in one arena. It knows
/// neither arrays nor operators, and what it decides is a function of the description alone.
#pragma once
#include <strop/core/list.hpp>
#include <strop/core/span.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// What is to be placed: steps in their order, and the values, by number, that they read and write. Every value is
/// written by one step.
struct MemoryTask {
  static constexpr std::int64_t outside = -1;

  /// `out` may be computed in the memory of `in`, which the step reads.
  struct Share {
    int in, out;
  };
  struct Step {
    List<int, 4> reads, writes;
    List<Share, 2> shares;  // what is preferred comes first
  };

  List<std::int64_t> bytes;  // of each value; `outside`, or 0, of one that takes none of the arena
  List<Step> steps;
  List<int> kept;      // values that are read behind the last step
  bool apart = false;  // every block has bytes of its own: steps wait for what they read alone
};

/// Where the values lie. Values that are computed in place of one another form a block, which has one offset.
struct Placement {
  /// What offsets and sizes are multiples of: as large as Arena's.
  static constexpr std::int64_t alignment = 64;

  struct Block {
    std::int64_t bytes = 0, offset = 0;  // bytes: a multiple of the alignment
    int first = 0, last = 0;             // steps, both included
  };
  List<Block> blocks;  // by their first steps
  // Of each value; −1 where it takes nothing, or nothing writes it. `last` is the last step that reads it (the number
  // of steps, of one that is kept), or the one that writes it.
  List<int> block, first, last, in_place_of;
  std::int64_t bytes = 0;     // the arena
  std::int64_t bound = 0;     // what is alive at once, at most: no arena with these blocks is smaller
  std::int64_t unshared = 0;  // every value in memory of its own
  std::string_view strategy;  // that gave the smallest arena
};

/// Chooses blocks and offsets: several strategies, of which the smallest arena counts. Linear in the steps and values
/// but for a sort and, up to some thousand blocks, strategies that compare each with each.
Placement place_values(const MemoryTask& task);

/// A block that takes over bytes from an earlier one, at the step that writes it first.
struct Takeover {
  int step, later, earlier;
};

/// Who comes after whom in memory, where the first `forward` steps run any number of times, then any number of times
/// those behind them, and so on. By step; a block that follows another through a third is not listed.
List<Takeover> takeovers(const Placement& placement, int forward);

/// Whether the steps from `forward` on write over what steps before them have written and steps from `forward` on read:
/// they cannot run a second time by themselves.
bool overwrites_inputs(const Placement& placement, int forward);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/graph/placement_impl.hpp>
#endif
