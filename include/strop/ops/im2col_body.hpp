// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/im2col.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/im2col.hpp>
#include <strop/ops/windows_body.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// The windows of im2col and col2im over images of these spatial extents.
template <class Columns>
Windows windows_over(const Columns& op, std::span<const std::int64_t> extents) {
  Shape counts;
  for (int i = 0; i < (*op.kernel).ndim(); ++i)
    counts.push_back(
        (extents[static_cast<std::size_t>(i)] + 2 * step_of(op.pad, i, 0) - window_extent(op, i, Columns::name)) /
            step_of(op.stride, i, 1) +
        1);
  return {extents, {counts.begin(), counts.end()}, op.kernel, op.stride, op.dilate, op.pad};
}

/// f(image, columns, channels, windows) for each image of a batch and its columns.
template <class Columns, class Image, class Matrix, class F>
void each_image(const Columns& op, const Image& images, const Matrix& columns, F f) {
  const auto shape = images.shape();
  const Windows windows = windows_over(op, shape.subspan(2));
  const std::int64_t image = shape[1] * windows.in_size(), matrix = columns.shape()[1] * columns.shape()[2];
  for (std::int64_t n = 0; n < shape[0]; ++n)
    f(images.data() + n * image, columns.data() + n * matrix, shape[1], windows);
}

template <class Columns, class E>
void images_to_columns(const Columns& op, View<const E> images, View<E> columns) {
  each_image(op, images, columns, [](const E* from, E* to, std::int64_t channels, const Windows& windows) {
    gather_windows(windows, from, channels, 0, windows.out_size(), to);
  });
}

template <class Columns, class E>
void columns_to_images(const Columns& op, View<const E> columns, View<E> images) {
  std::fill(images.begin(), images.end(), E(0));
  each_image(op, images, columns, [](E* to, const E* from, std::int64_t channels, const Windows& windows) {
    scatter_windows(windows, from, channels, 0, windows.out_size(), to);
  });
}

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void Im2col::forward(Cpu&, View<const E> x, View<E> y) const {
  detail::images_to_columns(*this, x, y);
}

template <Real E>
inline void Im2col::grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
  detail::columns_to_images(*this, dy, dx);
}

template <Real E>
inline void Col2im::forward(Cpu&, View<const E> x, View<E> y) const {
  detail::columns_to_images(*this, x, y);
}

template <Real E>
inline void Col2im::grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
  detail::images_to_columns(*this, dy, dx);
}

}  // namespace strop::inline v0
