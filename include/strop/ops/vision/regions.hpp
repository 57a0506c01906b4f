// SPDX-License-Identifier: Apache-2.0
/// \file
/// Regions of images brought to one size: ROIPooling takes maxima, ROIAlign means of what lies between elements.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/bilinear.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr std::string_view region_inputs[] = {"data", "rois"};
inline constexpr Note region_notes[] = {
    {"pooled_size", "rows and columns of the result"},
    {"spatial_scale", "extents of data over those in which the regions are given"},
    {"sample_ratio", "how many samples a part takes along each axis; 0 or less: one for about each element"},
    {"position_sensitive", "each part is taken from a channel of its own"},
    {"aligned", "elements are centred on half numbers: a region is moved by half an element"}};

inline namespace STROP_ISA {

/// So many samples along an axis are a region's at most: those of each are kept.
inline constexpr std::int64_t most_region_samples = 1 << 20;

template <class E>
struct Largest;

}  // namespace STROP_ISA
}  // namespace detail

/// ROIPooling: of each region of an image the maxima of pooled_size parts.
///
/// data (batch, channels, rows, columns), rois (count, 5): the image, and left, top, right and bottom, which times
/// spatial_scale are rounded to columns and rows of data, all inclusive; the result (count, channels) of pooled_size. A
/// part begins and ends where elements do, so that parts overlap. A part without elements and a region of an image that
/// is not there are 0. NaN is left out; a part of nothing else is −∞. Floating types; sparse arrays by
/// the dense fallback. Of equal maxima the first gets the gradient, rois none. The gradient finds the maxima again, so
/// there is no hidden output as MXNet's maxidx. Error: other dimensions, a pooled_size that is not two numbers.
///
/// Example: `roi_pooling(array({{{{1, 2, 3}}}}), array({{0, 0, 0, 2, 0}}), {.pooled_size = {1, 2}, .spatial_scale =
/// 1})` is [[[[2, 3]]]].
struct ROIPooling {
  Required<Shape> pooled_size = {};
  Required<float> spatial_scale = {};

  static constexpr std::string_view aliases[] = {"_npx_roi_pooling"};
  static constexpr std::span<const std::string_view> inputs = detail::region_inputs;
  static constexpr const char* doc =
      "The maxima of the parts of regions of images: rois (count, 5), the image and the corners.";
  static constexpr std::span<const Note> notes = {detail::region_notes, 2};
  static constexpr Range range[] = {{"spatial_scale", 0, 1}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    (void)detail::checked_places(s, "pooled_size", *pooled_size);
    s.set_in(0, {any, any, any, any});
    s.set_in(1, {any, 5});
    s.set_out(0, {s.in(1)[0], s.in(0)[1], (*pooled_size)[0], (*pooled_size)[1]});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 4> x, View<const E, 2> rois, View<E, 4> y) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 4>> dy, In<"data", View<const E, 4>> x,
            In<"rois", View<const E, 2>> rois, Grad<"data", View<E, 4>> dx) const;

 private:
  /// f(element of the result, plane, largest element of the part).
  template <class E, class F>
  void each_part(View<const E, 4> x, View<const E, 2> rois, F f) const;
};

/// _contrib_ROIAlign: of each region of an image the means of samples in pooled_size parts, each of what lies between
/// the elements around it.
///
/// data (batch, channels, rows, columns), rois (count, 5): the image, and left, top, right and bottom, which times
/// spatial_scale are positions in data, or (count, 4) without the image, which then is the first; the result (count,
/// channels) of pooled_size, with `position_sensitive` as many channels as those of data over the parts. A region is 1
/// × 1 at least. Samples more than 1 outside of data count as 0; a region of an image that is not there is 0. Floating
/// types; sparse arrays by the dense fallback. The gradient goes to data, rois get none. Error: other dimensions, with
/// `position_sensitive` channels that are no multiple of the parts, with `aligned` a region without extent, more than
/// 2²⁰ samples along an axis of a region.
///
/// Example: `roi_align(array({{{{1, 2, 3}}}}), array({{0, 0, 0, 2, 0}}), {.pooled_size = {1, 2}, .spatial_scale = 1})`
/// is [[[[1.5, 2.5]]]].
struct ROIAlign {
  Required<Shape> pooled_size = {};
  Required<float> spatial_scale = {};
  int sample_ratio = -1;
  bool position_sensitive = false, aligned = false;

  static constexpr std::string_view name = "_contrib_ROIAlign", aliases[] = {"ROIAlign", "roi_align"};
  static constexpr std::span<const std::string_view> inputs = detail::region_inputs;
  static constexpr const char* doc =
      "The means of samples in the parts of regions of images, bilinear between the elements.";
  static constexpr std::span<const Note> notes = detail::region_notes;
  static constexpr Range range[] = {{"spatial_scale", 0, 1}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    const std::int64_t parts = detail::checked_places(s, "pooled_size", *pooled_size);
    s.set_in(0, {any, any, any, any});
    if (const std::int64_t each = detail::larger((*pooled_size)[0], (*pooled_size)[1]);
        sample_ratio > detail::most_region_samples / each)
      s.fail("sample_ratio is ", sample_ratio, ", of each of ", each, " parts along an axis, expected at most ",
             detail::most_region_samples, " samples along it");
    s.set_in(1, {any, any});
    const std::int64_t width = s.in(1)[1];
    if (width >= 0 && width != 4 && width != 5)
      s.fail(s.name_in(1), " has shape ", s.in(1), ", expected rows of 5 numbers, or of 4 without the image");
    std::int64_t channels = s.in(0)[1];
    if (position_sensitive && channels >= 0) {
      if (channels % parts != 0)
        s.fail(s.name_in(0), " has ", channels, " channels, expected a multiple of ", parts, ", the parts of a region");
      channels /= parts;
    }
    s.set_out(0, {s.in(1)[0], channels, (*pooled_size)[0], (*pooled_size)[1]});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 4> x, View<const E, 2> rois, View<E, 4> y) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 4>> dy, In<"rois", View<const E, 2>> rois,
            Grad<"data", View<E, 4>> dx) const;

 private:
  /// f(element of the result, where its plane begins, positions down, positions along, share of a sample) for each part
  /// that has samples.
  template <class E, class F>
  void each_part(const std::array<std::int64_t, 4>& shape, View<const E, 2> rois, F f) const;
};

inline constexpr Op<ROIPooling, OnUse> roi_pooling;
inline constexpr Op<ROIAlign, OnUse> roi_align;

using RegionOps = OpList<ROIPooling, ROIAlign>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/regions_body.hpp>
#endif
