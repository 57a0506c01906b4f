// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/sampling.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/vision/bilinear_body.hpp>
#include <strop/ops/vision/planes.hpp>
#include <strop/ops/vision/sampling.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

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
      GradientSums<E> sums(dx + begin * size, (end - begin) * size);
      for (std::int64_t image = begin / channels; image * channels < end; ++image)
        for (std::int64_t first = 0; first < places; first += Block::most) {
          const Block block(*this, image, first);
          for (std::int64_t c = std::max(begin, image * channels); c < std::min(end, (image + 1) * channels); ++c)
            for (std::int64_t i = 0; i < block.count; ++i)
              spread(dy[c * places + first + i], sums.data() + (c - begin) * size, block.down[i], block.along[i], cols);
        }
      sums.store();
    });
  }
  void gradient_of_grid(const E* dy, const E* x, E* dgrid) const {
    each_block([&](std::int64_t image, const Block& block) {
      double along[Block::most] = {}, down[Block::most] = {};
      for (std::int64_t c = image * channels; c < (image + 1) * channels; ++c)
        for (std::int64_t i = 0; i < block.count; ++i) {
          const E *const plane = x + c * rows * cols, head = dy[c * places + block.begin + i];
          each_corner(block.down[i], block.along[i], cols, [&](std::int64_t at, const Corner<E>& corner) {
            along[i] += static_cast<double>(head * plane[at] * corner.down * corner.along_side);
            down[i] += static_cast<double>(head * plane[at] * corner.along * corner.down_side);
          });
        }
      E* const to = dgrid + image * 2 * places + block.begin;
      for (std::int64_t i = 0; i < block.count; ++i) {
        to[i] = static_cast<E>(along[i] * static_cast<double>(cols - 1) / 2);
        to[places + i] = static_cast<E>(down[i] * static_cast<double>(rows - 1) / 2);
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

template <Real E>
inline void GridGenerator::forward(Cpu&, View<const E> data, View<E, 4> grid, View<E> places) const {
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
inline void GridGenerator::grad(Cpu&, Head<"output", View<const E, 4>> dy, Out<"grid_dst", View<const E>> places,
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

template <class F>
inline void GridGenerator::each_axis(const std::array<std::int64_t, 4>& shape, F f) {
  const std::int64_t size = shape[2] * shape[3];
  parallel_for(2 * shape[0], std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, size)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t extent = shape[i % 2 == 0 ? 3 : 2];
                   f(i * size, size, i % 2 * size, static_cast<double>(std::max<std::int64_t>(1, extent - 1)) / 2);
                 }
               });
}

template <Real E>
inline void BilinearSampler::forward(Cpu&, View<const E, 4> x, View<const E, 4> grid, View<E, 4> y) const {
  sampling(x, grid).sample(x.data(), y.data());
}

template <Real E>
inline void BilinearSampler::grad(Cpu&, Head<"output", View<const E, 4>> dy, In<"data", View<const E, 4>> x,
                                  In<"grid", View<const E, 4>> grid, Grad<"data", View<E, 4>> dx,
                                  Grad<"grid", View<E, 4>> dgrid) const {
  const detail::Sampling<E> s = sampling<E>(x, grid);
  if (dx) s.gradient_of_images(dy.data(), dx.data());
  if (dgrid) s.gradient_of_grid(dy.data(), x.data(), dgrid.data());
}

template <class E>
inline detail::Sampling<E> BilinearSampler::sampling(View<const E, 4> x, View<const E, 4> grid) {
  const auto [images, channels, rows, cols] = x.shape();
  return {images, channels, rows, cols, grid.shape()[2] * grid.shape()[3], grid.data()};
}

template <Real E>
inline void SpatialTransformer::forward(Cpu&, View<const E, 4> x, View<const E, 2> loc, View<E, 4> y, View<E, 2> places,
                                        View<E, 3> grid) const {
  detail::fill_places(target_shape[0], target_shape[1], places.data());
  detail::transform_places(grid.shape()[0], grid.shape()[2], loc.data(), places.data(), grid.data());
  sampling<E>(x, grid).sample(x.data(), y.data());
}

template <Real E>
inline void SpatialTransformer::grad(Cpu& ctx, Head<"output", View<const E, 4>> dy, In<"data", View<const E, 4>> x,
                                     Out<"grid_dst", View<const E, 2>> places, Out<"grid_src", View<const E, 3>> grid,
                                     Grad<"data", View<E, 4>> dx, Grad<"loc", View<E, 2>> dloc) const {
  const detail::Sampling<E> s = sampling<E>(x, grid);
  if (dx) s.gradient_of_images(dy.data(), dx.data());
  if (!dloc) return;
  const View<E, 3> dgrid = ctx.temp<E>(grid.shape());
  s.gradient_of_grid(dy.data(), x.data(), dgrid.data());
  detail::transform_gradient(s.images, s.places, dgrid.data(), places.data(), dloc.data());
}

template <class E>
inline detail::Sampling<E> SpatialTransformer::sampling(View<const E, 4> x, View<const E, 3> grid) {
  const auto [images, channels, rows, cols] = x.shape();
  return {images, channels, rows, cols, grid.shape()[2], grid.data()};
}

}  // namespace strop::inline v0
