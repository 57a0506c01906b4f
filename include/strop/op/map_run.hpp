// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs a map on dense memory. One driver for all operators: broadcasting, conversion of element types, requests and
/// threads happen block by block around the operator's own loop, which sees contiguous elements only.
#pragma once
#include <strop/core/span.hpp>
#include <strop/op/map_infer.hpp>

#include <span>

namespace strop::inline v0::detail {

/// A tensor of a map: memory, its element type, and how it lies in the common shape.
struct MapOperand {
  std::byte* data = nullptr;
  Dtype dtype = f32;
  Shape shape;
  Request request = Request::write;  // of results
};

/// Elements below which a call stays on the calling thread.
inline constexpr std::int64_t map_grain = 1 << 15;

/// What a loop reads of an input without memory, which its derivative does not depend on: zeros, since a factor that is
/// zero meets it all the same. Not constant, so that it takes no room in a file.
alignas(64) inline constinit std::byte unread[map_grain * 8]{};

/// The map on dense operands; `common` is the broadcast shape of all of them.
void run_map(const Entry& entry, const void* op, const Shape& common, Span<const MapOperand> in,
             Span<const MapOperand> out);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/map_run_impl.hpp>
#endif
