// SPDX-License-Identifier: Apache-2.0
/// \file
/// _contrib_PSROIPooling: regions of images brought to one size, each part a mean of a channel of its own.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/regions.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

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

  template <int = 0>
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
  void forward(Cpu&, View<const E, 4> x, View<const E, 2> rois, View<E, 4> y) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 4>> dy, In<"rois", View<const E, 2>> rois,
            Grad<"data", View<E, 4>> dx) const;

 private:
  constexpr std::int64_t groups() const { return group_size == 0 ? *pooled_size : group_size; }

  /// f(element of the result, where its plane begins, rows, columns, how many elements) for each part that has any.
  template <class E, class F>
  void each_part(const std::array<std::int64_t, 4>& shape, View<const E, 2> rois, F f) const;
};

inline constexpr Op<PSROIPooling, OnUse> psroi_pooling;

using PositionSensitiveOps = OpList<PSROIPooling>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/position_sensitive_body.hpp>
#endif
