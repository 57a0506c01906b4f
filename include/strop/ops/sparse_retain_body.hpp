// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/sparse_retain.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/sparse_dot.hpp>
#include <strop/ops/sparse_retain.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

inline void SparseRetain::forward(Cpu&, const NDArray& x, const NDArray& indices, NDArray& y) const {
  retain(x, indices, y);
}

inline void SparseRetain::grad(Cpu&, Head<"output", NDArray> dy, In<"indices", NDArray> indices,
                               Grad<"data", NDArray> dx) const {
  if (dx.defined()) retain(dy, indices, dx);
}

inline void SparseRetain::retain(const NDArray& data, const NDArray& indices, const NDArray& y) {
  const NDArray x = detail::merged(data);
  const std::int64_t rows = x.shape()[0], width = x.shape().size(1, x.ndim()) * size_of(x.dtype());
  detail::List<std::int64_t> wanted(indices.size());
  detail::convert_elements(indices.dtype(), indices.bytes(), i64, wanted.data(), indices.size());
  std::sort(wanted.begin(), wanted.end());
  wanted.resize(std::unique(wanted.begin(), wanted.end()) - wanted.begin());
  for (std::int64_t i : wanted)
    if (i < 0 || i >= rows)
      strop::fail(name, ": index ", i, " is outside the first axis of shape ", to_text(x.shape()));
  const std::int64_t count = wanted.size();
  const bool sparse = y.storage() == row_sparse, stored = x.storage() == row_sparse;
  if (sparse) {
    detail::allocate_stored_as(y, count, stored ? x.indices().dtype() : i64);
    detail::write_indices(y.indices(), wanted.data(), count);
  } else {
    detail::clear(y, rows * width);
  }
  const detail::Positions positions(stored ? detail::IndexReader(x.indices()) : detail::IndexReader(nullptr),
                                    stored ? x.nnz() : 0, rows, count);
  for (std::int64_t k = 0; width != 0 && k < count; ++k) {
    const std::int64_t row = wanted[k], from = stored ? positions(row) : row;
    std::byte* to = y.bytes() + (sparse ? k : row) * width;
    if (from >= 0)
      detail::copy_bytes(to, x.bytes() + from * width, width);
    else
      detail::clear_bytes(to, width);
  }
}

}  // namespace strop::inline v0
