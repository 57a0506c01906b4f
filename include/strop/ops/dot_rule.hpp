// SPDX-License-Identifier: Apache-2.0
/// \file
/// The storage rule of dot: which products have kernels, and the storages of results and gradients. Inference, the
/// kernels and the gradient ask here.
#pragma once
#include <strop/tensor/storage.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// Between which factors a product has kernels; a turned factor is transposed.
enum class DotForm : std::uint8_t {
  dense_dense,
  csr_rows,
  csr_turned_rows,
  dense_csr,
  dense_csr_turned,
  csr_csr,
  none
};

/// A form and the storages of its result and of the gradients of its factors, each of which may be dense instead. The
/// result has its storage unless another is wanted; so have gradients in row_sparse, but in csr, at the stored places
/// of their factor, they are where that is wanted alone.
struct DotRule {
  DotForm form;
  Storage out, of_lhs, of_rhs;
};

/// Of factors a and b. `rows` are dense or row_sparse. What has no form goes by dense copies.
template <int = 0>
constexpr DotRule dot_rule(Storage a, Storage b, bool a_turned, bool b_turned) {
  using enum DotForm;
  if (a == csr && b == csr) return {csr_csr, csr, csr, csr};
  if (a == csr && !b_turned)
    return a_turned ? DotRule{csr_turned_rows, row_sparse, csr, dense} : DotRule{csr_rows, dense, csr, row_sparse};
  if (a == dense && b == csr && !a_turned)
    return b_turned ? DotRule{dense_csr_turned, dense, dense, csr} : DotRule{dense_csr, csr, dense, csr};
  return {a == dense && b == dense ? dense_dense : none, dense, dense, dense};
}

}  // namespace strop::inline v0::detail
