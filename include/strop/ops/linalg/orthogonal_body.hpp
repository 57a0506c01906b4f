// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/linalg/orthogonal.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/linalg/kernels_body.hpp>
#include <strop/ops/linalg/orthogonal.hpp>
#include <strop/ops/linalg/solvers.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace strop::inline v0 {

template <Real E>
inline void LinalgGelqf::forward(Cpu&, View<const E> a, View<E> q, View<E> l) const {
  const detail::Matrices m(a.shape());
  const detail::Solvers<E>& solvers = detail::solvers<E>(name);
  if (q.data() != a.data()) std::copy(a.begin(), a.end(), q.begin());
  detail::each_matrix(m.count, 3 * m.size() * m.rows, [&](std::int64_t k) {
    solvers.gelqf(q.data() + k * m.size(), m.rows, m.cols, l.data() + k * m.rows * m.rows);
  });
}

template <Real E>
inline void LinalgGelqf::grad_use_out(Cpu&, View<const E> dq, View<const E> dl, View<const E> q, View<const E> l,
                                      View<E> da) const {
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

template <Real E>
inline void LinalgSyevd::forward(Cpu&, View<const E> a, View<E> u, View<E> l) const {
  const detail::Matrices m(a.shape());
  const detail::Solvers<E>& solvers = detail::solvers<E>(name);
  detail::each_matrix(m.count, 6 * m.size() * m.rows, [&](std::int64_t k) {
    E *const vectors = u.data() + k * m.size(), *const values = l.data() + k * m.rows;
    if (solvers.syevd(a.data() + k * m.size(), m.rows, vectors, values)) return;
    std::fill_n(vectors, m.size(), std::numeric_limits<E>::quiet_NaN());
    std::fill_n(values, m.rows, std::numeric_limits<E>::quiet_NaN());
  });
}

template <Real E>
inline void LinalgSyevd::grad_use_out(Cpu&, View<const E> du, View<const E> dl, View<const E> u, View<const E> l,
                                      View<E> da) const {
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

}  // namespace strop::inline v0
