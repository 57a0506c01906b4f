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

namespace detail {
inline namespace STROP_ISA {

template <class E>
E product_of(const E* x, const E* y, std::int64_t n) {
  E total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += x[i] * y[i];
  return total;
}

/// Householder's reflection I − scale · v · vᵀ that leaves of a vector its first element, which becomes `first`; v,
/// with 1 in front, takes the vector's place. As LAPACK's: `first` has the other sign, or the vector is left alone
/// where the rest of it is zero.
template <class E>
struct Reflection {
  E scale = 0, first;
  Reflection(E* x, std::int64_t n) : first(x[0]) {
    E most = 0;
    for (std::int64_t i = 1; i < n; ++i) most = std::max(most, std::abs(x[i]));
    if (most != E(0)) {
      most = std::max(most, std::abs(first));  // squares of what is divided by it neither overflow nor vanish
      E squares = 0;
      for (std::int64_t i = 0; i < n; ++i) squares += x[i] / most * (x[i] / most);
      const E length = most * std::sqrt(squares), begin = first;
      first = begin > E(0) ? -length : length;
      scale = (first - begin) / first;
      for (std::int64_t i = 1; i < n; ++i) x[i] /= begin - first;
    }
    x[0] = 1;
  }
};

/// a = l · q for a of rows × cols with cols ≥ rows, which becomes q; l is square.
template <class E>
void factor_lq(E* a, std::int64_t rows, std::int64_t cols, E* l) {
  List<E> scales(rows);
  const auto reflect = [&](std::int64_t by, std::int64_t row) {
    const E *const v = a + by * cols + by, along = scales[by] * product_of(a + row * cols + by, v, cols - by);
    subtract_multiple(along, v, cols - by, a + row * cols + by);
  };
  std::fill_n(l, rows * rows, E(0));
  for (std::int64_t i = 0; i < rows; ++i) {
    const Reflection<E> r(a + i * cols + i, cols - i);
    scales[i] = r.scale;
    l[i * rows + i] = r.first;
    for (std::int64_t k = i + 1; k < rows; ++k) {
      reflect(i, k);
      l[k * rows + i] = a[k * cols + i];
      a[k * cols + i] = 0;
    }
  }
  // Rows of the identity, to which the reflections are applied from the last to the first.
  for (std::int64_t i = rows; i-- > 0;) {
    for (std::int64_t k = i + 1; k < rows; ++k) reflect(i, k);
    E* const v = a + i * cols + i;
    for (std::int64_t j = 0; j < cols - i; ++j) v[j] *= -scales[i];
    v[0] += 1;
  }
}

/// A symmetric matrix, of which the lower triangle is read, as uᵀ · diag(values) · u: in double.
/// NaN where it has a number that is not finite.
class SymmetricEigen {
 public:
  std::int64_t n;
  List<double> values, vectors;  // ascending; rows, in each of which the largest element is positive

  template <class E>
  SymmetricEigen(const E* a, std::int64_t extent) : n(extent), values(n), vectors(n * n), off_(n) {
    List<double> symmetric(n * n);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        symmetric[i * n + j] = symmetric[j * n + i] = static_cast<double>(a[i * n + j]);
    make_tridiagonal(symmetric.data());
    if (std::all_of(symmetric.begin(), symmetric.end(), [](double x) { return std::isfinite(x); }) && make_diagonal()) {
      arrange();
      return;
    }
    std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
    std::fill(vectors.begin(), vectors.end(), std::numeric_limits<double>::quiet_NaN());
  }

 private:
  double* row(std::int64_t i) { return vectors.data() + i * n; }

  /// Reflections from both sides; values and off_ are then the diagonal and what is beside it.
  void make_tridiagonal(double* a) {
    fill_identity(vectors.data(), n);
    List<double> v(n), w(n);
    for (std::int64_t k = 0; k < n; ++k) {
      values[k] = a[k * n + k];
      const std::int64_t left = k + 1, rest = n - left;
      if (rest == 0) break;
      std::copy_n(a + k * n + left, rest, v.data());
      const Reflection<double> r(v.data(), rest);
      off_[k] = r.first;
      if (r.scale == 0) continue;
      for (std::int64_t i = 0; i < rest; ++i) w[i] = r.scale * product_of(a + (left + i) * n + left, v.data(), rest);
      subtract_multiple(r.scale / 2 * product_of(v.data(), w.data(), rest), v.data(), rest, w.data());
      for (std::int64_t i = 0; i < rest; ++i) {
        subtract_multiple(v[i], w.data(), rest, a + (left + i) * n + left);
        subtract_multiple(w[i], v.data(), rest, a + (left + i) * n + left);
      }
      std::fill_n(w.data(), n, 0.0);
      for (std::int64_t i = 0; i < rest; ++i) subtract_multiple(-r.scale * v[i], row(left + i), n, w.data());
      for (std::int64_t i = 0; i < rest; ++i) subtract_multiple(v[i], w.data(), n, row(left + i));
    }
  }

  /// Steps of the QL method with implicit shifts, until nothing is left beside the diagonal.
  bool make_diagonal() {
    constexpr int most_steps = 60;
    for (std::int64_t first = 0; first < n; ++first)
      for (int steps = 0;; ++steps) {
        std::int64_t last = first;
        while (last + 1 < n && std::abs(off_[last]) > std::numeric_limits<double>::epsilon() *
                                                          (std::abs(values[last]) + std::abs(values[last + 1])))
          ++last;
        if (last == first) break;
        if (steps == most_steps) return false;
        step(first, last);
      }
    return true;
  }
  void step(std::int64_t first, std::int64_t last) {
    const double half = (values[first + 1] - values[first]) / (2 * off_[first]);
    double bulge = values[last] - values[first] + off_[first] / (half + std::copysign(std::hypot(half, 1.0), half));
    double sine = 1, cosine = 1, moved = 0;
    for (std::int64_t i = last; i-- > first;) {
      const double chased = sine * off_[i], kept = cosine * off_[i], length = std::hypot(chased, bulge);
      off_[i + 1] = length;
      if (length == 0) {  // the matrix falls apart here
        values[i + 1] -= moved;
        off_[last] = 0;
        return;
      }
      sine = chased / length;
      cosine = bulge / length;
      const double shifted = values[i + 1] - moved, turned = (values[i] - shifted) * sine + 2 * cosine * kept;
      moved = sine * turned;
      values[i + 1] = shifted + moved;
      bulge = cosine * turned - kept;
      double *const upper = row(i), *const below = row(i + 1);
      for (std::int64_t j = 0; j < n; ++j) {
        const double x = upper[j], y = below[j];
        below[j] = sine * x + cosine * y;
        upper[j] = cosine * x - sine * y;
      }
    }
    values[first] -= moved;
    off_[first] = bulge;
    off_[last] = 0;
  }

  void arrange() {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t least = std::min_element(values.begin() + i, values.end()) - values.begin();
      std::swap(values[i], values[least]);
      if (least != i) std::swap_ranges(row(i), row(i) + n, row(least));
      std::int64_t largest = 0;
      for (std::int64_t j = 1; j < n; ++j)
        if (std::abs(row(i)[j]) > std::abs(row(i)[largest])) largest = j;
      if (row(i)[largest] < 0)
        for (std::int64_t j = 0; j < n; ++j) row(i)[j] = -row(i)[j];
    }
  }

  List<double> off_;
};

}  // namespace STROP_ISA
}  // namespace detail

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
    if (q.data() != a.data()) std::copy(a.begin(), a.end(), q.begin());
    detail::each_matrix(m.count, 3 * m.size() * m.rows, [&](std::int64_t k) {
      detail::factor_lq(q.data() + k * m.size(), m.rows, m.cols, l.data() + k * m.rows * m.rows);
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
/// element positive, and the eigenvalues, ascending. By reflections to a tridiagonal matrix and the QL method, in
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
    detail::each_matrix(m.count, 6 * m.size() * m.rows, [&](std::int64_t k) {
      const detail::SymmetricEigen found(a.data() + k * m.size(), m.rows);
      std::transform(found.vectors.begin(), found.vectors.end(), u.data() + k * m.size(),
                     [](double x) { return static_cast<E>(x); });
      std::transform(found.values.begin(), found.values.end(), l.data() + k * m.rows,
                     [](double x) { return static_cast<E>(x); });
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
