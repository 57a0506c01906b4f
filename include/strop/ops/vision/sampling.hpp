// SPDX-License-Identifier: Apache-2.0
/// \file
/// Images sampled at the positions of a grid: GridGenerator, BilinearSampler, SpatialTransformer.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/vision/bilinear.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// Position i of an axis of n as a number from −1 to 1; 0 where there is one only.
template <class E>
E centred(std::int64_t i, std::int64_t n) {
  return n == 1 ? E(0) : E(-1) + static_cast<E>(i) * static_cast<E>(2.0 / static_cast<double>(n - 1));
}
/// The places of a plane as columns (x, y, 1).
template <class E>
void fill_places(std::int64_t rows, std::int64_t cols, E* to) {
  const std::int64_t places = rows * cols;
  for (std::int64_t i = 0; i < places; ++i) {
    to[i] = centred<E>(i % cols, cols);
    to[places + i] = centred<E>(i / cols, rows);
    to[2 * places + i] = 1;
  }
}
/// Of `count` matrices of two rows of three their product with the places.
template <class E>
void transform_places(std::int64_t count, std::int64_t places, const E* matrices, const E* from, E* to) {
  gemm(2 * count, places, 3, Strided<E>{matrices, 3, 1}, Strided<E>{from, places, 1}, to);
}
/// The gradient of the matrices.
template <class E>
void transform_gradient(std::int64_t count, std::int64_t places, const E* head, const E* from, E* matrices) {
  gemm(2 * count, 3, places, Strided<E>{head, places, 1}, Strided<E>{from, 1, places}, matrices);
}

/// Images, channels, rows × cols, and for each image the positions x and y of `places`, from −1 to 1 over the elements
/// of an axis.
template <class E>
struct Sampling {
  std::int64_t images, channels, rows, cols, places;
  const E* grid;

  /// Between positions x and y of the images; beyond their ends are zeros.
  void sample(const E* x, E* y) const {
    each_block([&](std::int64_t image, const Block& block) {
      for (std::int64_t c = image * channels; c < (image + 1) * channels; ++c)
        for (std::int64_t i = 0; i < block.count; ++i)
          y[c * places + block.begin + i] = interpolated(x + c * rows * cols, block.down[i], block.along[i], cols);
    });
  }
  void gradient_of_images(const E* dy, E* dx) const {
    const std::int64_t size = rows * cols, grain = (1 << 14) / std::max<std::int64_t>(1, places);
    parallel_for(images * channels, std::max<std::int64_t>(1, grain), [&](std::int64_t begin, std::int64_t end) {
      std::fill(dx + begin * size, dx + end * size, E(0));
      for (std::int64_t image = begin / channels; image * channels < end; ++image)
        for (std::int64_t first = 0; first < places; first += Block::most) {
          const Block block(*this, image, first);
          for (std::int64_t c = std::max(begin, image * channels); c < std::min(end, (image + 1) * channels); ++c)
            for (std::int64_t i = 0; i < block.count; ++i)
              spread(dy[c * places + first + i], dx + c * size, block.down[i], block.along[i], cols);
        }
    });
  }
  void gradient_of_grid(const E* dy, const E* x, E* dgrid) const {
    each_block([&](std::int64_t image, const Block& block) {
      E along[Block::most] = {}, down[Block::most] = {};
      for (std::int64_t c = image * channels; c < (image + 1) * channels; ++c)
        for (std::int64_t i = 0; i < block.count; ++i) {
          const E *const plane = x + c * rows * cols, head = dy[c * places + block.begin + i];
          each_corner(block.down[i], block.along[i], cols, [&](std::int64_t at, const Corner<E>& corner) {
            along[i] += head * plane[at] * corner.down * corner.along_side;
            down[i] += head * plane[at] * corner.along * corner.down_side;
          });
        }
      E* const to = dgrid + image * 2 * places + block.begin;
      for (std::int64_t i = 0; i < block.count; ++i) {
        to[i] = along[i] * static_cast<E>(cols - 1) / 2;
        to[places + i] = down[i] * static_cast<E>(rows - 1) / 2;
      }
    });
  }

 private:
  /// Some places of an image, which all its channels share.
  struct Block {
    static constexpr std::int64_t most = 128;
    std::int64_t begin, count;
    Beside<E> down[most], along[most];

