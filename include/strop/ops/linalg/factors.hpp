// SPDX-License-Identifier: Apache-2.0
/// \file
/// Cholesky factors and inverses from them, inverses and determinants.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/linalg/kernels.hpp>
#include <strop/ops/list.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr Note factor_notes[] = {{"lower", "the factor is below the diagonal, else above"}};

/// Square matrices and a result like them.
constexpr void infer_square(Shapes& s) {
  s.set_out(0, s.in(0));
  s.set_in(0, s.out(0));
  expect_square(s, 0);
}

/// Outputs from `first` on: of square matrices the factors that Solvers::getrf makes, and the exchanges of their rows.
constexpr void infer_factors(Shapes& s, int first) {
  if (!expect_square(s, 0)) return;
  for (int i = 0; i < first; ++i) s.set_out(i, numbers_of(s.in(0)));
  s.set_out(first, s.in(0));
  Shape pivots = s.in(0);
  pivots.resize(pivots.ndim() - 1);
  s.set_out(first + 1, pivots);
}
constexpr void infer_factor_types(Types& t, int first) {
  t.expect_in(0, floating);
  for (int i = 0; i <= first; ++i) {
    t.set_out(i, t.in(0));
    t.set_in(0, t.out(i));
  }
  t.set_out(first + 1, i32);
}

inline namespace STROP_ISA {

/// The determinant of a matrix from its factors, with its sign, 0 of a singular matrix, and the logarithm of |det|.
template <class E>
struct Determinant {
  double sign = 1, log = 0, value = 1;
  static Determinant of(const E* factors, const std::int32_t* pivot, std::int64_t n) {
    Determinant d;
    for (std::int64_t k = 0; k < n; ++k) {
      const double u = static_cast<double>(factors[k * n + k]);
      d.value *= pivot[k] == k ? u : -u;
      d.sign *= (u > 0 ? 1 : u < 0 ? -1 : u) * (pivot[k] == k ? 1 : -1);
      d.log += std::log(std::abs(u));
    }
    return d;
  }
};

/// Factors every matrix, for the operator `op`: f(matrix, its determinant).
template <class E, class F>
void factor_matrices(std::string_view op, View<const E> a, View<E> factors, View<std::int32_t> pivots, F f) {
  const Matrices m(a.shape());
  const Solvers<E>& eigen = solvers<E>(op);
  std::copy(a.begin(), a.end(), factors.begin());
  each_matrix(m.count, m.size() * m.rows / 3, [&](std::int64_t k) {
    E* const of = factors.data() + k * m.size();
    std::int32_t* const pivot = pivots.data() + k * m.rows;
    eigen.getrf(of, m.rows, pivot);
    f(k, Determinant<E>::of(of, pivot, m.rows));
  });
}

/// da = factor(matrix) · a⁻ᵀ, or zeros where the factor is 0.
template <class E, class Factor>
void scaled_inverse_transposes(View<const E> factors, View<const std::int32_t> pivots, Factor factor, View<E> da) {
  const Matrices m(factors.shape());
  each_matrix(m.count, m.size() * m.rows, [&](std::int64_t k) {
    E* const to = da.data() + k * m.size();
    const E scale = factor(k);
    if (scale == E(0)) return std::fill_n(to, m.size(), E(0)), void();
    List<E> inverse(m.size());
    invert_factored(factors.data() + k * m.size(), pivots.data() + k * m.rows, m.rows, inverse.data());
    copy_transposed(inverse.data(), m.rows, m.rows, to);
    for (std::int64_t i = 0; i < m.size(); ++i) to[i] *= scale;
  });
}

}  // namespace STROP_ISA
}  // namespace detail

