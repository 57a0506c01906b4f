// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products with a transposed CSR factor: the columns that it stores something in, and its transpose as CSR.
#pragma once
#include <strop/ops/csr_kernels.hpp>
#include <strop/ops/ranked_set.hpp>
#include <strop/tensor/ndarray.hpp>

namespace strop::inline v0::detail {

/// The columns of a CSR matrix that count, and its indices with these columns numbered through.
struct NumberedColumns {
  List<std::int64_t> kept;  ///< ascending
  NDArray indices;          ///< of every stored value the place of its column in `kept`; 0 where it does not count
};

/// The columns in which rows that `counts` store something. At most 2³¹ − 1 of them.
template <class E, class I, class Counts>
NumberedColumns number_columns(const CsrMatrix<E, I>& a, Counts counts) {
  a.check(0, a.rows);
  NumberedColumns out{{}, NDArray({a.stored}, i32)};
  auto* const places = out.indices.template pointer<std::int32_t>();
  std::fill(places, places + a.stored, 0);
  const auto each = [&](auto f) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (!counts(i)) continue;
      const RowSpan span = a.row(i);
      for (std::int64_t k = span.begin; k < span.end; ++k) f(k, a.indices[k]);
    }
  };
  out.kept = number_through(a.cols, a.stored, each,
                            [&](std::int64_t k, std::int64_t at) { places[k] = static_cast<std::int32_t>(at); });
  return out;
}

/// aᵀ in CSR into memory that is there: columns ascend in each row where each place is stored once. `from`, where
/// given, says of each stored value where a has it. a has been checked.
template <class E, class I, class J>
void transpose(const CsrMatrix<E, I>& a, std::int64_t* starts, J* rows, E* values, Index* from = nullptr) {
  std::fill(starts, starts + a.cols + 1, std::int64_t{0});
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.indptr[i]; k < a.indptr[i + 1]; ++k) ++starts[a.indices[k] + 1];
  for (std::int64_t j = 0; j < a.cols; ++j) starts[j + 1] += starts[j];
  // the start of a row moves to its end, which is the next one's start
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.indptr[i]; k < a.indptr[i + 1]; ++k) {
      const std::int64_t to = starts[a.indices[k]]++;
      rows[to] = static_cast<J>(i);
      values[to] = a.data[k];
      if (from != nullptr) from[to] = k;
    }
  for (std::int64_t j = a.cols; j > 0; --j) starts[j] = starts[j - 1];
  starts[0] = 0;
}

/// The columns in which a CSR matrix stores something, ascending, by a mark for each: the threads mark in tables of
/// their own. For matrices that store more than a few values a column.
template <class E, class I>
List<std::int64_t> marked_columns(const CsrMatrix<E, I>& a) {
  const std::int64_t parts = std::clamp<std::int64_t>(a.stored / (1 << 16), 1, 4);
  const NDArray marks({parts, a.cols}, u8);
  auto* const seen = marks.pointer<std::uint8_t>();
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      std::uint8_t* const mine = seen + p * a.cols;
      std::fill(mine, mine + a.cols, std::uint8_t{0});
      const std::int64_t first = a.part_begin(p, parts), last = a.part_begin(p + 1, parts);
      a.check(first, last);
      if (first < last)
        for (std::int64_t k = a.indptr[first]; k < a.indptr[last]; ++k) mine[a.indices[k]] = 1;
    }
  });
  List<std::int64_t> kept;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    bool any = false;
    for (std::int64_t p = 0; p < parts; ++p) any |= seen[p * a.cols + j] != 0;
    if (any) kept.push_back(j);
  }
  return kept;
}

