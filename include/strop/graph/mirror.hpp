// SPDX-License-Identifier: Apache-2.0
/// \file
/// Memory for time: values that backward computes a second time instead of keeping them.
#pragma once
#include <strop/graph/executor.hpp>

#include <cstdint>

namespace strop::inline v0 {

namespace detail {
/// How an executor of the net would lie in memory, without making it.
MemoryPlan dry_plan(const Symbol& net, const NamedShapes& shapes, bool training);
}  // namespace detail

/// Sets and clears the attribute `force_mirroring` of the nodes of `net`, for all who share them, so that a training
/// executor with arguments of these shapes plans an arena of at most `bytes`; returns what it plans. The graph is cut
/// where little is alive: what lies between the cuts is computed again for backward, a segment at a time, every node
/// once at most. The smallest number of segments that will do is taken; where none will (0 bytes, for example), the one
/// that takes least. What draws random numbers, keeps a state, or reads one that another node writes is not computed
/// again. Throws Error as infer_shape does, and where a gradient does not exist.
std::int64_t mirror_within(const Symbol& net, const NamedShapes& shapes, std::int64_t bytes);

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/graph/mirror_impl.hpp>
#endif