/// _linalg_potrf: the lower triangular L with A = L · Lᵀ, or the upper triangular U with A = Uᵀ · U without `lower`.
///
/// A (…, n, n), of which the triangle of the result is read; the other one of the result is 0. Floating types; sparse
/// arrays by the dense fallback. The gradient is symmetric, as A is. Error: matrices that are not square, or not
/// positive definite.
///
/// Example: `linalg_potrf(array({{4, 2}, {2, 5}}))` is [[2, 0], [1, 2]].
struct LinalgPotrf {
  bool lower = true;
  static constexpr std::string_view name = "_linalg_potrf", aliases[] = {"linalg_potrf"}, inputs[] = {"A"};
  static constexpr const char* doc = "The Cholesky factor of every symmetric, positive definite matrix.";
  static constexpr std::span<const Note> notes = detail::factor_notes;
  static constexpr Share inplace[] = {{0, 0}};
  constexpr void infer_shape(Shapes& s) const { detail::infer_square(s); }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> y) const {
    const detail::Matrices m(a.shape());
    const detail::Solvers<E>& solvers = detail::solvers<E>(name);
    detail::each_matrix(m.count, m.size() * m.rows / 6, [&](std::int64_t k) {
      const E* const from = a.data() + k * m.size();
      E* const to = y.data() + k * m.size();
      detail::List<E> turned(lower ? 0 : m.size());
      E* const factor = lower ? to : turned.data();
      if (!lower)
        detail::copy_transposed(from, m.rows, m.rows, factor);
      else if (from != to)
        std::copy_n(from, m.size(), factor);
      if (!detail::factor_cholesky(solvers, factor, m.rows))
        fail(name, ": matrix ", k, " of input 'A' is not positive definite");
      detail::clear_outside(factor, m.rows, true);
      if (!lower) detail::copy_transposed(factor, m.rows, m.rows, to);
    });
  }
  /// dA = ½ · L⁻ᵀ · S · L⁻¹, where S is symmetric and has the lower triangle of Lᵀ · dL.
  template <Real E>
  void grad_use_out(Cpu&, View<const E> dy, View<const E> y, View<E> da) const {
    const detail::Matrices m(y.shape());
    const std::int64_t n = m.rows;
    detail::each_matrix(m.count, m.size() * n, [&](std::int64_t k) {
      const auto factor = detail::Strided<E>::of(y.data() + k * m.size(), n, !lower),
                 head = detail::Strided<E>::of(dy.data() + k * m.size(), n, !lower);
      E* const to = da.data() + k * m.size();
      detail::List<E> half(m.size());
      detail::gemm(n, n, n, factor.transpose(), head, to);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < i; ++j) to[j * n + i] = to[i * n + j];
      detail::solve_triangle(factor.transpose(), false, false, n, n, to);
      detail::copy_transposed(to, n, n, half.data());
      detail::solve_triangle(factor.transpose(), false, false, n, n, half.data());
      for (std::int64_t i = 0; i < m.size(); ++i) to[i] = half[i] / 2;
    });
  }
};

/// _linalg_potri: (L · Lᵀ)⁻¹ of the Cholesky factor L, or (Uᵀ · U)⁻¹ without `lower`.
///
/// A (…, n, n), of which one triangle is read. Floating types; sparse arrays by the dense fallback. The gradient lies
/// in that triangle. Error: matrices that are not square, a zero on the diagonal.
///
/// Example: `linalg_potri(array({{2, 0}, {0, 1}}))` is [[0.25, 0], [0, 1]].
struct LinalgPotri {
  bool lower = true;
  static constexpr std::string_view name = "_linalg_potri", aliases[] = {"linalg_potri"}, inputs[] = {"A"};
  static constexpr const char* doc = "The inverse of the matrices whose Cholesky factors are given.";
  static constexpr std::span<const Note> notes = detail::factor_notes;
  static constexpr Share inplace[] = {{0, 0}};
  constexpr void infer_shape(Shapes& s) const { detail::infer_square(s); }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> y) const {
    const detail::Matrices m(a.shape());
    const std::int64_t n = m.rows;
    detail::each_matrix(m.count, m.size() * n, [&](std::int64_t k) {
      const E* const from = a.data() + k * m.size();
      for (std::int64_t i = 0; i < n; ++i)
        if (from[i * n + i] == E(0))
          fail(name, ": matrix ", k, " of input 'A' has a zero on its diagonal, and so is no Cholesky factor");
      detail::List<E> inverse(m.size());
      detail::fill_identity(inverse.data(), n);
      detail::solve_triangle(detail::Strided<E>::of(from, n, !lower), true, false, n, n, inverse.data());
      detail::gemm(n, n, n, inverse.data(), true, inverse.data(), false, y.data() + k * m.size());
    });
  }
  /// dL = −(L⁻¹ · (dB + dBᵀ) · B)ᵀ below the diagonal, B being the result.
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E> dy, View<const E> a, View<const E> y, View<E> da) const {
    const detail::Matrices m(a.shape());
    const std::int64_t n = m.rows;
    detail::each_matrix(m.count, m.size() * n, [&](std::int64_t k) {
      const E* const head = dy.data() + k * m.size();
      E* const to = da.data() + k * m.size();
      detail::List<E> both(m.size()), solved(m.size());
      detail::copy_transposed(head, n, n, both.data());
      for (std::int64_t i = 0; i < m.size(); ++i) both[i] = -(both[i] + head[i]);
      detail::gemm(n, n, n, both.data(), false, y.data() + k * m.size(), false, solved.data());
      detail::solve_triangle(detail::Strided<E>::of(a.data() + k * m.size(), n, !lower), true, false, n, n,
                             solved.data());
      lower ? detail::copy_transposed(solved.data(), n, n, to)
            : static_cast<void>(std::copy_n(solved.data(), m.size(), to));
      detail::clear_outside(to, n, lower);
    });
  }
};

