// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/shape/slice.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/shape/csr_window.hpp>
#include <strop/ops/shape/move_body.hpp>
#include <strop/ops/shape/slice.hpp>

#include <optional>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// The window of an array that begins at `begin` and walks in steps of `step`, as a move: extents are those of the
/// window. `axis`: the first of the bounds is that of this axis; else they are those of the first axes.
template <bool Needed>
Move window_move(const Shape& whole, const Shape& window, const Bounds<Needed>& begin, const Bounds<false>& step,
                 const std::optional<int>& axis, bool scatter, std::string_view op) {
  const Shape far = row_major(whole), near = row_major(window);
  Move m;
  std::int64_t start = 0;
  const int first = axis ? checked_axis(*axis, whole.ndim(), op) : 0;
  for (int k = 0; k < whole.ndim(); ++k) {
    const AxisRange r = axis_range(whole[k], k < first ? std::nullopt : begin[k - first], std::nullopt,
                                   k < first ? std::nullopt : step[k - first], op);
    start += r.begin * far[k];
    const std::int64_t step_far =
        window[k] > 1 ? r.step * far[k] : 0;  // a single element may be any step from the next
    if (scatter)
      m.axis(window[k], near[k], step_far);
    else
      m.axis(window[k], step_far, near[k]);
  }
  (scatter ? m.out_start : m.in_start) = start;
  return m;
}

}  // namespace detail

inline void Slice::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const Shape& in = x.shape();
  if (x.storage() == csr)
    return detail::slice_csr_window(x, y, detail::axis_range(in[0], begin[0], end[0], 1, name),
                                    detail::axis_range(in[1], begin[1], end[1], 1, name));
  detail::move_elements(detail::window_move(in, y.shape(), begin, step, {}, false, name), x, y);
}

inline void SliceAxis::forward(Cpu&, const NDArray& x, NDArray& y) const {
  detail::move_elements(detail::window_move(x.shape(), y.shape(), Bounds<>{*begin}, {}, *axis, false, name), x, y);
}

inline void SliceLike::forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const {
  detail::move_elements(detail::window_move(x.shape(), y.shape(), Bounds<>{}, {}, {}, false, name), x, y);
}

inline void SliceWindow::forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const {
  detail::move_elements(detail::window_move(x.shape(), y.shape(), begin, step, axis, false, name), x, y);
}

inline void SliceGradient::forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const {
  if (x.storage() == csr) {
    const auto first = [&](int k) {
      return detail::axis_range(y.shape()[k], begin[k], std::nullopt, std::nullopt, name).begin;
    };
    return detail::place_csr_window(x, y, first(0), first(1));
  }
  detail::zero_elements(y);
  detail::move_elements(detail::window_move(y.shape(), x.shape(), begin, step, axis, true, name), x, y);
}

inline void SliceAssign::forward(Cpu&, const NDArray& x, const NDArray& part, NDArray& y) const {
  detail::copy_elements(x, y);
  detail::move_elements(detail::window_move(y.shape(), part.shape(), begin, step, {}, true, name), part, y);
}

inline void SliceAssignScalar::forward(Cpu&, const NDArray& x, NDArray& y) const {
  detail::copy_elements(x, y);
  const NDArray value({1}, y.dtype());
  scalar.store(y.dtype(), value.bytes());
  detail::Move m = detail::window_move(y.shape(), detail::sliced_shape(y.shape(), begin, end, step, name), begin, step,
                                       {}, true, name);
  for (std::int64_t& in : m.in) in = 0;
  detail::move_elements(m, value, y);
}

}  // namespace strop::inline v0
