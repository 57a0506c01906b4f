// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what operators of linear algebra share, which only what builds their kernels reads: the matrices of an
/// array, triangular systems, Cholesky's factors and those of Gauss in blocks whose products are those of ops/gemm.hpp.
/// What Eigen computes is in solvers.hpp.
#pragma once
#include <strop/core/list.hpp>
#include <strop/core/span.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/linalg/kernels.hpp>
#include <strop/ops/linalg/solvers.hpp>
#include <strop/ops/softmax_kernels_body.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// The matrices of an array: its last two axes.
struct Matrices {
  std::int64_t count = 1, rows = 0, cols = 0;
  constexpr explicit Matrices(std::span<const std::int64_t> shape)
      : rows(shape[shape.size() - 2]), cols(shape[shape.size() - 1]) {
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) count *= shape[i];
  }
  constexpr std::int64_t size() const { return rows * cols; }
};

/// Rows or columns that are factored, or solved for, element by element; what is beyond them are products.
inline constexpr std::int64_t matrix_block = 16;

/// y −= x for rows of m elements, those of y `step` apart.
template <class E>
void subtract_rows(const E* x, std::int64_t n, std::int64_t m, E* y, std::int64_t step) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) y[i * step + j] -= x[i * m + j];
}
/// to, cols × rows, is from, rows × cols, transposed; the rows of either are so far apart. By squares.
template <class E>
void copy_transposed(const E* from, std::int64_t rows, std::int64_t cols, std::int64_t step, E* to,
                     std::int64_t to_step) {
  constexpr std::int64_t side = Square<E>::side;
  const std::int64_t tall = rows / side * side, wide = cols / side * side;
  for (std::int64_t j0 = 0; j0 < wide; j0 += matrix_block)
    for (std::int64_t i = 0; i < tall; i += side)
      for (std::int64_t j = j0; j < std::min(wide, j0 + matrix_block); j += side) {
        const E* lines[unsigned_size(side)];
        for (std::int64_t q = 0; q < side; ++q) lines[q] = from + (i + q) * step + j;
        Square<E>::transpose(lines, to + j * to_step + i, to_step);
      }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i < tall ? wide : 0; j < cols; ++j) to[j * to_step + i] = from[i * step + j];
}
template <class E>
void copy_transposed(const E* from, std::int64_t rows, std::int64_t cols, E* to) {
  copy_transposed(from, rows, cols, cols, to, rows);
}
/// Of an n × n matrix the elements outside of a triangle become 0.
template <class E>
void clear_outside(E* a, std::int64_t n, bool lower) {
  for (std::int64_t i = 0; i < n; ++i)
    lower ? std::fill(a + i * n + i + 1, a + (i + 1) * n, E(0)) : std::fill(a + i * n, a + i * n + i, E(0));
}
template <class E>
void fill_identity(E* a, std::int64_t n) {
  std::fill_n(a, n * n, E(0));
  for (std::int64_t i = 0; i < n; ++i) a[i * n + i] = E(1);
}

/// c −= a · b: a is m × k, b k × n; rows of b and c are so far apart, and c overlaps neither.
template <class E>
void subtract_product(std::int64_t m, std::int64_t n, std::int64_t k, Strided<E> a, const E* b, std::int64_t b_step,
                      E* c, std::int64_t c_step) {
  if (m == 0 || n == 0) return;
  if (n == 1) {
    List<E> product(m);
    gemm(m, n, k, a, Strided<E>{b, b_step, 1}, product.data());
    return subtract_rows(product.data(), m, n, c, c_step);
  }
  const bool by_columns = a.row == 1;  // the copy lies as a does
  const std::int64_t lines = by_columns ? k : m, length = by_columns ? m : k, step = by_columns ? a.col : a.row,
                     within = by_columns ? a.row : a.col;
  List<E> minus(m * k);
  for (std::int64_t i = 0; i < lines; ++i)
    for (std::int64_t j = 0; j < length; ++j) minus[i * length + j] = -a.data[i * step + j * within];
  const Strided<E> left = Strided<E>::of(minus.data(), length, by_columns), right{b, b_step, 1};
  Gemm<E>::tiles({m, n, k, left, right, c, c_step, true, Gemm<E>::route(m, n, k, left, right) == GemmRoute::packed});
}

