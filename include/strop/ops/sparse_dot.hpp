// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products with a CSR factor. Work is proportional to the stored values times the columns of the other factor.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// y += a · x, n elements.
template <class E>
void add_scaled(E a, const E* x, E* y, std::int64_t n) {
  using R = number::Rep<number::Vec<E>>;
  std::int64_t i = 0;
  for (; i + R::lanes <= n; i += R::lanes) R::store(y + i, R::load(y + i) + R::load(x + i) * a);
  for (; i < n; ++i) y[i] += a * x[i];
}

/// Σ x · y of n elements, which lie `x_step` and `y_step` apart.
template <class E>
E inner_product(const E* x, std::int64_t x_step, const E* y, std::int64_t y_step, std::int64_t n) {
  E total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += x[i * x_step] * y[i * y_step];
  return total;
}

}  // namespace STROP_ISA

/// Whether a table of `extent` entries costs no more than work on `stored` values.
inline bool table_pays(std::int64_t extent, std::int64_t stored) { return extent <= 16 * stored + 1024; }

/// Where an index stands in an ascending list; −1 where it does not.
class Positions {
 public:
  Positions(const std::int64_t* indices, std::int64_t count, std::int64_t extent, std::int64_t uses)
      : indices_(indices), count_(count) {
    if (!table_pays(extent, uses)) return;
    table_ = detail::List<std::int64_t>(extent, -1);
    for (std::int64_t k = 0; k < count; ++k) table_[checked_index(indices[k], extent)] = k;
  }
  std::int64_t operator()(std::int64_t i) const {
    if (!table_.empty()) return table_[i];
    const std::int64_t* at = std::lower_bound(indices_, indices_ + count_, i);
    return at != indices_ + count_ && *at == i ? at - indices_ : -1;
  }

 private:
  const std::int64_t* indices_;
  std::int64_t count_;
  detail::List<std::int64_t> table_;
};

/// A CSR matrix as the kernels read it. Columns are checked where they are used: a file may claim anything.
template <class E>
struct CsrRows {
  std::int64_t rows, cols, stored;
  const E* data;
  const std::int64_t *indices, *indptr;
  explicit CsrRows(const NDArray& a)
      : rows(a.shape()[0]),
        cols(a.shape()[1]),
        stored(a.nnz()),
        data(a.pointer<const E>()),
        indices(a.indices().template pointer<const std::int64_t>()),
        indptr(a.indptr().template pointer<const std::int64_t>()) {}
  /// f(column, value) for the stored values of a row.
  template <class F>
  void each(std::int64_t row, F&& f) const {
    const RowSpan span = row_span(indptr, row, stored);
    for (std::int64_t k = span.begin; k < span.end; ++k) f(checked_index(indices[k], cols), data[k]);
  }
};

/// The rows of a dense or row-sparse matrix; of the latter only some are there.
template <class E>
class MatrixRows {
 public:
  /// `uses`: how many rows will be asked for.
  MatrixRows(const NDArray& a, std::int64_t uses)
      : width_(a.shape().size(1, a.ndim())),
        data_(a.pointer<const E>()),
        sparse_(a.storage() == row_sparse),
        positions_(sparse_ ? a.indices().template pointer<const std::int64_t>() : nullptr, sparse_ ? a.nnz() : 0,
                   sparse_ ? a.shape()[0] : 0, uses) {}
  /// Null where the row is not stored, and so zero.
  const E* operator()(std::int64_t i) const {
    if (!sparse_) return data_ + i * width_;
    const std::int64_t at = positions_(i);
    return at < 0 ? nullptr : data_ + at * width_;
  }
  std::int64_t width() const { return width_; }

 private:
  std::int64_t width_;
  const E* data_;
  bool sparse_;
  Positions positions_;
};

inline std::int64_t rows_per_share(std::int64_t work, std::int64_t rows) {
  constexpr std::int64_t share = 1 << 17;
  return std::max<std::int64_t>(1, share / std::max<std::int64_t>(1, work / std::max<std::int64_t>(1, rows)));
}

/// out = a · b, or += where `add`: a in CSR, b dense or row-sparse.
template <class E>
void csr_times_rows(const NDArray& a, const NDArray& b, E* out, bool add) {
  const CsrRows<E> x(a);
  const MatrixRows<E> y(b, x.stored);
  const std::int64_t n = y.width();
  parallel_for(x.rows, rows_per_share((x.stored + x.rows) * n, x.rows), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      E* to = out + i * n;
      if (n == 1) {
        E total = add ? *to : E(0);
        x.each(i, [&](std::int64_t j, E v) {
          if (const E* row = y(j)) total += v * *row;
        });
        *to = total;
        continue;
      }
      if (!add) std::fill(to, to + n, E(0));
      x.each(i, [&](std::int64_t j, E v) {
        if (const E* row = y(j)) add_scaled(v, row, to, n);
      });
    }
  });
}

