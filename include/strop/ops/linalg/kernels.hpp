// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the operators of linear algebra share: shapes of matrices, their triangular systems and Cholesky's factors.
#pragma once
#include <strop/op/infer.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// Refuses input i unless it has `least` dimensions or more; says whether its rank is known.
template <int = 0>
constexpr bool expect_least_rank(const Shapes& s, int i, int least) {
  const Shape& x = s.in(i);
  if (!x.has_rank()) return false;
  if (x.ndim() < least)
    s.fail(s.name_in(i), " has shape ", x, ", expected ", least, least == 1 ? " dimension" : " dimensions", " or more");
  return true;
}
/// Refuses input i unless it is square matrices; says whether their extent is known.
template <int = 0>
constexpr bool expect_square(const Shapes& s, int i) {
  if (!expect_least_rank(s, i, 2)) return false;
  const Shape& x = s.in(i);
  const std::int64_t rows = x[x.ndim() - 2], cols = x[x.ndim() - 1];
  if (rows >= 0 && cols >= 0 && rows != cols)
    s.fail(s.name_in(i), " has shape ", x, ", expected matrices with as many rows as columns");
  return rows >= 0 && cols >= 0;
}
/// A number for each matrix: one element where there is one matrix.
template <int = 0>
constexpr Shape numbers_of(const Shape& matrices) {
  Shape out = matrices;
  out.resize(matrices.ndim() - 2);
  if (out.ndim() == 0) out.push_back(1);
  return out;
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/linalg/kernels_body.hpp>
#endif