inline namespace STROP_ISA {

/// sums(j, ·) += a(i, j) · b(i, ·) for rows [begin, end) of a, of `width` columns of b from c. The rows of sums follow
/// each other.
template <class E, class I>
void scatter_rows(const CsrMatrix<E, I>& a, std::int64_t begin, std::int64_t end, const MatrixRows<E>& b,
                  std::int64_t c, std::int64_t width, E* sums) {
  each_piece<E>(width, [&]<class Piece>(std::int64_t at) {
    for (std::int64_t i = begin; i < end; ++i) {
      const E* const from = b(i);
      if (from == nullptr) continue;
      const Piece x(from + c + at);
      for (std::int64_t k = a.indptr[i], stop = a.indptr[i + 1]; k < stop; ++k) {
        E* const to = sums + a.indices[k] * width + at;
        Piece sum(to);
        sum.add_product(a.data[k], x);
        sum.store(to);
      }
    }
  });
}

/// out(r, ·) = Σ sums(p, row(r), ·), or += it, for parts of sums that lie `part` elements apart, of rows of `width`.
template <class E, class Row>
void deliver_sums(const E* sums, std::int64_t part, std::int64_t parts, std::int64_t begin, std::int64_t end, Row row,
                  std::int64_t width, E* out, std::int64_t stride, bool add) {
  each_piece<E>(width, [&]<class Piece>(std::int64_t c) {
    for (std::int64_t r = begin; r < end; ++r) {
      const E* const from = sums + row(r) * width + c;
      E* const to = out + r * stride + c;
      Piece total(from);
      for (std::int64_t p = 1; p < parts; ++p) total.add(Piece(from + p * part));
      if (add) total.add(Piece(to));
      total.store(to);
    }
  });
}

/// out(r, ·) = (aᵀ · b)(row(r), ·) for r < rows, or += it. a has been checked. The same bits for any number of threads:
/// what is summed apart depends on the shapes alone.
template <class E, class I, class Row>
void csr_transposed_product(const CsrMatrix<E, I>& a, const MatrixRows<E>& b, std::int64_t rows, Row row, E* out,
                            bool add) {
  // Sums in memory of their own, as many columns at once as a line of the cache has, so that those of many rows stay in
  // it; of few columns, each part of a's rows has sums of its own.
  constexpr std::int64_t line = 64 / sizeof(E);
  if (rows == 0 || b.width() == 0) return;
  const std::int64_t n = b.width(), panels = (n + line - 1) / line;
  const std::int64_t parts = panels > 1 ? 1 : std::clamp<std::int64_t>(a.stored / (4 * a.cols + 1), 1, 4);
  const std::int64_t least = a.stored * std::min(n, line) / (parts * panels) >= (1 << 14) ? 1 : parts * panels;
  const NDArray sums({panels == 1 ? parts : 0, a.cols, n}, dtype_of<E>);
  parallel_for(parts * panels, least, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t part = task % parts, c = task / parts * line, width = std::min(line, n - c);
      const NDArray own({panels == 1 ? 0 : a.cols * width}, dtype_of<E>);
      E* const to = panels == 1 ? sums.pointer<E>() + part * a.cols * n : own.pointer<E>();
      std::fill(to, to + a.cols * width, E(0));
      scatter_rows(a, a.part_begin(part, parts), a.part_begin(part + 1, parts), b, c, width, to);
      if (panels > 1) deliver_sums(to, 0, 1, 0, rows, row, width, out + c, n, add);
    }
  });
  if (panels == 1)
    parallel_for(rows, std::max<std::int64_t>(1, (1 << 16) / (n * parts + 1)),
                 [&](std::int64_t first, std::int64_t last) {
                   deliver_sums(sums.pointer<const E>(), a.cols * n, parts, first, last, row, n, out, n, add);
                 });
}

/// The same for all columns of a, of which each has few values: what is added to one is gathered.
template <class E, class I>
void csr_transposed_gather(const CsrMatrix<E, I>& a, const MatrixRows<E>& b, E* out, bool add) {
  const NDArray starts({a.cols + 1}, i64), rows({a.stored}, i32), values({a.stored}, dtype_of<E>);
  transpose(a, starts.pointer<std::int64_t>(), rows.pointer<std::int32_t>(), values.pointer<E>());
  csr_product(CsrMatrix<E, std::int32_t>{a.cols, a.rows, a.stored, values.pointer<const E>(),
                                         rows.pointer<const std::int32_t>(), IndexReader(starts)},
              b, out, add);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
