// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/linalg/factors.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/linalg/factors.hpp>
#include <strop/ops/linalg/kernels_body.hpp>
#include <strop/ops/linalg/solvers.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// The determinant of a matrix from its factors.
template <class E>
struct Determinant {
  const E* factors;
  const std::int32_t* pivot;
  std::int64_t n;

  double value() const {
    double product = 1;
    for (std::int64_t k = 0; k < n; ++k) product *= pivot[k] == k ? diagonal(k) : -diagonal(k);
    return product;
  }
  /// 0 of a singular matrix.
  double sign() const {
    double product = 1;
    for (std::int64_t k = 0; k < n; ++k) {
      const double u = diagonal(k);
      product *= (u > 0 ? 1 : u < 0 ? -1 : u) * (pivot[k] == k ? 1 : -1);
    }
    return product;
  }
  /// The logarithm of its absolute value.
  double log() const {
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += std::log(std::abs(diagonal(k)));
    return sum;
  }

 private:
  double diagonal(std::int64_t k) const { return static_cast<double>(factors[k * n + k]); }
};

/// Factors every matrix: f(matrix, its determinant).
template <class E, class F>
void factor_matrices(View<const E> a, View<E> factors, View<std::int32_t> pivots, F f) {
  const Matrices m(a.shape());
  std::copy(a.begin(), a.end(), factors.begin());
  each_matrix(m.count, m.size() * m.rows / 3, [&](std::int64_t k) {
    E* const of = factors.data() + k * m.size();
    std::int32_t* const pivot = pivots.data() + k * m.rows;
    factor_lu(of, m.rows, pivot);
    f(k, Determinant<E>{of, pivot, m.rows});
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

template <Real E>
inline void LinalgPotrf::forward(Cpu&, View<const E> a, View<E> y) const {
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

template <Real E>
inline void LinalgPotrf::grad_use_out(Cpu&, View<const E> dy, View<const E> y, View<E> da) const {
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

template <Real E>
inline void LinalgPotri::forward(Cpu&, View<const E> a, View<E> y) const {
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

template <Real E>
inline void LinalgPotri::grad_use_in_out(Cpu&, View<const E> dy, View<const E> a, View<const E> y, View<E> da) const {
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

template <Real E>
inline void LinalgInverse::forward(Cpu& ctx, View<const E> a, View<E> y) const {
  const detail::Matrices m(a.shape());
  const View<E> factors = ctx.temp<E>(a.shape());
  const View<std::int32_t, 1> pivots = ctx.temp<std::int32_t>(m.count * m.rows);
  const std::int64_t all[] = {m.count * m.rows};
  detail::factor_matrices<E>(a, factors, {pivots.data(), all},
                             [&](std::int64_t k, const detail::Determinant<E>& determinant) {
                               if (determinant.sign() == 0) fail(name, ": matrix ", k, " of input 'A' is singular");
                               detail::invert_factored(factors.data() + k * m.size(), pivots.data() + k * m.rows,
                                                       m.rows, y.data() + k * m.size());
                             });
}

template <Real E>
inline void LinalgInverse::grad_use_out(Cpu&, View<const E> dy, View<const E> y, View<E> da) const {
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

template <Real E>
inline void LinalgDet::forward(Cpu&, View<const E> a, View<E> y, View<E> factors, View<std::int32_t> pivots) const {
  detail::factor_matrices<E>(a, factors, pivots, [&](std::int64_t k, const detail::Determinant<E>& determinant) {
    y[k] = static_cast<E>(determinant.value());
  });
}

template <Real E>
inline void LinalgDet::grad(Cpu&, Head<"output0", View<const E>> dy, Out<"output0", View<const E>> y,
                            Out<"output1", View<const E>> factors, Out<"output2", View<const std::int32_t>> pivots,
                            Grad<"A", View<E>> da) const {
  if (da)
    detail::scaled_inverse_transposes<E>(
        factors, pivots, [&](std::int64_t k) { return y[k] == E(0) ? E(0) : dy[k] * y[k]; }, da);
}

template <Real E>
inline void LinalgSlogdet::forward(Cpu&, View<const E> a, View<E> sign_of, View<E> logarithm, View<E> factors,
                                   View<std::int32_t> pivots) const {
  detail::factor_matrices<E>(a, factors, pivots, [&](std::int64_t k, const detail::Determinant<E>& determinant) {
    sign_of[k] = static_cast<E>(determinant.sign());
    logarithm[k] = static_cast<E>(determinant.log());
  });
}

template <Real E>
inline void LinalgSlogdet::grad(Cpu&, Head<"output1", View<const E>> dy, Out<"output0", View<const E>> sign_of,
                                Out<"output2", View<const E>> factors, Out<"output3", View<const std::int32_t>> pivots,
                                Grad<"A", View<E>> da) const {
  if (da)
    detail::scaled_inverse_transposes<E>(
        factors, pivots, [&](std::int64_t k) { return sign_of[k] == E(0) ? E(0) : dy[k]; }, da);
}

}  // namespace strop::inline v0
