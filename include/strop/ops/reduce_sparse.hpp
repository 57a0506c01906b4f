// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions of arrays in any storage: sparse ones over their stored values.
#pragma once
#include <strop/op/infer.hpp>
#include <strop/ops/reduce_kernels.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>

namespace strop::inline v0::detail {

/// Dense results. CSR is read as it is unless the axes are those that stay, row_sparse where all axes go.
constexpr bool infer_reduced_storage(Storages& s, const Axes& axes, bool exclude) {
  const bool all = !axes.list || axes.list->ndim() == 0;
  const Storage in = s.in(0);
  return s.set_out(0, dense) && (in == dense || (!exclude && (in == csr || all)));
}

/// What a reduction does with stored values of one type, where the axes do not all stay.
struct StoredSteps {
  void (*clear)(void* y, std::int64_t n);
  void (*row)(const void* x, std::int64_t n, void* y);  // to one element
  void (*columns)(const void* x, const IndexReader& columns, RowSpan row, std::int64_t extent, void* y);
  std::int64_t width;  // bytes of an element
};
inline void reduce_stored(const StoredSteps& steps, const NDArray& x, const NDArray& y, const Axes& axes,
                          bool exclude) {
  const std::byte* const from = x.bytes();
  std::byte* const to = y.pointer<std::byte>();
  steps.clear(to, y.size());
  const AxisMask gone = axis_mask(x.ndim(), axes, exclude, "reduce");
  if (x.storage() != csr) return steps.row(from, x.stored(), to);
  const IndexReader starts(x.indptr());
  if (gone.count() == x.ndim()) {  // what no row has does not count
    const std::int64_t ends[] = {starts[0], starts[x.shape()[0]]};
    const RowSpan span = row_span(ends, 0, x.nnz());
    return steps.row(from + span.begin * steps.width, span.end - span.begin, to);
  }
  const IndexReader columns(x.indices());
  for (std::int64_t row = 0; row < x.shape()[0]; ++row) {
    const RowSpan span = row_span(starts, row, x.nnz());
    const std::byte* const values = from + span.begin * steps.width;
    if (gone[1])
      steps.row(values, span.end - span.begin, to + row * steps.width);
    else
      steps.columns(values, columns, span, x.shape()[1], to);
  }
}

/// A reduction of an array in any storage: the passes of a dense one, the steps of a sparse one.
inline void reduce_by(const TypedPasses& passes, const StoredSteps& steps, Cpu& ctx, const NDArray& x, const NDArray& y,
                      const Axes& axes, bool exclude) {
  if (x.storage() != dense) return reduce_stored(steps, x, y, axes, exclude);
  const std::byte* const from = x.bytes();
  run_passes(passes, ctx, from, x.size(), y.pointer<std::byte>(), ReducePlan(x.shape(), axes, exclude));
}

inline namespace STROP_ISA {

template <class Step, class E>
inline constexpr StoredSteps stored_steps_of{
    [](void* y, std::int64_t n) { std::fill(static_cast<E*>(y), static_cast<E*>(y) + n, E(0)); },
    [](const void* x, std::int64_t n, void* y) {
      *static_cast<E*>(y) = reduce_row<Step, !maps<Step>>(static_cast<const E*>(x), n);
    },
    [](const void* x, const IndexReader& columns, RowSpan row, std::int64_t extent, void* y) {
      const E* value = static_cast<const E*>(x);
      columns.as_stored([&](const auto* at) {
        for (std::int64_t i = row.begin; i < row.end; ++i) {
          E& to = static_cast<E*>(y)[checked_index(at[i], extent)];
          to = Step::template join<E>(to, Step::template map<E>(*value++));
        }
      });
    },
    size_of(dtype_of<E>)};

/// y = the sums of Step's contributions of x along the axes. Step contributes 0 for 0; what is stored for one place
/// adds up before Step maps it.
template <class Step, class E>
void reduce_array(Cpu& ctx, const NDArray& x, const NDArray& y, const Axes& axes, bool exclude) {
  reduce_by(passes_of<Step, E>, stored_steps_of<Step, E>, ctx, maps<Step> ? merged(x) : x, y, axes, exclude);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
