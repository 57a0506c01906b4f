// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/resize.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/vision/bilinear.hpp>
#include <strop/ops/vision/bilinear_body.hpp>
#include <strop/ops/vision/planes.hpp>
#include <strop/ops/vision/resize.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// Where along an axis of `from` elements each of `to` elements lies.
template <class E>
List<LinearWeights<E>> resized_axis(std::int64_t from, std::int64_t to, bool align_corners) {
  List<LinearWeights<E>> places;
  if (from == 0) return places;
  const std::int64_t less = align_corners ? 1 : 0;
  const E step = to <= 1 ? E(0) : static_cast<E>(from - less) / static_cast<E>(to - less);
  for (std::int64_t i = 0; i < to; ++i)
    places.push_back(LinearWeights<E>(
        align_corners ? step * static_cast<E>(i) : step * (static_cast<E>(i) + E(0.5)) - E(0.5), from));
  return places;
}

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void AdaptiveAvgPooling2D::forward(Cpu&, View<const E, 4> x, View<E, 4> y) const {
  each_part(x.shape(), y.shape(), [&](std::int64_t to, std::int64_t plane, const Part& rows, const Part& cols) {
    double total = 0;
    for (std::int64_t i = rows.low; i < rows.high; ++i)
      for (std::int64_t j = cols.low; j < cols.high; ++j) total += static_cast<double>(x[plane + i * x.shape()[3] + j]);
    const std::int64_t count = rows.size() * cols.size();
    y[to] = count == 0 ? E(0) : static_cast<E>(total / static_cast<double>(count));
  });
}

template <Real E>
inline void AdaptiveAvgPooling2D::grad_use_none(Cpu&, View<const E, 4> dy, View<E, 4> dx) const {
  detail::GradientSums<E> sums(dx.data(), dx.size());
  double* const totals = sums.data();
  each_part(dx.shape(), dy.shape(), [&](std::int64_t from, std::int64_t plane, const Part& rows, const Part& cols) {
    const double share = static_cast<double>(dy[from] / static_cast<E>(rows.size() * cols.size()));
    for (std::int64_t i = rows.low; i < rows.high; ++i)
      for (std::int64_t j = cols.low; j < cols.high; ++j) totals[plane + i * dx.shape()[3] + j] += share;
  });
  sums.store();
}

inline std::int64_t AdaptiveAvgPooling2D::Part::size() const { return high - low; }

template <class F>
inline void AdaptiveAvgPooling2D::each_part(const std::array<std::int64_t, 4>& x, const std::array<std::int64_t, 4>& y,
                                            F f) {
  detail::each_plane(x[0] * x[1], x[2] * x[3], [&](std::int64_t plane) {
    for (std::int64_t i = 0; i < y[2]; ++i) {
      const Part rows(i, y[2], x[2]);
      for (std::int64_t j = 0; j < y[3]; ++j)
        f((plane * y[2] + i) * y[3] + j, plane * x[2] * x[3], rows, Part(j, y[3], x[3]));
    }
  });
}

template <Real E>
inline void BilinearResize2D::forward(Cpu&, View<const E, 4> x, View<const E, 4>, View<E, 4> y) const {
  each_element<E>(x.shape(), y.shape(), [&](std::int64_t to, std::int64_t plane, const auto& down, const auto& along) {
    y[to] = detail::interpolated(x.data() + plane, down, along, x.shape()[3]);
  });
}

template <Real E>
inline void BilinearResize2D::grad(Cpu&, Head<"output", View<const E, 4>> dy, Grad<"data", View<E, 4>> dx) const {
  if (!dx) return;
  detail::GradientSums<E> sums(dx.data(), dx.size());
  each_element<E>(dx.shape(), dy.shape(),
                  [&](std::int64_t from, std::int64_t plane, const auto& down, const auto& along) {
                    detail::spread(dy[from], sums.data() + plane, down, along, dx.shape()[3]);
                  });
  sums.store();
}

template <class E, class F>
inline void BilinearResize2D::each_element(const std::array<std::int64_t, 4>& x, const std::array<std::int64_t, 4>& y,
                                           F f) const {
  const detail::List<detail::LinearWeights<E>> down = detail::resized_axis<E>(x[2], y[2], align_corners),
                                               along = detail::resized_axis<E>(x[3], y[3], align_corners);
  detail::each_plane(x[0] * x[1], y[2] * y[3], [&](std::int64_t plane) {
    for (detail::Index i = 0; i < down.size(); ++i)
      for (detail::Index j = 0; j < along.size(); ++j)
        f((plane * y[2] + i) * y[3] + j, plane * x[2] * x[3], down[i], along[j]);
  });
}

}  // namespace strop::inline v0
