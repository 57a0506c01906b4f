// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/position_sensitive.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/vision/position_sensitive.hpp>
#include <strop/ops/vision/regions_body.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// a · b, rounded by itself: a compiler that joins it with the sum that it is part of would move the border of a part,
/// and elements that only just lie on it come or go.
template <class E>
E rounded_product(E a, E b) {
  const volatile E product = a * b;
  return product;
}

/// The rows, or columns, of a part of a region from `begin` on, with parts of `step`: those that it touches.
template <class E>
PartRange touched_range(std::int64_t part, E begin, E step, std::int64_t extent) {
  const auto edge = [&](std::int64_t k) { return rounded_product(static_cast<E>(k), step) + begin; };
  using Whole = Region<E>;
  return {std::clamp<std::int64_t>(Whole::whole(std::floor(edge(part))), 0, extent),
          std::clamp<std::int64_t>(Whole::whole(std::ceil(edge(part + 1))), 0, extent)};
}

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void PSROIPooling::forward(Cpu&, View<const E, 4> x, View<const E, 2> rois, View<E, 4> y) const {
  std::fill(y.begin(), y.end(), E(0));
  const std::int64_t width = x.shape()[3];
  each_part(x.shape(), rois,
            [&](std::int64_t to, std::int64_t plane, detail::PartRange rows, detail::PartRange cols, E count) {
              double total = 0;
              for (std::int64_t i = rows.low; i < rows.high; ++i)
                for (std::int64_t j = cols.low; j < cols.high; ++j)
                  total += static_cast<double>(x[plane + i * width + j]);
              y[to] = static_cast<E>(total / static_cast<double>(count));
            });
}

template <Real E>
inline void PSROIPooling::grad(Cpu&, Head<"output", View<const E, 4>> dy, In<"rois", View<const E, 2>> rois,
                               Grad<"data", View<E, 4>> dx) const {
  if (!dx) return;
  detail::GradientSums<E> sums(dx.data(), dx.size());
  double* const totals = sums.data();
  const std::int64_t width = dx.shape()[3];
  each_part(dx.shape(), rois,
            [&](std::int64_t from, std::int64_t plane, detail::PartRange rows, detail::PartRange cols, E count) {
              const double share = static_cast<double>(dy[from] / count);
              for (std::int64_t i = rows.low; i < rows.high; ++i)
                for (std::int64_t j = cols.low; j < cols.high; ++j) totals[plane + i * width + j] += share;
            });
  sums.store();
}

template <class E, class F>
inline void PSROIPooling::each_part(const std::array<std::int64_t, 4>& shape, View<const E, 2> rois, F f) const {
  const std::int64_t parts = *pooled_size, size = groups(), height = shape[2], width = shape[3];
  const E scale = static_cast<E>(*spatial_scale);
  // Scaled only when they are rounded.
  const detail::Regions<E> regions{rois, shape[0], *output_dim, parts * parts, E(1), E(0)};
  regions.each(
      [&](std::int64_t k, const detail::Region<E>& r, std::int64_t c0, std::int64_t c1) {
        const auto scaled = [&](E whole) { return detail::rounded_product(whole, scale); };
        const E left = scaled(std::round(r.left)), top = scaled(std::round(r.top)), each = static_cast<E>(parts);
        const E wide = std::max(scaled(std::round(r.right) + 1) - left, E(0.1)) / each,
                high = std::max(scaled(std::round(r.bottom) + 1) - top, E(0.1)) / each;
        for (std::int64_t i = 0; i < parts; ++i) {
          const detail::PartRange rows = detail::touched_range(i, top, high, height);
          for (std::int64_t j = 0; j < parts; ++j) {
            const detail::PartRange cols = detail::touched_range(j, left, wide, width);
            if (rows.low >= rows.high || cols.low >= cols.high) continue;
            const E count = static_cast<E>((rows.high - rows.low) * (cols.high - cols.low));
            const std::int64_t place = i * size / parts * size + j * size / parts;
            for (std::int64_t c = c0; c < c1; ++c)
              f(((k * *output_dim + c) * parts + i) * parts + j,
                (r.image * shape[1] + c * size * size + place) * height * width, rows, cols, count);
          }
        }
      },
      [](std::int64_t, std::int64_t, std::int64_t) {});
}

}  // namespace strop::inline v0