/// _linalg_inverse: A⁻¹, by Gauss with the largest pivots of the columns.
///
/// A (…, n, n). A matrix with an infinity or NaN gives NaN. Floating types; sparse arrays by the dense fallback. The
/// gradient is −Bᵀ · dB · Bᵀ, B being the result. Error: matrices that are not square, a matrix that is singular.
///
/// Example: `linalg_inverse(array({{1, 2}, {3, 4}}))` is [[-2, 1], [1.5, -0.5]].
struct LinalgInverse {
  static constexpr std::string_view name = "_linalg_inverse", aliases[] = {"linalg_inverse", "_npi_inv"},
                                    inputs[] = {"A"};
  static constexpr const char* doc = "The inverse of every matrix.";
  static constexpr Share inplace[] = {{0, 0}};
  constexpr void infer_shape(Shapes& s) const { detail::infer_square(s); }
  template <Real E>
  void forward(Cpu& ctx, View<const E> a, View<E> y) const {
    const detail::Matrices m(a.shape());
    const View<E> factors = ctx.temp<E>(a.shape());
    const View<std::int32_t, 1> pivots = ctx.temp<std::int32_t>(m.count * m.rows);
    const std::int64_t all[] = {m.count * m.rows};
    detail::factor_matrices<E>(name, a, factors, {pivots.data(), all},
                               [&](std::int64_t k, const detail::Determinant<E>& determinant) {
                                 if (determinant.sign == 0) fail(name, ": matrix ", k, " of input 'A' is singular");
                                 detail::invert_factored(factors.data() + k * m.size(), pivots.data() + k * m.rows,
                                                         m.rows, y.data() + k * m.size());
                               });
  }
  template <Real E>
  void grad_use_out(Cpu&, View<const E> dy, View<const E> y, View<E> da) const {
    const detail::Matrices m(y.shape());
    const std::int64_t n = m.rows;
    detail::each_matrix(m.count, 2 * m.size() * n, [&](std::int64_t k) {
      const E* const inverse = y.data() + k * m.size();
      detail::List<E> product(m.size());
      detail::gemm(n, n, n, inverse, true, dy.data() + k * m.size(), false, product.data());
      for (E& value : product) value = -value;
      detail::gemm(n, n, n, product.data(), false, inverse, true, da.data() + k * m.size());
    });
  }
};

