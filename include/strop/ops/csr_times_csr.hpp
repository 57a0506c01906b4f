// SPDX-License-Identifier: Apache-2.0
/// \file
/// The product of two CSR matrices: how many columns each of its rows has, then the sums.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/csr_kernels.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/ranked_set.hpp>
#include <strop/ops/sparse_kernels.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

namespace strop::inline v0::detail {

/// How many products a row of a · b takes.
template <class E>
Index products_of_row(const CsrRows<E>& a, const CsrRows<E>& b, Index i) {
  Index products = 0;
  a.each(i, [&](Index k, E) {
    const RowSpan span = row_span(b.indptr, k, b.stored);
    products += span.end - span.begin;
  });
  return products;
}

inline namespace STROP_ISA {

/// Sums of values by column, of one row at a time, in a table of S; a bit a column says where there is one, and where
/// these are more words than a row takes products, a bit for each word. Values of a column are added in the order in
/// which they come.
template <class E, class S>
class TableSums {
 public:
  TableSums(Index cols, Index products)
      : words_((cols + 63) / 64),
        pages_(products < words_ ? (words_ + 63) / 64 : 0),
        memory_({words_ + pages_}, i64),
        table_({cols}, dtype_of<S>),
        bits_(memory_.pointer<std::uint64_t>()),
        page_bits_(bits_ + words_),
        sums_(table_.template pointer<S>()) {
    std::fill(bits_, bits_ + words_ + pages_, std::uint64_t{0});
    std::fill(sums_, sums_ + cols, S(0));
  }
  void mark(Index j) {
    bits_[j >> 6] |= std::uint64_t{1} << (j & 63);
    if (pages_ != 0) page_bits_[j >> 12] |= std::uint64_t{1} << ((j >> 6) & 63);
  }
  /// How many columns were marked; forgets them.
  Index count() {
    Index n = 0;
    each_word([&](Index, std::uint64_t bits) { n += std::popcount(bits); });
    return n;
  }
  void add(Index j, E value) {
    mark(j);
    sums_[j] += static_cast<S>(value);
  }
  /// Writes the `count` columns and their sums by ascending column; forgets them.
  template <class J>
  void write(J* columns, E* values, Index count) {
    Index n = 0;
    each_word([&](Index w, std::uint64_t bits) { n += list_bits<4>(bits, w, columns + n, count - n); });
    for (Index k = 0; k < count; ++k) {
      S& sum = sums_[columns[k]];
      values[k] = static_cast<E>(sum);
      sum = 0;
    }
  }

 private:
  template <class F>
  void each_word(F f) {
    if (pages_ == 0) {
      for (Index w = 0; w < words_; ++w) {
        f(w, bits_[w]);
        bits_[w] = 0;
      }
      return;
    }
    for (Index page = 0; page < pages_; ++page) {
      for (std::uint64_t rest = page_bits_[page]; rest != 0; rest &= rest - 1) {
        const Index w = page * 64 + std::countr_zero(rest);
        f(w, bits_[w]);
        bits_[w] = 0;
      }
      page_bits_[page] = 0;
    }
  }

  Index words_, pages_;
  NDArray memory_, table_;
  std::uint64_t *bits_, *page_bits_;
  S* sums_;
};

/// The same by sorting, for rows of a matrix that has many more columns than there are values.
template <class E>
class SortedSums {
 public:
  SortedSums(Index, Index) {}
  void mark(Index j) { places_.push_back({j, places_.size()}); }
  Index count() {
    sort();
    Index n = 0;
    for (Index k = 0; k < places_.size(); ++k) n += k == 0 || places_[k].column != places_[k - 1].column ? 1 : 0;
    places_.clear();
    return n;
  }
  void add(Index j, E value) {
    mark(j);
    values_.push_back(value);
  }
  template <class J>
  void write(J* columns, E* values, Index count) {
    sort();
    for (Index n = 0, k = 0; n < count; ++n) {
      const Index column = places_[k].column;
      columns[n] = static_cast<J>(column);
      double sum = static_cast<double>(values_[places_[k].at]);
      for (++k; k < places_.size() && places_[k].column == column; ++k)
        sum += static_cast<double>(values_[places_[k].at]);
      values[n] = static_cast<E>(sum);
    }
    places_.clear();
    values_.clear();
  }

 private:
  struct Place {
    Index column, at;  // in values_
  };
  void sort() {
    std::sort(places_.begin(), places_.end(),
              [](const Place& a, const Place& b) { return a.column != b.column ? a.column < b.column : a.at < b.at; });
  }
  List<Place> places_;
  List<E> values_;
};

/// out = a · b by Sums, for rows of so many products on average, which `begins` shares out among threads. Both have
/// been checked.
template <class Sums, class E, class I>
void multiply_rows(const CsrMatrix<E, I>& a, const CsrMatrix<E, I>& b, const List<Index>& begins, Index products,
                   const NDArray& out, Dtype index) {
  const auto each_row = [&](auto f) {
    parallel_for(begins.size() - 1, 1, [&](Index first, Index last) {
      Sums sums(b.cols, products);
      for (Index i = begins[first]; i < begins[last]; ++i) f(sums, i);
    });
  };
  const NDArray starts({a.rows + 1}, i64);
  auto* const start = starts.pointer<std::int64_t>();
  each_row([&](Sums& sums, Index i) {
    for (Index k = a.indptr[i], end = a.indptr[i + 1]; k < end; ++k) {
      const Index row = a.indices[k];
      for (Index l = b.indptr[row], stop = b.indptr[row + 1]; l < stop; ++l) sums.mark(b.indices[l]);
    }
    start[i + 1] = sums.count();
  });
  start[0] = 0;
  for (Index i = 0; i < a.rows; ++i) start[i + 1] += start[i];
  allocate_stored_as(out, start[a.rows], index);
  write_indices(out.indptr(), start, a.rows + 1);
  E* const values = out.pointer<E>();
  const auto write_all = [&]<class J>(J* columns) {
    each_row([&](Sums& sums, Index i) {
      for (Index k = a.indptr[i], end = a.indptr[i + 1]; k < end; ++k) {
        const Index row = a.indices[k];
        const E factor = a.data[k];
        for (Index l = b.indptr[row], stop = b.indptr[row + 1]; l < stop; ++l)
          sums.add(b.indices[l], factor * b.data[l]);
      }
      sums.write(columns + start[i], values + start[i], start[i + 1] - start[i]);
    });
  };
  const NDArray columns = out.indices();
  if (columns.dtype() == i32)
    write_all(columns.pointer<std::int32_t>());
  else
    write_all(columns.pointer<std::int64_t>());
}

}  // namespace STROP_ISA

/// f(a, b) for two CSR matrices, checked, with indices of one width.
template <class E, class F>
void with_both_csr(const NDArray& a, const NDArray& b, F f) {
  const auto as = [&]<class I>(const NDArray& lhs, const NDArray& rhs, I) {  // also where one of them stores nothing
    const auto matrix = [](const NDArray& x) {
      const CsrMatrix<E, I> made{
          x.shape()[0],           x.shape()[1], x.nnz(), x.pointer<const E>(), x.indices().pointer<const I>(),
          IndexReader(x.indptr())};
      made.check();
      return made;
    };
    const CsrMatrix<E, I> x = matrix(lhs), y = matrix(rhs);
    f(x, y);
  };
  if (a.indices().dtype() == i32 && b.indices().dtype() == i32)
    as(a, b, std::int32_t{});
  else
    as(with_wide_indices(a), with_wide_indices(b), std::int64_t{});
}

/// out = a · b, a and b in CSR, into dense memory, or += it. A row is the work of one thread.
template <class E>
void csr_times_csr_to_dense(const NDArray& a, const NDArray& b, E* out, bool add) {
  with_both_csr<E>(a, b, [&]<class I>(const CsrMatrix<E, I>& x, const CsrMatrix<E, I>& y) {
    const Index width = y.cols;
    const List<Index> begins = share_rows(x.rows, least_products, [&](Index i) {
      Index products = width / 16;  // zeros are written many at once
      for (Index k = x.indptr[i], end = x.indptr[i + 1]; k < end; ++k)
        products += y.indptr[x.indices[k] + 1] - y.indptr[x.indices[k]];
      return products;
    });
    parallel_for(begins.size() - 1, 1, [&](Index first, Index last) {
      List<double> sums;  // of a row whose columns may have more products than a stretch of sums has
      for (Index i = begins[first]; i < begins[last]; ++i) {
        E* const to = out + i * width;
        if (!add) std::fill(to, to + width, E(0));
        const auto each_product = [&](auto f) {
          for (Index k = x.indptr[i], end = x.indptr[i + 1]; k < end; ++k) {
            const E factor = x.data[k];
            const Index row = x.indices[k];
            for (Index l = y.indptr[row], stop = y.indptr[row + 1]; l < stop; ++l) f(y.indices[l], factor * y.data[l]);
          }
        };
        if (std::same_as<E, double> || x.indptr[i + 1] - x.indptr[i] <= chain_of_products) {
          each_product([&](Index j, E product) { to[j] += product; });
          continue;
        }
        if (sums.empty()) sums.resize(width);
        each_product([&](Index j, E product) { sums[j] += static_cast<double>(product); });
        each_product([&](Index j, E) {
          to[j] = static_cast<E>(static_cast<double>(to[j]) + sums[j]);
          sums[j] = 0;
        });
      }
    });
  });
}

/// out = a · b, all CSR, its indices of the type `index`; a sum of products is stored though it be zero.
template <class E>
void csr_times_csr(const NDArray& a, const NDArray& b, const NDArray& out, Dtype index) {
  with_both_csr<E>(a, b, [&]<class I>(const CsrMatrix<E, I>& x, const CsrMatrix<E, I>& y) {
    const NDArray products({x.rows}, i64);  // of each row
    auto* const products_in = products.pointer<std::int64_t>();
    parallel_for(x.rows, 2048, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        products_in[i] = 0;
        for (Index k = x.indptr[i], end = x.indptr[i + 1]; k < end; ++k)
          products_in[i] += y.indptr[x.indices[k] + 1] - y.indptr[x.indices[k]];
      }
    });
    Index total = 0, rows = 0, longest = 0;  // of those that have any; the most values of one, and so of its sums
    for (Index i = 0; i < x.rows; ++i) {
      longest = std::max(longest, x.indptr[i + 1] - x.indptr[i]);
      total += products_in[i];
      rows += products_in[i] != 0 ? 1 : 0;
    }
    const List<Index> begins =
        share_rows(x.rows, std::max(least_products, y.cols / 4), [&](Index i) { return products_in[i]; });
    const Index of_row = total / std::max<Index>(1, rows);
    if (sparse_kernel(SparseWork::csr_csr, {.values = total + 64, .columns = y.cols}) == SparseKernel::table)
      longest <= chain_of_products ? multiply_rows<TableSums<E, E>>(x, y, begins, of_row, out, index)
                                   : multiply_rows<TableSums<E, double>>(x, y, begins, of_row, out, index);
    else
      multiply_rows<SortedSums<E>>(x, y, begins, of_row, out, index);
  });
}

}  // namespace strop::inline v0::detail