/// solve_triangle for an extent up to matrix_block: two registers of columns at a time, all rows one after the other.
template <class E>
void solve_block(Strided<E> a, bool lower, bool unit, std::int64_t n, std::int64_t m, E* b, std::int64_t step) {
  using Tile = Tiles<E>;
  using V = typename Tile::V;
  using R = typename Tile::R;
  constexpr std::int64_t lanes = Tile::lanes, cols = Tile::cols;
  const auto row = [&](std::int64_t i) { return lower ? i : n - 1 - i; };  // that is solved for as number i
  E minus[matrix_block * matrix_block];
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t q = 0; q <= i; ++q)
      minus[i * matrix_block + q] = q < i ? -*a.at(row(i), row(q)).data : unit ? E(1) : *a.at(row(i), row(i)).data;
  const auto solve = [&]<int N>(std::integral_constant<int, N>, E* to, std::int64_t last) {
    V known[matrix_block][std::size_t{N}];
    const auto mask = Tile::mask(last);
    for (std::int64_t i = 0; i < n; ++i) {
      E *const at = to + row(i) * step, *const end = at + (N - 1) * lanes;
      E part[unsigned_size(lanes)] = {};
      const bool whole = Tile::masks || last == lanes;
      if (!whole) std::copy_n(end, last, part);
      V x[std::size_t{N}];
      if constexpr (N == 2) x[0] = R::load(at);
      x[N - 1] = whole ? Tile::load(end, mask) : R::load(part);
      for (std::int64_t q = 0; q < i; ++q) {
        const V factor = Tile::splat(minus[i * matrix_block + q]);
        for (int r = 0; r < N; ++r) x[r] = Tile::fma(factor, known[q][r], x[r]);
      }
      for (int r = 0; r < N; ++r) {
        if (!unit) x[r] = x[r] / Tile::splat(minus[i * matrix_block + i]);
        known[i][r] = x[r];
      }
      if constexpr (N == 2) R::store(at, x[0]);
      if (whole) {
        Tile::store(end, x[N - 1], mask);
      } else {
        R::store(part, x[N - 1]);
        std::copy_n(part, last, end);
      }
    }
  };
  for (std::int64_t j = 0; j < m; j += cols)
    if (const std::int64_t count = std::min(cols, m - j); count > lanes)
      solve(std::integral_constant<int, 2>{}, b + j, count - lanes);
    else
      solve(std::integral_constant<int, 1>{}, b + j, count);
}

/// Extents for which plain numbers take less time than copies in registers.
inline constexpr std::int64_t fewest = 8;
/// y −= f · x.
template <class E>
void subtract_multiple(E f, const E* x, std::int64_t n, E* y) {
  for (std::int64_t j = 0; j < n; ++j) y[j] -= f * x[j];
}
/// solve_triangle for extents up to fewest.
template <class E>
void solve_few(Strided<E> a, bool lower, bool unit, std::int64_t n, std::int64_t m, E* b, std::int64_t step) {
  for (std::int64_t done = 0; done < n; ++done) {
    const std::int64_t i = lower ? done : n - 1 - done;
    for (std::int64_t q = 0; q < done; ++q) {
      const std::int64_t j = lower ? q : n - 1 - q;
      subtract_multiple(*a.at(i, j).data, b + j * step, m, b + i * step);
    }
    if (unit) continue;
    const E diagonal = *a.at(i, i).data;
    for (std::int64_t j = 0; j < m; ++j) b[i * step + j] /= diagonal;
  }
}

