// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/index/take.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/index/kernels_body.hpp>
#include <strop/ops/index/take.hpp>
#include <strop/ops/shape/move_body.hpp>

namespace strop::inline v0 {

inline void Take::forward(Cpu&, const NDArray& a, const NDArray& indices, NDArray& y) const {
  const int k = detail::checked_axis(axis, a.ndim(), name);
  const detail::ReadPositions at(indices, a.shape()[k], outside(mode), name);
  if (a.storage() == csr) return detail::take_csr_rows(a, at.span(), y);
  detail::take_blocks(a, at.span(), y, a.shape().size(0, k), a.shape()[k], a.shape().size(k + 1, a.ndim()));
}

template <detail::Addable E>
inline void TakeGradient::forward(Cpu&, const NDArray& dy, const NDArray& indices, const NDArray&, NDArray& da) const {
  const Shape& shape = da.shape();
  const int k = detail::checked_axis(axis, shape.ndim(), name);
  const detail::ReadPositions at(indices, shape[k], Take::outside(mode), name);
  if (dy.storage() == csr) return detail::add_csr_rows(dy, at.span(), da);
  detail::add_blocks(dy.pointer<const E>(), at.span(), da.pointer<E>(), shape.size(0, k), shape[k],
                     shape.size(k + 1, shape.ndim()));
}

inline void BatchTake::forward(Cpu&, const NDArray& a, const NDArray& indices, NDArray& y) const {
  detail::pick_elements(a, detail::positions(indices, a.shape()[1], detail::Outside::clip, name), y, a.shape()[0],
                        a.shape()[1], 1);
}

inline void Pick::forward(Cpu&, const NDArray& x, const NDArray& index, NDArray& y) const {
  const int k = detail::checked_axis(*axis, x.ndim(), name);
  const auto at =
      detail::positions(index, x.shape()[k], mode == wrap ? detail::Outside::wrap : detail::Outside::clip, name);
  detail::pick_elements(x, at, y, x.shape().size(0, k), x.shape()[k], x.shape().size(k + 1, x.ndim()));
}

inline void PickGradient::forward(Cpu&, const NDArray& dy, const NDArray& index, const NDArray&, NDArray& dx) const {
  const Shape& shape = dx.shape();
  const int k = detail::checked_axis(axis, shape.ndim(), name);
  const auto at =
      detail::positions(index, shape[k], mode == Pick::wrap ? detail::Outside::wrap : detail::Outside::clip, name);
  detail::zero_elements(dx);
  detail::place_elements(dy, at, dx, shape.size(0, k), shape[k], shape.size(k + 1, shape.ndim()));
}

}  // namespace strop::inline v0
