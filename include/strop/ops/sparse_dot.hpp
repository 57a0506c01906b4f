// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products with a CSR factor. Work is proportional to the stored values times the columns of the other factor.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/ops/csr_transposed.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/sparse_rows.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// Σ x · y of n elements, which lie `x_step` and `y_step` apart.
template <class E>
E inner_product(const E* x, std::int64_t x_step, const E* y, std::int64_t y_step, std::int64_t n) {
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += static_cast<double>(x[i * x_step] * y[i * y_step]);
  return static_cast<E>(total);
}

/// Four sums of products in registers of P elements.
template <class E, int P>
struct FourSums {
  typedef E V __attribute__((vector_size(P * sizeof(E))));
  V s0{}, s1{}, s2{}, s3{};
  [[gnu::always_inline]] static V load(const E* from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  [[gnu::always_inline]] void add(const E* x, const E* y0, const E* y1, const E* y2, const E* y3) {
    const V from = load(x);
    s0 += from * load(y0), s1 += from * load(y1), s2 += from * load(y2), s3 += from * load(y3);
  }
  [[gnu::always_inline]] FourSums<E, P / 2> halved() const {
    return {folded<P / 2, P>(s0), folded<P / 2, P>(s1), folded<P / 2, P>(s2), folded<P / 2, P>(s3)};
  }
};

/// The sums, with x · ym of the elements from k to n, of which fewer than a register of 16 bytes stay behind at k.
template <class E, int P>
[[gnu::always_inline]] inline auto summed(FourSums<E, P> sums, const E* x, const E* y0, const E* y1, const E* y2,
                                          const E* y3, std::int64_t n, std::int64_t& k) {
  for (; k + P <= n; k += P) sums.add(x + k, y0 + k, y1 + k, y2 + k, y3 + k);
  if constexpr (P * sizeof(E) == 16)
    return sums;
  else
    return summed<E, P / 2>(sums.halved(), x, y0, y1, y2, y3, n, k);
}

/// to[m] = Σ x · ym of n elements that follow each other, for four m at once: x is read once, and the sums are added up
/// across their registers together. The bits of each do not depend on the others. Each pointer has a name: of an array
/// of four g++ makes a vector, and takes it apart again.
template <class E>
[[gnu::always_inline]] inline void four_dots(const E* x, const E* y0, const E* y1, const E* y2, const E* y3,
                                             std::int64_t n, E* to) {
  constexpr int side = 16 / sizeof(E), lanes = number::Rep<number::Vec<E>>::lanes;
  constexpr int wide = std::max(side, lanes), narrow = std::max(side, wide / 2);
  std::int64_t k = 0;
  const auto s =
      n < wide ? summed<E, narrow>({}, x, y0, y1, y2, y3, n, k) : summed<E, wide>({}, x, y0, y1, y2, y3, n, k);
  typename FourSums<E, side>::V total[4 * sizeof(E) / 16];
  if constexpr (side == 2) {
    total[0] = __builtin_shufflevector(s.s0, s.s1, 0, 2) + __builtin_shufflevector(s.s0, s.s1, 1, 3);
    total[1] = __builtin_shufflevector(s.s2, s.s3, 0, 2) + __builtin_shufflevector(s.s2, s.s3, 1, 3);
  } else {
    const auto a = __builtin_shufflevector(s.s0, s.s1, 0, 4, 1, 5) + __builtin_shufflevector(s.s0, s.s1, 2, 6, 3, 7);
    const auto b = __builtin_shufflevector(s.s2, s.s3, 0, 4, 1, 5) + __builtin_shufflevector(s.s2, s.s3, 2, 6, 3, 7);
    total[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
  }
  std::memcpy(to, total, sizeof total);
  for (; k < n; ++k) to[0] += x[k] * y0[k], to[1] += x[k] * y1[k], to[2] += x[k] * y2[k], to[3] += x[k] * y3[k];
}

/// The same of rows that are longer than a stretch of sums.
template <class E>
void four_long_dots(const E* x, const E* y0, const E* y1, const E* y2, const E* y3, std::int64_t n, E* to) {
  constexpr std::int64_t stretch = chain_of_sums * std::max<std::int64_t>(1, number::Rep<number::Vec<E>>::lanes);
  if (n <= stretch) return four_dots(x, y0, y1, y2, y3, n, to);
  double total[4] = {};
  for (std::int64_t at = 0; at < n; at += stretch) {
    E part[4];
    four_dots(x + at, y0 + at, y1 + at, y2 + at, y3 + at, std::min(stretch, n - at), part);
    for (int m = 0; m < 4; ++m) total[m] += static_cast<double>(part[m]);
  }
  for (int m = 0; m < 4; ++m) to[m] = static_cast<E>(total[m]);
}

/// to[k] = x · y(columns[k]), rows of `depth` elements, for `count` columns. Where `known` is not null, rows of the
/// columns that follow up to there are asked for ahead.
template <class E, class I, class Rows>
void dots_of_row(const E* x, const Rows& y, std::int64_t depth, const I* columns, std::int64_t count, const I* known,
                 E* to) {
  constexpr std::int64_t ahead = 16, line = 64 / sizeof(E);
  std::int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    if (known != nullptr && known - columns >= k + ahead + 4)
      for (std::int64_t m = 0; m < 4; ++m) {
        const E* const row = y(columns[k + ahead + m]);
        for (std::int64_t at = 0; at < depth; at += line) __builtin_prefetch(row + at);
      }
    four_long_dots(x, y(columns[k]), y(columns[k + 1]), y(columns[k + 2]), y(columns[k + 3]), depth, to + k);
  }
  if (k == count) return;
  const auto row = [&](std::int64_t m) { return y(columns[std::min(k + m, count - 1)]); };
  E sums[4];
  four_long_dots(x, row(0), row(1), row(2), row(3), depth, sums);
  for (std::int64_t m = 0; k + m < count; ++m) to[k + m] = sums[m];
}

}  // namespace STROP_ISA

