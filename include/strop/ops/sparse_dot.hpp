// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products with a CSR factor. Work is proportional to the stored values times the columns of the other factor.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/ops/csr_transposed.hpp>
#include <strop/ops/sparse_rows.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// Σ x · y of n elements, which lie `x_step` and `y_step` apart.
template <class E>
E inner_product(const E* x, std::int64_t x_step, const E* y, std::int64_t y_step, std::int64_t n) {
  E total = 0;
  std::int64_t i = 0;
  if (x_step == 1 && y_step == 1) {
    using R = number::Rep<number::Vec<E>>;
    if (n >= 2 * R::lanes) {  // two sums, which do not wait for each other
      auto one = R::load(x) * R::load(y), two = R::load(x + R::lanes) * R::load(y + R::lanes);
      for (i = 2 * R::lanes; i + 2 * R::lanes <= n; i += 2 * R::lanes) {
        one = one + R::load(x + i) * R::load(y + i);
        two = two + R::load(x + i + R::lanes) * R::load(y + i + R::lanes);
      }
      E sums[R::lanes];
      R::store(sums, one + two);
      for (const E sum : sums) total += sum;
    }
  }
  for (; i < n; ++i) total += x[i * x_step] * y[i * y_step];
  return total;
}

}  // namespace STROP_ISA

/// out = a · b, or += where `add`: a in CSR, b dense or row-sparse.
template <class E>
void csr_times_rows(const NDArray& a, const NDArray& b, E* out, bool add) {
  const MatrixRows<E> y(b, a.nnz());
  with_csr<E>(a, [&](const auto& x) { csr_product(x, y, out, add); });
}

/// out = aᵀ · b into dense memory.
template <class E>
void csr_transposed_times_rows(const NDArray& a, const NDArray& b, E* out, bool add) {
  const MatrixRows<E> y(b, a.shape()[0]);
  with_csr<E>(a, [&](const auto& x) {
    x.check(0, x.rows);
    if (x.stored >= 2 * x.cols) return csr_transposed_product(x, y, x.cols, [](std::int64_t j) { return j; }, out, add);
    if (!add) std::fill(out, out + x.cols * y.width(), E(0));
    scatter_rows(x, 0, x.rows, y, 0, y.width(), out);
  });
}

/// out = aᵀ · b as a row-sparse array: a row for each column of a that meets a row of b.
template <class E>
void csr_transposed_to_rows(const NDArray& a, const NDArray& b, const NDArray& out) {
  const MatrixRows<E> y(b, a.shape()[0]);
  const auto store = [&](const List<std::int64_t>& kept) {
    out.allocate_stored(kept.size());
    write_indices(out.indices(), kept.data(), kept.size());
    return out.pointer<E>();
  };
  with_csr<E>(a, [&](const auto& x) {
    if (y.all() != nullptr && x.stored >= 2 * x.cols) {  // most columns have something
      const List<std::int64_t> kept = marked_columns(x);
      return csr_transposed_product(x, y, kept.size(), [&](std::int64_t r) { return kept[r]; }, store(kept), false);
    }
    const NumberedColumns columns = number_columns(x, [&](std::int64_t i) { return y(i) != nullptr; });
    const Index count = columns.kept.size();
    E* const to = store(columns.kept);
    if (count == 0) return;
    const CsrMatrix<E, std::int32_t> numbered{
        x.rows, count, x.stored, x.data, columns.indices.template pointer<const std::int32_t>(), x.indptr};
    if (y.width() >= 64 && fits_narrow(x.rows)) return csr_transposed_gather(numbered, y, to, false);
    std::fill(to, to + count * y.width(), E(0));
    scatter_rows(numbered, 0, x.rows, y, 0, y.width(), to);
  });
}

/// out = a · b, a dense of m rows, b in CSR; into dense memory.
template <class E>
void dense_times_csr(const E* a, std::int64_t m, const NDArray& b, E* out, bool add) {
  const CsrRows<E> y(b);
  parallel_for(m, rows_per_share(m * (y.stored + y.cols), m), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      E* to = out + i * y.cols;
      if (!add) std::fill(to, to + y.cols, E(0));
      for (std::int64_t k = 0; k < y.rows; ++k) {
        const E s = a[i * y.rows + k];
        y.each(k, [&](std::int64_t j, E v) { to[j] += s * v; });
      }
    }
  });
}

/// out = a · b as CSR: every row stores the columns that b stores something in.
template <class E>
void dense_times_csr_to_csr(const E* a, std::int64_t m, const NDArray& b, const NDArray& out) {
  const CsrRows<E> y(b);
  List<std::int64_t> kept;
  with_csr<E>(b, [&](const auto& x) { kept = number_columns(x, [](std::int64_t) { return true; }).kept; });
  const Index count = kept.size();
  allocate_stored_as(out, m * count, b.indices().dtype());
  const Positions positions(kept.data(), count, y.cols, y.stored);
  E* const data = out.pointer<E>();
  const NDArray indices = out.indices();
  detail::List<std::int64_t> starts(m + 1);
  for (std::int64_t i = 0; i <= m; ++i) starts[i] = i * count;
  write_indices(out.indptr(), starts.data(), m + 1);
  for (std::int64_t i = 0; i < m; ++i) {
    write_indices(indices, kept.data(), count, i * count);
    E* const to = data + i * count;
    std::fill(to, to + count, E(0));
    for (std::int64_t k = 0; k < y.rows; ++k) {
      const E s = a[i * y.rows + k];
      y.each(k, [&](std::int64_t j, E v) { to[positions(j)] += s * v; });
    }
  }
}

/// out = a · bᵀ, a dense of m rows, b in CSR; into dense memory.
template <class E>
void dense_times_csr_transposed(const E* a, std::int64_t m, const NDArray& b, E* out, bool add) {
  const CsrRows<E> y(b);
  parallel_for(m, rows_per_share(m * (y.stored + y.rows), m), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < y.rows; ++j) {
        E& to = out[i * y.rows + j];
        E total = add ? to : E(0);
        y.each(j, [&](std::int64_t k, E v) { total += a[i * y.cols + k] * v; });
        to = total;
      }
  });
}

/// Values only where `pattern`, in CSR, stores some: out(i, j) = Σ x(i · x_row + t · x_step) · y(j · y_row + t ·
/// y_step). Each place stands once in the result.
template <class E>
void product_on_pattern(const NDArray& places, const E* x, std::int64_t x_row, std::int64_t x_step, const E* y,
                        std::int64_t y_row, std::int64_t y_step, std::int64_t depth, const NDArray& out) {
  const NDArray pattern = merged(places);
  const CsrRows<E> p(pattern);
  copy_structure(pattern, out);
  E* const to = out.pointer<E>();
  const List<Index> begins = share_rows(p.rows, least_products, [&](Index i) {
    const RowSpan span = row_span(p.indptr, i, p.stored);
    return (span.end - span.begin) * depth;
  });
  parallel_for(begins.size() - 1, 1, [&](Index first, Index last) {
    for (Index i = begins[first]; i < begins[last]; ++i) {
      Index at = row_span(p.indptr, i, p.stored).begin;
      p.each(i, [&](Index j, E) { to[at++] = inner_product(x + i * x_row, x_step, y + j * y_row, y_step, depth); });
    }
  });
}

}  // namespace strop::inline v0::detail
