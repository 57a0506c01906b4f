// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/reduce_sparse.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/reduce_kernels_body.hpp>
#include <strop/ops/reduce_sparse.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/csr_shares.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0::detail {

/// What a reduction does with stored values of one type, where the axes do not all stay.
struct StoredSteps {
  void (*fill)(void* y, std::int64_t n, bool neutral);  // with the neutral element, or with zeros
  void (*row)(const void* x, std::int64_t n, void* y);  // to one element
  // Of columns, whose results have a type of their own while they grow: float would lose digits.
  void (*begin)(void* sums, std::int64_t n);
  void (*columns)(const void* x, const IndexReader& columns, RowSpan span, std::int64_t extent, void* sums);
  void (*join)(const void* more, std::int64_t n, void* sums);
  void (*end)(const void* sums, std::int64_t n, void* y);
  void (*join_zero)(void* y);     // a zero that is not stored; none where it changes nothing
  std::int64_t width, sum_width;  // bytes of an element, and of what grows
};

/// Each column of a CSR array to one element. Parts of the rows have results of their own, which are joined in their
/// order: how many there are depends on the shapes alone.
inline void reduce_columns(const StoredSteps& steps, const NDArray& x, std::byte* to) {
  const std::int64_t rows = x.shape()[0], extent = x.shape()[1], stored = x.nnz(),
                     parts = parts_of_sums(stored, extent, 1);
  const bool counts = steps.join_zero != nullptr;
  const NDArray made({parts, extent * steps.sum_width}, u8), counted({counts ? parts : 0, extent}, i64);
  std::byte* const sums = made.bytes();
  auto* const count = counted.pointer<std::int64_t>();
  const auto results_of = [&](std::int64_t p) { return sums + p * extent * steps.sum_width; };
  const IndexReader starts(x.indptr()), columns(x.indices());
  const auto begin_of = [&](std::int64_t p) {
    return row_after(rows, stored, (stored + rows) * p / parts, [&](std::int64_t row) { return starts[row]; });
  };
  parallel_for(parts, 1, [&](std::int64_t first_part, std::int64_t last_part) {
    for (std::int64_t p = first_part; p < last_part; ++p) {
      steps.begin(results_of(p), extent);
      if (counts) std::fill_n(count + p * extent, extent, std::int64_t{0});
      const std::int64_t first = p == 0 ? 0 : begin_of(p), last = begin_of(p + 1);
      if (first >= last) continue;
      for (std::int64_t row = first; row < last; ++row) row_span(starts, row, stored);
      const RowSpan span{starts[first], starts[last]};
      steps.columns(x.bytes() + span.begin * steps.width, columns, span, extent, results_of(p));
      for (std::int64_t k = span.begin; counts && k < span.end; ++k) ++count[p * extent + columns[k]];
    }
  });
  parallel_for(extent, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t at = begin * steps.sum_width;
    for (std::int64_t p = 1; p < parts; ++p) steps.join(results_of(p) + at, end - begin, sums + at);
    steps.end(sums + at, end - begin, to + begin * steps.width);
    for (std::int64_t j = begin; counts && j < end; ++j) {
      std::int64_t all = 0;
      for (std::int64_t p = 0; p < parts; ++p) all += count[p * extent + j];
      if (all < rows) steps.join_zero(to + j * steps.width);
    }
  });
}

/// A reduction of a CSR array over one of its axes or both; what no row has does not count.
inline void reduce_csr(const TypedPasses& passes, const StoredSteps& steps, Cpu& ctx, const NDArray& x,
                       const NDArray& y, const AxisMask& gone) {
  std::byte* const to = y.pointer<std::byte>();
  const std::int64_t rows = x.shape()[0], extent = x.shape()[1], stored = x.nnz();
  if (!gone[1]) return reduce_columns(steps, x, to);
  const IndexReader starts(x.indptr());
  const auto join_zero = [&](RowSpan span, std::int64_t all, std::int64_t at) {
    if (steps.join_zero != nullptr && span.end - span.begin < all) steps.join_zero(to + at * steps.width);
  };
  if (gone[0]) {
    const std::int64_t ends[] = {starts[0], starts[rows]};
    const RowSpan span = row_span(ends, 0, stored);
    const std::int64_t count = span.end - span.begin;
    run_passes(passes, ctx, x.bytes() + span.begin * steps.width, count, to, ReducePlan(Shape{count}, 0, false));
    return join_zero(span, x.size(), 0);
  }
  const auto before = [&](std::int64_t row) { return starts[row]; };
  share_rows_out(rows, stored, stored_share, before, [&, from = x.bytes()](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const RowSpan span = row_span(starts, row, stored);
      steps.row(from + span.begin * steps.width, span.end - span.begin, to + row * steps.width);
      join_zero(span, extent, row);
    }
  });
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
  if (x.storage() == csr) return reduce_csr(passes, steps, ctx, x, y, axis_mask(x.ndim(), axes, exclude, "reduce"));
  if (x.storage() == row_sparse) return reduce_rows(passes, steps, ctx, x, y, axes, exclude);
  const std::byte* const from = x.bytes();
  run_passes(passes, ctx, from, x.size(), y.pointer<std::byte>(), ReducePlan(x.shape(), axes, exclude));
}

