// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions of arrays in any storage: sparse ones over their stored values.
#pragma once
#include <strop/op/infer.hpp>
#include <strop/ops/reduce_kernels.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>

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

/// What a reduction does with stored values of one type, where the axes do not all stay.
struct StoredSteps {
  void (*fill)(void* y, std::int64_t n, bool neutral);  // with the neutral element, or with zeros
  void (*row)(const void* x, std::int64_t n, void* y);  // to one element
  void (*columns)(const void* x, const IndexReader& columns, RowSpan row, std::int64_t extent, void* y);
  void (*join_zero)(void* y);  // a zero that is not stored; none where it changes nothing
  std::int64_t width;          // bytes of an element
};
inline void reduce_csr(const StoredSteps& steps, const NDArray& x, const NDArray& y, const AxisMask& gone) {
  const std::byte* const from = x.bytes();
  std::byte* const to = y.pointer<std::byte>();
  const std::int64_t rows = x.shape()[0], extent = x.shape()[1];
  steps.fill(to, y.size(), true);
  const auto count_zeros = [&](std::int64_t at, std::int64_t stored, std::int64_t all) {
    if (steps.join_zero != nullptr && stored < all) steps.join_zero(to + at * steps.width);
  };
  const IndexReader starts(x.indptr());
  if (gone.count() == x.ndim()) {  // what no row has does not count
    const std::int64_t ends[] = {starts[0], starts[rows]};
    const RowSpan span = row_span(ends, 0, x.nnz());
    steps.row(from + span.begin * steps.width, span.end - span.begin, to);
    return count_zeros(0, span.end - span.begin, x.size());
  }
  const IndexReader columns(x.indices());
  List<std::int64_t> counts(steps.join_zero != nullptr && !gone[1] ? extent : 0, 0);
  for (std::int64_t row = 0; row < rows; ++row) {
    const RowSpan span = row_span(starts, row, x.nnz());
    const std::byte* const values = from + span.begin * steps.width;
    if (gone[1]) {
      steps.row(values, span.end - span.begin, to + row * steps.width);
      count_zeros(row, span.end - span.begin, extent);
      continue;
    }
    steps.columns(values, columns, span, extent, to);
    if (!counts.empty())
      for (std::int64_t k = span.begin; k < span.end; ++k) ++counts[columns[k]];
  }
  for (Index column = 0; column < counts.size(); ++column) count_zeros(column, counts[column], rows);
}
/// Rows are reduced as a dense array has them; then those that are not stored are zeros.
inline void reduce_rows(const TypedPasses& passes, const StoredSteps& steps, Cpu& ctx, const NDArray& x,
                        const NDArray& y, const Axes& axes, bool exclude) {
  const NDArray stored = x.data();
  const ReducePlan plan(stored.shape(), axes, exclude);
  const std::int64_t rows = x.shape()[0];
  std::byte* const to = y.pointer<std::byte>();
  const bool some = ReducePlan(x.shape(), axes, exclude).reduced != 0;
  if (axis_mask(x.ndim(), axes, exclude, "reduce")[0]) {
    run_passes(passes, ctx, stored.bytes(), stored.size(), to, plan);
    if (steps.join_zero != nullptr && some && x.nnz() < rows)
      for (std::int64_t i = 0; i < y.size(); ++i) steps.join_zero(to + i * steps.width);
    return;
  }
  if (y.size() == 0) return;
  const std::int64_t bytes = y.size() / rows * steps.width;
  List<std::byte> made(x.nnz() * bytes);
  run_passes(passes, ctx, stored.bytes(), stored.size(), made.data(), plan);
  steps.fill(to, y.size(), !some);
  const IndexReader indices(x.indices());
  for (std::int64_t k = 0; k < x.nnz(); ++k)
    copy_bytes(to + checked_index(indices[k], rows) * bytes, made.data() + k * bytes, bytes);
}

