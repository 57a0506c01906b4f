// SPDX-License-Identifier: Apache-2.0
/// \file
/// Views as Eigen expressions, without a copy. Needs Eigen 3.4 or 5; nothing else of strop includes it.
#pragma once
#if defined(STROP_EIGEN_IS_OURS)
#error strop/source.hpp reads Eigen under a name of its own: include Eigen and <strop/eigen.hpp> before it, or in another file
#endif
#include <strop/core/push_macros.def>

#include <strop/tensor/view.hpp>

#include <strop/core/push_warnings.def>

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <strop/core/pop_warnings.def>

#include <type_traits>

namespace strop::inline v0 {
namespace detail {
template <class E, int Options, int Rows, int Cols>
using EigenMatrix = Eigen::Matrix<std::remove_const_t<E>, Rows, Cols, Options>;
template <class E, class Plain>
using EigenMap = Eigen::Map<std::conditional_t<std::is_const_v<E>, const Plain, Plain>>;
}  // namespace detail

/// A view of two dimensions as a row-major matrix; const for const elements.
template <class E>
auto matrix(View<E, 2> x) {
  using Plain = detail::EigenMatrix<E, Eigen::RowMajor, Eigen::Dynamic, Eigen::Dynamic>;
  return detail::EigenMap<E, Plain>(x.data(), x.shape()[0], x.shape()[1]);
}
/// A view of one dimension as a column.
template <class E>
auto matrix(View<E, 1> x) {
  using Plain = detail::EigenMatrix<E, Eigen::ColMajor, Eigen::Dynamic, 1>;
  return detail::EigenMap<E, Plain>(x.data(), x.shape()[0]);
}

/// All elements of a view as a one-dimensional array expression, whatever its rank.
template <class E, int Rank>
auto coefficients(View<E, Rank> x) {
  using Plain = Eigen::Array<std::remove_const_t<E>, Eigen::Dynamic, 1>;
  return detail::EigenMap<E, Plain>(x.data(), x.size());
}

/// A CSR view as Eigen's row-major sparse matrix with 64-bit indices, read only.
template <class E>
auto sparse(const CsrView<E>& x) {
  using Plain = Eigen::SparseMatrix<std::remove_const_t<E>, Eigen::RowMajor, std::int64_t>;
  return Eigen::Map<const Plain>(x.rows, x.cols, x.nnz(), x.indptr.data(), x.indices.data(), x.data.data());
}

}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
