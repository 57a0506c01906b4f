// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of matrices, of general and triangular ones and of one with itself.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/linalg/diagonals.hpp>
#include <strop/ops/linalg/kernels.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/reshape.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

namespace detail {

inline constexpr Note product_notes[] = {{"alpha", "what the product is multiplied with"},
                                         {"transpose_a", "A is transposed"},
                                         {"transpose_b", "B is transposed"},
                                         {"axis", "the axis of the rows; the last one has the columns"},
                                         {"beta", "what C is multiplied with"}};
inline constexpr Note triangle_notes[] = {{"transpose", "A is transposed"},
                                          {"rightside", "A stands on the right"},
                                          {"lower", "the triangle of A that is read: below the diagonal, or above"},
                                          {"alpha", "what B is multiplied with"}};

/// op(A) · op(B), where rows run along `axis`: shapes of A, B and the result.
constexpr void infer_product(Shapes& s, bool transpose_a, bool transpose_b, int axis) {
  if (!expect_least_rank(s, 0, 2)) return;
  const Shape a = s.in(0);
  const int last = a.ndim() - 1, row = axis < 0 ? axis + a.ndim() : axis;
  if (row < 0 || row >= last)
    s.fail("axis is ", axis, ", expected one before the last of ", s.name_in(0), ", which has shape ", a);
  s.expect_rank(1, a.ndim());
  Shape b = a;
  b[transpose_b ? last : row] = a[transpose_a ? row : last];
  b[transpose_b ? row : last] = Shape::unknown_extent;
  s.set_in(1, b);
  Shape out = a;
  out[row] = a[transpose_a ? last : row];
  out[last] = s.in(1)[transpose_b ? row : last];
  s.set_out(0, out);
}

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

/// Extent from which on Eigen's products with triangles are taken; below a general product with the zeros is: for 8
/// rows it is there 3.6 times as soon with AVX-512, for 32 rows 1.8 times (AVX2: 1.1 and 1.2 times), for 512 rows it
/// takes 1.4 times as long (AVX2: 1.9 times).
inline constexpr std::int64_t triangle_by_eigen = 128;

/// y = alpha · op(a) · b, or alpha · b · op(a) on the right side, of a triangle of a. Threads share strips of b; what a
/// strip is does not depend on how many they are.
template <class E>
void triangle_products(const Solvers<E>& solvers, View<const E> a, bool lower, bool transposed, bool rightside,
                       double alpha, View<const E> b, View<E> y) {
  constexpr std::int64_t strip = 128;
  const Matrices of_a(a.shape()), of_b(b.shape());
  const std::int64_t lines = rightside ? of_b.rows : of_b.cols, strips = (lines + strip - 1) / strip;
  each_matrix(of_b.count * strips, strip * of_a.size() / 2, [&](std::int64_t i) {
    const std::int64_t k = i / strips, first = i % strips * strip, count = std::min(strip, lines - first);
    const std::int64_t at = k * of_b.size() + first * (rightside ? of_b.cols : 1);
    solvers.trmm(a.data() + k * of_a.size(), of_a.rows, lower, transposed, rightside, static_cast<E>(alpha),
                 b.data() + at, rightside ? count : of_b.rows, rightside ? of_b.cols : count, of_b.cols, y.data() + at);
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

/// Triangular A on one side of B: shapes of both and of the result, which has that of B.
constexpr void infer_triangular(Shapes& s, bool rightside) {
  s.set_out(0, s.in(1));
  s.set_in(1, s.out(0));
  if (!expect_least_rank(s, 1, 2) || !expect_square(s, 0)) return;
  s.expect_rank(1, s.in(0).ndim());
  Shape b = s.in(0);
  b[b.ndim() - (rightside ? 2 : 1)] = Shape::unknown_extent;
  s.set_in(1, b);
  s.set_out(0, s.in(1));
}

}  // namespace detail

/// _linalg_gemm2: alpha · op(A) · op(B), op being the transpose where that is asked for.
///
/// A and B have one rank of 2 or more and matrices in the last axis, the columns, and `axis`, the rows; the other
/// extents agree. Floating types; sparse arrays by the dense fallback. The gradient is products of the head gradient,
/// to any order. Error: an axis that is the last or outside, extents that do not agree.
///
/// Example: `linalg_gemm2(array({{1, 2}}), array({{3, 4}}), {.transpose_b = true, .alpha = 2})` is [[22]].
struct LinalgGemm2 {
  bool transpose_a = false, transpose_b = false;
  double alpha = 1;
  int axis = -2;
  static constexpr std::string_view name = "_linalg_gemm2", aliases[] = {"linalg_gemm2"}, inputs[] = {"A", "B"};
  static constexpr const char* doc = "alpha · op(A) · op(B), where op transposes or not, for every pair of matrices.";
  static constexpr std::span<const Note> notes = {detail::product_notes, 4};
  constexpr void infer_shape(Shapes& s) const { detail::infer_product(s, transpose_a, transpose_b, axis); }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<const E> b, View<E> y) const {
    detail::matrix_products<E>(a, transpose_a, b, transpose_b, alpha, nullptr, 0, y, axis);
  }
  auto gradient(const auto& dy, const auto& a, const auto& b) const;
};
inline constexpr Op<LinalgGemm2, OnUse> linalg_gemm2;

auto LinalgGemm2::gradient(const auto& dy, const auto& a, const auto& b) const {
  const auto product = [&](const auto& lhs, const auto& rhs, bool first, bool last) {
    return linalg_gemm2(lhs, rhs, {.transpose_a = first, .transpose_b = last, .alpha = alpha, .axis = axis});
  };
  return std::vector<std::remove_cvref_t<decltype(dy)>>{
      transpose_a ? product(b, dy, transpose_b, true) : product(dy, b, false, !transpose_b),
      transpose_b ? product(dy, a, true, transpose_a) : product(a, dy, !transpose_a, false)};
}

/// _linalg_gemm: gemm2 of A and B, and beta times C added.
///
/// A and B as those of gemm2, C in the shape of the result; with beta = 0 nothing of C is read. Floating types; sparse
/// arrays by the dense fallback. The gradient is that of gemm2, and beta times the head gradient. Error: an axis that
/// is the last or outside, extents that do not agree.
///
/// Example: `linalg_gemm(array({{1, 2}}), array({{3}, {4}}), array({{1}}), {.beta = 10})` is [[21]].
struct LinalgGemm {
  bool transpose_a = false, transpose_b = false;
  double alpha = 1, beta = 1;
  int axis = -2;
  static constexpr std::string_view name = "_linalg_gemm", aliases[] = {"linalg_gemm"}, inputs[] = {"A", "B", "C"};
  static constexpr const char* doc =
      "alpha · op(A) · op(B) + beta · C, where op transposes or not, for every triple of matrices.";
  static constexpr std::span<const Note> notes = detail::product_notes;
  static constexpr std::string_view gradient_reads[] = {"A", "B"};
  static constexpr Share inplace[] = {{2, 0}};
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_product(s, transpose_a, transpose_b, axis);
    s.set_in(2, s.out(0));
    s.set_out(0, s.in(2));
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<const E> b, View<const E> c, View<E> y) const {
    detail::matrix_products<E>(a, transpose_a, b, transpose_b, alpha, beta == 0 ? nullptr : c.data(), beta, y, axis);
  }
  auto gradient(const auto& dy, const auto& a, const auto& b, const auto&) const {
    auto of_factors =
        LinalgGemm2{.transpose_a = transpose_a, .transpose_b = transpose_b, .alpha = alpha, .axis = axis}.gradient(
            dy, a, b);
    of_factors.push_back(dy * beta);
    return of_factors;
  }
};
inline constexpr Op<LinalgGemm, OnUse> linalg_gemm;

/// _linalg_syrk: alpha · A · Aᵀ, or alpha · Aᵀ · A with `transpose`.
///
/// A (…, m, n). Floating types; sparse arrays by the dense fallback. The gradient is products with the head gradient
/// and its transpose, to any order. Error: fewer than two dimensions.
///
/// Example: `linalg_syrk(array({{1, 2}}))` is [[5]].
struct LinalgSyrk {
  bool transpose = false;
  double alpha = 1;
  static constexpr std::string_view name = "_linalg_syrk", aliases[] = {"linalg_syrk"}, inputs[] = {"A"};
  static constexpr const char* doc = "alpha · A · Aᵀ, or alpha · Aᵀ · A, for every matrix.";
  static constexpr Note notes[] = {{"transpose", "Aᵀ stands before A"},
                                   {"alpha", "what the product is multiplied with"}};
  constexpr void infer_shape(Shapes& s) const {
    if (!detail::expect_least_rank(s, 0, 2)) return;
    Shape out = s.in(0);
    const int last = out.ndim() - 1;
    out[last] = out[last - 1] = s.in(0)[transpose ? last : last - 1];
    s.set_out(0, out);
  }
  /// A general product, of which Eigen's rankUpdate() computes half: with one thread and AVX-512 it takes 1.9 times as
  /// long as this for 32 float rows and columns and for 512, with AVX2 1.3 times for 32 and 0.8 times for 512.
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> y) const {
    detail::matrix_products<E>(a, transpose, a, !transpose, alpha, nullptr, 0, y, -2);
  }
  auto gradient(const auto& dy, const auto& a) const {
    const auto product = [&](bool turned) {
      return transpose ? linalg_gemm2(a, dy, {.transpose_b = turned, .alpha = alpha})
                       : linalg_gemm2(dy, a, {.transpose_a = turned, .alpha = alpha});
    };
    return product(false) + product(true);
  }
};
inline constexpr Op<LinalgSyrk, OnUse> linalg_syrk;

