// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products: dense matrices of many shapes, matrix by vector, CSR by dense. Beside them Eigen, each side at its better
/// of one and two threads. The bound of dense products is the processor's rate of fused multiply-adds, measured here.
#if defined(__GNUC__) && !defined(__clang__)  // of its own header of AVX-512, which Eigen includes
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include "measure.hpp"
#include "peak.hpp"

#include <strop/number/lanes.hpp>
#include <strop/strop.hpp>

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <algorithm>
#include <memory>
#include <thread>

namespace {

using strop::NDArray;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix, Eigen::Aligned64>;

Map map(const NDArray& a) { return {a.pointer<float>(), a.shape()[0], a.shape()[1]}; }

/// Both sides with one thread and with two; one line of the better ones.
template <class Ours, class Theirs>
void row(const std::string& what, double operations, Ours ours, Theirs theirs) {
  if (!bench::wanted(what) || bench::gave_line(what, ours)) return;
  bench::Contest one, two, peer, peer_two;
  one.add(ours), two.add(ours), peer.add(theirs), peer_two.add(theirs);
  for (int pass = 0; pass < 4; ++pass) {
    // OpenMP's threads keep a core busy for a while after their work: each has the machine for itself in its turn
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    strop::set_num_threads(1), one.run(1e7);
    strop::set_num_threads(2), two.run(1e7);
    Eigen::setNbThreads(1), peer.run(1e7);
    Eigen::setNbThreads(2), peer_two.run(1e7);
  }
  const double ours_best = std::min(one.best(0), two.best(0)), peer_best = std::min(peer.best(0), peer_two.best(0));
  std::printf("%-36s %9.2f %9.2f %9.2f %9.2f %9.2fx\n", what.c_str(), operations / one.best(0),
              operations / two.best(0), operations / peer.best(0), operations / peer_two.best(0),
              peer_best / ours_best);
}

struct Size {
  std::int64_t m, n, k;
  bool ta, tb;
  const char* note;
};

void dense(const Size& s) {
  const NDArray a = strop::random::uniform(s.ta ? strop::Shape{s.k, s.m} : strop::Shape{s.m, s.k}, -1, 1);
  const NDArray b = strop::random::uniform(s.tb ? strop::Shape{s.n, s.k} : strop::Shape{s.k, s.n}, -1, 1);
  const NDArray c = strop::zeros({s.m, s.n});
  const std::string what = std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
                           (s.ta ? " A'" : "") + (s.tb ? " B'" : "") + s.note;
  const double flops = 2.0 * static_cast<double>(s.m * s.n * s.k);
  const strop::Dot params{.transpose_a = s.ta, .transpose_b = s.tb};
  const Map x = map(a), y = map(b);
  Map z = map(c);
  row(
      what, flops, [=] { strop::dot(a, b, params, strop::into(c)).wait(); },
      [=]() mutable {
        if (s.n == 1 && !s.ta && !s.tb)  // a vector at compile time is Eigen's fast way
          z.col(0).noalias() = x * y.col(0);
        else if (s.m == 1 && s.tb)
          z.row(0).transpose().noalias() = y * x.row(0).transpose();
        else if (s.ta)
          z.noalias() = x.transpose() * y;
        else if (s.tb)
          z.noalias() = x * y.transpose();
        else
          z.noalias() = x * y;
      });
}

/// `stored` a row at random columns; `width` columns on the dense side.
void sparse(std::int64_t rows, std::int64_t cols, std::int64_t stored, std::int64_t width) {
  std::vector<Eigen::Triplet<float, int>> entries;
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < stored; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      entries.emplace_back(static_cast<int>(i), static_cast<int>((state >> 33) % static_cast<std::uint64_t>(cols)),
                           1.0f);
    }
  auto peer = std::make_shared<Eigen::SparseMatrix<float, Eigen::RowMajor>>(rows, cols);
  peer->setFromTriplets(entries.begin(), entries.end());
  const std::int64_t nnz = peer->nonZeros();
  std::vector<std::int64_t> indices(peer->innerIndexPtr(), peer->innerIndexPtr() + nnz),
      starts(peer->outerIndexPtr(), peer->outerIndexPtr() + rows + 1);
  const std::vector<float> values(peer->valuePtr(), peer->valuePtr() + nnz);
  const NDArray data({nnz}, strop::f32), where({nnz}, strop::i64), indptr({rows + 1}, strop::i64);
  std::copy(values.begin(), values.end(), data.pointer<float>());
  std::copy(indices.begin(), indices.end(), where.pointer<std::int64_t>());
  std::copy(starts.begin(), starts.end(), indptr.pointer<std::int64_t>());
  const NDArray a = strop::csr_matrix(data, where, indptr, {rows, cols});
  const NDArray b = strop::random::uniform({cols, width}, -1, 1), c = strop::zeros({rows, width});
  const Map y = map(b);
  Map z = map(c);
  const std::string what = "csr " + std::to_string(rows) + "x" + std::to_string(cols) + ", " + std::to_string(stored) +
                           " a row, width " + std::to_string(width);
  row(
      what, 2.0 * static_cast<double>(nnz * width), [=] { strop::dot(a, b, strop::Dot{}, strop::into(c)).wait(); },
      [=]() mutable {
        if (width == 1)
          z.col(0).noalias() = *peer * y.col(0);
        else
          z.noalias() = *peer * y;
      });
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  if (!bench::lines) {
    std::printf(
        "m x n x k; A', B': stored transposed. The ratio: Eigen's better time over ours. GF/s, best of many short\n"
        "rounds that the four take in turn. Fused multiply-adds alone: %.0f GF/s a thread\n",
        bench::peak<float>());
    std::printf("%-36s %9s %9s %9s %9s\n", "", "ours, 1", "ours, 2", "Eigen, 1", "Eigen, 2");
  }
  for (const Size& s :
       {Size{16, 16, 16, false, false, ""}, Size{64, 64, 64, false, false, ""}, Size{128, 128, 128, false, false, ""},
        Size{256, 256, 256, false, false, ""}, Size{512, 512, 512, false, false, ""},
        Size{1024, 1024, 1024, false, false, ""}, Size{64, 1024, 1024, false, false, ""},
        Size{4096, 64, 576, false, false, ", im2col"}, Size{128, 256, 784, false, true, ", layer 1"},
        Size{256, 784, 128, true, false, ", its dW"}, Size{128, 10, 256, false, true, ", layer 2"},
        Size{10, 256, 128, true, false, ", its dW"}, Size{128, 256, 10, false, false, ", its dx"},
        Size{1, 256, 784, false, true, ", batch 1"}, Size{256, 784, 1, true, false, ", its dW"},
        Size{1024, 1, 1024, false, false, ", gemv"}, Size{1, 1024, 1024, false, false, ", vector by matrix"},
        Size{4096, 1, 4096, false, false, ", gemv"}})
    dense(s);
  for (const std::int64_t width : {1, 16, 128}) sparse(20000, 20000, 20, width);
  sparse(8192, 1000000, 15, 16);
}
