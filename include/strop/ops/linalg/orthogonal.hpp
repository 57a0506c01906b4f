// SPDX-License-Identifier: Apache-2.0
/// \file
/// Factors with orthonormal rows: the LQ factors of matrices, and eigenvalues and eigenvectors of symmetric ones.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/linalg/kernels.hpp>
#include <strop/ops/list.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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
  void forward(Cpu&, View<const E> a, View<E> q, View<E> l) const {
    const detail::Matrices m(a.shape());
    const detail::Solvers<E>& solvers = detail::solvers<E>(name);
    if (q.data() != a.data()) std::copy(a.begin(), a.end(), q.begin());
    detail::each_matrix(m.count, 3 * m.size() * m.rows, [&](std::int64_t k) {
      solvers.gelqf(q.data() + k * m.size(), m.rows, m.cols, l.data() + k * m.rows * m.rows);
    });
  }
  /// dA = L⁻ᵀ · (dQ + S · Q), where S is symmetric and has the lower triangle of Lᵀ · dL − dQ · Qᵀ.
  template <Real E>
  void grad_use_out(Cpu&, View<const E> dq, View<const E> dl, View<const E> q, View<const E> l, View<E> da) const {
    const detail::Matrices m(q.shape());
    const std::int64_t n = m.rows;
    std::copy(dq.begin(), dq.end(), da.begin());
    detail::each_matrix(m.count, 3 * m.size() * n, [&](std::int64_t k) {
      const E *const rows = q.data() + k * m.size(), *const factor = l.data() + k * n * n;
      E* const to = da.data() + k * m.size();
      detail::List<E> both(n * n), other(n * n);
      detail::gemm(n, n, n, factor, true, dl.data() + k * n * n, false, both.data());
      detail::gemm(n, n, m.cols, to, false, rows, true, other.data());
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j <= i; ++j) both[i * n + j] = both[j * n + i] = both[i * n + j] - other[i * n + j];
      detail::gemm(n, m.cols, n, both.data(), false, rows, false, to, true);
      detail::solve_triangle(detail::Strided<E>::of(factor, n, true), false, false, n, m.cols, to);
    });
  }
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
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (!detail::expect_square(s, 0)) return;
    Shape values = s.in(0);
    values.resize(values.ndim() - 1);
    s.set_out(1, values);
  }
  template <Real E>
  void forward(Cpu&, View<const E> a, View<E> u, View<E> l) const {
    const detail::Matrices m(a.shape());
    const detail::Solvers<E>& solvers = detail::solvers<E>(name);
    detail::each_matrix(m.count, 6 * m.size() * m.rows, [&](std::int64_t k) {
      E *const vectors = u.data() + k * m.size(), *const values = l.data() + k * m.rows;
      if (solvers.syevd(a.data() + k * m.size(), m.rows, vectors, values)) return;
      std::fill_n(vectors, m.size(), std::numeric_limits<E>::quiet_NaN());
      std::fill_n(values, m.rows, std::numeric_limits<E>::quiet_NaN());
    });
  }
  /// dA = Uᵀ · S · U with dL on the diagonal of S, and half of the difference of U · dUᵀ and its transpose, divided by
  /// that of the eigenvalues, beside it.
  template <Real E>
  void grad_use_out(Cpu&, View<const E> du, View<const E> dl, View<const E> u, View<const E> l, View<E> da) const {
    const detail::Matrices m(u.shape());
    const std::int64_t n = m.rows;
    detail::each_matrix(m.count, 3 * m.size() * n, [&](std::int64_t k) {
      const E *const vectors = u.data() + k * m.size(), *const values = l.data() + k * n;
      detail::List<E> inner(m.size()), half(m.size());
      detail::gemm(n, n, n, vectors, false, du.data() + k * m.size(), true, inner.data());
      for (std::int64_t i = 0; i < n; ++i) {
        inner[i * n + i] = dl[k * n + i];
        for (std::int64_t j = 0; j < i; ++j) {
          const E gap = std::max(values[i] - values[j], std::numeric_limits<E>::min());
          inner[i * n + j] = inner[j * n + i] = (inner[j * n + i] - inner[i * n + j]) / (2 * gap);
        }
      }
      detail::gemm(n, n, n, vectors, true, inner.data(), false, half.data());
      detail::gemm(n, n, n, half.data(), false, vectors, false, da.data() + k * m.size());
    });
  }
};

inline constexpr Op<LinalgGelqf, OnUse> linalg_gelqf;
inline constexpr Op<LinalgSyevd, OnUse> linalg_syevd;

using LinalgOrthogonalOps = OpList<LinalgGelqf, LinalgSyevd>;

}  // namespace strop::inline v0
