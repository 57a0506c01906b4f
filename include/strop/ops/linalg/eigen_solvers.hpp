// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of linear algebra: its functions are Eigen's, on our memory. Read by the runtime, by each level's loops
/// and by strop/linalg.hpp, and by nothing else.
#pragma once
#include <strop/core/isa.hpp>
#include <strop/ops/linalg/solvers.hpp>

// What Eigen includes of the C and C++ libraries comes first: what is declared below is hidden, and these are not ours.
#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iosfwd>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

// Threads are the callers' business. Where a program has read Eigen before, that is as it wants it.
#if !defined(EIGEN_WORLD_VERSION) && !defined(EIGEN_DONT_PARALLELIZE)
#define EIGEN_DONT_PARALLELIZE
#define STROP_EIGEN_IS_SERIAL
#endif
// A file of the runtime has an Eigen of its own. Programs may read theirs with another instruction set, other
// assertions and another library behind it, and a linker keeps one of each function of one name: so the namespace has
// another name.
#if defined(STROP_COMPILED) && !defined(EIGEN_WORLD_VERSION)
#define STROP_EIGEN_IS_OURS
#define STROP_EIGEN_JOINED(a, b) a##b
#define STROP_EIGEN_NAME(isa) STROP_EIGEN_JOINED(strop_eigen_, isa)
#define Eigen STROP_EIGEN_NAME(STROP_ISA)
#undef EIGEN_USE_BLAS
#undef EIGEN_USE_LAPACKE
#undef EIGEN_USE_LAPACKE_STRICT
#undef EIGEN_USE_MKL
#undef EIGEN_USE_MKL_ALL
#undef EIGEN_USE_MKL_VML
#if !defined(EIGEN_NO_DEBUG)
#define EIGEN_NO_DEBUG
#endif
#pragma GCC visibility push(hidden)
#endif
#include <strop/core/push_warnings.def>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <strop/core/pop_warnings.def>

#if defined(STROP_EIGEN_IS_OURS)
#pragma GCC visibility pop
#endif
#if defined(STROP_EIGEN_IS_SERIAL)
#undef EIGEN_DONT_PARALLELIZE
#undef STROP_EIGEN_IS_SERIAL
#endif

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// Hidden, as what it is made of is in files of the runtime.
template <class E>
struct [[gnu::visibility("hidden")]] OwnSolvers {
  static constexpr int open = Eigen::Dynamic;
  using Rows = Eigen::Matrix<E, open, open, Eigen::RowMajor>;
  using Columns = Eigen::Matrix<E, open, open>;
  using Step = Eigen::OuterStride<>;
  using InRows = Eigen::Map<Rows, 0, Step>;