/// row(j) += a(i, j) · b(i, ·) for all stored a(i, j): aᵀ · b. The threads share the columns of b.
template <class E, class Row>
void scatter_products(const CsrRows<E>& x, const MatrixRows<E>& y, Row row) {
  const std::int64_t n = y.width();
  parallel_for(n, std::max<std::int64_t>(64, (1 << 18) / std::max<std::int64_t>(1, x.stored)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = 0; i < x.rows; ++i)
                   if (const E* from = y(i))
                     x.each(i, [&](std::int64_t j, E v) { add_scaled(v, from + begin, row(j) + begin, end - begin); });
               });
}

/// out = aᵀ · b into dense memory.
template <class E>
void csr_transposed_times_rows(const NDArray& a, const NDArray& b, E* out, bool add) {
  const CsrRows<E> x(a);
  const MatrixRows<E> y(b, x.rows);
  const std::int64_t n = y.width();
  if (!add) std::fill(out, out + x.cols * n, E(0));
  scatter_products(x, y, [&](std::int64_t j) { return out + j * n; });
}

/// The columns that a CSR matrix stores something in, of the rows that `of` has, ascending.
template <class E, class Of>
detail::List<std::int64_t> stored_columns(const CsrRows<E>& x, Of of) {
  detail::List<std::int64_t> columns;
  if (table_pays(x.cols, x.stored)) {
    detail::List<bool> there(x.cols, false);
    for (std::int64_t i = 0; i < x.rows; ++i)
      if (of(i)) x.each(i, [&](std::int64_t j, E) { there[j] = true; });
    for (std::int64_t j = 0; j < x.cols; ++j)
      if (there[j]) columns.push_back(j);
    return columns;
  }
  for (std::int64_t i = 0; i < x.rows; ++i)
    if (of(i)) x.each(i, [&](std::int64_t j, E) { columns.push_back(j); });
  std::sort(columns.begin(), columns.end());
  columns.resize(std::unique(columns.begin(), columns.end()) - columns.begin());
  return columns;
}

/// out = aᵀ · b as a row-sparse array: a row for each column of a that meets a row of b.
template <class E>
void csr_transposed_to_rows(const NDArray& a, const NDArray& b, const NDArray& out) {
  const CsrRows<E> x(a);
  const MatrixRows<E> y(b, x.rows);
  const std::int64_t n = y.width();
  const detail::List<std::int64_t> kept = stored_columns(x, [&](std::int64_t i) { return y(i) != nullptr; });
  const auto count = static_cast<std::int64_t>(kept.size());
  out.allocate_stored(count);
  std::copy(kept.begin(), kept.end(), out.indices().pointer<std::int64_t>());
  E* const data = out.pointer<E>();
  std::fill(data, data + count * n, E(0));
  const Positions positions(kept.data(), count, x.cols, x.stored);
  scatter_products(x, y, [&](std::int64_t j) { return data + positions(j) * n; });
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
  const detail::List<std::int64_t> kept = stored_columns(y, [](std::int64_t) { return true; });
  const auto count = static_cast<std::int64_t>(kept.size());
  out.allocate_stored(m * count);
  const Positions positions(kept.data(), count, y.cols, y.stored);
  E* const data = out.pointer<E>();
  auto* const indices = out.indices().pointer<std::int64_t>();
  auto* const indptr = out.indptr().pointer<std::int64_t>();
  indptr[0] = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    std::copy(kept.begin(), kept.end(), indices + i * count);
    indptr[i + 1] = (i + 1) * count;
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
/// y_step).
template <class E>
void product_on_pattern(const NDArray& pattern, const E* x, std::int64_t x_row, std::int64_t x_step, const E* y,
                        std::int64_t y_row, std::int64_t y_step, std::int64_t depth, const NDArray& out) {
  const CsrRows<E> p(pattern);
  out.allocate_stored(p.stored);
  E* to = out.pointer<E>();
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < p.rows; ++i)
    p.each(i,
           [&](std::int64_t j, E) { to[at++] = inner_product(x + i * x_row, x_step, y + j * y_row, y_step, depth); });
  std::copy(p.indices, p.indices + p.stored, out.indices().pointer<std::int64_t>());
  std::copy(p.indptr, p.indptr + p.rows + 1, out.indptr().pointer<std::int64_t>());
}

}  // namespace strop::inline v0::detail
