// SPDX-License-Identifier: Apache-2.0
/// \file
/// A file with an Eigen of its own, for the machine at hand, beside that of the runtime, which is for any.
#include <Eigen/Cholesky>
#include <strop/eigen.hpp>
#include <strop/strop.hpp>

bool eigen_agrees();
bool eigen_agrees() {
  const int n = 30;
  using Matrix = Eigen::Matrix<float, n, n, Eigen::RowMajor>;
  const strop::Array a = strop::linalg_syrk(strop::random::uniform({n, n})) + strop::linalg_makediag(strop::ones({n}));
  const strop::Array ours = strop::linalg_potrf(a);
  const Matrix theirs = Eigen::LLT<Matrix>(Eigen::Map<const Matrix>(a.pointer<float>())).matrixL();
  return (Eigen::Map<const Matrix>(ours.pointer<float>()) - theirs).norm() < 1e-3f;
}
