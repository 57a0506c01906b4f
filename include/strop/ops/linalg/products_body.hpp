// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/linalg/products.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/linalg/kernels_body.hpp>
#include <strop/ops/linalg/products.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// An array as matrices with rows along one axis and columns along the last.
struct RowAxis {
  std::int64_t outer = 1, rows, middle = 1, cols;
  RowAxis(std::span<const std::int64_t> shape, int axis) {
    const int last = static_cast<int>(shape.size()) - 1, row = axis < 0 ? axis + last + 1 : axis;
    for (int i = 0; i < row; ++i) outer *= shape[static_cast<std::size_t>(i)];
    for (int i = row + 1; i < last; ++i) middle *= shape[static_cast<std::size_t>(i)];
    rows = shape[static_cast<std::size_t>(row)];
    cols = shape[static_cast<std::size_t>(last)];
  }
  std::int64_t count() const { return outer * middle; }
  std::int64_t step() const { return middle * cols; }
  /// Where matrix k begins.
  std::int64_t start(std::int64_t k) const { return (k / middle * rows * middle + k % middle) * cols; }
};

/// y = alpha · op(a) · op(b) + beta · c; without c the latter is 0.
template <class E>
void matrix_products(View<const E> a, bool a_transposed, View<const E> b, bool b_transposed, double alpha, const E* c,
                     double beta, View<E> y, int axis) {
  const RowAxis of_a(a.shape(), axis), of_b(b.shape(), axis), of_y(y.shape(), axis);
  const std::int64_t m = of_y.rows, n = of_y.cols, k = a_transposed ? of_a.rows : of_a.cols;
  // Rows of a result that do not lie together, or that stand where an operand does.
  const bool apart = of_y.middle != 1 || y.data() == a.data() || y.data() == b.data() || y.data() == c;
  each_product(of_y.count(), m * n * k, [&](std::int64_t i) {
    List<E> product(apart ? m * n : 0);
    E* const to = y.data() + of_y.start(i);
    E* const whole = apart ? product.data() : to;
    gemm(m, n, k, Strided<E>::of(a.data() + of_a.start(i), of_a.step(), a_transposed),
         Strided<E>::of(b.data() + of_b.start(i), of_b.step(), b_transposed), whole);
    if (!apart && alpha == 1 && c == nullptr) return;
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t at = row * of_y.step() + j;
        to[at] = static_cast<E>(alpha) * whole[row * n + j] +
                 (c == nullptr ? E(0) : static_cast<E>(beta) * c[of_y.start(i) + at]);
      }
  });
}

/// y = a · b of the lower or the upper triangle of an n × n matrix, for b of n rows that lie together and is not y: by
/// halves of the triangle, and the square between them as a product. Eigen takes 1.1 to 1.5 times as long for 64 to
/// 1,024 rows (AVX-512), and adds up in one sequence.
template <class E>
void multiply_triangle(Strided<E> a, bool below, std::int64_t n, std::int64_t cols, const E* b, E* y) {
  constexpr std::int64_t smallest = 32;  // with zeros, as a whole matrix
  if (n <= smallest) {
    E whole[smallest * smallest];
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) whole[i * n + j] = (below ? j <= i : j >= i) ? *a.at(i, j).data : E(0);
    return gemm(n, cols, n, Strided<E>{whole, n, 1}, Strided<E>{b, cols, 1}, y);
  }
  const std::int64_t half = (n / 2 + smallest - 1) / smallest * smallest, rest = n - half;
  multiply_triangle(a, below, half, cols, b, y);
  multiply_triangle(a.at(half, half), below, rest, cols, b + half * cols, y + half * cols);
  if (below)
    gemm(rest, cols, half, a.at(half, 0), Strided<E>{b, cols, 1}, y + half * cols, true);
  else
    gemm(half, cols, rest, a.at(0, half), Strided<E>{b + half * cols, cols, 1}, y, true);
}

/// y = alpha · op(a) · b, or alpha · b · op(a) on the right side, of triangles of a. Each y may be its b.
template <class E>
void triangle_products(View<const E> a, bool lower, bool transposed, bool rightside, double alpha, View<const E> b,
                       View<E> y) {
  const Matrices of_a(a.shape()), of_b(b.shape());
  const std::int64_t n = of_a.rows, lines = rightside ? of_b.rows : of_b.cols;
  const bool apart = rightside || y.data() == b.data();
  each_product(of_b.count, n * n * lines / 2, [&](std::int64_t k) {
    const E* from = b.data() + k * of_b.size();
    E* const to = y.data() + k * of_b.size();
    List<E> given(apart ? of_b.size() : 0), turned(rightside ? of_b.size() : 0);
    if (rightside)
      copy_transposed(from, lines, n, given.data());
    else if (apart)
      std::copy_n(from, of_b.size(), given.data());
    E* const product = rightside ? turned.data() : to;
    multiply_triangle(Strided<E>::of(a.data() + k * of_a.size(), n, transposed != rightside),
                      lower != (transposed != rightside), n, lines, apart ? given.data() : from, product);
    if (rightside) copy_transposed(product, n, lines, to);
    if (alpha != 1) std::transform(to, to + of_b.size(), to, [&](E value) { return static_cast<E>(alpha) * value; });
  });
}

