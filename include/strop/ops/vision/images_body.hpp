// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/images.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/vision/images.hpp>
#include <strop/ops/vision/planes.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace strop::inline v0 {

template <detail::Summable E>
constexpr void ImageToTensor::forward(Cpu&, View<const E> x, View<float> y) const {
  const std::int64_t channels = x.shape().back();
  each(y.shape(), [&](std::int64_t first, std::int64_t at, std::int64_t places) {
    for (std::int64_t i = 0; i < places; ++i) y[first + i] = static_cast<float>(x[at + i * channels]) / 255;
  });
}

template <Real E>
constexpr void ImageToTensor::grad_use_none(Cpu&, View<const float> dy, View<E> dx) const {
  const std::int64_t channels = dx.shape().back();
  each(dy.shape(), [&](std::int64_t first, std::int64_t at, std::int64_t places) {
    for (std::int64_t i = 0; i < places; ++i) dx[at + i * channels] = static_cast<E>(dy[first + i]) / 255;
  });
}

template <class F>
constexpr void ImageToTensor::each(std::span<const std::int64_t> shape, F f) {
  const std::size_t axis = shape.size() - 3;
  const std::int64_t channels = shape[axis], places = shape[axis + 1] * shape[axis + 2];
  const std::int64_t images = axis == 0 ? 1 : shape[0];
  detail::each_plane(images * channels, places, [&](std::int64_t plane) {
    f(plane * places, plane / channels * channels * places + plane % channels, places);
  });
}

template <detail::Summable E>
constexpr void ImageNormalize::forward(Cpu&, View<const E> x, View<E> y) const {
  each<E>(x.shape(), [&](std::int64_t begin, std::int64_t end, double less, double over) {
    if constexpr (std::integral<E>)
      for (std::int64_t i = begin; i < end; ++i)
        y[i] = detail::from_double<E>((static_cast<double>(x[i]) - less) / over);
    else
      for (std::int64_t i = begin; i < end; ++i) y[i] = (x[i] - static_cast<E>(less)) / static_cast<E>(over);
  });
}

template <Real E>
constexpr void ImageNormalize::grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
  each<E>(dy.shape(), [&](std::int64_t begin, std::int64_t end, double, double over) {
    for (std::int64_t i = begin; i < end; ++i) dx[i] = dy[i] / static_cast<E>(over);
  });
}

template <class E, class F>
constexpr void ImageNormalize::each(std::span<const std::int64_t> shape, F f) const {
  const std::size_t axis = shape.size() - 3;
  const std::int64_t channels = shape[axis], size = shape[axis + 1] * shape[axis + 2];
  detail::each_plane((axis == 0 ? 1 : shape[0]) * channels, size, [&](std::int64_t plane) {
    const int channel = static_cast<int>(plane % channels);
    f(plane * size, (plane + 1) * size, mean[mean.count() == 1 ? 0 : channel], std[std.count() == 1 ? 0 : channel]);
  });
}

}  // namespace strop::inline v0
