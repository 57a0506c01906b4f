// SPDX-License-Identifier: Apache-2.0
/// \file
/// _square_sum: the sum of squares along axes, of a row-sparse array over its stored rows.
#pragma once
#include <strop/ops/reduce.hpp>
#include <strop/ops/reduce_kernels.hpp>
#include <strop/ops/reduce_sparse.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

/// y = Σ x². Types: floating. A CSR array costs its stored values (without exclude), a row_sparse one its stored rows;
/// the result is dense but for a row_sparse array with keepdims and axes that are positive, which gives the same rows.
/// Gradient: 2 · x · dy, of a row_sparse array on its rows.
///
/// Example: `square_sum(array({{1, 2}, {3, 4}}), {.axis = 1})` is [5, 25].
struct SquareSum {
  static constexpr std::string_view name = "_square_sum", aliases[] = {"square_sum"};
  static constexpr const char* doc = "Sum of squares over the given axes, all by default.";
  static constexpr std::span<const Note> notes = detail::reduce_notes;
  Axes axis = {};
  bool keepdims = false, exclude = false;

  constexpr void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank()) s.set_out(0, detail::reduced_shape(s.in(0), axis, keepdims, exclude, s.op()));
  }
  template <int = 0>
  constexpr bool infer_storage(Storages& s) const {
    if (s.in(0) != row_sparse) return detail::infer_reduced_storage(s, exclude);
    const Storage given = s.out(0).value_or(keeps_rows() ? row_sparse : dense);
    s.set_out(0, given);
    return given == dense || (given == row_sparse && keeps_rows());
  }
  template <Real E>
  void forward(Cpu& ctx, const NDArray& data, NDArray& y) const;

  template <int = 0>
  constexpr bool infer_gradient_storage(Storages& s) const {  // head gradient, data
    const Storage wanted = s.out(0).value_or(s.in(1) == row_sparse ? row_sparse : dense);
    s.set_out(0, wanted);
    if (s.in(1) == row_sparse) return wanted == row_sparse && s.in(0) != csr;
    return s.in(0) == dense && s.in(1) == dense && wanted == dense;
  }
  template <Real E>
  void grad_use_in(Cpu&, const NDArray& dy, const NDArray& data, NDArray& dx) const;

 private:
  /// Whether the first axis stays, whatever the rank.
  template <int = 0>
  constexpr bool keeps_rows() const {
    if (!keepdims || exclude || !axis.list || axis.list->ndim() == 0) return false;
    for (const std::int64_t at : *axis.list)
      if (at <= 0) return false;
    return true;
  }
  /// The rows of dy, dense or row_sparse, that x stores.
  template <Real E>
  static NDArray head_of_rows(const NDArray& dy, const NDArray& x);
};
template <>
inline constexpr bool detail::reads_any_index<SquareSum> = true;
inline constexpr Op<SquareSum, OnUse> square_sum;

using SquareSumOps = OpList<SquareSum>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/square_sum_body.hpp>
#endif