/// A reduction of an array in any storage: the passes of a dense one, the steps of a sparse one.
inline void reduce_by(const TypedPasses& passes, const StoredSteps& steps, Cpu& ctx, const NDArray& x, const NDArray& y,
                      const Axes& axes, bool exclude) {
  if (x.storage() == csr) return reduce_csr(steps, x, y, axis_mask(x.ndim(), axes, exclude, "reduce"));
  if (x.storage() == row_sparse) return reduce_rows(passes, steps, ctx, x, y, axes, exclude);
  const std::byte* const from = x.bytes();
  run_passes(passes, ctx, from, x.size(), y.pointer<std::byte>(), ReducePlan(x.shape(), axes, exclude));
}

/// f(stored element, result) for the stored elements of a sparse array that is reduced over axes.
template <class F>
void each_stored_reduced(const NDArray& x, const Axes& axes, bool exclude, F f) {
  const AxisMask gone = axis_mask(x.ndim(), axes, exclude, "reduce");
  const IndexReader indices(x.indices());
  if (x.storage() == row_sparse) {
    const Shape stored = x.data().shape();
    const Shape kept = reduced_shape(x.shape(), axes, false, exclude, "reduce");
    const std::int64_t width = gone[0] ? 1 : kept.size(1, kept.ndim());
    return each_reduced(ReducePlan(stored, axes, exclude), stored.size(), [&](std::int64_t i, std::int64_t at) {
      f(i, gone[0] ? at : checked_index(indices[at / width], x.shape()[0]) * width + at % width);
    });
  }
  const IndexReader starts(x.indptr());
  for (std::int64_t row = 0; row < x.shape()[0]; ++row) {
    const RowSpan span = row_span(starts, row, x.nnz());
    for (std::int64_t i = span.begin; i < span.end; ++i)
      f(i, gone[0] && gone[1] ? 0 : gone[1] ? row : checked_index(indices[i], x.shape()[1]));
  }
}

/// dx = f(x, dy, y) of each element and of the result that it went into, in any storage of x, at the places of x.
template <class E, class F>
void spread_by(const NDArray& dy, const NDArray& data, const NDArray& y, const NDArray& dx, const Axes& axes,
               bool exclude, F f) {
  const NDArray x = merged(data);
  if (x.storage() != dense) copy_structure(x, dx);
  const E *const from = x.pointer<const E>(), *const head = dy.pointer<const E>(), *const made = y.pointer<const E>();
  E* const to = dx.pointer<E>();
  const auto put = [&](std::int64_t i, std::int64_t at) { to[i] = f(from[i], head[at], made[at]); };
  if (x.storage() == dense)
    each_reduced(ReducePlan(x.shape(), axes, exclude), x.size(), put);
  else
    each_stored_reduced(x, axes, exclude, put);
}

/// The gradient of an extreme: dy at every element that equals it.
template <class E>
void spread_equal(const NDArray& dy, const NDArray& x, const NDArray& y, const NDArray& dx, const Axes& axes,
                  bool exclude) {
  spread_by<E>(dy, x, y, dx, axes, exclude,
               [](E element, E slope, E extreme) { return element == extreme ? slope : E(0); });
}

inline namespace STROP_ISA {

/// Whether a zero that is not stored changes nothing.
template <class Step>
inline constexpr bool skips_zeros = true;
template <>
inline constexpr bool skips_zeros<MaxStep> = false;
template <>
inline constexpr bool skips_zeros<MinStep> = false;

template <class Step, class E>
inline constexpr StoredSteps stored_steps_of{
    [](void* y, std::int64_t n, bool neutral) {
      std::fill(static_cast<E*>(y), static_cast<E*>(y) + n, neutral ? Step::template neutral<E>() : E(0));
    },
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
    skips_zeros<Step> ? nullptr
                      : +[](void* y) { *static_cast<E*>(y) = Step::template join<E>(*static_cast<E*>(y), E(0)); },
    size_of(dtype_of<E>)};

/// y = Step over the axes of x, in any storage; what is stored for one place adds up first.
template <class Step, class E>
void reduce_array(Cpu& ctx, const NDArray& x, const NDArray& y, const Axes& axes, bool exclude) {
  const bool as_it_is = std::same_as<Step, AddStep> && x.storage() != row_sparse;  // rows that stay are put, not added
  reduce_by(passes_of<Step, E>, stored_steps_of<Step, E>, ctx, as_it_is ? x : merged(x), y, axes, exclude);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
