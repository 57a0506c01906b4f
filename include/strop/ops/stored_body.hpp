// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/stored.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/cast_body.hpp>
#include <strop/ops/index/kernels_body.hpp>
#include <strop/ops/stored.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

inline void Getnnz::forward(Cpu&, const NDArray& data, NDArray& y) const {
  const NDArray x = detail::merged(detail::cast_storage(data, csr));
  auto* const to = y.pointer<std::int64_t>();
  if (!axis) {
    to[0] = x.nnz();
    return;
  }
  const std::int64_t rows = x.shape()[0], cols = x.shape()[1];
  const detail::IndexReader indices(x.indices()), indptr(x.indptr());
  if (*axis == 0) std::fill(to, to + cols, std::int64_t{0});
  for (std::int64_t row = 0; row < rows; ++row) {
    const detail::RowSpan span = detail::row_span(indptr, row, x.nnz());
    if (*axis == 1) to[row] = span.end - span.begin;
    for (std::int64_t k = span.begin; *axis == 0 && k < span.end; ++k) ++to[detail::checked_index(indices[k], cols)];
  }
}

inline void EdgeId::forward(Cpu&, const NDArray& data, const NDArray& u, const NDArray& v, NDArray& y) const {
  const NDArray x = detail::merged(detail::cast_storage(data, csr));
  const auto rows = detail::positions(u, x.shape()[0], detail::Outside::from_end, name),
             cols = detail::positions(v, x.shape()[1], detail::Outside::from_end, name);
  const detail::IndexReader indices(x.indices()), indptr(x.indptr());
  const double none = -1;
  const std::int64_t size = size_of(y.dtype());
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const detail::RowSpan span = detail::row_span(indptr, rows[i], x.nnz());
    std::int64_t k = span.begin;
    while (k < span.end && indices[k] != cols[i]) ++k;
    if (k < span.end)
      detail::copy_bytes(y.bytes() + i * size, x.bytes() + k * size, size);
    else
      detail::convert_elements(f64, &none, y.dtype(), y.bytes() + i * size, 1);
  }
}

inline void DglAdjacency::forward(Cpu&, const NDArray& data, NDArray& y) const {
  const NDArray ones = y.storage() == csr ? y : NDArray::fresh_shell(y.shape(), f32, cpu(), csr);
  detail::copy_structure(detail::merged(data), ones);
  std::fill_n(ones.pointer<float>(), ones.nnz(), 1.0F);
  if (!ones.is(y)) detail::assign(ones, y);
}

inline void IdentityLike::forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const { detail::assign(x, y); }

}  // namespace strop::inline v0
