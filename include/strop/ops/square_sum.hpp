// SPDX-License-Identifier: Apache-2.0
/// \file
/// _square_sum: the sum of squares along axes, of a row-sparse array over its stored rows.
#pragma once
#include <strop/ops/reduce.hpp>
#include <strop/ops/sparse_rows.hpp>

#include <algorithm>
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
  constexpr bool infer_storage(Storages& s) const {
    if (s.in(0) != row_sparse) return detail::infer_reduced_storage(s, exclude);
    const Storage given = s.out(0).value_or(keeps_rows() ? row_sparse : dense);
    s.set_out(0, given);
    return given == dense || (given == row_sparse && keeps_rows());
  }
  template <Real E>
  void forward(Cpu& ctx, const NDArray& data, NDArray& y) const {
    if (y.storage() == dense) return detail::reduce_array<detail::AddSquareStep, E>(ctx, data, y, axis, exclude);
    const NDArray x = detail::merged(data);
    detail::copy_structure(x, y);
    detail::reduce_array<detail::AddSquareStep, E>(ctx, x.data(), y.data(), axis, exclude);
  }

  constexpr bool infer_gradient_storage(Storages& s) const {  // head gradient, data
    const Storage wanted = s.out(0).value_or(s.in(1) == row_sparse ? row_sparse : dense);
    s.set_out(0, wanted);
    if (s.in(1) == row_sparse) return wanted == row_sparse && s.in(0) != csr;
    return s.in(0) == dense && s.in(1) == dense && wanted == dense;
  }
  template <Real E>
  void grad_use_in(Cpu&, const NDArray& dy, const NDArray& data, NDArray& dx) const {
    const NDArray x = detail::merged(data);
    NDArray head = dy, from = x, to = dx;
    if (x.storage() == row_sparse) {
      detail::copy_structure(x, dx);
      from = x.data();
      to = dx.data();
      if (!detail::axis_mask(x.ndim(), axis, exclude, name)[0]) head = head_of_rows<E>(dy, x);
    }
    const detail::ReducePlan plan(from.shape(), axis, exclude);
    E* const out = to.pointer<E>();
    detail::spread(plan, from.shape(), head.pointer<const E>(), out, E(2));
    const E* const in = from.pointer<const E>();
    for (std::int64_t i = 0; i < from.size(); ++i) out[i] *= in[i];
  }

 private:
  /// Whether the first axis stays, whatever the rank.
  constexpr bool keeps_rows() const {
    if (!keepdims || exclude || !axis.list || axis.list->ndim() == 0) return false;
    for (const std::int64_t at : *axis.list)
      if (at <= 0) return false;
    return true;
  }
  /// The rows of dy, dense or row_sparse, that x stores.
  template <Real E>
  static NDArray head_of_rows(const NDArray& dy, const NDArray& x) {
    const detail::MatrixRows<E> rows(dy, x.nnz());
    const std::int64_t width = rows.width();
    const NDArray out(Shape{x.nnz(), width}, dy.dtype());
    const detail::IndexReader indices(x.indices());
    for (std::int64_t k = 0; k < x.nnz(); ++k) {
      E* const to = out.pointer<E>() + k * width;
      if (const E* const row = rows(detail::checked_index(indices[k], x.shape()[0])))
        std::copy_n(row, width, to);
      else
        std::fill_n(to, width, E(0));
    }
    return out;
  }
};
template <>
inline constexpr bool detail::reads_any_index<SquareSum> = true;
inline constexpr Op<SquareSum, OnUse> square_sum;

using SquareSumOps = OpList<SquareSum>;

}  // namespace strop::inline v0
