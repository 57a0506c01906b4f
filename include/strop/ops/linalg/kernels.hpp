// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the operators of linear algebra share: the matrices of an array, triangular systems, and the factors of
/// Cholesky and of Gauss, in blocks whose products are those of ops/gemm.hpp.
#pragma once
#include <strop/core/list.hpp>
#include <strop/op/infer.hpp>
#include <strop/ops/gemm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

namespace strop::inline v0::detail {

inline namespace STROP_ISA {
/// The matrices of an array: its last two axes.
struct Matrices {
  std::int64_t count = 1, rows = 0, cols = 0;
  explicit Matrices(std::span<const std::int64_t> shape)
      : rows(shape[shape.size() - 2]), cols(shape[shape.size() - 1]) {
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) count *= shape[i];
  }
  std::int64_t size() const { return rows * cols; }
};
}  // namespace STROP_ISA

/// Refuses input i unless it has `least` dimensions or more; says whether its rank is known.
constexpr bool expect_least_rank(const Shapes& s, int i, int least) {
  const Shape& x = s.in(i);
  if (!x.has_rank()) return false;
  if (x.ndim() < least)
    s.fail(s.name_in(i), " has shape ", x, ", expected ", least, least == 1 ? " dimension" : " dimensions", " or more");
  return true;
}
/// Refuses input i unless it is square matrices; says whether their extent is known.
constexpr bool expect_square(const Shapes& s, int i) {
  if (!expect_least_rank(s, i, 2)) return false;
  const Shape& x = s.in(i);
  const std::int64_t rows = x[x.ndim() - 2], cols = x[x.ndim() - 1];
  if (rows >= 0 && cols >= 0 && rows != cols)
    s.fail(s.name_in(i), " has shape ", x, ", expected matrices with as many rows as columns");
  return rows >= 0 && cols >= 0;
}
/// A number for each matrix: one element where there is one matrix.
constexpr Shape numbers_of(const Shape& matrices) {
  Shape out = matrices;
  out.resize(matrices.ndim() - 2);
  if (out.ndim() == 0) out.push_back(1);
  return out;
}

inline namespace STROP_ISA {

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
/// to, cols × rows, is from, rows × cols, transposed.
template <class E>
void copy_transposed(const E* from, std::int64_t rows, std::int64_t cols, E* to) {
  for (std::int64_t j0 = 0; j0 < cols; j0 += matrix_block)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = j0; j < std::min(cols, j0 + matrix_block); ++j) to[j * rows + i] = from[i * cols + j];
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
/// `unit` one not the diagonal, which is 1.
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

/// The lower triangle of a symmetric n × n matrix becomes its Cholesky factor; false where the matrix is not positive
/// definite.
template <class E>
bool factor_cholesky(E* a, std::int64_t n) {
  List<E> part(n > matrix_block ? n * matrix_block : 0);
  for (std::int64_t left = 0; left < n; left += matrix_block) {
    const std::int64_t right = std::min(n, left + matrix_block);
    if (left > 0) {
      const Strided<E> rows{a + left * n, n, 1};
      gemm(n - left, right - left, left, rows, rows.transpose(), part.data());
      subtract_rows(part.data(), n - left, right - left, a + left * n + left, n);
    }
    for (std::int64_t i = left; i < n; ++i)
      for (std::int64_t j = left; j < std::min(i + 1, right); ++j) {
        E rest = a[i * n + j];
        for (std::int64_t p = left; p < j; ++p) rest -= a[i * n + p] * a[j * n + p];
        if (i == j && !(rest > E(0))) return false;
        a[i * n + j] = i == j ? std::sqrt(rest) : rest / a[j * n + j];
      }
  }
  return true;
}

/// An n × n matrix becomes the factors l, which has a diagonal of ones, and u of itself with rows exchanged: row k with
/// row pivot[k], in turn. Where u has a zero on its diagonal the matrix is singular.
template <class E>
void factor_rows(E* a, std::int64_t n, std::int32_t* pivot) {
  List<E> part;
  for (std::int64_t left = 0; left < n; left += matrix_block) {
    const std::int64_t right = std::min(n, left + matrix_block), beyond = n - right;
    for (std::int64_t k = left; k < right; ++k) {
      std::int64_t largest = k;
      for (std::int64_t i = k + 1; i < n; ++i)
        if (std::abs(a[i * n + k]) > std::abs(a[largest * n + k])) largest = i;
      pivot[k] = static_cast<std::int32_t>(largest);
      if (largest != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + largest * n);
      if (a[k * n + k] == E(0)) continue;
      for (std::int64_t i = k + 1; i < n; ++i) {
        a[i * n + k] /= a[k * n + k];
        subtract_multiple(a[i * n + k], a + k * n + k + 1, right - k - 1, a + i * n + k + 1);
      }
    }
    if (beyond == 0) return;
    for (std::int64_t k = left; k < right; ++k)
      for (std::int64_t i = k + 1; i < right; ++i)
        subtract_multiple(a[i * n + k], a + k * n + right, beyond, a + i * n + right);
    if (part.size() == 0) part.resize(beyond * beyond);
    gemm(beyond, beyond, right - left, Strided<E>{a + right * n + left, n, 1}, Strided<E>{a + left * n + right, n, 1},
         part.data());
    subtract_rows(part.data(), beyond, beyond, a + right * n + right, n);
  }
}

/// The inverse of a matrix from what factor_rows made of it.
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
