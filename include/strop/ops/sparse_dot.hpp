// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products with a CSR factor. Work is proportional to the stored values times the columns of the other factor.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/ops/sparse_rows.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <cstdint>

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
/// y_step).
template <class E>
void product_on_pattern(const NDArray& pattern, const E* x, std::int64_t x_row, std::int64_t x_step, const E* y,
                        std::int64_t y_row, std::int64_t y_step, std::int64_t depth, const NDArray& out) {
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