/// b = a⁻¹ · b for a triangular a, n × n, and b of n rows of m elements, `step` apart. Only the triangle of a is read,
/// and of a `unit` one not the diagonal, which is 1. By halves of the triangle, and the square between them as a
/// product.
template <class E>
void solve_triangle(Strided<E> a, bool lower, bool unit, std::int64_t n, std::int64_t m, E* b, std::int64_t step) {
  if (n <= fewest && m <= fewest) return solve_few(a, lower, unit, n, m, b, step);
  if (n <= matrix_block) return solve_block(a, lower, unit, n, m, b, step);
  const std::int64_t half = (n / 2 + matrix_block - 1) / matrix_block * matrix_block, rest = n - half;
  E* const below = b + half * step;
  if (lower) {
    solve_triangle(a, lower, unit, half, m, b, step);
    subtract_product(rest, m, half, a.at(half, 0), b, step, below, step);
    solve_triangle(a.at(half, half), lower, unit, rest, m, below, step);
  } else {
    solve_triangle(a.at(half, half), lower, unit, rest, m, below, step);
    subtract_product(half, m, rest, a.at(0, half), below, step, b, step);
    solve_triangle(a, lower, unit, half, m, b, step);
  }
}
template <class E>
void solve_triangle(Strided<E> a, bool lower, bool unit, std::int64_t n, std::int64_t m, E* b) {
  solve_triangle(a, lower, unit, n, m, b, m);
}

/// factor_cholesky for an extent up to `small_factor`: a float matrix of 8 takes Eigen 1.6 times as long, with AVX-512
/// and AVX2.
inline constexpr std::int64_t small_factor = 12;
template <class E>
bool factor_small(E* a, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      E rest = a[i * n + j];
      for (std::int64_t p = 0; p < j; ++p) rest -= a[i * n + p] * a[j * n + p];
      if (i == j && !(rest > E(0))) return false;
      a[i * n + j] = i == j ? std::sqrt(rest) : rest / a[j * n + j];
    }
  return true;
}

/// Extents of matrices whose Cholesky factors Eigen finds whole, and of the blocks that it factors of larger ones. What
/// is beyond the blocks are products and triangular systems of ours: with AVX-512 a float matrix of 512 has its factor
/// 1.4 times as soon as Eigen alone finds it, one of 1024 1.5 times.
inline constexpr std::int64_t whole_factor = 128, factor_block = 64;

/// The lower triangle of a symmetric n × n matrix becomes its Cholesky factor; false where the matrix is not positive
/// definite.
template <class E>
bool factor_cholesky(const Solvers<E>& solvers, E* a, std::int64_t n) {
  if (n <= whole_factor) return n <= small_factor ? factor_small(a, n) : solvers.potrf(a, n, n);
  List<E> part(n * factor_block);
  for (std::int64_t left = 0; left < n; left += factor_block) {
    const std::int64_t right = std::min(n, left + factor_block), width = right - left, beyond = n - right;
    if (left > 0) {
      const Strided<E> rows{a + left * n, n, 1};
      gemm(n - left, width, left, rows, rows.transpose(), part.data());
      subtract_rows(part.data(), n - left, width, a + left * n + left, n);
    }
    if (!solvers.potrf(a + left * n + left, n, width)) return false;
    // What is below the block, transposed: the solution of a system with its factor.
    E* const below = a + right * n + left;
    copy_transposed(below, beyond, width, n, part.data(), beyond);
    solve_triangle(Strided<E>{a + left * n + left, n, 1}, true, false, width, beyond, part.data());
    copy_transposed(part.data(), width, beyond, beyond, below, n);
  }
  return true;
}

