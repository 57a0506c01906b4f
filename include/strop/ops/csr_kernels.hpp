// SPDX-License-Identifier: Apache-2.0
/// \file
/// The inner loops of products with a CSR factor: rows of sums held in registers, work divided by stored values.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/csr_narrow.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/pieces.hpp>
#include <strop/ops/sparse_kernels.hpp>
#include <strop/ops/sparse_rows.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/csr_shares.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace strop::inline v0::detail {

/// A CSR matrix in memory, whose columns are numbered by I. Rows and columns are checked where they are used: a file
/// may claim anything.
template <class E, class I>
struct CsrMatrix {
  std::int64_t rows, cols, stored;
  const E* data;
  const I* indices;
  IndexReader indptr;

  RowSpan row(std::int64_t i) const { return row_span(indptr, i, stored); }
  /// Refuses rows [begin, end) that lead outside. Then the loops over them need not look at each.
  void check(std::int64_t begin, std::int64_t end) const {
    if (begin >= end) return;
    for (std::int64_t i = begin; i < end; ++i) row(i);
    const std::int64_t from = indptr[begin], to = indptr[end];
    if (!all_below(indices + from, to - from, cols)) [[unlikely]]
      for (std::int64_t k = from; k < to; ++k) checked_index(indices[k], cols);
  }
  /// The same of all rows, by all threads.
  void check() const {
    parallel_for(rows, rows_per_share(stored + rows, rows),
                 [&](std::int64_t begin, std::int64_t end) { check(begin, end); });
  }
};

/// The first row at which `work` has been done.
template <class E, class I>
std::int64_t row_after(const CsrMatrix<E, I>& a, std::int64_t work) {
  return row_after(a.rows, a.stored, work, [&](std::int64_t row) { return a.indptr[row]; });
}
/// The first row of part p of `parts` of the same work.
template <class E, class I>
std::int64_t part_begin(const CsrMatrix<E, I>& a, std::int64_t p, std::int64_t parts) {
  return p == 0 ? 0 : row_after(a, (a.stored + a.rows) * p / parts);
}

/// f(first, last) for ranges of its rows, shared out among threads.
template <class E, class I, class F>
void share_rows_out(const CsrMatrix<E, I>& a, std::int64_t share, F f) {
  share_rows_out(a.rows, a.stored, share, [&](std::int64_t row) { return a.indptr[row]; }, f);
}

/// f(the CSR matrix that `a` is), of the type of index that it has.
template <class E, class F>
void with_csr(const NDArray& a, F&& f) {
  IndexReader(a.indices()).as_stored([&]<class I>(const I* indices) {
    f(CsrMatrix<E, I>{a.shape()[0], a.shape()[1], a.nnz(), a.pointer<const E>(), indices, IndexReader(a.indptr())});
  });
}

