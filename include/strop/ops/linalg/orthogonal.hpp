// SPDX-License-Identifier: Apache-2.0
/// \file
/// Factors with orthonormal rows: the LQ factors of matrices, and eigenvalues and eigenvectors of symmetric ones.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/linalg/kernels.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

/// _linalg_gelqf: A = L · Q with orthonormal rows of Q and a lower triangular L, by Householder's reflections, whose
/// signs are LAPACK's.
///
/// A (…, m, n) with n ≥ m. Outputs: Q in A's shape, L (…, m, m). Floating types; sparse arrays by the dense fallback.
/// The gradient is that of both; it is infinite or NaN where A has not m independent rows. Error: more rows than
/// columns.
///
/// Example: `linalg_gelqf(array({{3, 4}}))` is [[-0.6, -0.8]] and [[-5]].
struct LinalgGelqf {
  static constexpr std::string_view name = "_linalg_gelqf", aliases[] = {"linalg_gelqf"}, inputs[] = {"A"},
                                    outputs[] = {"output0", "output1"};
  static constexpr const char* doc = "Of every matrix Q, with orthonormal rows, and L, lower triangular, of A = L · Q.";
  static constexpr Share inplace[] = {{0, 0}};
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (!detail::expect_least_rank(s, 0, 2)) return;
    Shape l = s.in(0);
    const int last = l.ndim() - 1;
    if (l[last] >= 0 && l[last] < l[last - 1])
      s.fail(s.name_in(0), " has shape ", l, ", expected matrices with no more rows than columns");
    l[last] = l[last - 1];
    s.set_out(1, l);
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> q, View<E> l) const;
  /// dA = L⁻ᵀ · (dQ + S · Q), where S is symmetric and has the lower triangle of Lᵀ · dL − dQ · Qᵀ.
  template <Real E>
  void grad_use_out(Cpu&, View<const E> dq, View<const E> dl, View<const E> q, View<const E> l, View<E> da) const;
};

/// _linalg_syevd: A = Uᵀ · diag(L) · U for every symmetric matrix: eigenvectors in the rows of U, each with its largest
/// element positive, and the eigenvalues, ascending. By reflections to a tridiagonal matrix and the QR method, in
/// double.
///
/// A (…, n, n), of which the lower triangle is read. Outputs: U in A's shape, L (…, n). A matrix with an infinity or
/// NaN gives NaN. Floating types; sparse arrays by the dense fallback. The gradient is symmetric, as A is; it grows
/// without bound as eigenvalues come together. Error: matrices that are not square.
///
/// Example: `linalg_syevd(array({{2, 0}, {0, 1}}))` is [[0, 1], [1, 0]] and [1, 2].
struct LinalgSyevd {
  static constexpr std::string_view name = "_linalg_syevd", aliases[] = {"linalg_syevd"}, inputs[] = {"A"},
                                    outputs[] = {"output0", "output1"};
  static constexpr const char* doc = "The eigenvectors, in rows, and the eigenvalues of every symmetric matrix.";
  static constexpr Share inplace[] = {{0, 0}};
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (!detail::expect_square(s, 0)) return;
    Shape values = s.in(0);
    values.resize(values.ndim() - 1);
    s.set_out(1, values);
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> u, View<E> l) const;
  /// dA = Uᵀ · S · U with dL on the diagonal of S, and half of the difference of U · dUᵀ and its transpose, divided by
  /// that of the eigenvalues, beside it.
  template <Real E>
  void grad_use_out(Cpu&, View<const E> du, View<const E> dl, View<const E> u, View<const E> l, View<E> da) const;
};

inline constexpr Op<LinalgGelqf, OnUse> linalg_gelqf;
inline constexpr Op<LinalgSyevd, OnUse> linalg_syevd;

using LinalgOrthogonalOps = OpList<LinalgGelqf, LinalgSyevd>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/linalg/orthogonal_body.hpp>
#endif
