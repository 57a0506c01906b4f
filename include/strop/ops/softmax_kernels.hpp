// SPDX-License-Identifier: Apache-2.0
/// \file
/// Softmax along one axis of dense memory, and its gradient: rows in registers of lanes, other axes by gathered rows.
#pragma once
#include <strop/core/span.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// An array as outer × length × inner, the axis (one that is there; negative: from the last) in the middle.
struct AxisSplit {
  std::int64_t outer = 1, length = 1, inner = 1;
  constexpr AxisSplit(Span<const std::int64_t> shape, int axis) {
    if (axis < 0) axis += static_cast<int>(shape.size());
    length = shape[axis];
    for (int i = 0; i < shape.size(); ++i) (i < axis ? outer : i > axis ? inner : length) *= i == axis ? 1 : shape[i];
  }
};

/// The axis counted from 0. `refuse` is called where it is outside.
template <class Refuse>
constexpr int positive_axis(int axis, int rank, Refuse refuse) {
  if (axis < -rank || axis >= rank) refuse();
  return axis < 0 ? axis + rank : axis;
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/softmax_kernels_body.hpp>
#endif