inline namespace STROP_ISA {

/// Σₖ a(i, k) · row(k) of the stored values from `begin` to `end`, of the columns that a piece has. Several chains of
/// sums, since one addition waits for the one before it: which value goes to which chain depends on its place in the
/// row alone. `Every`: there is a row for each k, otherwise null is one of
/// zeros. `Ahead`: the rows of values that follow are asked for, up to the one at `last`, also those of the next rows
/// of a.
template <class Piece, bool Every, bool Ahead, class E, class I, class Row>
[[gnu::always_inline]] inline Piece sum_of_rows(const CsrMatrix<E, I>& a, std::int64_t begin, std::int64_t end,
                                                std::int64_t last, Row row) {
  constexpr std::int64_t distance = std::clamp<std::int64_t>(4096 / Piece::bytes, 8, 32);
  constexpr int chains = Piece::registers >= 8 ? 1 : Piece::registers >= 4 ? 2 : 4;
  Chains<Piece, chains> sums;
  Piece* const sum = sums.of;
  const auto add = [&](Piece& to, std::int64_t k) __attribute__((always_inline)) {
    if constexpr (Ahead) prefetch<Piece::bytes>(row(a.indices[std::min(k + distance, last)]));
    const E* const from = row(a.indices[k]);
    if (Every || from != nullptr) to.add_product(a.data[k], from);
  };
  std::int64_t k = begin;
  for (; k + chains <= end; k += chains)
    unrolled<chains>([&](int i) __attribute__((always_inline)) { add(sum[i], k + i); });
  for (; k < end; ++k) add(sum[0], k);
  unrolled<chains - 1>([&](int i) __attribute__((always_inline)) { sum[0].add(sum[i + 1]); });
  return sum[0];
}

/// How many rows a stretch of sums has.
template <class Piece>
inline constexpr std::int64_t stretch_of_rows = chain_of_products * (Piece::registers >= 8   ? 1
                                                                     : Piece::registers >= 4 ? 2
                                                                                             : 4);
/// The same sum of more rows than that, to or added to memory.
template <class Piece, class E, class I, class Row>
[[gnu::noinline]] void put_sum_of_many_rows(const CsrMatrix<E, I>& a, std::int64_t begin, std::int64_t end, Row row,
                                            E* to, bool add) {
  E waiting[static_cast<std::size_t>(pair_levels * Piece::columns)];
  Pairs pairs;
  for (std::int64_t k = begin;;) {
    const std::int64_t stop = std::min(end, k + stretch_of_rows<Piece>);
    Piece sum = sum_of_rows<Piece, false, false>(a, k, stop, end - 1, row);
    const auto merge = [&](int level) { sum.add(Piece(waiting + level * Piece::columns)); };
    if (k = stop; k == end) {
      pairs.finish(merge);
      if (add) sum.add(Piece(to));
      return sum.store(to);
    }
    pairs.push(merge, [&](int level) { sum.store(waiting + level * Piece::columns); });
  }
}

/// Whether rows that follow each other seldom have as many values, of few values: where a loop over each ends is then
/// guessed wrong, at a cost of some thirty values. Some rows stand for all.
template <class E, class I>
bool has_varied_rows(const CsrMatrix<E, I>& a) {
  constexpr std::int64_t samples = 256, values_of_a_guess = 32;
  std::int64_t changes = 0;
  for (std::int64_t s = 0; s < samples && a.rows > 1; ++s) {
    const RowSpan one = a.row((a.rows - 1) * s / samples), next = a.row((a.rows - 1) * s / samples + 1);
    changes += one.end - one.begin != next.end - next.begin ? 1 : 0;
  }
  return changes * values_of_a_guess > a.stored / std::max<std::int64_t>(1, a.rows) * samples;
}

/// Rows [begin, end) of a · b, of the columns from c that a piece has. `varied`: has_varied_rows().
template <class Piece, class E, class I>
[[gnu::noinline]] void rows_of_product(const CsrMatrix<E, I>& a, std::int64_t begin, std::int64_t end,
                                       const MatrixRows<E>& b, std::int64_t c, bool varied, E* out, bool add) {
  const std::int64_t stride = b.width(), last = a.indptr[end] - 1;
  const auto row_or_null = [&b, c](std::int64_t j) {
    const E* const row = b(j);
    return row == nullptr ? row : row + c;
  };
  const auto each_row = [&]<bool Every, bool Ahead>(auto row) __attribute__((always_inline)) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = a.indptr[i], stop = a.indptr[i + 1];
      E* const to = out + i * stride + c;
      if (stop - first > stretch_of_rows<Piece>) [[unlikely]] {
        put_sum_of_many_rows<Piece>(a, first, stop, row_or_null, to, add);
        continue;
      }
      Piece sum = sum_of_rows<Piece, Every, Ahead>(a, first, stop, last, row);
      if (add) sum.add(Piece(to));
      sum.store(to);
    }
  };
  const E* const all = b.all();  // a dense matrix has every row: one less thing to ask for each
  if (all == nullptr) return each_row.template operator()<false, false>(row_or_null);
  const auto row = [from = all + c, stride](std::int64_t j) { return from + j * stride; };
  constexpr int W = Piece::columns;
  constexpr std::int64_t piece = is_narrow<E, W> ? Piece::bytes : std::numeric_limits<std::int64_t>::max();
  const SparseKernel kernel =
      sparse_kernel(SparseWork::dense_product,
                    {.bytes = a.cols * stride * std::int64_t{sizeof(E)}, .piece = piece, .varied = varied});
  if constexpr (is_narrow<E, W>)
    if (kernel == SparseKernel::products_first) return narrow_rows<W>(a, begin, end, row, out + c, stride, add);
  if (kernel == SparseKernel::ahead) return each_row.template operator()<true, true>(row);
  if constexpr (W == 1)
    if (stride == 1) return each_row.template operator()<true, false>([all](std::int64_t j) { return all + j; });
  each_row.template operator()<true, false>(row);
}

/// out = a · b, or += it. The same bits for any number of threads.
template <class E, class I>
void csr_product(const CsrMatrix<E, I>& a, const MatrixRows<E>& b, E* out, bool add) {
  constexpr std::int64_t share = 1 << 15;
  const std::int64_t n = b.width();
  const std::int64_t unit = std::max<std::int64_t>(512, share / std::max<std::int64_t>(1, n));
  const bool varied = b.every() && n % number::Rep<number::Vec<E>>::lanes != 0 && has_varied_rows(a);
  share_rows_out(a, unit, [&](std::int64_t first, std::int64_t last) {
    a.check(first, last);
    each_piece<E>(n,
                  [&]<class Piece>(std::int64_t c) { rows_of_product<Piece>(a, first, last, b, c, varied, out, add); });
  });
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
