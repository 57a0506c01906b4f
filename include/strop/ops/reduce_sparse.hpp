// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions of arrays in any storage: sparse ones over their stored values.
#pragma once
#include <strop/op/infer.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/ops/reduce_kernels.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>

namespace strop::inline v0::detail {

/// Dense results. CSR is read as it is unless the axes are those that stay, row_sparse where all axes go.
inline bool infer_reduced_storage(Storages& s, const Axes& axes, bool exclude) {
  const bool all = !axes.list || axes.list->ndim() == 0;
  const Storage in = s.in(0);
  return s.set_out(0, dense) && (in == dense || (!exclude && (in == csr || all)));
}

/// Whether the input of a gradient brings the pattern on which the gradient is wanted: arrays may, symbols never do.
inline bool comes_with_pattern(const NDArray& x) { return x.storage() != dense; }
template <class Node>
bool comes_with_pattern(const Node&) {
  return false;
}

/// dx = dy · factor at the positions that `like` stores; `kept` is the shape of dy with extent 1 for the axes that went.
template <class E>
void spread_on_pattern(const NDArray& dy, const NDArray& like, const Shape& kept, E factor, const NDArray& dx) {
  const StoredPattern pattern = pattern_of(like);
  store_pattern(dx, pattern);
  const NDArray values = lay_along(view_as(dy, kept), pattern, dx.shape(), dx.storage());
  const E* const from = values.pointer<const E>();
  E* const to = dx.pointer<E>();
  for (std::int64_t i = 0; i < values.size(); ++i) to[i] = from[i] * factor;
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
  if (gone.count() == static_cast<std::size_t>(x.ndim())) {
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
    for (std::int64_t i = span.begin; i < span.end; ++i)
      to[checked_index(columns[i], x.shape()[1])] += Step::template map<E>(from[i]);
  }
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