  /// In a copy with columns that lie together, and without Eigen's blocks: of a float matrix of 32 rows that takes half
  /// the time of LLT on the rows, of 128 rows seven tenths.
  static bool potrf(E* a, std::int64_t step, std::int64_t n) {
    if (n == 0) return true;
    InRows whole(a, n, n, Step(step));
    Columns factor = whole;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t rest = n - k - 1;
      const auto known = factor.row(k).head(k);
      const E square = factor(k, k) - known.squaredNorm();
      if (!(square > E(0))) return false;  // NaN as well
      factor(k, k) = std::sqrt(square);
      auto below = factor.col(k).tail(rest);
      if (k > 0) below.noalias() -= factor.bottomLeftCorner(rest, k) * known.transpose();
      below /= factor(k, k);
    }
    whole = factor;
    return true;
  }

  /// The QR factors of the transpose, which is column-major where the matrix is row-major.
  static void gelqf(E* a, std::int64_t rows, std::int64_t cols, E* l) {
    if (rows == 0) return;
    Eigen::Map<Columns> whole(a, cols, rows), factor(l, rows, rows);
    // Squares of what is far from 1 overflow or vanish: such rows are scaled, by powers of two.
    Eigen::Array<E, open, 1> scales = whole.cwiseAbs().colwise().maxCoeff();
    const E most = std::sqrt(std::sqrt(std::numeric_limits<E>::max()));
    bool scaled = false;
    for (std::int64_t i = 0; i < rows; ++i) {
      const E largest = scales[i];
      const bool far = largest != E(0) && std::isfinite(largest) && (largest > most || largest < 1 / most);
      scales[i] = far ? std::ldexp(E(1), std::ilogb(largest)) : E(1);
      if (far) whole.col(i) /= scales[i], scaled = true;
    }
    if (rows < blocked_rows)
      few_rows(whole, factor);
    else
      many_rows(whole, factor);
    if (scaled)
      for (std::int64_t i = 0; i < rows; ++i) factor.col(i) *= scales[i];
  }

  static bool syevd(const E* a, std::int64_t n, E* u, E* values) {
    if (n == 0) return true;
    const Eigen::MatrixXd lower =
        Eigen::Map<const Rows>(a, n, n).template cast<double>().template triangularView<Eigen::Lower>();
    if (!is_finite(lower)) return false;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> found(lower);
    if (found.info() != Eigen::Success) return false;
    Eigen::Map<Eigen::Matrix<E, open, 1>>(values, n) = found.eigenvalues().template cast<E>();
    Eigen::Map<Columns> vectors(u, n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto vector = found.eigenvectors().col(i);
      std::int64_t largest = 0;
      for (std::int64_t j = 1; j < n; ++j)
        if (std::abs(vector[j]) > std::abs(vector[largest])) largest = j;
      vectors.col(i) = (vector[largest] < 0 ? E(-1) : E(1)) * vector.template cast<E>();
    }
    return true;
  }

 private:
  /// Rows from which on Eigen's reflections in blocks are taken; of 8 rows and columns they take 3.7 times as long as
  /// those below, of 16 1.7 times with AVX-512 and 1.5 times with AVX2.
  static constexpr std::int64_t blocked_rows = 24;

  using ByColumns = Eigen::Map<Columns>;

  /// Column by column: the vectors of the reflections take the place of the columns, and then the columns of q, to
  /// which the reflections are applied from the last to the first.
  static void few_rows(ByColumns& q, ByColumns& l) {
    const std::int64_t length = q.rows(), count = q.cols();
    E scales[blocked_rows];
    const auto reflect = [&](std::int64_t by, std::int64_t column) {
      const E* const vector = &q(by, by);
      E* const at = &q(by, column);
      E along = 0;
      for (std::int64_t j = 0; j < length - by; ++j) along += at[j] * vector[j];
      along *= scales[by];
      for (std::int64_t j = 0; j < length - by; ++j) at[j] -= along * vector[j];
    };
    l.setZero();
    for (std::int64_t i = 0; i < count; ++i) {
      q.col(i).tail(length - i).makeHouseholderInPlace(scales[i], l(i, i));
      q(i, i) = E(1);
      for (std::int64_t k = i + 1; k < count; ++k) {
        reflect(i, k);
        l(i, k) = q(i, k);
        q(i, k) = E(0);
      }
    }
    for (std::int64_t i = count; i-- > 0;) {
      for (std::int64_t k = i + 1; k < count; ++k) reflect(i, k);
      q.col(i).tail(length - i) *= -scales[i];
      q(i, i) += E(1);
    }
  }
  static void many_rows(ByColumns& q, ByColumns& l) {
    Eigen::Matrix<E, open, 1> scales(q.cols());
    Eigen::internal::householder_qr_inplace_blocked<ByColumns, decltype(scales)>::run(q, scales);
    l = q.topRows(l.rows()).template triangularView<Eigen::Upper>();
    Columns rows = Columns::Identity(q.rows(), q.cols());
    Eigen::Matrix<E, 1, open> space(q.cols());
    Eigen::householderSequence(q, scales).applyThisOnTheLeft(rows, space, q.rows() == q.cols());
    q = rows;
  }

  template <class M>
  static bool is_finite(const M& matrix) {
    return (matrix.array() * 0).sum() == 0;
  }
};

template <class E>
constexpr Solvers<E> own_solvers() {
  using Own = OwnSolvers<E>;
  return {Own::potrf, Own::gelqf, Own::syevd};
}
inline constexpr LinearAlgebra own_linear_algebra{this_isa, own_solvers<float>(), own_solvers<double>()};

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail

#if defined(STROP_EIGEN_IS_OURS)
#undef Eigen
#undef STROP_EIGEN_NAME
#undef STROP_EIGEN_JOINED
#endif
