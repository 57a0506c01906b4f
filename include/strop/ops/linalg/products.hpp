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
template <int = 0>
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

/// Triangular A on one side of B: shapes of both and of the result, which has that of B.
template <int = 0>
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
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_product(s, transpose_a, transpose_b, axis);
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<const E> b, View<E> y) const;
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
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_product(s, transpose_a, transpose_b, axis);
    s.set_in(2, s.out(0));
    s.set_out(0, s.in(2));
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<const E> b, View<const E> c, View<E> y) const;
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
  template <int = 0>
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
  void forward(Cpu&, View<const E> a, View<E> y) const;
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
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_triangular(s, rightside);
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> a, View<const E> b, View<E> y) const;
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
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_triangular(s, rightside);
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<const E> b, View<E> y) const;
  /// With z = op(A)⁻ᵀ · dy: dB = alpha · z and dop(A) = −z · Xᵀ; on the right side likewise.
  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"A", View<const E>> a, Out<"output", View<const E>> x,
            Grad<"A", View<E>> da, Grad<"B", View<E>> db) const;

 private:
  template <class E>
  void solve(View<const E> a, bool transposed, View<const E> b, double factor, View<E> x) const;
};
inline constexpr Op<LinalgTrsm, OnUse> linalg_trsm;

using LinalgProductOps = OpList<LinalgGemm, LinalgGemm2, LinalgSyrk, LinalgTrmm, LinalgTrsm>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/linalg/products_body.hpp>
#endif
