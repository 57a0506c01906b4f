// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions of arrays in any storage: sparse ones over their stored values.
#pragma once
#include <strop/op/infer.hpp>
#include <strop/ops/reduce_kernels.hpp>

namespace strop::inline v0::detail {

/// Dense results. CSR is read as it is unless the axes are those that stay, row_sparse always.
constexpr bool infer_reduced_storage(Storages& s, bool exclude) {
  return s.set_out(0, dense) && (s.in(0) != csr || !exclude);
}
/// Of head gradient, data and result: the gradient of sparse data at its places.
constexpr bool infer_reduced_gradient_storage(Storages& s, bool exclude) {
  s.set_out(0, s.out(0).value_or(s.in(1)));
  return s.in(0) == dense && s.in(2) == dense && s.out(0) == s.in(1) && (s.in(1) != csr || !exclude);
}

inline namespace STROP_ISA {

/// Whether a zero that is not stored changes nothing.
template <class Step>
inline constexpr bool skips_zeros = true;
template <>
inline constexpr bool skips_zeros<MaxStep> = false;
template <>
inline constexpr bool skips_zeros<MinStep> = false;

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/reduce_sparse_body.hpp>
#endif
