// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/shape/transpose.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/shape/move_body.hpp>
#include <strop/ops/shape/transpose.hpp>

namespace strop::inline v0 {

namespace detail {

/// y[k] walks along axis order[k] of x.
inline void move_permuted(const NDArray& x, const NDArray& y, const Shape& order) {
  const Shape in = row_major(x.shape()), out = row_major(y.shape());
  Move m;
  for (int k = 0; k < order.ndim(); ++k) m.axis(y.shape()[k], in[order[k]], out[k]);
  move_elements(m, x, y);
}

}  // namespace detail

inline void Transpose::forward(Cpu&, const NDArray& x, NDArray& y) const {
  detail::move_permuted(x, y, order(x.ndim(), name));
}

inline void SwapAxis::forward(Cpu&, const NDArray& x, NDArray& y) const {
  Shape order = x.shape();
  for (int k = 0; k < order.ndim(); ++k) order[k] = k;
  detail::move_permuted(x, y, swapped(order, "swap_axis"));
}

inline void Reverse::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const Shape steps = detail::row_major(x.shape());
  detail::List<bool> turned(x.ndim(), false);
  for (std::int64_t asked : *axis) {
    bool& turn = turned[detail::checked_axis(asked, x.ndim(), name)];
    turn = !turn;
  }
  detail::Move m;
  for (int k = 0; k < x.ndim(); ++k) {
    const bool turn = turned[k];
    if (turn) m.in_start += (x.shape()[k] - 1) * steps[k];
    m.axis(x.shape()[k], turn ? -steps[k] : steps[k], steps[k]);
  }
  detail::move_elements(m, x, y);
}

}  // namespace strop::inline v0
