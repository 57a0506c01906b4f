// SPDX-License-Identifier: Apache-2.0
/// \file
/// Factors of products of two CSR matrices, and gradients of these. Work is proportional to the products of stored
/// values that meet; rows are shared out among threads by that work, and each is computed by one thread, so that
/// results do not depend on how many there are.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/csr_times_csr.hpp>
#include <strop/ops/sparse_dot.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {

/// aᵀ as a CSR matrix of its own, whose indices are as wide as those of a where they can number its rows; `from` as of
/// transpose().
template <class E>
NDArray csr_transposed(const NDArray& a, List<Index>* from = nullptr) {
  const NDArray out = NDArray::shell({a.shape()[1], a.shape()[0]}, a.dtype(), a.device(), csr);
  const bool narrow = a.indices().dtype() == i32 && fits_narrow(a.shape()[0]);
  allocate_stored_as(out, a.nnz(), narrow ? i32 : i64);
  if (from != nullptr) from->resize(a.nnz());
  List<Index> starts(a.shape()[1] + 1);
  with_csr<E>(a, [&](const auto& x) {
    x.check();
    const auto into = [&](auto* rows) {
      transpose(x, starts.data(), rows, out.pointer<E>(), from != nullptr ? from->data() : nullptr);
    };
    const NDArray rows = out.indices();
    narrow ? into(rows.pointer<std::int32_t>()) : into(rows.pointer<std::int64_t>());
  });
  write_indices(out.indptr(), starts.data(), starts.size());
  return out;
}

/// a with the columns that `kept` lists, ascending, numbered by their places there; there are no others.
template <class E>
NDArray renumbered(const NDArray& a, const List<Index>& kept) {
  const NDArray out = NDArray::shell({a.shape()[0], kept.size()}, a.dtype(), a.device(), csr);
  copy_structure(a, out);
  std::copy_n(a.pointer<const E>(), a.nnz(), out.pointer<E>());
  const Positions position(IndexReader(kept.data()), kept.size(), a.shape()[1], a.nnz());
  const auto number = [&](auto* indices) {
    using I = std::remove_pointer_t<decltype(indices)>;
    for (Index k = 0; k < a.nnz(); ++k) indices[k] = static_cast<I>(position(checked_index(indices[k], a.shape()[1])));
  };
  const NDArray indices = out.indices();
  indices.dtype() == i32 ? number(indices.pointer<std::int32_t>()) : number(indices.pointer<std::int64_t>());
  return out;
}

/// Of two CSR matrices with the same columns, where a table of these would not pay: only those that one of them stores
/// something in.
template <class E>
void leave_out_empty_columns(NDArray& a, NDArray& b) {
  if (table_pays(a.shape()[1], a.nnz() + b.nnz())) return;
  List<Index> columns;
  for (const NDArray* matrix : {&a, &b}) {
    const CsrRows<E> rows(*matrix);
    for (Index i = 0; i < rows.rows; ++i) rows.each(i, [&](Index j, E) { columns.push_back(j); });
  }
  std::sort(columns.begin(), columns.end());
  columns.resize(std::unique(columns.begin(), columns.end()) - columns.begin());
  a = renumbered<E>(a, columns);
  b = renumbered<E>(b, columns);
}

/// The factors of a product of CSR matrices as they are multiplied.
template <class E>
struct CsrFactors {
  NDArray a, b;
  List<Index> from_a, from_b;  // where the array that was given has a stored value, of a transposed factor

  /// `in_patterns`: whatever is made of them is wanted where something is stored only. The columns of a · bᵀ, which no
  /// list of rows pays for, are then those that something stands in.
  CsrFactors(const NDArray& lhs, const NDArray& rhs, bool transpose_a, bool transpose_b, bool in_patterns)
      : a(lhs), b(rhs) {
    if (transpose_b && !transpose_a && in_patterns) leave_out_empty_columns<E>(a, b);
    if (transpose_a) a = csr_transposed<E>(a, &from_a);
    if (transpose_b) b = csr_transposed<E>(b, &from_b);
  }
};

