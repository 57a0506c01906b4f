// SPDX-License-Identifier: Apache-2.0
/// \file
/// Images of another size: _contrib_AdaptiveAvgPooling2D, _contrib_BilinearResize2D.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strop::inline v0 {

/// _contrib_AdaptiveAvgPooling2D: the mean of each of output_size parts of an image.
///
/// data (batch, channels, rows, columns). output_size is (rows, columns), one number for both, or (), which is one
/// part. Part i of n along an axis of x elements has those from ⌊i · x / n⌋ to ⌈(i + 1) · x / n⌉; without elements it
/// is 0. Floating types; sparse arrays by the dense fallback. Error: other dimensions, an output_size of more than two
/// numbers or below 0.
///
/// Example: `adaptive_avg_pooling2d(array({{{{1, 2, 3}}}}), {.output_size = {1, 2}})` is [[[[1.5, 2.5]]]].
struct AdaptiveAvgPooling2D {
  Shape output_size = {};

  static constexpr std::string_view name = "_contrib_AdaptiveAvgPooling2D",
                                    aliases[] = {"AdaptiveAvgPooling2D", "adaptive_avg_pooling2d"};
  static constexpr const char* doc = "The means of as many parts of each image as output_size says.";
  static constexpr Note notes[] = {{"output_size", "rows and columns of the result, or one number for both"}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    if (output_size.ndim() > 2) s.fail("output_size = ", output_size, ", expected at most 2 numbers");
    for (const std::int64_t extent : output_size)
      if (extent < 0) s.fail("output_size = ", output_size, ", expected numbers of 0 or more");
    const std::int64_t rows = output_size.empty() ? 1 : output_size[0],
                       cols = output_size.empty() ? 1 : output_size.back();
    s.set_in(0, {any, any, any, any});
    s.set_out(0, {s.in(0)[0], s.in(0)[1], rows, cols});
    s.set_in(0, {s.out(0)[0], s.out(0)[1], any, any});
    for (int axis = 2; axis < 4; ++axis)
      if (s.in(0)[axis] >= 0) (void)detail::checked_product(s.in(0)[axis], s.out(0)[axis], s.op());
  }
  template <Real E>
  void forward(Cpu&, View<const E, 4> x, View<E, 4> y) const;
  template <Real E>
  void grad_use_none(Cpu&, View<const E, 4> dy, View<E, 4> dx) const;

 private:
  struct Part {
    std::int64_t low, high;
    Part(std::int64_t i, std::int64_t parts, std::int64_t extent)
        : low(i * extent / parts), high(((i + 1) * extent + parts - 1) / parts) {}
    std::int64_t size() const;
  };
  /// f(element of the result, where its plane begins, rows, columns).
  template <class F>
  static void each_part(const std::array<std::int64_t, 4>& x, const std::array<std::int64_t, 4>& y, F f);
};

/// _contrib_BilinearResize2D: images of other extents, linear between the elements along both axes.
///
/// data (batch, channels, rows, columns). The extents of the result: size: height and width, or the extent times the
/// scale that is given, without its fraction; odd_scale: the extent times the scale, of an odd extent x (x − 1) · scale
/// + 1; like: those of the second input; to_even_down, to_odd_up …: the next even or odd number. With align_corners the
/// first and last elements lie where those of data do, and the rest between them; without, the images cover the same. A
/// single row or column is the first one either way. Floating types; sparse arrays by the dense fallback. The gradient
/// goes to data. Error: other dimensions, odd_scale without both scales, a scale that gives no extent, images without
/// elements that are to have some.
///
/// Example: `bilinear_resize2d(array({{{{1, 3}}}}), {.height = 1, .width = 3})` is [[[[1, 2, 3]]]].
struct BilinearResize2D {
  enum Mode : int { size, odd_scale, like, to_even_down, to_even_up, to_odd_down, to_odd_up };
  int height = 1, width = 1;
  std::optional<float> scale_height = {}, scale_width = {};
  Mode mode = size;
  bool align_corners = true;

  static constexpr std::string_view name = "_contrib_BilinearResize2D",
                                    aliases[] = {"BilinearResize2D", "bilinear_resize2d"}, inputs[] = {"data", "like"};
  static constexpr const char* doc = "Images of other extents, bilinear between the elements.";
  static constexpr Note notes[] = {
      {"like", "has the extents of the result, of mode like"},
      {"height", "rows of the result, of mode size"},
      {"width", "columns of the result, of mode size"},
      {"scale_height", "rows over those of data, of modes size and odd_scale"},
      {"scale_width", "columns over those of data, of modes size and odd_scale"},
      {"mode", "what the extents of the result follow from"},
      {"align_corners", "the elements at the ends lie where those of data do; else the images cover the same"}};
  static constexpr Range range[] = {{"height", 1, 10000}, {"width", 1, 10000}};

  constexpr int input_count() const { return mode == like ? 2 : 1; }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    s.set_in(0, {any, any, any, any});
    if (mode == like) s.set_in(1, {any, any, any, any});
    const Shape& x = s.in(0);
    const std::int64_t rows = extent(s, 2, height, scale_height), cols = extent(s, 3, width, scale_width);
    s.set_out(0, {x[0], x[1], rows, cols});
    s.set_in(0, {s.out(0)[0], s.out(0)[1], any, any});
    if (x.known() && (x[2] == 0 || x[3] == 0) && rows > 0 && cols > 0)
      s.fail(s.name_in(0), " has shape ", x, ", which has no elements for ", s.out(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E, 4> x, View<const E, 4>, View<E, 4> y) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 4>> dy, Grad<"data", View<E, 4>> dx) const;

 private:
  /// What an axis of the result has.
  template <int = 0>
  constexpr std::int64_t extent(const Shapes& s, int axis, int fixed, const std::optional<float>& scale) const {
    if (mode == like) return s.in(1)[axis];
    if (mode == size && !scale) return fixed;
    if (mode == odd_scale && !scale) s.fail("mode odd_scale needs parameters 'scale_height' and 'scale_width'");
    const std::int64_t x = s.in(0)[axis];
    if (x < 0) return x;
    const bool odd = x % 2 != 0;
    if (mode == size || mode == odd_scale) {
      const std::int64_t more = mode == odd_scale && odd ? 1 : 0;
      const float scaled = *scale * static_cast<float>(x - more);
      if (!(scaled >= 0 && scaled < 0x1p40F))
        s.fail("a scale of ", *scale, " gives axis ", axis, " of ", s.name_in(0), ", of ", x, " elements, no extent");
      return static_cast<std::int64_t>(scaled) + more;
    }
    const bool stays = odd == (mode == to_odd_down || mode == to_odd_up);
    return stays                                     ? x
           : mode == to_even_up || mode == to_odd_up ? detail::checked_sum(x, 1, s.op())
                                                     : detail::larger(0, x - 1);
  }
  /// f(element of the result, where its plane begins, position down, position along).
  template <class E, class F>
  void each_element(const std::array<std::int64_t, 4>& x, const std::array<std::int64_t, 4>& y, F f) const;
};

inline constexpr Op<AdaptiveAvgPooling2D, OnUse> adaptive_avg_pooling2d;
inline constexpr Op<BilinearResize2D, OnUse> bilinear_resize2d;

using ResizeOps = OpList<AdaptiveAvgPooling2D, BilinearResize2D>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/resize_body.hpp>
#endif
