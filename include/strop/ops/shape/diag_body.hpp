// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/shape/diag.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/shape/diag.hpp>
#include <strop/ops/shape/move_body.hpp>

namespace strop::inline v0 {

inline void Diag::forward(Cpu&, const NDArray& x, NDArray& y) const {
  if (x.ndim() > 1)
    return detail::move_elements(detail::DiagonalPlan(x.shape(), k, axis1, axis2, name).move(x.shape(), false), x, y);
  detail::zero_elements(y);
  detail::move_elements(detail::DiagonalPlan(y.shape(), k, 0, 1, name).move(y.shape(), true), x, y);
}

inline void DiagGradient::forward(Cpu&, const NDArray& dy, const NDArray&, NDArray& dx) const {
  if (dx.ndim() == 1)
    return detail::move_elements(detail::DiagonalPlan(dy.shape(), k, 0, 1, name).move(dy.shape(), false), dy, dx);
  detail::zero_elements(dx);
  detail::move_elements(detail::DiagonalPlan(dx.shape(), k, axis1, axis2, name).move(dx.shape(), true), dy, dx);
}

inline void DepthToSpace::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const std::int64_t b = *block_size, n = y.shape()[0], c = y.shape()[1], h = x.shape()[2], w = x.shape()[3];
  detail::Move m;
  m.axis(n, c * b * b * h * w, c * b * b * h * w);
  m.axis(c, h * w, b * b * h * w);
  m.axis(h, w, b * b * w);
  m.axis(b, b * c * h * w, b * w);
  m.axis(w, 1, b);
  m.axis(b, c * h * w, 1);
  detail::move_elements(m, x, y);
}

inline void SpaceToDepth::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const std::int64_t b = *block_size, n = x.shape()[0], c = x.shape()[1], h = y.shape()[2], w = y.shape()[3];
  detail::Move m;
  m.axis(n, c * b * b * h * w, c * b * b * h * w);
  m.axis(b, b * w, b * c * h * w);
  m.axis(b, 1, c * h * w);
  m.axis(c, b * b * h * w, h * w);
  m.axis(h, b * b * w, w);
  m.axis(w, b, 1);
  detail::move_elements(m, x, y);
}

}  // namespace strop::inline v0
