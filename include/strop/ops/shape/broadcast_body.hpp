// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/shape/broadcast.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/reduce_kernels.hpp>
#include <strop/ops/reduce_kernels_body.hpp>
#include <strop/ops/shape/broadcast.hpp>
#include <strop/ops/shape/move_body.hpp>

namespace strop::inline v0 {

namespace detail {

/// y = x repeated along the axes where x has extent 1; ranks are equal.
inline void move_broadcast(const NDArray& x, const NDArray& y) {
  const Shape in = row_major(x.shape()), out = row_major(y.shape());
  Move m;
  for (int k = 0; k < y.ndim(); ++k) m.axis(y.shape()[k], x.shape()[k] == 1 ? 0 : in[k], out[k]);
  move_elements(m, x, y);
}

/// Sums of x over every axis of `parts` that `summed` says, in the order of the other axes.
template <class E>
void sum_axes(Cpu& ctx, View<const E> x, View<E> y, const Shape& parts, const Shape& summed) {
  if (summed.ndim() == 0)
    std::copy(x.begin(), x.end(), y.begin());
  else
    reduce<AddStep>(ctx, View<const E>(x.data(), parts), y, ReducePlan(parts, Axes(summed), false));
}

}  // namespace detail

inline void BroadcastTo::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::move_broadcast(x, y); }

inline void BroadcastAxis::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::move_broadcast(x, y); }

inline void BroadcastLike::forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const {
  detail::move_broadcast(x, y);
}

template <Real E>
inline void BroadcastGradient::forward(Cpu& ctx, View<const E> x, View<const E>, View<E> y) const {
  Shape summed;
  for (int k = 0; k < x.ndim(); ++k)
    if (detail::element(y.shape(), k) == 1 && detail::element(x.shape(), k) != 1) summed.push_back(k);
  detail::sum_axes(ctx, x, y, Shape(x.shape()), summed);
}

inline void Tile::forward(Cpu&, const NDArray& x, NDArray& y) const {
  if (y.size() == 0) return;
  const Plan p = plan(x.shape());
  const Shape in = detail::row_major(p.extents), out = detail::row_major(y.shape());
  detail::Move m;
  for (int k = 0; k < y.ndim(); ++k) {
    m.axis(p.reps[k], 0, p.extents[k] * out[k]);
    m.axis(p.extents[k], in[k], out[k]);
  }
  detail::move_elements(m, x, y);
}

template <Real E>
inline void TileGradient::forward(Cpu& ctx, View<const E> x, View<const E>, View<E> y) const {
  const Tile::Plan p = Tile{.reps = reps}.plan(Shape(y.shape()));
  Shape parts, summed;
  for (int k = 0; k < p.extents.ndim(); ++k) {
    if (p.reps[k] != 1) summed.push_back(parts.ndim()), parts.push_back(p.reps[k]);
    parts.push_back(p.extents[k]);
  }
  if (y.size() != 0) detail::sum_axes(ctx, x, y, parts, summed);
}

inline void Repeat::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const std::int64_t inner = axis ? x.shape().size(detail::checked_axis(*axis, x.ndim(), name) + 1, x.ndim()) : 1;
  detail::Move m;
  if (x.size() == 0) return;
  m.axis(x.size() / inner, inner, *repeats * inner);
  m.axis(*repeats, 0, inner);
  m.axis(inner, 1, 1);
  detail::move_elements(m, x, y);
}

template <Real E>
inline void RepeatGradient::forward(Cpu& ctx, View<const E> x, View<const E>, View<E> y) const {
  const Shape out(y.shape());
  const std::int64_t inner = axis ? out.size(detail::checked_axis(*axis, out.ndim(), name) + 1, out.ndim()) : 1;
  if (y.size() != 0) detail::sum_axes(ctx, x, y, Shape{y.size() / inner, repeats, inner}, Shape{1});
}

}  // namespace strop::inline v0
