// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what operators of linear algebra share, which only what builds their kernels reads: the matrices of an
/// array, triangular systems and Cholesky's factors in blocks whose products are those of ops/gemm.hpp. What Eigen
/// computes is in solvers.hpp.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/linalg/kernels.hpp>
#include <strop/ops/linalg/solvers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
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
/// y −= f · x.
template <class E>
void subtract_multiple(E f, const E* x, std::int64_t n, E* y) {
  for (std::int64_t j = 0; j < n; ++j) y[j] -= f * x[j];
}
/// to, cols × rows, is from, rows × cols, transposed; the rows of either are so far apart.
template <class E>
void copy_transposed(const E* from, std::int64_t rows, std::int64_t cols, std::int64_t step, E* to,
                     std::int64_t to_step) {
  for (std::int64_t j0 = 0; j0 < cols; j0 += matrix_block)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = j0; j < std::min(cols, j0 + matrix_block); ++j) to[j * to_step + i] = from[i * step + j];
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

/// b = a⁻¹ · b for a triangular a, n × n, and b of n rows of m elements. Only the triangle of a is read, and of a
/// `unit` one not the diagonal, which is 1. With AVX-512 Eigen's triangularView().solveInPlace() takes 1.4 times as
/// long for 32 float rows and columns and 1.6 times for 128 and 512 (AVX2: 1.4, 1.4 and 0.85 times).
template <class E>
void solve_triangle(Strided<E> a, bool lower, bool unit, std::int64_t n, std::int64_t m, E* b) {
  List<E> part(n > matrix_block ? matrix_block * m : 0);
  for (std::int64_t done = 0; done < n; done += matrix_block) {
    const std::int64_t height = std::min(matrix_block, n - done), top = lower ? done : n - done - height;
    if (done > 0) {
      const std::int64_t known = lower ? 0 : top + height;
      gemm(height, m, done, a.at(top, known), Strided<E>{b + known * m, m, 1}, part.data());
      subtract_rows(part.data(), height, m, b + top * m, m);
    }
    for (std::int64_t step = 0; step < height; ++step) {
      const std::int64_t i = lower ? top + step : top + height - 1 - step;
      for (std::int64_t q = 0; q < step; ++q) {
        const std::int64_t j = lower ? top + q : top + height - 1 - q;
        subtract_multiple(*a.at(i, j).data, b + j * m, m, b + i * m);
      }
      if (unit) continue;
      const E diagonal = *a.at(i, i).data;
      for (std::int64_t j = 0; j < m; ++j) b[i * m + j] /= diagonal;
    }
  }
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

/// The inverse of a matrix from its factors and the exchanges of their rows (Solvers::getrf).
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