/// The rows of a matrix that is dense or CSR, as dense rows; one at a time, by one thread.
template <class E>
class DenseRow {
 public:
  explicit DenseRow(const NDArray& a) : cols_(a.shape()[1]) {
    if (a.storage() == dense)
      data_ = a.pointer<const E>();
    else
      sparse_.push_back(CsrRows<E>(a)), row_ = List<E>(cols_);
  }
  const E* operator()(Index i) {
    if (sparse_.empty()) return data_ + i * cols_;
    if (last_ >= 0) sparse_[0].each(last_, [&](Index j, E) { row_[j] = E(0); });
    sparse_[0].each(last_ = i, [&](Index j, E v) { row_[j] += v; });
    return row_.data();
  }

 private:
  Index cols_, last_ = -1;
  const E* data_ = nullptr;
  List<CsrRows<E>> sparse_;  // one, or none where a is dense
  List<E> row_;
};

/// out = dy · bᵀ, b in CSR and dy dense or CSR: where `pattern` stores something, for an `out` in CSR, or dense.
template <class E>
void product_with_csr_transposed(const NDArray& dy, const NDArray& b, const NDArray& pattern, const NDArray& out,
                                 bool add) {
  const CsrRows<E> y(b);
  const auto row_times = [&](const E* row, Index j) {
    double sum = 0;
    y.each(j, [&](Index k, E w) { sum += static_cast<double>(row[k] * w); });
    return static_cast<E>(sum);
  };
  const bool sparse = out.storage() == csr;
  const CsrRows<E> p(pattern);
  if (sparse) copy_structure(pattern, out);
  E* const to = out.pointer<E>();
  const List<Index> begins = share_rows(p.rows, std::max(least_products, y.cols / 4),
                                        [&](Index i) { return sparse ? products_of_row(p, y, i) : y.stored + y.rows; });
  parallel_for(begins.size() - 1, 1, [&](Index first, Index last) {
    DenseRow<E> rows(dy);
    for (Index i = begins[first]; i < begins[last]; ++i) {
      const E* const row = rows(i);
      if (sparse) {
        Index at = row_span(p.indptr, i, p.stored).begin;
        p.each(i, [&](Index j, E) { to[at++] = row_times(row, j); });
      } else {
        E* const here = to + i * y.rows;
        for (Index j = 0; j < y.rows; ++j) here[j] = row_times(row, j) + (add ? here[j] : E(0));
      }
    }
  });
}

/// out = x · dy, x in CSR and dy dense or CSR: where `pattern` stores something, for an `out` in CSR, or dense.
template <class E>
void csr_rows_product(const NDArray& x, const NDArray& dy, const NDArray& pattern, const NDArray& out, bool add) {
  const CsrRows<E> a(x), p(pattern);
  const bool sparse = out.storage() == csr;
  if (sparse) copy_structure(pattern, out);
  E* const to = out.pointer<E>();
  List<CsrRows<E>> head;  // one, or none where dy is dense
  if (dy.storage() == csr) head.push_back(CsrRows<E>(dy));
  const E* const rows = head.empty() ? dy.pointer<const E>() : nullptr;
  const List<Index> begins = share_rows(a.rows, std::max(least_products, p.cols / 4), [&](Index i) {
    const RowSpan of_a = row_span(a.indptr, i, a.stored), of_p = row_span(p.indptr, i, p.stored);
    return head.empty() ? (of_a.end - of_a.begin) * (of_p.end - of_p.begin) : products_of_row(a, head[0], i);
  });
  parallel_for(begins.size() - 1, 1, [&](Index first, Index last) {
    List<double> sums(p.cols);  // of one row; zero where the row has none
    for (Index i = begins[first]; i < begins[last]; ++i) {
      if (!head.empty())
        a.each(i, [&](Index r, E v) { head[0].each(r, [&](Index j, E w) { sums[j] += static_cast<double>(v * w); }); });
      if (sparse) {
        Index at = row_span(p.indptr, i, p.stored).begin;
        p.each(i, [&](Index j, E) {
          double sum = sums[j];
          if (rows != nullptr) a.each(i, [&](Index r, E v) { sum += static_cast<double>(v * rows[r * p.cols + j]); });
          to[at++] = static_cast<E>(sum);
        });
      } else {
        E* const here = to + i * p.cols;
        for (Index j = 0; j < p.cols; ++j)
          here[j] = static_cast<E>(sums[j] + (add ? static_cast<double>(here[j]) : 0.0));
      }
      if (!head.empty()) a.each(i, [&](Index r, E) { head[0].each(r, [&](Index j, E) { sums[j] = 0; }); });
    }
  });
}

