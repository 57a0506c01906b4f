// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sparse outputs of a tensor operator: allocated by its forward when their size is known.
#pragma once
#include <strop/tensor/ndarray.hpp>

namespace strop::inline v0 {

/// A CSR matrix that forward fills: `allocate(nnz)`, then write data, indices and indptr (rows + 1 entries).
template <class E>
class CsrResult {
 public:
  CsrResult() = default;
  explicit CsrResult(const NDArray& array) : array_(array) {}
  std::int64_t rows() const { return array_.shape()[0]; }
  std::int64_t cols() const { return array_.shape()[1]; }
  void allocate(std::int64_t nnz) { array_.allocate_stored(nnz); }
  View<E, 1> data() const { return {array_.template pointer<E>(), {array_.nnz()}}; }
  View<std::int64_t, 1> indices() const { return {array_.indices().template pointer<std::int64_t>(), {array_.nnz()}}; }
  View<std::int64_t, 1> indptr() const { return {array_.indptr().template pointer<std::int64_t>(), {rows() + 1}}; }

 private:
  NDArray array_;
};

/// A row-sparse array that forward fills: `allocate(rows)`, then write indices (ascending) and the rows' elements.
template <class E>
class RowSparseResult {
 public:
  RowSparseResult() = default;
  explicit RowSparseResult(const NDArray& array) : array_(array) {}
  const Shape& shape() const { return array_.shape(); }
  std::int64_t width() const { return array_.shape().size(1, array_.ndim()); }
  void allocate(std::int64_t rows) { array_.allocate_stored(rows); }
  View<E, 2> data() const { return {array_.template pointer<E>(), {array_.nnz(), width()}}; }
  View<std::int64_t, 1> indices() const { return {array_.indices().template pointer<std::int64_t>(), {array_.nnz()}}; }

 private:
  NDArray array_;
};

namespace detail {
template <class E>
CsrView<E> csr_view(const NDArray& a) {
  return {a.shape()[0],
          a.shape()[1],
          {a.pointer<E>(), {a.nnz()}},
          {a.indices().template pointer<std::int64_t>(), {a.nnz()}},
          {a.indptr().template pointer<std::int64_t>(), {a.shape()[0] + 1}}};
}
template <class E>
RowSparseView<E> row_sparse_view(const NDArray& a) {
  return {a.shape(),
          {a.pointer<E>(), {a.nnz(), a.shape().size(1, a.ndim())}},
          {a.indices().template pointer<std::int64_t>(), {a.nnz()}}};
}
}  // namespace detail
}  // namespace strop::inline v0
