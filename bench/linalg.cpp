// SPDX-License-Identifier: Apache-2.0
/// \file
/// Linear algebra: factors, inverses, triangular systems, eigenvalues, of many small matrices and of one large one.
/// Beside it plain Eigen on the same matrices, one after the other. The bound of all is the processor's rate of fused
/// multiply-adds, measured here.
#if defined(__GNUC__) && !defined(__clang__)  // of its own header of AVX-512, which Eigen includes
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include "measure.hpp"
#include "peak.hpp"

#include <strop/linalg.hpp>
#include <strop/strop.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include <cmath>
#include <cstdint>
#include <string>

namespace {

using strop::NDArray;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix>;

/// So many matrices of n rows and columns.
struct Size {
  std::int64_t batch, n;
};

/// `cubes` · n³ operations a matrix; the peer computes one.
template <class Ours, class Theirs>
void row(const std::string& op, Size s, double cubes, double rate, Ours ours, Theirs theirs) {
  const std::string what = op + ", " + std::to_string(s.batch) + " of " + std::to_string(s.n);
  if (!bench::wanted(what) || bench::gave_line(what, ours)) return;
  const auto all = [=]() mutable {
    for (std::int64_t k = 0; k < s.batch; ++k) theirs(k);
  };
  bench::Contest one, two, peer;
  one.add(ours), two.add(ours), peer.add(all);
  for (int pass = 0; pass < 4; ++pass) {
    strop::set_num_threads(1), one.run(1e7);
    strop::set_num_threads(2), two.run(1e7);
    peer.run(1e7);
  }
  const double operations = cubes * static_cast<double>(s.batch * s.n * s.n * s.n);
  std::printf("%-24s %10.1f %10.1f %10.1f %9.2fx %9.2fx %8.0f%%\n", what.c_str(), one.best(0) / 1e3, two.best(0) / 1e3,
              peer.best(0) / 1e3, peer.best(0) / one.best(0), peer.best(0) / two.best(0),
              100 * operations / one.best(0) / rate);
}

void all_of(Size s, double rate) {
  const std::int64_t n = s.n, m = n * n;
  const NDArray a = strop::random::uniform(strop::Shape{s.batch, n, n}, -1, 1), b = a.copy();
  const NDArray one = strop::linalg_makediag(strop::ones({1, n}));
  const NDArray definite = strop::linalg_syrk(a) + one * static_cast<float>(n);
  const NDArray factor = strop::linalg_potrf(definite);
  const NDArray y = strop::zeros({s.batch, n, n}), other = strop::zeros({s.batch, n, n});
  const NDArray vectors = strop::zeros({s.batch, n}), numbers = strop::zeros({s.batch});
  const auto at = [=](const NDArray& x) {
    return [=](std::int64_t k) { return Map(x.pointer<float>() + k * m, n, n); };
  };
  const auto A = at(a), B = at(b), D = at(definite), L = at(factor), Y = at(y), O = at(other);

  row(
      "potrf", s, 1 / 3.0, rate, [=] { strop::linalg_potrf(definite, {}, strop::into(y)).wait(); },
      [=](std::int64_t k) {
        const Eigen::LLT<Matrix> llt(D(k));
        Y(k) = llt.matrixL();
      });
  if (n > 512) return;
  row(
      "potri", s, 2 / 3.0 + 1 / 3.0, rate, [=] { strop::linalg_potri(factor, {}, strop::into(y)).wait(); },
      [=](std::int64_t k) {
        Matrix inverse = Matrix::Identity(n, n);
        L(k).triangularView<Eigen::Lower>().solveInPlace(inverse);
        Y(k).noalias() = inverse.transpose().triangularView<Eigen::Upper>() * inverse;
      });
  row(
      "trsm", s, 1, rate, [=] { strop::linalg_trsm(factor, b, {}, strop::into(y)).wait(); },
      [=](std::int64_t k) {
        Y(k) = B(k);
        L(k).triangularView<Eigen::Lower>().solveInPlace(Y(k));
      });
  row(
      "trmm", s, 1, rate, [=] { strop::linalg_trmm(factor, b, {}, strop::into(y)).wait(); },
      [=](std::int64_t k) { Y(k).noalias() = L(k).triangularView<Eigen::Lower>() * B(k); });
  row(
      "syrk", s, 1, rate, [=] { strop::linalg_syrk(a, {}, strop::into(y)).wait(); },
      [=](std::int64_t k) {
        Map to = Y(k);
        to.triangularView<Eigen::Lower>().setZero();
        to.selfadjointView<Eigen::Lower>().rankUpdate(A(k));
        to.triangularView<Eigen::StrictlyUpper>() = to.transpose();
      });
  row(
      "inverse", s, 2, rate, [=] { strop::linalg_inverse(a, strop::into(y)).wait(); },
      [=](std::int64_t k) { Y(k) = Eigen::PartialPivLU<Matrix>(A(k)).inverse(); });
  row(
      "det", s, 2 / 3.0, rate, [=] { strop::linalg_det(a, strop::into(numbers)).wait(); },
      [=](std::int64_t k) { numbers.pointer<float>()[k] = Eigen::PartialPivLU<Matrix>(A(k)).determinant(); });
  row(
      "gelqf", s, 8 / 3.0, rate, [=] { bench::touch(strop::linalg_gelqf(a)[0].pointer<float>()); },
      [=](std::int64_t k) {
        const Eigen::HouseholderQR<Eigen::MatrixXf> qr(A(k).transpose());
        Y(k) = Eigen::MatrixXf(qr.householderQ()).transpose();
        O(k) = qr.matrixQR().triangularView<Eigen::Upper>().transpose();
      });
  row(
      "syevd", s, 9, rate, [=] { bench::touch(strop::linalg_syevd(definite)[0].pointer<float>()); },
      [=](std::int64_t k) {
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXf> solver(D(k));
        Y(k) = solver.eigenvectors().transpose();
        Eigen::Map<Eigen::VectorXf>(vectors.pointer<float>() + k * n, n) = solver.eigenvalues();
      });
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  const double rate = bench::peak<float>();
  if (!bench::lines) {
    std::printf(
        "float; microseconds, best of many short rounds in turn. The ratios: Eigen's time over ours with one thread "
        "and\n"
        "with two. The last column: the textbook's operations, with one thread, of what fused multiply-adds alone "
        "would\n"
        "do, %.0f GF/s a thread\n",
        rate);
    std::printf("%-24s %10s %10s %10s %10s %10s %9s\n", "", "ours, 1", "ours, 2", "Eigen, 1", "/ours, 1", "/ours, 2",
                "of bound");
  }
  for (const Size s : {Size{1000, 8}, Size{100, 32}, Size{1, 128}, Size{1, 512}, Size{1, 1024}}) all_of(s, rate);
}
