// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copies of elements that lie apart: transposed files, strided foreign memory.
#pragma once
#include <strop/core/list.hpp>
#include <strop/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace strop::inline v0::detail {

/// Copies elements of `width` bytes to row-major order; `strides` are in bytes, one for each axis, and may be negative.
inline void gather_strided(const std::byte* from, const Shape& shape, const std::int64_t* strides, std::int64_t width,
                           std::byte* to) {
  const int rank = shape.ndim();
  const std::int64_t count = shape.size();
  const std::int64_t inner = rank == 0 ? 1 : shape.back(), step = rank == 0 ? 0 : strides[rank - 1];
  detail::List<std::int64_t> index(rank + 1);
  for (std::int64_t done = 0; done < count; done += inner) {
    if (step == width) {
      detail::copy_bytes(to + done * width, from, inner * width);
    } else {
      for (std::int64_t i = 0; i < inner; ++i) detail::copy_bytes(to + (done + i) * width, from + i * step, width);
    }
    for (int axis = rank - 2; axis >= 0; --axis) {
      std::int64_t& i = index[axis];
      from += strides[axis];
      if (++i < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      i = 0;
    }
  }
}

}  // namespace strop::inline v0::detail