/// _linalg_trmm: alpha · op(A) · B, or alpha · B · op(A) with `rightside`, with the lower or upper triangle of A; op
/// transposes or not.
///
/// A (…, n, n), B (…, n, m), on the right side (…, m, n). Floating types; sparse arrays by the dense fallback. The
/// gradient is a product with op(A) transposed, and that of A lies in its triangle. Error: matrices A that are not
/// square, extents that do not agree.
///
/// Example: `linalg_trmm(array({{1, 9}, {2, 3}}), array({{1}, {1}}))` is [[1], [5]].
struct LinalgTrmm {
  bool transpose = false, rightside = false, lower = true;
  double alpha = 1;
  static constexpr std::string_view name = "_linalg_trmm", aliases[] = {"linalg_trmm"}, inputs[] = {"A", "B"};
  static constexpr const char* doc = "alpha · op(A) · B, or alpha · B · op(A), with a triangle of every matrix A.";
  static constexpr std::span<const Note> notes = detail::triangle_notes;
  static constexpr Share inplace[] = {{1, 0}};
  constexpr void infer_shape(Shapes& s) const { detail::infer_triangular(s, rightside); }
  template <Real E>
  void forward(Cpu& ctx, View<const E> a, View<const E> b, View<E> y) const {
    if (a.shape().back() >= detail::triangle_by_eigen)
      return detail::triangle_products(detail::solvers<E>(name), a, lower, transpose, rightside, alpha, b, y);
    const View<E> triangle = ctx.temp<E>(a.shape());
    std::copy(a.begin(), a.end(), triangle.begin());
    const detail::Matrices m(a.shape());
    for (std::int64_t k = 0; k < m.count; ++k) detail::clear_outside(triangle.data() + k * m.size(), m.rows, lower);
    if (rightside)
      detail::matrix_products<E>(b, false, triangle, transpose, alpha, nullptr, 0, y, -2);
    else
      detail::matrix_products<E>(triangle, transpose, b, false, alpha, nullptr, 0, y, -2);
  }
  auto gradient(const auto& dy, const auto& a, const auto& b) const;
};
inline constexpr Op<LinalgTrmm, OnUse> linalg_trmm;

