// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/shape/crop.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/shape/crop.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace strop::inline v0 {

template <Real E>
inline void Crop::forward(Cpu&, std::span<const View<const E>> x, View<E> y) const {
  each_row(x[0].shape(), y.shape(), [&](std::int64_t whole, std::int64_t part, std::int64_t n) {
    std::copy_n(x[0].data() + whole, n, y.data() + part);
  });
}

template <Real E>
inline void Crop::grad_use_none(Cpu&, View<const E> dy, std::span<const View<E>> dx) const {
  for (const View<E>& of : dx) std::fill(of.begin(), of.end(), E(0));
  each_row(dx[0].shape(), dy.shape(), [&](std::int64_t whole, std::int64_t part, std::int64_t n) {
    std::copy_n(dy.data() + part, n, dx[0].data() + whole);
  });
}

template <class F>
inline void Crop::each_row(std::span<const std::int64_t> whole, std::span<const std::int64_t> part, F f) const {
  const std::int64_t top = center_crop ? (whole[2] - part[2]) / 2 : offset[0],
                     left = center_crop ? (whole[3] - part[3]) / 2 : offset[1];
  for (std::int64_t channel = 0; channel < part[0] * part[1]; ++channel)
    for (std::int64_t row = 0; row < part[2]; ++row)
      f((channel * whole[2] + top + row) * whole[3] + left, (channel * part[2] + row) * part[3], part[3]);
}

}  // namespace strop::inline v0
