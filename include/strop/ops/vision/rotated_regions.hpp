// SPDX-License-Identifier: Apache-2.0
/// \file
/// _contrib_RROIAlign: rotated regions of images brought to one size.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/bilinear.hpp>
#include <strop/ops/vision/regions.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {
inline namespace STROP_ISA {

template <class E>
struct RotatedAxis;

}  // namespace STROP_ISA
}  // namespace detail

/// _contrib_RROIAlign: of each rotated region of an image the means of samples in pooled_size parts, each of what lies
/// between the elements around it.
///
/// data (batch, channels, rows, columns), rois (count, 6): the image, the centre (x, y), width and height, which times
/// spatial_scale are positions and extents in data, and the angle in degrees, by which the region is turned from the x
/// axis against the y axis; the result (count, channels) of pooled_size. A region is 1 × 1 at least. Samples more than
/// 1 outside of data count as 0; a region of an image that is not there is 0. Floating types; sparse arrays by the
/// dense fallback. Without a gradient, as in MXNet. Error: other dimensions, more than 2²⁰ samples along an axis of a
/// region.
///
/// Example: `rroi_align(array({{{{1, 2, 3}}}}), array({{0, 1, 0, 2, 1, 0}}), {.pooled_size = {1, 2}, .spatial_scale =
/// 1})` is [[[[1.5, 2.5]]]].
struct RROIAlign {
  Required<Shape> pooled_size = {};
  Required<float> spatial_scale = {};
  int sampling_ratio = -1;

  static constexpr std::string_view name = "_contrib_RROIAlign", aliases[] = {"RROIAlign", "rroi_align"};
  static constexpr std::span<const std::string_view> inputs = detail::region_inputs;
  static constexpr const char* doc =
      "The means of samples in the parts of rotated regions of images: rois (count, 6), the image, centre, extents and "
      "angle.";
  static constexpr Note notes[] = {
      {"pooled_size", "rows and columns of the result"},
      {"spatial_scale", "extents of data over those in which the regions are given"},
      {"sampling_ratio", "how many samples a part takes along each axis; 0 or less: one for about each element"}};
  static constexpr Range range[] = {{"spatial_scale", 0, 1}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    (void)detail::checked_places(s, "pooled_size", *pooled_size);
    s.set_in(0, {any, any, any, any});
    if (const std::int64_t each = detail::larger((*pooled_size)[0], (*pooled_size)[1]);
        sampling_ratio > detail::most_region_samples / each)
      s.fail("sampling_ratio is ", sampling_ratio, ", of each of ", each, " parts along an axis, expected at most ",
             detail::most_region_samples, " samples along it");
    s.set_in(1, {any, 6});
    s.set_out(0, {s.in(1)[0], s.in(0)[1], (*pooled_size)[0], (*pooled_size)[1]});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 4> x, View<const E, 2> rois, View<E, 4> y) const;

 private:
  static constexpr std::int64_t together = 64;

  /// Region k in some channels, no more than `together`.
  template <class E>
  void pool(View<const E, 4> x, View<const E, 2> rois, std::int64_t k, std::int64_t first, std::int64_t last,
            View<E, 4> y) const;
  /// Between which positions along an axis of the region the image lies: those of its corners are the outermost ones.
  template <class E>
  static void bound(detail::RotatedAxis<E>& axis, E cosine, E sine, E low, E high, E other_low, E other_high);
};

inline constexpr Op<RROIAlign, OnUse> rroi_align;

using RotatedRegionOps = OpList<RROIAlign>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/rotated_regions_body.hpp>
#endif
