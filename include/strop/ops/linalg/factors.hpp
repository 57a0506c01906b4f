// SPDX-License-Identifier: Apache-2.0
/// \file
/// Cholesky factors and inverses from them, inverses and determinants.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/linalg/kernels.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr Note factor_notes[] = {{"lower", "the factor is below the diagonal, else above"}};

/// Square matrices and a result like them.
template <int = 0>
constexpr void infer_square(Shapes& s) {
  s.set_out(0, s.in(0));
  s.set_in(0, s.out(0));
  expect_square(s, 0);
}

/// Outputs from `first` on: of square matrices the factors that factor_lu makes, and the exchanges of their rows.
template <int = 0>
constexpr void infer_factors(Shapes& s, int first) {
  if (!expect_square(s, 0)) return;
  for (int i = 0; i < first; ++i) s.set_out(i, numbers_of(s.in(0)));
  s.set_out(first, s.in(0));
  Shape pivots = s.in(0);
  pivots.resize(pivots.ndim() - 1);
  s.set_out(first + 1, pivots);
}
template <int = 0>
constexpr void infer_factor_types(Types& t, int first) {
  t.expect_in(0, floating);
  for (int i = 0; i <= first; ++i) {
    t.set_out(i, t.in(0));
    t.set_in(0, t.out(i));
  }
  t.set_out(first + 1, i32);
}

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
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_square(s);
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> y) const;
  /// dA = ½ · L⁻ᵀ · S · L⁻¹, where S is symmetric and has the lower triangle of Lᵀ · dL.
  template <Real E>
  void grad_use_out(Cpu&, View<const E> dy, View<const E> y, View<E> da) const;
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
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_square(s);
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> y) const;
  /// dL = −(L⁻¹ · (dB + dBᵀ) · B)ᵀ below the diagonal, B being the result.
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E> dy, View<const E> a, View<const E> y, View<E> da) const;
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
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_square(s);
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> a, View<E> y) const;
  template <Real E>
  void grad_use_out(Cpu&, View<const E> dy, View<const E> y, View<E> da) const;
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
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_factors(s, 1);
  }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    detail::infer_factor_types(t, 1);
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> y, View<E> factors, View<std::int32_t> pivots) const;
  template <Real E>
  void grad(Cpu&, Head<"output0", View<const E>> dy, Out<"output0", View<const E>> y,
            Out<"output1", View<const E>> factors, Out<"output2", View<const std::int32_t>> pivots,
            Grad<"A", View<E>> da) const;
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
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_factors(s, 2);
  }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    detail::infer_factor_types(t, 2);
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> sign_of, View<E> logarithm, View<E> factors,
               View<std::int32_t> pivots) const;
  template <Real E>
  void grad(Cpu&, Head<"output1", View<const E>> dy, Out<"output0", View<const E>> sign_of,
            Out<"output2", View<const E>> factors, Out<"output3", View<const std::int32_t>> pivots,
            Grad<"A", View<E>> da) const;
};

inline constexpr Op<LinalgPotrf, OnUse> linalg_potrf;
inline constexpr Op<LinalgPotri, OnUse> linalg_potri;
inline constexpr Op<LinalgInverse, OnUse> linalg_inverse;
inline constexpr Op<LinalgDet, OnUse> linalg_det;
inline constexpr Op<LinalgSlogdet, OnUse> linalg_slogdet;

using LinalgFactorOps = OpList<LinalgPotrf, LinalgPotri, LinalgInverse, LinalgDet, LinalgSlogdet>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/linalg/factors_body.hpp>
#endif
