// SPDX-License-Identifier: Apache-2.0
/// \file
/// Outputs of a tensor operator that its forward allocates when their size is known: sparse ones, and dense ones whose
/// shape follows from the data.
#pragma once
#include <strop/tensor/ndarray.hpp>

#include <array>
#include <span>
#include <vector>

namespace strop::inline v0 {
namespace detail {
/// Gives a dense shell the shape that was found, and memory. Throws Error where there is no such array.
void allocate_found(const NDArray& shell, std::span<const std::int64_t> shape);

/// An array of the compiler's: tests evaluate forward before there is a program.
template <class E>
class EarlyArray {
 public:
  constexpr EarlyArray() = default;
  constexpr EarlyArray(const EarlyArray& other) { *this = other; }
  constexpr EarlyArray& operator=(const EarlyArray& other) {
    if (this == &other || other.data_ == nullptr) return *this;
    allocate(other.shape_);
    for (std::int64_t i = 0; i < size_; ++i) data_[i] = other.data_[i];
    return *this;
  }
  constexpr ~EarlyArray() { delete[] data_; }

  /// Room for elements of this shape, which are E().
  constexpr E* allocate(std::span<const std::int64_t> shape) {
    std::int64_t n = 1;
    for (std::int64_t extent : shape) n *= extent;
    if (data_ != nullptr) fail("allocate: the result has a shape already; count first, and allocate once");
    data_ = new E[static_cast<std::size_t>(n)]{};
    size_ = n;
    shape_.assign(shape.begin(), shape.end());
    return data_;
  }
  constexpr bool allocated() const { return data_ != nullptr; }
  constexpr E* data() const { return data_; }
  constexpr std::int64_t size() const { return size_; }
  constexpr const std::vector<std::int64_t>& shape() const { return shape_; }

 private:
  E* data_ = nullptr;
  std::int64_t size_ = 0;
  std::vector<std::int64_t> shape_;
};
}  // namespace detail

/// A dense array whose shape forward finds while it runs, such as the positions of what is not zero: it is allocated
/// once, and the view that this gives is written. `auto y = found.allocate({count, 2});`
///
/// An operator with such an output is called on arrays, also while recording: its gradient takes what was made. What
/// knows shapes before there are elements has no place for it: symbols and traced functions refuse it. infer_shape may
/// say what is known of the shape; without it that is the rank.
template <class E, int Rank = any_rank>
class DenseResult {
 public:
  DenseResult() = default;
  constexpr explicit DenseResult(const NDArray& array) : array_(&array) {}
  constexpr explicit DenseResult(detail::EarlyArray<E>& early) : early_(&early) {}

  constexpr View<E, Rank> allocate(const std::array<std::int64_t, static_cast<std::size_t>(Rank)>& shape) const {
    if (early_ != nullptr) return {early_->allocate(shape), shape};
    detail::allocate_found(*array_, shape);
    return {array_->template pointer<E>(), shape};
  }

 private:
  const NDArray* array_ = nullptr;
  detail::EarlyArray<E>* early_ = nullptr;
};
/// The same of any rank.
template <class E>
class DenseResult<E, any_rank> {
 public:
  DenseResult() = default;
  constexpr explicit DenseResult(const NDArray& array) : array_(&array) {}
  constexpr explicit DenseResult(detail::EarlyArray<E>& early) : early_(&early) {}

  constexpr View<E> allocate(std::span<const std::int64_t> shape) const {
    if (early_ != nullptr) {
      E* const data = early_->allocate(shape);
      return {data, early_->shape()};
    }
    detail::allocate_found(*array_, shape);
    const Shape& made = array_->shape();
    return {array_->template pointer<E>(), {made.begin(), made.end()}};
  }
  constexpr View<E> allocate(const Shape& shape) const { return allocate({shape.begin(), shape.end()}); }

 private:
  const NDArray* array_ = nullptr;
  detail::EarlyArray<E>* early_ = nullptr;
};

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
