// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/upsampling.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/deconvolution_body.hpp>
#include <strop/ops/upsampling.hpp>
#include <strop/ops/vision/planes.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

inline std::vector<std::string_view> UpSampling::inputs() const {
  if (sample_type.value == bilinear) return {"data", "weight"};
  return {};
}

template <Real E>
inline void UpSampling::forward(Cpu& ctx, std::span<const View<const E>> x, View<E> y) const {
  if (*sample_type == bilinear) return enlarging().forward<E>(ctx, x[0], x[1], {}, y);
  each_row(x, y, [&](std::size_t k, std::int64_t from, std::int64_t to, std::int64_t n, std::int64_t times) {
    const bool add = multi_input_mode == sum && k != 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < times; ++j, ++to) y[to] = x[k][from + i] + (add ? y[to] : E(0));
  });
}

template <Real E>
inline void UpSampling::grad_use_in(Cpu& ctx, View<const E> dy, std::span<const View<const E>> x,
                                    std::span<const View<E>> dx) const {
  if (*sample_type == bilinear) return enlarging().grad<E>(ctx, {dy}, {x[0]}, {x[1]}, {dx[0]}, {dx[1]}, {});
  std::vector<detail::GradientSums<E>> sums;
  for (const View<E>& part : dx) sums.emplace_back(part.data(), part.size());
  each_row(dx, dy, [&](std::size_t k, std::int64_t to, std::int64_t from, std::int64_t n, std::int64_t times) {
    double* const totals = sums[k].data() + to;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < times; ++j, ++from) totals[i] += static_cast<double>(dy[from]);
  });
  for (detail::GradientSums<E>& part : sums) part.store();
}

inline Deconvolution UpSampling::enlarging() const {
  const std::int64_t by = *scale, extent = 2 * by - by % 2, cut = by / 2;
  Deconvolution d;
  d.kernel = Shape{extent, extent};
  d.stride = {by, by};
  d.pad = {cut, cut};
  d.num_filter = num_filter;
  d.num_group = num_filter;
  return d;
}

template <class Parts, class Whole, class F>
inline void UpSampling::each_row(const Parts& parts, const Whole& whole, F f) const {
  std::int64_t before = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto x = parts[k].shape(), y = whole.shape();
    if (x[2] == 0 || x[3] == 0) continue;
    const std::int64_t down = y[2] / x[2], along = y[3] / x[3];
    for (std::int64_t image = 0; image < x[0]; ++image)
      for (std::int64_t c = 0; c < x[1]; ++c)
        for (std::int64_t row = 0; row < y[2]; ++row)
          f(k, ((image * x[1] + c) * x[2] + row / down) * x[3], ((image * y[1] + before + c) * y[2] + row) * y[3], x[3],
            along);
    if (multi_input_mode == concat) before += x[1];
  }
}

}  // namespace strop::inline v0
