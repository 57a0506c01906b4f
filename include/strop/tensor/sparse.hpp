// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sparse arrays from their parts or from coordinates, and the check of their structure.
#pragma once
#include <strop/tensor/literal.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace strop::inline v0 {

namespace detail {

/// A part of a sparse array as an argument: an array, a container or a braced list of numbers.
class SparsePart {
 public:
  SparsePart(const NDArray& a) : array_(a) {}
  SparsePart(std::initializer_list<Literal> list) : literal_(list) {}
  template <ElementRange R>
  SparsePart(const R& values)
      : array_(from_range(values.data(), static_cast<std::int64_t>(values.size()),
                          dtype_of<std::remove_pointer_t<decltype(values.data())>>,
                          {static_cast<std::int64_t>(values.size())})) {}

  /// The part as it is (`dtype` for a list), on the CPU; Error unless it has `rank` dimensions (any for −1).
  NDArray values(std::string_view function, std::string_view name, int rank, Dtype dtype = f32) const;
  /// The part as a vector of 64-bit integers, or as an array of 32-bit ones where those may stay; Error where a number
  /// is not whole.
  NDArray integers(std::string_view function, std::string_view name, bool keep_width = false) const;
  bool is_list() const { return !array_.defined(); }
  Device device() const { return array_.defined() ? array_.device() : cpu(); }
  /// A part of this argument that nobody else holds.
  NDArray own(const NDArray& part) const { return part.is(array_) ? part.copy() : part; }

 private:
  NDArray array_;
  Literal literal_ = 0;
};

}  // namespace detail

/// Rows and columns of the values of a matrix: `csr_matrix({5, 7}, {.row = {0, 1}, .col = {2, 0}}, {2, 3})`.
struct Coordinates {
  detail::SparsePart row, col;
};

/// A CSR matrix of `shape` from copies of its parts: row i stores `data[k]` in column `indices[k]` for k from indptr[i]
/// to indptr[i + 1] − 1. A braced `data` is float32, an array keeps its dtype. Indices of int32 or int64 stay what they
/// are, others become int64; a braced list of them is int64, or int32 beside such an array. Only lengths are checked
/// here: see NDArray::check_format.
NDArray csr_matrix(const detail::SparsePart& data, const detail::SparsePart& indices, const detail::SparsePart& indptr,
                   const Shape& shape);

/// A CSR matrix from the coordinates of its values, in any order; values of the same place are added up. Its indices
/// are int64.
NDArray csr_matrix(const detail::SparsePart& data, const Coordinates& at, const Shape& shape);

/// A row-sparse array of `shape` from copies of its parts: `data[k]` is row `indices[k]`, the rows that are not listed
/// are zero. Indices of int32 or int64 stay what they are, others become int64. Only lengths are checked here: see
/// NDArray::check_format.
NDArray row_sparse_array(const detail::SparsePart& data, const detail::SparsePart& indices, const Shape& shape);

namespace detail {
/// A CSR array over the memory of its parts: their types and sizes fit, and each begins where its memory does.
NDArray csr_over(const NDArray& data, const NDArray& indices, const NDArray& indptr, const Shape& shape);
}  // namespace detail

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/tensor/sparse_impl.hpp>
#endif
