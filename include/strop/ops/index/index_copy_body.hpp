// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/index/index_copy.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/index/gather.hpp>
#include <strop/ops/index/gather_body.hpp>
#include <strop/ops/index/index_copy.hpp>
#include <strop/ops/index/kernels_body.hpp>
#include <strop/ops/shape/move_body.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

inline void IndexArray::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const Shape& shape = x.shape();
  const std::int64_t columns = count(shape);
  for (std::int64_t k = 0; k < columns; ++k) {
    const int along = axis(k, shape);
    const std::int64_t outer = shape.size(0, along), inner = shape.size(along + 1, shape.ndim());
    std::int64_t* to = y.pointer<std::int64_t>() + k;
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t position = 0; position < shape[along]; ++position)
        for (std::int64_t i = 0; i < inner; ++i, to += columns) *to = position;
  }
}

inline void IndexCopy::forward(Cpu&, const NDArray& old, const NDArray& at, const NDArray& rows, NDArray& y) const {
  const detail::List<std::int64_t> places = detail::positions(at, y.shape()[0], detail::Outside::from_end, name);
  detail::copy_elements(old, y);
  detail::place_blocks(rows, places, y, y.shape().size(1, y.ndim()));
}

template <Element E>
constexpr void BooleanMask::forward(Cpu&, View<const E> data, View<const double, 1> index,
                                    DenseResult<E>& found) const {
  std::int64_t rows = 0;
  for (const double taken : index) rows += taken != 0 ? 1 : 0;
  Shape shape(data.shape());
  const std::int64_t width = shape.size(1, shape.ndim());
  shape[0] = rows;
  E* to = found.allocate(shape).data();
  for (std::int64_t i = 0; i < index.size(); ++i)
    if (index[i] != 0) to = std::copy_n(data.data() + i * width, width, to);
}

template <Real E>
constexpr void BooleanMask::grad(Cpu&, Head<"output", View<const E>> dy, In<"index", View<const double, 1>> index,
                                 Grad<"data", View<E>> dx) const {
  if (dx.size() == 0) return;
  const std::int64_t width = dx.size() / index.size();
  const E* from = dy.data();
  for (std::int64_t i = 0; i < index.size(); ++i) {
    const bool taken = index[i] != 0;
    for (std::int64_t j = 0; j < width; ++j) dx[i * width + j] = taken ? *from++ : E(0);
  }
}

}  // namespace strop::inline v0
