// SPDX-License-Identifier: Apache-2.0
/// \file
/// _contrib_PSROIPooling: regions of images brought to one size, each part a mean of a channel of its own.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/regions.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

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

/// _contrib_PSROIPooling: of each region of an image the means of pooled_size × pooled_size parts; the channels of data
/// are output_dim groups of group_size × group_size, and the parts at a place of the region are those of the channels
/// at that place of the groups.
///
/// data (batch, channels, rows, columns), rois (count, 5): the image, and left, top, right and bottom, which are
/// rounded and, right and bottom one further, times spatial_scale positions in data; the result (count, output_dim,
/// pooled_size, pooled_size). A group_size of 0 is pooled_size. A region is 0.1 × 0.1 at least. A part has the elements
/// that it touches, so that parts overlap; one without elements and a region of an image that is not there are 0.
/// Floating types; sparse arrays by the dense fallback. The gradient goes to data, rois get none. Error: other
/// dimensions, fewer channels than the groups have, of which MXNet reads those of the next image.
///
/// Example: `psroi_pooling(array({{{{1, 2}}, {{3, 4}}, {{5, 6}}, {{7, 8}}}}), array({{0, 0, 0, 1, 0}}), {.spatial_scale
/// = 1, .output_dim = 1, .pooled_size = 2})` is [[[[1, 4], [5, 8]]]].
struct PSROIPooling {
  Required<float> spatial_scale = {};
  Required<int> output_dim = {}, pooled_size = {};
  int group_size = 0;

  static constexpr std::string_view name = "_contrib_PSROIPooling", aliases[] = {"PSROIPooling", "psroi_pooling"};
  static constexpr std::span<const std::string_view> inputs = detail::region_inputs;
  static constexpr const char* doc =
      "The means of the parts of regions of images, each part from channels of its own: rois (count, 5).";
  static constexpr Note notes[] = {{"spatial_scale", "extents of data over those in which the regions are given"},
                                   {"output_dim", "channels of the result"},
                                   {"pooled_size", "rows, and columns, of the result"},
                                   {"group_size",
                                    "rows, and columns, of channels of data that make one of the result; "
                                    "0: pooled_size"}};
  static constexpr Range range[] = {{"spatial_scale", 0, 1}, {"output_dim", 1}, {"pooled_size", 1}, {"group_size", 0}};

  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    s.set_in(0, {any, any, any, any});
    s.set_in(1, {any, 5});
    const std::int64_t size = groups(), needed = detail::checked_product(detail::checked_product(size, size, s.op()),
                                                                         *output_dim, s.op());
    if (const std::int64_t channels = s.in(0)[1]; channels >= 0 && channels < needed)
      s.fail(s.name_in(0), " has ", channels, " channels, expected ", needed, " or more: ", size, " x ", size,
             " for each of ", *output_dim);
    s.set_out(0, {s.in(1)[0], *output_dim, *pooled_size, *pooled_size});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 4> x, View<const E, 2> rois, View<E, 4> y) const {
    std::fill(y.begin(), y.end(), E(0));
    const std::int64_t width = x.shape()[3];
    each_part(x.shape(), rois,
              [&](std::int64_t to, std::int64_t plane, detail::PartRange rows, detail::PartRange cols, E count) {
                E total = 0;
                for (std::int64_t i = rows.low; i < rows.high; ++i)
                  for (std::int64_t j = cols.low; j < cols.high; ++j) total += x[plane + i * width + j];
                y[to] = total / count;
              });
  }
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 4>> dy, In<"rois", View<const E, 2>> rois,
            Grad<"data", View<E, 4>> dx) const {
    if (!dx) return;
    std::fill(dx.begin(), dx.end(), E(0));
    const std::int64_t width = dx.shape()[3];
    each_part(dx.shape(), rois,
              [&](std::int64_t from, std::int64_t plane, detail::PartRange rows, detail::PartRange cols, E count) {
                const E share = dy[from] / count;
                for (std::int64_t i = rows.low; i < rows.high; ++i)
                  for (std::int64_t j = cols.low; j < cols.high; ++j) dx[plane + i * width + j] += share;
              });
  }

 private:
  constexpr std::int64_t groups() const { return group_size == 0 ? *pooled_size : group_size; }

  /// f(element of the result, where its plane begins, rows, columns, how many elements) for each part that has any.
  template <class E, class F>
  void each_part(const std::array<std::int64_t, 4>& shape, View<const E, 2> rois, F f) const {
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
};

inline constexpr Op<PSROIPooling, OnUse> psroi_pooling;

using PositionSensitiveOps = OpList<PSROIPooling>;

}  // namespace strop::inline v0
