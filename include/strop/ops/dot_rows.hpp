// SPDX-License-Identifier: Apache-2.0
/// \file
/// The gradients of a product whose head gradient is row-sparse: its rows are read as they are stored, and work is
/// proportional to them.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/sparse_dot.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0::detail {

/// Of y = op(a) · op(b) as matrices, m × k by k × n: which of the m rows a row-sparse head gradient stores. Each of its
/// rows is several of them where a has more than two dimensions.
class HeadRows {
 public:
  HeadRows(const NDArray& head, std::int64_t m) {
    const std::int64_t rows = head.shape()[0], each = rows == 0 ? 0 : m / rows;
    const IndexReader stored(head.indices());
    for (std::int64_t k = 0; k < head.nnz(); ++k) {
      const std::int64_t row = checked_index(stored[k], rows);
      for (std::int64_t i = 0; i < each; ++i) at_.push_back(row * each + i);
    }
  }
  std::int64_t count() const { return at_.size(); }

  /// These rows of op(a), m × k: `a` itself, or where `turned` its transpose, k × m.
  template <class E>
  List<E> rows_of(const E* a, bool turned, std::int64_t m, std::int64_t k) const {
    List<E> out(count() * k);
    for (std::int64_t c = 0; c < count(); ++c)
      for (std::int64_t j = 0; j < k; ++j) out[c * k + j] = turned ? a[j * m + at_[c]] : a[at_[c] * k + j];
    return out;
  }
  /// Writes them there, and zeros into the other rows, or adds them.
  template <class E>
  void put(const List<E>& from, E* to, bool turned, std::int64_t m, std::int64_t k, bool add) const {
    if (!add) std::fill(to, to + m * k, E(0));
    for (std::int64_t c = 0; c < count(); ++c)
      for (std::int64_t j = 0; j < k; ++j) (turned ? to[j * m + at_[c]] : to[at_[c] * k + j]) += from[c * k + j];
  }

 private:
  List<std::int64_t> at_;
};

/// The gradient of a CSR factor a, on its pattern: head · bᵀ, or where a is transposed in the product b · headᵀ; b
/// dense of rows of `n` elements.
template <class E>
void rows_on_pattern(const NDArray& a, const NDArray& head, const E* b, std::int64_t n, bool transposed,
                     const NDArray& out) {
  const MatrixRows<E> rows(head, a.nnz());
  const auto of_b = [=](std::int64_t i) { return b + i * n; };
  if (!transposed)
    return product_of_rows_on_pattern<E>(a, rows, 1, of_b, 1, a.shape()[1] * n * std::int64_t{sizeof(E)}, n, out);
  const List<E> none(n, E(0));
  const auto or_zeros = [&](std::int64_t i) {
    const E* const row = rows(i);
    return row == nullptr ? none.data() : row;
  };
  product_of_rows_on_pattern<E>(a, of_b, 1, or_zeros, 1, head.stored() * std::int64_t{sizeof(E)}, n, out);
}

}  // namespace strop::inline v0::detail
