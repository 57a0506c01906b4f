// SPDX-License-Identifier: Apache-2.0
/// \file
/// How rows of an array are taken.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/data/array_rows.hpp>
#include <strop/engine/pool.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/structure.hpp>

#include <algorithm>

namespace strop::inline v0::detail {

STROP_IMPL Shape with_row_count(const NDArray& a, Index count) {
  Shape shape = a.shape();
  shape[0] = count;
  return shape;
}

/// f(begin, end) on pieces of the rows, of so many bytes each.
template <class F>
void for_rows(Index count, std::int64_t row_bytes, F&& f) {
  constexpr std::int64_t piece_bytes = std::int64_t{1} << 18;
  parallel_for(count, std::max(piece_bytes / std::max(row_bytes, std::int64_t{1}), std::int64_t{1}), f);
}

STROP_IMPL NDArray take_dense_rows(const NDArray& a, Span<const std::int64_t> rows) {
  const NDArray out(with_row_count(a, rows.size()), a.dtype());
  if (out.size() == 0) return out;
  const std::int64_t bytes = out.size() / rows.size() * size_of(a.dtype());
  const std::byte* const from = a.bytes();
  std::byte* const to = out.bytes();
  for_rows(rows.size(), bytes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) copy_bytes(to + k * bytes, from + rows[k] * bytes, bytes);
  });
  return out;
}

STROP_IMPL NDArray take_csr_rows(const NDArray& a, Span<const std::int64_t> rows) {
  check_structure(a);
  NDArray out = NDArray::shell(with_row_count(a, rows.size()), a.dtype(), cpu(), csr);
  if (!a.allocated()) {
    allocate_stored_as(out, 0, i64);
    clear(out.indptr(), (rows.size() + 1) * size_of(out.indptr().dtype()));
    return out;
  }
  const NDArray indices = a.indices();
  const IndexReader indptr(a.indptr()), columns(indices);
  List<std::int64_t> ends(rows.size() + 1);
  for (Index k = 0; k < rows.size(); ++k) {
    const RowSpan span = row_span(indptr, rows[k], a.stored());
    ends[k + 1] = ends[k] + (span.end - span.begin);
  }
  allocate_stored_as(out, ends.back(), indices.dtype());
  write_indices(out.indptr(), ends.data(), ends.size());
  if (ends.back() == 0) return out;
  const NDArray out_indices = out.indices();
  const std::int64_t width = size_of(a.dtype()), index_width = size_of(indices.dtype());
  const std::byte *const values = a.bytes(), *const places = indices.bytes();
  std::byte *const to = out.bytes(), *const to_places = out_indices.bytes();
  for_rows(rows.size(), ends.back() * (width + index_width) / rows.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t from = indptr[rows[k]], count = ends[k + 1] - ends[k];
      copy_bytes(to + ends[k] * width, values + from * width, count * width);
      copy_bytes(to_places + ends[k] * index_width, places + from * index_width, count * index_width);
    }
  });
  return out;
}

STROP_IMPL NDArray take_stored_rows(const NDArray& a, Span<const std::int64_t> rows) {
  check_structure(a);
  NDArray out = NDArray::shell(with_row_count(a, rows.size()), a.dtype(), cpu(), row_sparse);
  List<std::int64_t> from, to;
  if (a.allocated()) {
    const IndexReader stored(a.indices());
    const std::int64_t count = a.nnz();
    for (Index k = 0; k < rows.size(); ++k) {
      std::int64_t low = 0, high = count;
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (stored[middle] < rows[k])
          low = middle + 1;
        else
          high = middle;
      }
      if (low < count && stored[low] == rows[k]) from.push_back(low), to.push_back(k);
    }
  }
  allocate_stored_as(out, from.size(), a.allocated() ? a.indices().dtype() : i64);
  write_indices(out.indices(), to.data(), to.size());
  if (from.empty() || out.size() == 0) return out;
  const std::int64_t bytes = out.size() / rows.size() * size_of(a.dtype());
  const std::byte* const values = a.bytes();
  std::byte* const stored_to = out.bytes();
  for_rows(from.size(), bytes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) copy_bytes(stored_to + k * bytes, values + from[k] * bytes, bytes);
  });
  return out;
}

STROP_IMPL NDArray with_rows(const NDArray& a) {
  const NDArray here = on_device(a, cpu());
  return here.storage() == row_sparse && here.allocated() ? merged(here, true) : here;
}

STROP_IMPL NDArray take_rows(const NDArray& a, Span<const std::int64_t> rows) {
  switch (a.storage()) {
    case csr:
      return take_csr_rows(a, rows);
    case row_sparse:
      return take_stored_rows(a, rows);
    default:
      return take_dense_rows(a, rows);
  }
}

}  // namespace strop::inline v0::detail
