// SPDX-License-Identifier: Apache-2.0
/// \file
/// Windows of CSR arrays: rows and columns that follow each other, taken out and put back.
#pragma once
#include <strop/ops/shape/bounds.hpp>
#include <strop/tensor/cast.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0::detail {

/// Rows and columns of a CSR array in steps of 1.
inline void slice_csr_window(const NDArray& x, const NDArray& y, const AxisRange& rows, const AxisRange& columns) {
  const auto* starts = x.indptr().pointer<std::int64_t>();
  const auto* at = x.indices().pointer<std::int64_t>();
  const auto inside = [&](std::int64_t k) { return at[k] >= columns.begin && at[k] < columns.begin + columns.count; };
  const auto row = [&](std::int64_t r) { return row_span(starts, rows.begin + r, x.nnz()); };
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const RowSpan span = row(r);
    for (std::int64_t k = span.begin; k < span.end; ++k) count += inside(k) ? 1 : 0;
  }
  y.allocate_stored(count);
  auto* to_starts = y.indptr().pointer<std::int64_t>();
  auto* to_at = y.indices().pointer<std::int64_t>();
  const std::int64_t size = size_of(x.dtype());
  std::int64_t next = 0;
  to_starts[0] = 0;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const RowSpan span = row(r);
    for (std::int64_t k = span.begin; k < span.end; ++k) {
      if (!inside(k)) continue;
      to_at[next] = at[k] - columns.begin;
      detail::copy_bytes(y.bytes() + next++ * size, x.bytes() + k * size, size);
    }
    to_starts[r + 1] = next;
  }
}

/// A CSR window as the rows and columns of an array that begin at `row` and `column`; the others store nothing.
inline void place_csr_window(const NDArray& window, const NDArray& y, std::int64_t row, std::int64_t column) {
  const auto* starts = window.indptr().pointer<const std::int64_t>();
  const auto* at = window.indices().pointer<const std::int64_t>();
  const std::int64_t rows = window.shape()[0], stored = window.nnz(), size = size_of(y.dtype());
  y.allocate_stored(stored);
  auto* const to_starts = y.indptr().pointer<std::int64_t>();
  auto* const to_at = y.indices().pointer<std::int64_t>();
  std::int64_t next = 0;
  std::fill_n(to_starts, row + 1, std::int64_t{0});
  for (std::int64_t r = 0; r < rows; ++r) {
    const RowSpan span = row_span(starts, r, stored);
    for (std::int64_t k = span.begin; k < span.end; ++k) {
      to_at[next] = checked_index(at[k], window.shape()[1]) + column;
      copy_bytes(y.bytes() + next++ * size, window.bytes() + k * size, size);
    }
    to_starts[row + r + 1] = next;
  }
  std::fill(to_starts + row + rows + 1, to_starts + y.shape()[0] + 1, next);
}

}  // namespace strop::inline v0::detail
