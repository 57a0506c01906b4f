// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/square_sum.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/reduce_kernels_body.hpp>
#include <strop/ops/reduce_sparse_body.hpp>
#include <strop/ops/sparse_rows.hpp>
#include <strop/ops/square_sum.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

template <Real E>
inline void SquareSum::forward(Cpu& ctx, const NDArray& data, NDArray& y) const {
  if (y.storage() == dense) return detail::reduce_array<detail::AddSquareStep, E>(ctx, data, y, axis, exclude);
  const NDArray x = detail::merged(data);
  detail::copy_structure(x, y);
  detail::reduce_array<detail::AddSquareStep, E>(ctx, x.data(), y.data(), axis, exclude);
}

template <Real E>
inline void SquareSum::grad_use_in(Cpu&, const NDArray& dy, const NDArray& data, NDArray& dx) const {
  const NDArray x = detail::merged(data);
  NDArray head = dy, from = x, to = dx;
  if (x.storage() == row_sparse) {
    detail::copy_structure(x, dx);
    from = x.data();
    to = dx.data();
    if (!detail::axis_mask(x.ndim(), axis, exclude, name)[0]) head = head_of_rows<E>(dy, x);
  }
  const detail::ReducePlan plan(from.shape(), axis, exclude);
  E* const out = to.pointer<E>();
  detail::spread(plan, from.shape(), head.pointer<const E>(), out, E(2));
  const E* const in = from.pointer<const E>();
  for (std::int64_t i = 0; i < from.size(); ++i) out[i] *= in[i];
}

template <Real E>
inline NDArray SquareSum::head_of_rows(const NDArray& dy, const NDArray& x) {
  const detail::MatrixRows<E> rows(dy, x.nnz());
  const std::int64_t width = rows.width();
  const NDArray out(Shape{x.nnz(), width}, dy.dtype());
  const detail::IndexReader indices(x.indices());
  for (std::int64_t k = 0; k < x.nnz(); ++k) {
    E* const to = out.pointer<E>() + k * width;
    if (const E* const row = rows(detail::checked_index(indices[k], x.shape()[0])))
      std::copy_n(row, width, to);
    else
      std::fill_n(to, width, E(0));
  }
  return out;
}

}  // namespace strop::inline v0
