// SPDX-License-Identifier: Apache-2.0
/// \file
/// cumsum: sums of the elements up to each one.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/reduce_kernels.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/ops/softmax_kernels.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strop::inline v0 {

namespace detail {
inline namespace STROP_ISA {

/// Along an axis each element becomes the sum of those up to it, or from it on. Integers wrap.
template <class E>
void accumulate(E* x, const AxisSplit& s, bool backwards) {
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, s.length * s.inner));
  parallel_for(s.outer, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t stride = backwards ? -s.inner : s.inner;
    for (std::int64_t i = begin; i < end; ++i) {
      E* to = x + (i * s.length + (backwards ? s.length - 1 : 0)) * s.inner;
      if (s.inner == 1) {  // the sum stays in a register
        E sum = 0;
        for (std::int64_t step = 0; step < s.length; ++step, to += stride) *to = sum = AddStep::join(sum, *to);
        continue;
      }
      for (std::int64_t step = 1; step < s.length; ++step, to += stride)
        for (std::int64_t j = 0; j < s.inner; ++j) to[stride + j] = AddStep::join(to[stride + j], to[j]);
    }
  });
}

/// y = x, converted, accumulated along `axis` or, without one, as one row.
template <class E>
void accumulate(const NDArray& x, View<E> y, std::optional<int> axis, bool backwards) {
  if (y.size() == 0) return;
  convert_elements(x.dtype(), x.bytes(), dtype_of<E>, y.data(), y.size());
  const std::int64_t row[] = {y.size()};
  accumulate(y.data(), axis ? AxisSplit(x.shape(), *axis) : AxisSplit(row, 0), backwards);
}

}  // namespace STROP_ISA
}  // namespace detail

/// cumsum: y[…, i, …] = Σ x[…, j, …] over j ≤ i along `axis`; without it over the elements in their order, as a vector.
///
/// All types but bool; the result is of `dtype`, of the type of a unless said, and so are the sums, but that those of
/// halves are added in float and rounded once. Sparse arrays by the dense fallback. The gradient is the sums of the
/// head gradient from each element on. Error: axis is outside a.
///
/// Example: `cumsum(array({{1, 2}, {3, 4}}), {.axis = 0})` is [[1, 2], [4, 6]].
struct Cumsum {
  std::optional<int> axis = {};
  std::optional<Dtype> dtype = {};

  static constexpr std::string_view name = "_np_cumsum", aliases[] = {"cumsum"}, inputs[] = {"a"};
  static constexpr const char* doc = "The sums of the elements up to each one, along an axis or, without one, of all.";
  static constexpr Note notes[] = {{"axis", "the axis of the sums; negative: from the last; None: a as a vector"},
                                   {"dtype", "the type of the result"}};

  static constexpr DtypeSet dtypes = floating | integral;
  constexpr void infer_shape(Shapes& s) const {
    const Shape& a = s.in(0);
    if (!axis) {
      if (a.has_rank()) s.set_out(0, {a.known() ? a.size() : -1});
      return;
    }
    if (a.has_rank()) (void)detail::checked_axis(*axis, a.ndim(), s.op());
    s.set_out(0, a);
    s.set_in(0, s.out(0));
  }
  constexpr void infer_type(Types& t) const {
    t.expect_in(0, dtypes);
    if (dtype) return t.set_out(0, dtype);
    t.set_out(0, t.in(0));
    t.set_in(0, t.out(0));
  }
  template <class E>
    requires Real<E> || (std::integral<E> && !std::same_as<E, bool>)
  void forward(Cpu&, const NDArray& a, View<E> y) const {
    detail::accumulate(a, y, axis, false);
  }
  template <class E>
    requires Real<E> || (std::integral<E> && !std::same_as<E, bool>)
  void grad_use_none(Cpu&, const NDArray& dy, View<E> da) const {
    detail::accumulate(dy, da, axis, true);
  }
};
inline constexpr Op<Cumsum, OnUse> cumsum;

using CumsumOps = OpList<Cumsum>;

}  // namespace strop::inline v0
