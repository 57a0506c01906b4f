// SPDX-License-Identifier: Apache-2.0
/// \file
/// Images sampled at the positions of a grid: GridGenerator, BilinearSampler, SpatialTransformer.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/bilinear.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

template <class E>
struct Sampling;

}  // namespace STROP_ISA
}  // namespace detail

/// GridGenerator, affine: of each matrix (a, b, c; d, e, f) in a row of data the positions (a · x + b · y + c, d · x +
/// e · y + f) for the places (x, y) of target_shape, which go from −1 to 1 along each axis. warp: the positions of the
/// places of data, moved by data elements along and down.
///
/// data (batch, 6), the result (batch, 2, rows, columns) has x before y; of warp both have the latter shape. An axis of
/// one place has position 0 (affine) and is as wide as one of two (warp), where MXNet divides by 0. Hidden output:
/// grid_dst, the places. Floating types; sparse arrays by the dense fallback. The gradient is the head gradient times
/// the places (affine) or over half the extents less 1 (warp). Error: other shapes, affine without target_shape.
///
/// Example: `grid_generator(array({{1, 0, 0, 0, 1, 0}}), {.transform_type = GridGenerator::affine, .target_shape = {1,
/// 2}})` is [[[[−1, 1]], [[0, 0]]]].
struct GridGenerator {
  enum Transform : int { affine, warp };
  Required<Transform> transform_type = {};
  Shape target_shape = {0, 0};

  static constexpr std::string_view outputs[] = {"output", "grid_dst"};
  static constexpr const char* doc =
      "Positions at which BilinearSampler samples images: those of a plane, transformed by matrices (affine) or moved "
      "by a flow (warp).";
  static constexpr Note notes[] = {{"transform_type", "what data is: matrices or a flow"},
                                   {"target_shape", "rows and columns of the result, of affine"}};
  static constexpr int visible = 1;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    if (*transform_type == affine) {
      const std::int64_t places = detail::checked_places(s, "target_shape", target_shape);
      s.set_in(0, {s.out(0).has_rank() && s.out(0).ndim() == 4 ? s.out(0)[0] : any, 6});
      s.set_out(0, {s.in(0)[0], 2, target_shape[0], target_shape[1]});
      return s.set_out(1, {3, places});
    }
    s.set_in(0, {any, 2, any, any});
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    s.set_out(1, {2, s.in(0)[2], s.in(0)[3]});
  }
  template <Real E>
  void forward(Cpu&, View<const E> data, View<E, 4> grid, View<E> places) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 4>> dy, Out<"grid_dst", View<const E>> places,
            Grad<"data", View<E>> dx) const;

 private:
  /// f(first element, how many, their places, half of what the axis is wide) for the plane of x and that of y of each
  /// image.
  template <class F>
  static void each_axis(const std::array<std::int64_t, 4>& shape, F f);
};

/// BilinearSampler: the elements of data at the positions of grid, which go from −1 at the first element of an axis to
/// 1 at the last, linear between the elements along both axes; beyond them data is 0.
///
/// data (batch, channels, rows, columns), grid (batch, 2, …) with x before y, the result (batch, channels, …). Floating
/// types; sparse arrays by the dense fallback. A position that is NaN lies beyond. The gradient goes to data and
/// grid, and at the elements is that of the side behind them. MXNet's hidden output, which its cuDNN writes, is left
/// out. Error: other dimensions.
///
/// Example: `bilinear_sampler(array({{{{1, 3}}}}), array({{{{0, 1}}, {{0, 0}}}}))` is [[[[2, 3]]]].
struct BilinearSampler {
  std::optional<bool> cudnn_off = {};

  static constexpr std::string_view inputs[] = {"data", "grid"};
  static constexpr const char* doc = "Images sampled at the positions of a grid, bilinear between the elements.";
  static constexpr Note notes[] = {{"cudnn_off", "has no effect"}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    s.set_in(0, {any, any, any, any});
    s.set_in(1, {s.in(0)[0], 2, any, any});
    s.set_in(0, {s.in(1)[0], any, any, any});
    s.set_out(0, {s.in(0)[0], s.in(0)[1], s.in(1)[2], s.in(1)[3]});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 4> x, View<const E, 4> grid, View<E, 4> y) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 4>> dy, In<"data", View<const E, 4>> x,
            In<"grid", View<const E, 4>> grid, Grad<"data", View<E, 4>> dx, Grad<"grid", View<E, 4>> dgrid) const;

 private:
  template <class E>
  static detail::Sampling<E> sampling(View<const E, 4> x, View<const E, 4> grid);
};

/// SpatialTransformer: BilinearSampler of data at the grid that GridGenerator, affine, makes of the matrices loc.
///
/// data (batch, channels, rows, columns), loc (batch, 6), the result (batch, channels) of target_shape. Hidden outputs:
/// grid_dst, the places, and grid_src, the positions. Floating types; sparse arrays by the dense fallback. The gradient
/// goes to data and loc. Error: other dimensions, no target_shape.
///
/// Example: `spatial_transformer(array({{{{1, 3}}}}), array({{1, 0, 0, 0, 1, 0}}), {.target_shape = {1, 3}})` is
/// [[[[1, 2, 3]]]].
struct SpatialTransformer {
  enum Transform : int { affine };
  enum Sampler : int { bilinear };
  Shape target_shape = {0, 0};
  Required<Transform> transform_type = {};
  Required<Sampler> sampler_type = {};
  std::optional<bool> cudnn_off = {};

  static constexpr std::string_view inputs[] = {"data", "loc"}, outputs[] = {"output", "grid_dst", "grid_src"};
  static constexpr const char* doc = "Images under affine transformations, which are rows of loc: (batch, 6).";
  static constexpr Note notes[] = {{"target_shape", "rows and columns of the result"},
                                   {"transform_type", "what loc is"},
                                   {"sampler_type", "how elements come about"},
                                   {"cudnn_off", "has no effect"}};
  static constexpr int visible = 1;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    const std::int64_t places = detail::checked_places(s, "target_shape", target_shape);
    s.set_in(0, {any, any, any, any});
    s.set_in(1, {s.in(0)[0], 6});
    s.set_in(0, {s.in(1)[0], any, any, any});
    s.set_out(0, {s.in(0)[0], s.in(0)[1], target_shape[0], target_shape[1]});
    s.set_out(1, {3, places});
    s.set_out(2, {s.in(0)[0], 2, places});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 4> x, View<const E, 2> loc, View<E, 4> y, View<E, 2> places, View<E, 3> grid) const;
  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E, 4>> dy, In<"data", View<const E, 4>> x,
            Out<"grid_dst", View<const E, 2>> places, Out<"grid_src", View<const E, 3>> grid,
            Grad<"data", View<E, 4>> dx, Grad<"loc", View<E, 2>> dloc) const;

 private:
  template <class E>
  static detail::Sampling<E> sampling(View<const E, 4> x, View<const E, 3> grid);
};

inline constexpr Op<GridGenerator, OnUse> grid_generator;
inline constexpr Op<BilinearSampler, OnUse> bilinear_sampler;
inline constexpr Op<SpatialTransformer, OnUse> spatial_transformer;

using SamplingOps = OpList<GridGenerator, BilinearSampler, SpatialTransformer>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/sampling_body.hpp>
#endif
