// SPDX-License-Identifier: Apache-2.0
/// \file
/// What is looked at in a sparse array's structure, and how it is remembered.
#pragma once
#include <strop/core/config.hpp>
#include <strop/engine/pool.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/csr_shares.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/structure.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

STROP_IMPL void keep_finding(Body& list, std::int64_t bound) {
  if (list.buffer) list.finding.keep(list.buffer->version(), bound);
}

/// The number of the numbers that an array's indices stand for: columns of a CSR one, rows of a row-sparse one.
STROP_IMPL std::int64_t index_extent(const NDArray& a) { return a.shape()[a.storage() == csr ? 1 : 0]; }

/// Lengths, which cost nothing to look at.
STROP_IMPL void check_lengths(const NDArray& a) {
  const Body& b = a.body();
  if (b.storage == row_sparse) {
    if (b.shape.ndim() == 0) fail_structure("a row-sparse array has 1 dimension or more, not shape ()");
    return;
  }
  if (b.shape.ndim() != 2) fail_structure("a CSR array has 2 dimensions, not shape ", b.shape);
  const std::int64_t rows = b.shape[0];
  if (b.indptr->shape.ndim() != 1 || b.indptr->shape[0] - 1 != rows)
    fail_structure("indptr of ", rows, " rows has shape (", rows + 1, ",), not ", b.indptr->shape);
}

STROP_IMPL void check_ends(const NDArray& a) {
  const std::int64_t rows = a.shape()[0], stored = a.nnz();
  const IndexReader indptr(a.indptr());
  if (indptr[0] != 0) fail_structure("indptr starts with 0, not ", indptr[0]);
  if (indptr[rows] != stored)
    fail_structure("indptr ends with the number of stored values, ", stored, ", not ", indptr[rows]);
}

/// Of a CSR array: indptr begins with 0, never goes down, and ends with the number of stored values.
STROP_IMPL void check_rows(const NDArray& a) {
  check_ends(a);
  const std::int64_t rows = a.shape()[0];
  const IndexReader indptr(a.indptr());
  std::atomic<bool> in_order{true};
  indptr.as_stored([&](const auto* at) {
    parallel_for(rows, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
      bool ascends = true;
      for (std::int64_t row = begin; row < end; ++row) ascends &= at[row] <= at[row + 1];
      if (!ascends) in_order = false;
    });
  });
  for (std::int64_t row = 0; !in_order && row < rows; ++row)
    if (indptr[row + 1] < indptr[row])
      fail_structure("indptr[", row + 1, "] = ", indptr[row + 1], " is less than indptr[", row, "] = ", indptr[row]);
}

STROP_IMPL void check_range(const NDArray& a) {
  const std::int64_t extent = index_extent(a);
  std::atomic<bool> inside{true};
  const IndexReader indices(a.indices());
  indices.as_stored([&](const auto* at) {
    parallel_for(a.nnz(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
      if (!all_below(at + begin, end - begin, extent)) inside = false;
    });
  });
  for (std::int64_t k = 0; !inside && k < a.nnz(); ++k)
    if (indices[k] < 0 || indices[k] >= extent)
      fail_structure("indices[", k, "] = ", indices[k], " is outside 0 to ", extent - 1, ", the ",
                     a.storage() == csr ? "columns of a row" : "stored rows");
}

STROP_IMPL void trust_structure(const NDArray& a) {
  const Body& b = a.body();
  if (b.storage == dense || !b.indices) return;
  keep_finding(*b.indices, index_extent(a));
  if (b.indptr) keep_finding(*b.indptr, ~b.indices->shape[0]);
}

STROP_IMPL void check_parts(const NDArray& a, bool full) {
  check_lengths(a);
  if (a.storage() == row_sparse && a.nnz() > a.shape()[0])
    fail_structure(a.nnz(), " rows are stored of an array that has ", a.shape()[0]);
  if (a.storage() == csr) full ? check_rows(a) : check_ends(a);
  if (!full) return;
  check_range(a);
  trust_structure(a);
}

STROP_IMPL void check_structure(const NDArray& a) {
  if (knows_structure(a)) return;
  check_lengths(a);
  Body& indices = *a.body().indices;
  const std::int64_t extent = index_extent(a), stored = a.nnz();
  const NDArray here = structure_of(a);  // of a GPU's array: its lists are copied to be looked at
  if (a.storage() == csr && !is_known_to_end(*a.body().indptr, stored)) {
    check_rows(here);
    keep_finding(*a.body().indptr, ~stored);
  }
  if (!is_known_below(indices, extent)) {
    check_range(here);
    keep_finding(indices, extent);
  }
}

STROP_IMPL void trust_copy(const NDArray& copy, const NDArray& of) {
  if (has_finding(of.body())) keep_finding(copy.body(), of.body().finding.bound());
}

STROP_IMPL void structure_written(const NDArray& a) {
  for (const Ref<Body>* list : {&a.body().indices, &a.body().indptr})
    if (*list && (*list)->buffer) (*list)->buffer->written();
}

}  // namespace strop::inline v0::detail
