// SPDX-License-Identifier: Apache-2.0
/// \file
/// Moving elements: a strided copy that serves transposes, slices, repeats and joins of every element type by its size.
#pragma once
#include <strop/tensor/ndarray.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// Elements from one row in steps to the next, of a row-major array.
template <int = 0>
constexpr Shape row_major(const Shape& shape) {
  Shape strides = shape;
  std::int64_t step = 1;
  for (int i = shape.ndim(); i-- > 0; step *= shape[i]) strides[i] = step;
  return strides;
}

/// A copy of an array of extents, axis by axis (outermost first), where both sides lie in memory in steps of their own.
/// A step of 0 on the reading side repeats, a negative one walks backwards. Counted in elements.
struct Move {
  Shape extents, in, out;
  std::int64_t in_start = 0, out_start = 0;

  /// Appends an axis; merges it with the one before where both walk on as one.
  void axis(std::int64_t extent, std::int64_t in_step, std::int64_t out_step) {
    if (extent == 1) return;
    const int last = extents.ndim() - 1;
    if (last >= 0 && in[last] == in_step * extent && out[last] == out_step * extent) {
      extents[last] *= extent;
      in[last] = in_step;
      out[last] = out_step;
      return;
    }
    extents.push_back(extent);
    in.push_back(in_step);
    out.push_back(out_step);
  }
};

/// An axis counted from 0; throws Error naming the operator where there is none.
template <int = 0>
constexpr int checked_axis(std::int64_t axis, int rank, std::string_view op) {
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank)
    fail(op, ": axis ", axis, " is outside an array of ", rank, rank == 1 ? " dimension" : " dimensions");
  return static_cast<int>(at);
}

/// Where a new axis goes in a result of `rank` dimensions.
template <int = 0>
constexpr int checked_new_axis(std::int64_t axis, int rank, std::string_view op) {
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank)
    fail(op, ": axis ", axis, " is outside the result, which has ", rank, rank == 1 ? " dimension" : " dimensions");
  return static_cast<int>(at);
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/shape/move_body.hpp>
#endif