/// out = a · b, or += where `add`: a in CSR, b dense or row-sparse.
template <class E>
void csr_times_rows(const NDArray& a, const NDArray& b, E* out, bool add) {
  const MatrixRows<E> y(b, a.nnz());
  with_csr<E>(a, [&](const auto& x) { csr_product(x, y, out, add); });
}

/// out = aᵀ · b into dense memory, or += it.
template <class E>
void csr_transposed_times_rows(const NDArray& a, const NDArray& b, E* out, bool add) {
  const MatrixRows<E> y(b, a.shape()[0]);
  with_csr<E>(a, [&](const auto& x) {
    x.check();
    transposed_product(x, y, out, add);
  });
}

/// out = aᵀ · b as a row-sparse array: a row for each column of a that meets a row of b.
template <class E>
void csr_transposed_to_rows(const NDArray& a, const NDArray& b, const NDArray& out) {
  const MatrixRows<E> y(b, a.shape()[0]);
  with_csr<E>(a, [&]<class I>(const CsrMatrix<E, I>& x) {
    x.check();
    transposed_to_rows(x, y, [&](std::int64_t count) {
      allocate_stored_as(out, count, dtype_of<I>);
      return RowsRoom<E, I>{out.indices().template pointer<I>(), out.pointer<E>()};
    });
  });
}

/// Whether some column of a CSR matrix may store many more values than a stretch of sums has.
template <class E>
bool has_long_columns(const CsrRows<E>& a) {
  if (std::same_as<E, double> || a.rows <= chain_of_products) return false;
  return a.stored > chain_of_sums * a.cols ||
         one_has_many(a.stored, a.cols, [&](std::int64_t k) { return a.indices[k]; });
}

/// Row `row` · b for rows of sums: sum(j) is where column j adds up.
template <class E, class Sum>
[[gnu::always_inline]] inline void add_row_times_csr(const E* row, const CsrRows<E>& b, Sum sum) {
  for (std::int64_t k = 0; k < b.rows; ++k) {
    const E s = row[k];
    b.each(k, [&](std::int64_t j, E v) {
      auto& to = sum(j);
      to += static_cast<std::remove_reference_t<decltype(to)>>(s * v);
    });
  }
}

/// out = a · b, a dense of m rows, b in CSR; into dense memory.
template <class E>
void dense_times_csr(const E* a, std::int64_t m, const NDArray& b, E* out, bool add) {
  const CsrRows<E> y(b);
  const bool in_double = has_long_columns(y);
  parallel_for(m, rows_per_share(m * (y.stored + y.cols), m), [&](std::int64_t begin, std::int64_t end) {
    List<double> sums(in_double ? y.cols : 0);
    for (std::int64_t i = begin; i < end; ++i) {
      E* to = out + i * y.cols;
      if (!in_double) {
        if (!add) std::fill(to, to + y.cols, E(0));
        add_row_times_csr(a + i * y.rows, y, [&](std::int64_t j) -> E& { return to[j]; });
        continue;
      }
      for (std::int64_t j = 0; j < y.cols; ++j) sums[j] = add ? static_cast<double>(to[j]) : 0;
      add_row_times_csr(a + i * y.rows, y, [&](std::int64_t j) -> double& { return sums[j]; });
      for (std::int64_t j = 0; j < y.cols; ++j) to[j] = static_cast<E>(sums[j]);
    }
  });
}