/// The same element by element: 0 times what is not finite would be NaN, and of a triangle the zeros take no part.
template <class E>
void triangle_elements(View<const E> a, bool lower, bool transposed, bool rightside, double alpha, View<const E> b,
                       View<E> y) {
  const Matrices of_a(a.shape()), of_b(b.shape());
  const std::int64_t n = of_a.rows;
  each_matrix(of_b.count, of_b.size() * n / 2, [&](std::int64_t k) {
    const Strided<E> triangle = Strided<E>::of(a.data() + k * of_a.size(), n, transposed != rightside);
    const bool below = lower != (transposed != rightside);
    List<E> given(of_b.size());
    std::copy_n(b.data() + k * of_b.size(), of_b.size(), given.data());
    // Element (i, line) of the operand and of the result, which are turned on the right side.
    const std::int64_t across = rightside ? 1 : of_b.cols, along = rightside ? of_b.cols : 1;
    E* const to = y.data() + k * of_b.size();
    for (std::int64_t line = 0; line < (rightside ? of_b.rows : of_b.cols); ++line)
      for (std::int64_t i = 0; i < n; ++i) {
        E sum = 0;
        for (std::int64_t j = below ? 0 : i; j < (below ? i + 1 : n); ++j)
          sum += *triangle.at(i, j).data * given[j * across + line * along];
        to[i * across + line * along] = static_cast<E>(alpha) * sum;
      }
  });
}

/// op(a) · x = b, or x · op(a) = b, for a triangular n × n a and b of rows × cols, which becomes x.
template <class E>
void solve_side(const E* a, std::int64_t n, bool lower, bool transposed, bool rightside, std::int64_t rows,
                std::int64_t cols, E* b) {
  if (!rightside) return solve_triangle(Strided<E>::of(a, n, transposed), lower != transposed, false, n, cols, b);
  List<E> turned(rows * cols);
  copy_transposed(b, rows, cols, turned.data());
  solve_triangle(Strided<E>::of(a, n, !transposed), lower == transposed, false, n, rows, turned.data());
  copy_transposed(turned.data(), cols, rows, b);
}

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void LinalgGemm2::forward(Cpu&, View<const E> a, View<const E> b, View<E> y) const {
  detail::matrix_products<E>(a, transpose_a, b, transpose_b, alpha, nullptr, 0, y, axis);
}

template <Real E>
inline void LinalgGemm::forward(Cpu&, View<const E> a, View<const E> b, View<const E> c, View<E> y) const {
  detail::matrix_products<E>(a, transpose_a, b, transpose_b, alpha, beta == 0 ? nullptr : c.data(), beta, y, axis);
}

template <Real E>
inline void LinalgSyrk::forward(Cpu&, View<const E> a, View<E> y) const {
  detail::matrix_products<E>(a, transpose, a, !transpose, alpha, nullptr, 0, y, -2);
}

template <Real E>
inline void LinalgTrmm::forward(Cpu&, View<const E> a, View<const E> b, View<E> y) const {
  const bool finite = std::all_of(b.begin(), b.end(), [](E value) { return std::isfinite(value); });
  if (!finite) return detail::triangle_elements(a, lower, transpose, rightside, alpha, b, y);
  detail::triangle_products(a, lower, transpose, rightside, alpha, b, y);
}

template <Real E>
inline void LinalgTrsm::forward(Cpu&, View<const E> a, View<const E> b, View<E> y) const {
  solve<E>(a, transpose, b, alpha, y);
}

template <Real E>
inline void LinalgTrsm::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"A", View<const E>> a,
                             Out<"output", View<const E>> x, Grad<"A", View<E>> da, Grad<"B", View<E>> db) const {
  const View<E> z = ctx.temp<E>(dy.shape());
  solve<E>(a, !transpose, dy, 1, z);
  if (db) std::transform(z.begin(), z.end(), db.begin(), [&](E value) { return static_cast<E>(alpha) * value; });
  if (!da) return;
  const bool swapped = transpose != rightside;
  detail::matrix_products<E>(swapped ? View<const E>(x) : z, rightside, swapped ? z : View<const E>(x), !rightside, -1,
                             nullptr, 0, da, -2);
  const detail::Matrices m(da.shape());
  for (std::int64_t k = 0; k < m.count; ++k) detail::clear_outside(da.data() + k * m.size(), m.rows, lower);
}

template <class E>
inline void LinalgTrsm::solve(View<const E> a, bool transposed, View<const E> b, double factor, View<E> x) const {
  const detail::Matrices of_a(a.shape()), of_b(b.shape());
  std::transform(b.begin(), b.end(), x.begin(), [&](E value) { return static_cast<E>(factor) * value; });
  detail::each_matrix(of_b.count, of_b.size() * of_a.rows / 2, [&](std::int64_t k) {
    detail::solve_side(a.data() + k * of_a.size(), of_a.rows, lower, transposed, rightside, of_b.rows, of_b.cols,
                       x.data() + k * of_b.size());
  });
}

}  // namespace strop::inline v0