    Block(const Sampling& s, std::int64_t image, std::int64_t first)
        : begin(first), count(std::min(most, s.places - first)) {
      const E *const x = s.grid + image * 2 * s.places + begin, *const y = x + s.places;
      for (std::int64_t i = 0; i < count; ++i) {
        along[i] = Beside<E>::within((x[i] + 1) * static_cast<E>(s.cols - 1) / 2, s.cols);
        down[i] = Beside<E>::within((y[i] + 1) * static_cast<E>(s.rows - 1) / 2, s.rows);
      }
    }
  };
  template <class F>
  void each_block(F f) const {
    const std::int64_t blocks = (places + Block::most - 1) / Block::most;
    const std::int64_t grain = (1 << 14) / (Block::most * std::max<std::int64_t>(1, channels));
    parallel_for(images * blocks, std::max<std::int64_t>(1, grain), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) f(i / blocks, Block(*this, i / blocks, i % blocks * Block::most));
    });
  }
};

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
  void forward(Cpu&, View<const E> data, View<E, 4> grid, View<E> places) const {
    const auto [images, two, rows, cols] = grid.shape();
    if (*transform_type == affine) {
      detail::fill_places(rows, cols, places.data());
      return detail::transform_places(images, rows * cols, data.data(), places.data(), grid.data());
    }
    for (std::int64_t i = 0; i < rows * cols; ++i) {
      places[i] = static_cast<E>(i % cols);
      const std::int64_t row = i / cols;
      places[rows * cols + i] = static_cast<E>(row);
    }
    each_axis(grid.shape(), [&](std::int64_t from, std::int64_t n, std::int64_t place, double half) {
      const E by = static_cast<E>(half);
      for (std::int64_t i = 0; i < n; ++i) grid[from + i] = (data[from + i] + places[place + i]) / by - 1;
    });
  }
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 4>> dy, Out<"grid_dst", View<const E>> places,
            Grad<"data", View<E>> dx) const {
    if (!dx) return;
    const std::int64_t size = dy.shape()[2] * dy.shape()[3];
    if (*transform_type == affine)
      return detail::transform_gradient(dy.shape()[0], size, dy.data(), places.data(), dx.data());
    each_axis(dy.shape(), [&](std::int64_t from, std::int64_t n, std::int64_t, double half) {
      const E by = static_cast<E>(half);
      for (std::int64_t i = 0; i < n; ++i) dx[from + i] = dy[from + i] / by;
    });
  }

 private:
  /// f(first element, how many, their places, half of what the axis is wide) for the plane of x and that of y of each
  /// image.
  template <class F>
  static void each_axis(const std::array<std::int64_t, 4>& shape, F f) {
    const std::int64_t size = shape[2] * shape[3];
    parallel_for(2 * shape[0], std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, size)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const std::int64_t extent = shape[i % 2 == 0 ? 3 : 2];
                     f(i * size, size, i % 2 * size, static_cast<double>(std::max<std::int64_t>(1, extent - 1)) / 2);
                   }
                 });
  }
};

/// BilinearSampler: the elements of data at the positions of grid, which go from −1 at the first element of an axis to
/// 1 at the last, linear between the elements along both axes; beyond them data is 0.
///
/// data (batch, channels, rows, columns), grid (batch, 2, …) with x before y, the result (batch, channels, …). Floating
/// types; sparse arrays by the dense fallback. A position that is no number lies beyond. The gradient goes to data and
/// grid, and at the elements is that of the side behind them. MXNet's hidden output, which its cuDNN writes, is left
/// out. Error: other dimensions.
///
/// Example: `bilinear_sampler(array({{{{1, 3}}}}), array({{{{0, 1}}, {{0, 0}}}}))` is [[[[2, 3]]]].
struct BilinearSampler {
  std::optional<bool> cudnn_off = {};

  static constexpr std::string_view inputs[] = {"data", "grid"};
  static constexpr const char* doc = "Images sampled at the positions of a grid, bilinear between the elements.";
  static constexpr Note notes[] = {{"cudnn_off", "has no effect"}};

  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    s.set_in(0, {any, any, any, any});
    s.set_in(1, {s.in(0)[0], 2, any, any});
    s.set_in(0, {s.in(1)[0], any, any, any});
    s.set_out(0, {s.in(0)[0], s.in(0)[1], s.in(1)[2], s.in(1)[3]});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 4> x, View<const E, 4> grid, View<E, 4> y) const {
    sampling(x, grid).sample(x.data(), y.data());
  }
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 4>> dy, In<"data", View<const E, 4>> x,
            In<"grid", View<const E, 4>> grid, Grad<"data", View<E, 4>> dx, Grad<"grid", View<E, 4>> dgrid) const {
    const detail::Sampling<E> s = sampling<E>(x, grid);
    if (dx) s.gradient_of_images(dy.data(), dx.data());
    if (dgrid) s.gradient_of_grid(dy.data(), x.data(), dgrid.data());
  }

 private:
  template <class E>
  static detail::Sampling<E> sampling(View<const E, 4> x, View<const E, 4> grid) {
    const auto [images, channels, rows, cols] = x.shape();
    return {images, channels, rows, cols, grid.shape()[2] * grid.shape()[3], grid.data()};
  }
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
  void forward(Cpu&, View<const E, 4> x, View<const E, 2> loc, View<E, 4> y, View<E, 2> places, View<E, 3> grid) const {
    detail::fill_places(target_shape[0], target_shape[1], places.data());
    detail::transform_places(grid.shape()[0], grid.shape()[2], loc.data(), places.data(), grid.data());
    sampling<E>(x, grid).sample(x.data(), y.data());
  }
  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E, 4>> dy, In<"data", View<const E, 4>> x,
            Out<"grid_dst", View<const E, 2>> places, Out<"grid_src", View<const E, 3>> grid,
            Grad<"data", View<E, 4>> dx, Grad<"loc", View<E, 2>> dloc) const {
    const detail::Sampling<E> s = sampling<E>(x, grid);
    if (dx) s.gradient_of_images(dy.data(), dx.data());
    if (!dloc) return;
    const View<E, 3> dgrid = ctx.temp<E>(grid.shape());
    s.gradient_of_grid(dy.data(), x.data(), dgrid.data());
    detail::transform_gradient(s.images, s.places, dgrid.data(), places.data(), dloc.data());
  }

 private:
  template <class E>
  static detail::Sampling<E> sampling(View<const E, 4> x, View<const E, 3> grid) {
    const auto [images, channels, rows, cols] = x.shape();
    return {images, channels, rows, cols, grid.shape()[2], grid.data()};
  }
};

inline constexpr Op<GridGenerator, OnUse> grid_generator;
inline constexpr Op<BilinearSampler, OnUse> bilinear_sampler;
inline constexpr Op<SpatialTransformer, OnUse> spatial_transformer;

using SamplingOps = OpList<GridGenerator, BilinearSampler, SpatialTransformer>;

}  // namespace strop::inline v0