/// f(stored element, result) for the stored elements of a sparse array that is reduced over axes; of a CSR one on
/// several threads where f goes by the element alone (`apart`).
template <class F>
void each_stored_reduced(const NDArray& x, const Axes& axes, bool exclude, bool apart, F f) {
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
  const std::int64_t rows = x.shape()[0], stored = x.nnz(), share = apart ? stored_share : stored + rows + 1;
  const auto before = [&](std::int64_t row) { return starts[row]; };
  share_rows_out(rows, stored, share, before, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const RowSpan span = row_span(starts, row, stored);
      for (std::int64_t i = span.begin; i < span.end; ++i)
        f(i, gone[0] && gone[1] ? 0 : gone[1] ? row : checked_index(indices[i], x.shape()[1]));
    }
  });
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
    each_stored_reduced(x, axes, exclude, true, put);
}

/// The gradient of an extreme: dy at every element that equals it. Where that is zero, also in rows that a row-sparse
/// array does not store.
template <class E>
void spread_equal(const NDArray& dy, const NDArray& x, const NDArray& y, const NDArray& dx, const Axes& axes,
                  bool exclude) {
  const E *const extremes = y.pointer<const E>(), *const end = extremes + y.size();
  if (x.storage() == row_sparse && std::find(extremes, end, E(0)) != end) {
    const NDArray whole(x.shape(), x.dtype());
    spread_equal<E>(dy, cast_storage(x, dense), y, whole, axes, exclude);
    const NDArray rows = cast_storage(whole, row_sparse);
    copy_structure(rows, dx);
    std::copy_n(rows.pointer<const E>(), rows.stored(), dx.pointer<E>());
    return;
  }
  spread_by<E>(dy, x, y, dx, axes, exclude,
               [](E element, E slope, E extreme) { return element == extreme ? slope : E(0); });
}

inline namespace STROP_ISA {

template <class Step, class E, class Sum = std::conditional_t<in_stretches<Step, E>, double, E>>
inline constexpr StoredSteps stored_steps_of{
    [](void* y, std::int64_t n, bool neutral) {
      std::fill(static_cast<E*>(y), static_cast<E*>(y) + n, neutral ? Step::template neutral<E>() : E(0));
    },
    [](const void* x, std::int64_t n, void* y) {
      *static_cast<E*>(y) = reduce_row<Step, !maps<Step>>(static_cast<const E*>(x), n);
    },
    [](void* sums, std::int64_t n) {
      std::fill(static_cast<Sum*>(sums), static_cast<Sum*>(sums) + n, Step::template neutral<Sum>());
    },
    [](const void* x, const IndexReader& columns, RowSpan span, std::int64_t extent, void* sums) {
      const E* value = static_cast<const E*>(x);
      columns.as_stored([&](const auto* at) {
        for (std::int64_t i = span.begin; i < span.end; ++i) {
          Sum& to = static_cast<Sum*>(sums)[checked_index(at[i], extent)];
          to = Step::template join<Sum>(to, static_cast<Sum>(Step::template map<E>(*value++)));
        }
      });
    },
    [](const void* more, std::int64_t n, void* sums) {
      for (std::int64_t i = 0; i < n; ++i) {
        Sum& to = static_cast<Sum*>(sums)[i];
        to = Step::template join<Sum>(to, static_cast<const Sum*>(more)[i]);
      }
    },
    [](const void* sums, std::int64_t n, void* y) {
      for (std::int64_t i = 0; i < n; ++i) static_cast<E*>(y)[i] = static_cast<E>(static_cast<const Sum*>(sums)[i]);
    },
    skips_zeros<Step> ? nullptr
                      : +[](void* y) { *static_cast<E*>(y) = Step::template join<E>(*static_cast<E*>(y), E(0)); },
    size_of(dtype_of<E>),
    size_of(dtype_of<Sum>)};

/// y = Step over the axes of x, in any storage; what is stored for one place adds up first.
template <class Step, class E>
void reduce_array(Cpu& ctx, const NDArray& x, const NDArray& y, const Axes& axes, bool exclude) {
  const bool as_it_is = std::same_as<Step, AddStep> && x.storage() != row_sparse;  // rows that stay are put, not added
  reduce_by(passes_of<Step, E>, stored_steps_of<Step, E>, ctx, as_it_is ? x : merged(x), y, axes, exclude);
}

}  // namespace STROP_ISA

}  // namespace strop::inline v0::detail