/// Rows that are factored one after the other.
inline constexpr std::int64_t few_rows = 64;
/// Columns from `left` on, up to matrix_block, of an n × n matrix whose columns before are factored become factors;
/// whole rows are exchanged. For up to few_rows rows: one after the other, in a copy that is filled up to whole
/// registers.
template <class E>
void factor_rows(E* a, std::int64_t n, std::int64_t left, std::int64_t width, std::int32_t* pivot) {
  using Tile = Tiles<E>;
  using V = typename Tile::V;
  using R = typename Tile::R;
  constexpr std::int64_t lanes = Tile::lanes, side = matrix_block;
  struct Columns {  // read from side − 1 − k on: 1 behind column k, and 1 in it
    E behind[2 * side] = {}, in[2 * side] = {};
    constexpr Columns() {
      for (std::int64_t j = side; j < 2 * side; ++j) behind[j] = 1;
      in[side - 1] = 1;
    }
  };
  static constexpr Columns columns;
  const std::int64_t count = n - left, padded = (width + lanes - 1) / lanes * lanes;
  E* const top = a + left * n + left;
  E rows[few_rows * side];
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < padded; ++j) rows[i * side + j] = j < width ? top[i * n + j] : E(0);
  for (std::int64_t k = 0; k < width; ++k) {
    std::int64_t at = k;
    for (std::int64_t i = k + 1; i < count; ++i)
      if (std::abs(rows[i * side + k]) > std::abs(rows[at * side + k])) at = i;
    pivot[left + k] = static_cast<std::int32_t>(left + at);
    const E largest = rows[at * side + k];
    if (largest == E(0)) continue;
    if (at != k) {
      std::swap_ranges(rows + k * side, rows + k * side + padded, rows + at * side);
      if (width < n) std::swap_ranges(a + (left + k) * n, a + (left + k + 1) * n, a + (left + at) * n);
    }
    for (std::int64_t i = k + 1; i < count; ++i) {
      const E factor = rows[i * side + k] / largest;
      for (std::int64_t j = k / lanes * lanes; j < padded; j += lanes) {
        E* const to = rows + i * side + j;
        const V behind = R::load(columns.behind + side - 1 - k + j), in = R::load(columns.in + side - 1 - k + j);
        const V upper = R::select(behind > V{}, R::load(rows + k * side + j), V{});
        R::store(to, R::select(in > V{}, Tile::splat(factor), Tile::fma(Tile::splat(-factor), upper, R::load(to))));
      }
    }
  }
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < width; ++j) top[i * n + j] = rows[i * side + j];
}

/// Columns from `left` on, up to matrix_block, of an n × n matrix whose columns before are factored become factors;
/// whole rows are exchanged. In a copy whose columns lie together, with a register behind each that is 0.
template <class E>
void factor_columns(E* a, std::int64_t n, std::int64_t left, std::int64_t width, std::int32_t* pivot) {
  using Tile = Tiles<E>;
  using V = typename Tile::V;
  using R = typename Tile::R;
  constexpr std::int64_t lanes = Tile::lanes;
  const std::int64_t rows = n - left, step = rows + lanes;
  E* const top = a + left * n + left;
  List<E, 512> columns(width * step);
  copy_transposed(top, rows, width, n, columns.data(), step);
  for (std::int64_t j = 0; j < width; ++j) std::fill_n(columns.data() + j * step + rows, lanes, E(0));
  for (std::int64_t j = 0; j < width; ++j) {
    E* const c = columns.data() + j * step;
    for (std::int64_t q = 0; q < j; ++q)
      for (std::int64_t i = q + 1; i < j; ++i) c[i] -= columns[q * step + i] * c[q];
    V largest{};
    for (std::int64_t i = j; i < rows; i += lanes) {
      V x = R::load(c + i);
      for (std::int64_t q = 0; q < j; ++q) x = Tile::fma(Tile::splat(-c[q]), R::load(columns.data() + q * step + i), x);
      R::store(c + i, x);
      const V size = R::abs(x);
      largest = R::select(largest < size, size, largest);
    }
    E part[unsigned_size(lanes)];
    R::store(part, largest);
    const E most = *std::max_element(part, part + lanes);
    std::int64_t at = j;
    while (at < rows && std::abs(c[at]) != most) ++at;
    if (at == rows || most == E(0)) at = j;
    pivot[left + j] = static_cast<std::int32_t>(left + at);
    if (at != j) {
      for (std::int64_t q = 0; q < width; ++q) std::swap(columns[q * step + j], columns[q * step + at]);
      std::swap_ranges(a + (left + j) * n, a + (left + j + 1) * n, a + (left + at) * n);
    }
    if (most == E(0)) continue;
    const V by = Tile::splat(c[j]);
    for (std::int64_t i = j + 1; i < rows; i += lanes) R::store(c + i, R::load(c + i) / by);
  }
  copy_transposed(columns.data(), width, rows, step, top, n);
}

