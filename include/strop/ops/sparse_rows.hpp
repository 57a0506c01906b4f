// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sparse matrices as kernels read them: rows of CSR, of dense and of row-sparse arrays, and their shares among
/// threads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0::detail {

/// Whether a table of `extent` entries costs no more than work on `stored` values.
inline bool table_pays(std::int64_t extent, std::int64_t stored) { return extent <= 16 * stored + 1024; }

/// Where an index stands in an ascending list; −1 where it does not.
class Positions {
 public:
  Positions(const IndexReader& indices, std::int64_t count, std::int64_t extent, std::int64_t uses)
      : indices_(indices), count_(count) {
    if (!table_pays(extent, uses)) return;
    table_ = detail::List<std::int64_t>(extent, -1);
    for (std::int64_t k = 0; k < count; ++k) table_[checked_index(indices[k], extent)] = k;
  }
  std::int64_t operator()(std::int64_t i) const {
    if (!table_.empty()) return table_[i];
    std::int64_t place = -1;
    indices_.as_stored([&](const auto* first) {
      const auto* at = std::lower_bound(first, first + count_, i);
      if (at != first + count_ && *at == i) place = at - first;
    });
    return place;
  }

 private:
  IndexReader indices_;
  std::int64_t count_;
  detail::List<std::int64_t> table_;
};

/// A CSR matrix as the kernels read it. Columns are checked where they are used: a file may claim anything.
template <class E>
struct CsrRows {
  std::int64_t rows, cols, stored;
  const E* data;
  IndexReader indices, indptr;
  explicit CsrRows(const NDArray& a)
      : rows(a.shape()[0]),
        cols(a.shape()[1]),
        stored(a.nnz()),
        data(a.pointer<const E>()),
        indices(a.indices()),
        indptr(a.indptr()) {}
  /// f(column, value) for the stored values of a row.
  template <class F>
  void each(std::int64_t row, F&& f) const {
    const RowSpan span = row_span(indptr, row, stored);
    indices.as_stored([&](const auto* at) {
      for (std::int64_t k = span.begin; k < span.end; ++k) f(checked_index(at[k], cols), data[k]);
    });
  }
};

/// The rows of a dense or row-sparse matrix; of the latter only some are there.
template <class E>
class MatrixRows {
 public:
  /// `uses`: how many rows will be asked for.
  MatrixRows(const NDArray& given, std::int64_t uses)
      : a_(merged(given)),
        width_(a_.shape().size(1, a_.ndim())),
        data_(a_.template pointer<const E>()),
        sparse_(a_.storage() == row_sparse),
        positions_(sparse_ ? IndexReader(a_.indices()) : IndexReader(nullptr), sparse_ ? a_.nnz() : 0,
                   sparse_ ? a_.shape()[0] : 0, uses) {}
  /// Of a dense matrix in memory.
  MatrixRows(const E* data, std::int64_t width)
      : width_(width), data_(data), sparse_(false), positions_(IndexReader(nullptr), 0, 0, 0) {}
  /// Which of the rows from data() on row i is; −1 where it is not stored, and so zero.
  std::int64_t place(std::int64_t i) const { return sparse_ ? positions_(i) : i; }
  const E* data() const { return data_; }
  /// Null where the row is not stored, and so zero.
  const E* operator()(std::int64_t i) const {
    if (!sparse_) return data_ + i * width_;
    const std::int64_t at = positions_(i);
    return at < 0 ? nullptr : data_ + at * width_;
  }
  bool every() const { return !sparse_; }
  /// The rows of a dense matrix one after the other; null for a row-sparse one.
  const E* all() const { return sparse_ ? nullptr : data_; }
  std::int64_t width() const { return width_; }

 private:
  NDArray a_;
  std::int64_t width_;
  const E* data_;
  bool sparse_;
  Positions positions_;
};

inline std::int64_t rows_per_share(std::int64_t work, std::int64_t rows) {
  constexpr std::int64_t share = 1 << 17;
  return std::max<std::int64_t>(1, share / std::max<std::int64_t>(1, work / std::max<std::int64_t>(1, rows)));
}

/// Rows in parts of nearly the same work: part p has the rows from begins[p] to begins[p + 1].
template <class Work>
List<Index> share_rows(Index rows, Index least, Work work_of) {
  List<Index> begins;
  Index sum = least;
  for (Index i = 0; i < rows; ++i) {
    if (sum >= least) begins.push_back(i), sum = 0;
    sum += work_of(i) + 1;
  }
  if (begins.empty()) begins.push_back(0);
  begins.push_back(rows);
  return begins;
}

/// Work of a part that is worth a thread of its own.
inline constexpr Index least_products = Index{1} << 15;

}  // namespace strop::inline v0::detail