auto LinalgTrmm::gradient(const auto& dy, const auto& a, const auto& b) const {
  const auto &lhs = transpose != rightside ? b : dy, &rhs = transpose != rightside ? dy : b;
  const auto whole = linalg_gemm2(lhs, rhs, {.transpose_a = rightside, .transpose_b = !rightside, .alpha = alpha});
  return std::vector<std::remove_cvref_t<decltype(dy)>>{
      linalg_maketrian(linalg_extracttrian(whole, {.lower = lower}), {.lower = lower}),
      linalg_trmm(a, dy, {.transpose = !transpose, .rightside = rightside, .lower = lower, .alpha = alpha})};
}

/// _linalg_trsm: the X with op(A) · X = alpha · B, or X · op(A) = alpha · B with `rightside`, for the lower or upper
/// triangle of A; op transposes or not.
///
/// A (…, n, n), B (…, n, m), on the right side (…, m, n). A zero on the diagonal of A gives infinities and NaN.
/// Floating types; sparse arrays by the dense fallback. The gradient is that of the inverse, and of A lies in its
/// triangle. Error: matrices A that are not square, extents that do not agree.
///
/// Example: `linalg_trsm(array({{1, 9}, {2, 3}}), array({{1}, {5}}))` is [[1], [1]].
struct LinalgTrsm {
  bool transpose = false, rightside = false, lower = true;
  double alpha = 1;
  static constexpr std::string_view name = "_linalg_trsm", aliases[] = {"linalg_trsm"}, inputs[] = {"A", "B"};
  static constexpr const char* doc =
      "The solution of op(A) · X = alpha · B, or of X · op(A) = alpha · B, with a triangle of every matrix A.";
  static constexpr std::span<const Note> notes = detail::triangle_notes;
  static constexpr Share inplace[] = {{1, 0}};
  constexpr void infer_shape(Shapes& s) const { detail::infer_triangular(s, rightside); }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<const E> b, View<E> y) const {
    solve<E>(a, transpose, b, alpha, y);
  }
  /// With z = op(A)⁻ᵀ · dy: dB = alpha · z and dop(A) = −z · Xᵀ; on the right side likewise.
  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"A", View<const E>> a, Out<"output", View<const E>> x,
            Grad<"A", View<E>> da, Grad<"B", View<E>> db) const {
    const View<E> z = ctx.temp<E>(dy.shape());
    solve<E>(a, !transpose, dy, 1, z);
    if (db) std::transform(z.begin(), z.end(), db.begin(), [&](E value) { return static_cast<E>(alpha) * value; });
    if (!da) return;
    const bool swapped = transpose != rightside;
    detail::matrix_products<E>(swapped ? View<const E>(x) : z, rightside, swapped ? z : View<const E>(x), !rightside,
                               -1, nullptr, 0, da, -2);
    const detail::Matrices m(da.shape());
    for (std::int64_t k = 0; k < m.count; ++k) detail::clear_outside(da.data() + k * m.size(), m.rows, lower);
  }

 private:
  template <class E>
  void solve(View<const E> a, bool transposed, View<const E> b, double factor, View<E> x) const {
    const detail::Matrices of_a(a.shape()), of_b(b.shape());
    std::transform(b.begin(), b.end(), x.begin(), [&](E value) { return static_cast<E>(factor) * value; });
    detail::each_matrix(of_b.count, of_b.size() * of_a.rows / 2, [&](std::int64_t k) {
      detail::solve_side(a.data() + k * of_a.size(), of_a.rows, lower, transposed, rightside, of_b.rows, of_b.cols,
                         x.data() + k * of_b.size());
    });
  }
};
inline constexpr Op<LinalgTrsm, OnUse> linalg_trsm;

using LinalgProductOps = OpList<LinalgGemm, LinalgGemm2, LinalgSyrk, LinalgTrmm, LinalgTrsm>;

}  // namespace strop::inline v0