/// Columns [left, right) of an n × n matrix whose columns before are factored: by halves.
template <class E>
void factor_lu(E* a, std::int64_t n, std::int64_t left, std::int64_t right, std::int32_t* pivot) {
  const std::int64_t width = right - left;
  if (width <= matrix_block)
    return n - left <= few_rows ? factor_rows(a, n, left, width, pivot) : factor_columns(a, n, left, width, pivot);
  const std::int64_t middle = left + (width / 2 + matrix_block - 1) / matrix_block * matrix_block;
  factor_lu(a, n, left, middle, pivot);
  const Strided<E> factors{a + left * n + left, n, 1};
  E* const above = a + left * n + middle;
  solve_triangle(factors, true, true, middle - left, right - middle, above, n);
  subtract_product(n - middle, right - middle, middle - left, factors.at(middle - left, 0), above, n,
                   a + middle * n + middle, n);
  factor_lu(a, n, middle, right, pivot);
}

/// factor_lu for an extent up to fewest.
template <class E>
void factor_few(E* a, std::int64_t n, std::int32_t* pivot) {
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t at = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[at * n + k])) at = i;
    pivot[k] = static_cast<std::int32_t>(at);
    const E largest = a[at * n + k];
    if (largest == E(0)) continue;
    if (at != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + at * n);
    for (std::int64_t i = k + 1; i < n; ++i) {
      a[i * n + k] /= largest;
      subtract_multiple(a[i * n + k], a + k * n + k + 1, n - k - 1, a + i * n + k + 1);
    }
  }
}

/// An n × n matrix becomes the factors l, which has a diagonal of ones, and u of itself with rows exchanged: row k with
/// row pivot[k], in turn. Where u has a zero on its diagonal the matrix is singular. A matrix with an infinity or NaN
/// becomes NaN.
template <class E>
void factor_lu(E* a, std::int64_t n, std::int32_t* pivot) {
  using R = typename Tiles<E>::R;
  typename Tiles<E>::V zeros{};  // but of infinities and NaN
  each_register(a, n * n, E(0), [&](auto x, std::int64_t, int) { zeros = zeros + x * E(0); });
  if (R::all(zeros == R::splat(0))) return n <= fewest ? factor_few(a, n, pivot) : factor_lu(a, n, 0, n, pivot);
  std::fill_n(a, n * n, std::numeric_limits<E>::quiet_NaN());
  for (std::int64_t k = 0; k < n; ++k) pivot[k] = static_cast<std::int32_t>(k);
}

/// The inverse of a matrix from its factors and the exchanges of their rows (factor_lu).
template <class E>
void invert_factored(const E* factors, const std::int32_t* pivot, std::int64_t n, E* inverse) {
  fill_identity(inverse, n);
  for (std::int64_t k = 0; k < n; ++k)
    if (pivot[k] != k) std::swap_ranges(inverse + k * n, inverse + (k + 1) * n, inverse + pivot[k] * n);
  solve_triangle(Strided<E>{factors, n, 1}, true, true, n, n, inverse);
  solve_triangle(Strided<E>{factors, n, 1}, false, false, n, n, inverse);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
