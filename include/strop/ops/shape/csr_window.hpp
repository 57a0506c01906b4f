// SPDX-License-Identifier: Apache-2.0
/// \file
/// Windows of CSR arrays: rows and columns that follow each other, taken out and put back.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/shape/bounds.hpp>
#include <strop/tensor/cast.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// Rows and columns of a CSR array in steps of 1.
inline void slice_csr_window(const NDArray& x, const NDArray& y, const AxisRange& rows, const AxisRange& columns) {
  const IndexReader starts(x.indptr());
  const auto row = [&](std::int64_t r) { return row_span(starts, rows.begin + r, x.nnz()); };
  IndexReader(x.indices()).as_stored([&]<class I>(const I* at) {
    const auto inside = [&](std::int64_t k) { return at[k] >= columns.begin && at[k] < columns.begin + columns.count; };
    List<std::int64_t> ends(1, 0);
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const RowSpan span = row(r);
      std::int64_t count = ends.back();
      for (std::int64_t k = span.begin; k < span.end; ++k) count += inside(k) ? 1 : 0;
      ends.push_back(count);
    }
    allocate_stored_as(y, ends.back(), dtype_of<I>);
    write_indices(y.indptr(), ends.data(), ends.size());
    auto* to = y.indices().pointer<I>();
    std::byte* values = y.bytes();
    const std::int64_t size = size_of(x.dtype());
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const RowSpan span = row(r);
      for (std::int64_t k = span.begin; k < span.end; ++k) {
        if (!inside(k)) continue;
        *to++ = static_cast<I>(at[k] - columns.begin);
        copy_bytes(values, x.bytes() + k * size, size);
        values += size;
      }
    }
  });
}

/// A CSR window as the rows and columns of an array that begin at `row` and `column`; the others store nothing.
inline void place_csr_window(const NDArray& window, const NDArray& y, std::int64_t row, std::int64_t column) {
  const IndexReader starts(window.indptr());
  const auto span_of = [&](std::int64_t r) { return row_span(starts, r, window.nnz()); };
  const std::int64_t rows = window.shape()[0], size = size_of(y.dtype());
  const IndexReader columns(window.indices());
  List<std::int64_t> ends(row + 1, 0), at;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = span_of(r).begin; k < span_of(r).end; ++k)
      at.push_back(checked_index(columns[k], window.shape()[1]) + column);
    ends.push_back(at.size());
  }
  while (ends.size() <= y.shape()[0]) ends.push_back(at.size());
  const bool narrow = window.indices().dtype() == i32 && fits_narrow(y.shape()[1]);
  allocate_stored_as(y, at.size(), narrow ? i32 : i64);
  write_indices(y.indices(), at.data(), at.size());
  write_indices(y.indptr(), ends.data(), ends.size());
  std::byte* to = y.bytes();
  for (std::int64_t r = 0; r < rows; ++r) {
    const RowSpan span = span_of(r);
    const std::int64_t bytes = (span.end - span.begin) * size;
    if (bytes != 0) copy_bytes(to, window.bytes() + span.begin * size, bytes);
    to += bytes;
  }
}

}  // namespace strop::inline v0::detail
