// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions of arrays in any storage: sparse ones over their stored values.
#pragma once
#include <strop/op/infer.hpp>
#include <strop/ops/reduce_kernels.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>

namespace strop::inline v0::detail {

/// Dense results. CSR is read as it is unless the axes are those that stay, row_sparse where all axes go.
constexpr bool infer_reduced_storage(Storages& s, const Axes& axes, bool exclude) {
  const bool all = !axes.list || axes.list->ndim() == 0;
  const Storage in = s.in(0);
  return s.set_out(0, dense) && (in == dense || (!exclude && (in == csr || all)));
}

inline namespace STROP_ISA {

/// y = the sums of Step's contributions of x along the axes. Step contributes 0 for 0.
template <class Step, class E>
void reduce_array(Cpu& ctx, const NDArray& x, const NDArray& y, const Axes& axes, bool exclude) {
  if (x.storage() == dense) {
    const View<const E> from(x.pointer<const E>(), x.shape());
    return reduce<Step>(ctx, from, View<E>(y.pointer<E>(), y.shape()), ReducePlan(x.shape(), axes, exclude));
  }
  E* const to = y.pointer<E>();
  const E* const from = x.pointer<const E>();
  std::fill(to, to + y.size(), E(0));
  const AxisMask gone = axis_mask(x.ndim(), axes, exclude, "reduce");
  if (gone.count() == x.ndim()) {
    to[0] = reduce_row<Step, false>(from, x.stored());
    return;
  }
  const auto* starts = x.indptr().pointer<const std::int64_t>();
  const auto* columns = x.indices().pointer<const std::int64_t>();
  const std::int64_t rows = x.shape()[0];
  for (std::int64_t row = 0; row < rows; ++row) {
    const RowSpan span = row_span(starts, row, x.nnz());
    if (gone[1]) {
      to[row] = reduce_row<Step, false>(from + span.begin, span.end - span.begin);
      continue;
    }
    for (std::int64_t i = span.begin; i < span.end; ++i) {
      E& sum = to[checked_index(columns[i], x.shape()[1])];
      sum = Step::template join<E>(sum, Step::template map<E>(from[i]));
    }
  }
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
