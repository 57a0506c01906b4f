// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays from literals and containers.
#pragma once
#include <strop/core/config.hpp>
#include <strop/tensor/literal.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// The extents of a list whose sublists are alike at every depth; whether they are is checked while filling.
STROP_IMPL Shape shape_of(const Literal& list) {
  Shape shape;
  const Literal* level = &list;
  while (level != nullptr && level->is_list()) {
    shape.push_back(level->count());
    level = level->begin();
    if (shape.back() == 0) break;
  }
  return shape;
}

STROP_IMPL std::byte* fill_from(const Literal& list, const Shape& shape, int axis, Dtype dtype, std::byte* to) {
  if (list.count() != shape[axis])
    fail("strop: array() of a ragged list: along axis ", axis, " there are lists of ", shape[axis], " and of ",
         list.count(), " entries");
  for (const Literal& entry : list) {
    if (entry.is_list() != (axis + 1 < shape.ndim()))
      fail("strop: array() of a ragged list: along axis ", axis, " there are numbers beside lists");
    if (entry.is_list()) {
      to = fill_from(entry, shape, axis + 1, dtype, to);
    } else {
      entry.number().store(dtype, to);
      to += size_of(dtype);
    }
  }
  return to;
}

STROP_IMPL NDArray from_literal(const Literal& literal, Dtype dtype) {
  const NDArray out = NDArray::fresh(shape_of(literal), dtype);
  if (literal.is_list())
    fill_from(literal, out.shape(), 0, dtype, out.bytes());
  else
    literal.number().store(dtype, out.bytes());
  return out;
}

STROP_IMPL NDArray from_range(const void* values, std::int64_t count, Dtype dtype, const Shape& shape) {
  if (checked_count(shape) != count) fail("strop: array() of ", count, " values cannot have shape ", to_text(shape));
  const NDArray out(shape, dtype);
  convert_elements(dtype, values, dtype, out.bytes(), count);
  return out;
}

}  // namespace strop::inline v0::detail