/// _linalg_det: the product of the diagonal of u in A = p⁻¹ · l · u, with the sign of the exchanges of rows p.
///
/// A (…, n, n), the result is (…), or (1,) of one matrix. Hidden outputs: the factors l and u in one matrix, and the
/// exchanges of rows, int32. A matrix with an infinity or NaN gives NaN. Floating types; sparse arrays by the dense
/// fallback. The gradient is det · A⁻ᵀ times the head gradient, and 0 where the determinant is 0. Error: matrices that
/// are not square.
///
/// Example: `linalg_det(array({{1, 2}, {3, 4}}))` is [-2].
struct LinalgDet {
  static constexpr std::string_view name = "_linalg_det", aliases[] = {"linalg_det", "_npi_det"}, inputs[] = {"A"},
                                    outputs[] = {"output0", "output1", "output2"};
  static constexpr const char* doc = "The determinant of every matrix.";
  static constexpr DtypeSet dtypes = floating;
  static constexpr int visible = 1;
  constexpr void infer_shape(Shapes& s) const { detail::infer_factors(s, 1); }
  constexpr void infer_type(Types& t) const { detail::infer_factor_types(t, 1); }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> y, View<E> factors, View<std::int32_t> pivots) const {
    detail::factor_matrices<E>(
        name, a, factors, pivots,
        [&](std::int64_t k, const detail::Determinant<E>& determinant) { y[k] = static_cast<E>(determinant.value); });
  }
  template <Real E>
  void grad(Cpu&, Head<"output0", View<const E>> dy, Out<"output0", View<const E>> y,
            Out<"output1", View<const E>> factors, Out<"output2", View<const std::int32_t>> pivots,
            Grad<"A", View<E>> da) const {
    if (da)
      detail::scaled_inverse_transposes<E>(
          factors, pivots, [&](std::int64_t k) { return y[k] == E(0) ? E(0) : dy[k] * y[k]; }, da);
  }
};

/// _linalg_slogdet: the sign of the determinant of every matrix, 0 of a singular one, and the natural logarithm of its
/// absolute value.
///
/// A (…, n, n), both results are (…), or (1,) of one matrix. Hidden outputs: those of det. Floating types; sparse
/// arrays by the dense fallback. The gradient is A⁻ᵀ times the head gradient of the logarithm, and 0 of a singular
/// matrix. Error: matrices that are not square.
///
/// Example: `linalg_slogdet(array({{0, 1}, {1, 0}}))` is [-1] and [0].
struct LinalgSlogdet {
  static constexpr std::string_view name = "_linalg_slogdet", aliases[] = {"linalg_slogdet", "_npi_slogdet"},
                                    inputs[] = {"A"}, outputs[] = {"output0", "output1", "output2", "output3"};
  static constexpr const char* doc =
      "The sign of the determinant of every matrix, and the natural logarithm of its absolute value.";
  static constexpr DtypeSet dtypes = floating;
  static constexpr int visible = 2;
  constexpr void infer_shape(Shapes& s) const { detail::infer_factors(s, 2); }
  constexpr void infer_type(Types& t) const { detail::infer_factor_types(t, 2); }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> sign_of, View<E> logarithm, View<E> factors,
               View<std::int32_t> pivots) const {
    detail::factor_matrices<E>(name, a, factors, pivots,
                               [&](std::int64_t k, const detail::Determinant<E>& determinant) {
                                 sign_of[k] = static_cast<E>(determinant.sign);
                                 logarithm[k] = static_cast<E>(determinant.log);
                               });
  }
  template <Real E>
  void grad(Cpu&, Head<"output1", View<const E>> dy, Out<"output0", View<const E>> sign_of,
            Out<"output2", View<const E>> factors, Out<"output3", View<const std::int32_t>> pivots,
            Grad<"A", View<E>> da) const {
    if (da)
      detail::scaled_inverse_transposes<E>(
          factors, pivots, [&](std::int64_t k) { return sign_of[k] == E(0) ? E(0) : dy[k]; }, da);
  }
};

inline constexpr Op<LinalgPotrf, OnUse> linalg_potrf;
inline constexpr Op<LinalgPotri, OnUse> linalg_potri;
inline constexpr Op<LinalgInverse, OnUse> linalg_inverse;
inline constexpr Op<LinalgDet, OnUse> linalg_det;
inline constexpr Op<LinalgSlogdet, OnUse> linalg_slogdet;

using LinalgFactorOps = OpList<LinalgPotrf, LinalgPotri, LinalgInverse, LinalgDet, LinalgSlogdet>;

}  // namespace strop::inline v0