/// out = a · b as CSR: every row stores the columns that b stores something in.
template <class E>
void dense_times_csr_to_csr(const E* a, std::int64_t m, const NDArray& b, const NDArray& out) {
  const CsrRows<E> y(b);
  List<std::int64_t> kept;
  with_csr<E>(b, [&]<class I>(const CsrMatrix<E, I>& x) {
    x.check();
    const ListedNumbers<I> columns{x.indices + x.indptr[0], x.indptr[x.rows] - x.indptr[0]};
    number_through(
        x.cols, columns.count, columns,
        [&](std::int64_t n) {
          kept.resize(n);
          return kept.data();
        },
        [](std::int64_t, std::int64_t) {});
  });
  const Index count = kept.size();
  allocate_stored_as(out, m * count, b.indices().dtype());
  const Positions positions(IndexReader(kept.data()), count, y.cols, y.stored);
  E* const data = out.pointer<E>();
  const NDArray indices = out.indices();
  detail::List<std::int64_t> starts(m + 1);
  for (std::int64_t i = 0; i <= m; ++i) starts[i] = i * count;
  const bool in_double = has_long_columns(y);
  write_indices(out.indptr(), starts.data(), m + 1);
  parallel_for(m, rows_per_share(m * (y.stored + y.rows), m), [&](std::int64_t begin, std::int64_t end) {
    List<double> sums(in_double ? count : 0);
    for (std::int64_t i = begin; i < end; ++i) {
      write_indices(indices, kept.data(), count, i * count);
      E* const to = data + i * count;
      if (!in_double) {
        std::fill(to, to + count, E(0));
        add_row_times_csr(a + i * y.rows, y, [&](std::int64_t j) -> E& { return to[positions(j)]; });
        continue;
      }
      for (double& sum : sums) sum = 0;
      add_row_times_csr(a + i * y.rows, y, [&](std::int64_t j) -> double& { return sums[positions(j)]; });
      for (std::int64_t j = 0; j < count; ++j) to[j] = static_cast<E>(sums[j]);
    }
  });
}

/// out = a · bᵀ, a dense of m rows, b in CSR; into dense memory.
template <class E>
void dense_times_csr_transposed(const E* a, std::int64_t m, const NDArray& b, E* out, bool add) {
  const CsrRows<E> y(b);
  parallel_for(m, rows_per_share(m * (y.stored + y.rows), m), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < y.rows; ++j) {
        E& to = out[i * y.rows + j];
        double total = add ? static_cast<double>(to) : 0;
        y.each(j, [&](std::int64_t k, E v) { total += static_cast<double>(a[i * y.cols + k] * v); });
        to = static_cast<E>(total);
      }
  });
}

/// Values only where `places`, in CSR, stores some: out(i, j) = Σ x(i)[t · x_step] · y(j)[t · y_step]; zero where x(i)
/// is null. Each place stands once in the result. `y_bytes`: of all rows of y.
template <class E, class X, class Y>
void product_of_rows_on_pattern(const NDArray& places, const X& x, std::int64_t x_step, const Y& y, std::int64_t y_step,
                                std::int64_t y_bytes, std::int64_t depth, const NDArray& out) {
  const NDArray pattern = merged(places);
  copy_structure(pattern, out);
  E* const to = out.pointer<E>();
  const SparseKernel kernel =
      sparse_kernel(SparseWork::on_pattern, {.width = depth, .adjacent = x_step == 1 && y_step == 1});
  with_csr<E>(pattern, [&](const auto& p) {
    const std::int64_t unit = std::max<std::int64_t>(256, least_products / std::max<std::int64_t>(1, depth));
    share_rows_out(p, unit, [&](std::int64_t first, std::int64_t last) {
      p.check(first, last);
      const auto* const known = y_bytes >= far_bytes ? p.indices + p.indptr[last] : nullptr;
      for (std::int64_t i = first; i < last; ++i) {
        const E* const from = x(i);
        const std::int64_t start = p.indptr[i], stop = p.indptr[i + 1];
        if (from == nullptr)
          std::fill(to + start, to + stop, E(0));
        else if (kernel == SparseKernel::four_dots)
          dots_of_row(from, y, depth, p.indices + start, stop - start, known, to + start);
        else
          for (std::int64_t k = start; k < stop; ++k)
            to[k] = inner_product(from, x_step, y(p.indices[k]), y_step, depth);
      }
    });
  });
}

/// The same of rows that lie `x_row` and `y_row` elements apart.
template <class E>
void product_on_pattern(const NDArray& places, const E* x, std::int64_t x_row, std::int64_t x_step, const E* y,
                        std::int64_t y_row, std::int64_t y_step, std::int64_t depth, const NDArray& out) {
  product_of_rows_on_pattern<E>(
      places, [=](std::int64_t i) { return x + i * x_row; }, x_step, [=](std::int64_t j) { return y + j * y_row; },
      y_step, places.shape()[1] * y_row * std::int64_t{sizeof(E)}, depth, out);
}

}  // namespace strop::inline v0::detail