/// The gradient of a factor in the form that was asked for. `make` computes it as the factor was multiplied, in CSR on
/// the pattern of `factor` or dense, and adds it there if told so; `given` is the factor as it was given, and `from`
/// says where it has the stored values of one that was transposed for the product.
template <class E, class Make>
void gradient_of_factor(const NDArray& given, const NDArray& factor, const List<Index>& from, bool transposed,
                        const NDArray& out, bool add, Make make) {
  if (!transposed && (out.storage() == dense || factor.is(given))) return make(out, add);
  const Shape& shape = factor.shape();
  if (out.storage() == dense) {
    const NDArray turned(shape, out.dtype(), out.device());
    make(turned, false);
    const E* const values = turned.pointer<const E>();
    E* const to = out.pointer<E>();
    for (Index j = 0; j < shape[1]; ++j)
      for (Index i = 0; i < shape[0]; ++i) {
        E& y = to[j * shape[0] + i];
        y = values[i * shape[1] + j] + (add ? y : E(0));
      }
    return;
  }
  const NDArray turned = NDArray::shell(shape, out.dtype(), out.device(), csr);
  make(turned, false);
  const CsrRows<E> pattern(given), values(turned);
  copy_structure(given, out);
  E* const to = out.pointer<E>();
  std::fill(to, to + pattern.stored, E(0));  // of a broken array: what no row has
  const Index last = values.indptr[values.rows];
  for (Index k = values.indptr[0]; k < last; ++k) to[transposed ? from[k] : k] = values.data[k];
}

/// Gradients of y = op(a) · op(b), all CSR, for the head gradient dy, dense or CSR; of those that are given.
template <class E>
void gradients_of_csr_product(const NDArray& head, const NDArray& given_lhs, const NDArray& given_rhs, bool transpose_a,
                              bool transpose_b, const NDArray& da, bool add_a, const NDArray& db, bool add_b) {
  const NDArray lhs = merged(given_lhs), rhs = merged(given_rhs);  // a gradient has each place once
  const bool sparse_b = !db.defined() || db.storage() == csr;
  CsrFactors<E> f(lhs, rhs, transpose_a, transpose_b, sparse_b && (!da.defined() || da.storage() == csr));
  NDArray dy = head;
  if (dy.storage() == csr && sparse_b && !transpose_b) leave_out_empty_columns<E>(dy, f.b);
  if (da.defined())
    gradient_of_factor<E>(lhs, f.a, f.from_a, transpose_a, da, add_a, [&](const NDArray& out, bool add) {
      product_with_csr_transposed<E>(dy, f.b, f.a, out, add);
    });
  if (db.defined())
    gradient_of_factor<E>(rhs, f.b, f.from_b, transpose_b, db, add_b, [&](const NDArray& out, bool add) {
      const NDArray turned = csr_transposed<E>(f.a);  // row j says which rows of dy count
      if (out.storage() == dense && dy.storage() == dense) return csr_times_rows(turned, dy, out.pointer<E>(), add);
      csr_rows_product<E>(turned, dy, f.b, out, add);
    });
}

}  // namespace strop::inline v0::detail
