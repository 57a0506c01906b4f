// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a convolution and its gradients are computed, by shape; `strop info --convolutions` says it in words.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/convolution_planes.hpp>
#include <strop/ops/convolution_sums.hpp>
#include <strop/ops/convolution_tiles.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/windows_body.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

enum class ConvolutionRoute {
  sums,     ///< few channels: sums over the taps, or dot products, of planes
  tiles,    ///< tiles of a product over planes
  image,    ///< a product with the image itself
  windows,  ///< a product with the matrix of windows
  together  ///< the same of several images at once
};

/// A convolution of so many images and groups. A task is a group of channels of an image. The matrix of its windows has
/// a row per channel and place of the kernel, and is made in blocks of columns, so that it stays in the caches.
template <class E>
struct Convolver {
  Windows windows;
  std::int64_t images, groups, channels, filters;  // channels and filters of a group
  std::int64_t places = windows.kernel_size(), rows = channels * places, out = windows.out_size(),
               in = channels * windows.in_size();
  std::int64_t block = std::min(out, std::max<std::int64_t>(256, (1 << 18) / std::max<std::int64_t>(1, rows)));
  std::int64_t tasks = images * groups;

  using Space = typename Gemm<E>::Space;

  // --- the choice ----------------------------------------------------------------------------------------------------

  /// Of the result.
  ConvolutionRoute result_route() const { return route(channels, filters, windows.out); }
  ConvolutionRoute data_gradient_route() const { return route(filters, channels, windows.in); }
  ConvolutionRoute weight_gradient_route() const {
    if (planes_fit() && channels * filters <= 4) return ConvolutionRoute::sums;
    return several() > 1 ? ConvolutionRoute::together : by_matrix();
  }

  // --- what is computed ----------------------------------------------------------------------------------------------

  /// y = weight · windows + bias, or y += that.
  void result(const E* x, const E* weight, const E* bias, E* y, bool add) const {
    const ConvolutionRoute way = result_route();
    if (way == ConvolutionRoute::sums || way == ConvolutionRoute::tiles)
      return slide(way, Sliding::over(windows), channels, filters, places, rows, x, weight, bias, y, add);
    if (way == ConvolutionRoute::together) return result_together(x, weight, bias, y, add);
    each_task(tasks, [&](std::int64_t first, std::int64_t last) {
      const bool direct = windows.trivial(), whole = direct || block == out;
      const Space columns(direct ? 0 : rows * block), part(whole ? 0 : filters * block);
      for (std::int64_t task = first; task < last; ++task)
        each_block([&](std::int64_t begin, std::int64_t end) {
          const Strided<E> b = matrix(x + task * in, begin, end, columns.data),
                           a = Strided<E>::of(weight_of(weight, task), rows, false);
          E* const to = y + task * filters * out;
          if (whole) {
            for (std::int64_t f = 0; bias != nullptr && f < filters; ++f)
              for (std::int64_t i = f * out; i < (f + 1) * out; ++i)
                to[i] = (add ? to[i] : E(0)) + bias[task % groups * filters + f];
            gemm(filters, out, rows, a, b, to, add || bias != nullptr);
          } else {
            gemm(filters, end - begin, rows, a, b, part.data);
            put(part.data, end - begin, bias, task, to + begin, end - begin, add);
          }
        });
    });
  }

  /// dx = weightᵀ · dy, put back where the windows took it, or dx += that.
  void data_gradient(const E* dy, const E* weight, E* dx, bool add) const {
    const ConvolutionRoute way = data_gradient_route();
    // Planes have zeros outside, which a weight that is not finite turns into NaN.
    if ((way == ConvolutionRoute::sums || way == ConvolutionRoute::tiles) && is_finite(weight))
      return slide(way, Sliding::back(windows), filters, channels, rows, places, dy, weight, nullptr, dx, add);
    if (way == ConvolutionRoute::together) return data_gradient_together(dy, weight, dx, add);
    each_task(tasks, [&](std::int64_t first, std::int64_t last) {
      const bool direct = windows.trivial();
      const Space columns(direct ? 0 : rows * block);
      for (std::int64_t task = first; task < last; ++task) {
        E* const to = dx + task * in;
        if (!direct && !add) std::fill_n(to, in, E(0));
        each_block([&](std::int64_t begin, std::int64_t end) {
          gemm(rows, end - begin, filters, Strided<E>::of(weight_of(weight, task), rows, true),
               {dy + task * filters * out + begin, out, 1}, direct ? to : columns.data, direct && add);
          if (!direct) scatter_windows(windows, columns.data, channels, begin, end, to);
        });
      }
    });
  }

  /// dw = Σ dy · windowsᵀ over the images, or dw += that. A small one is summed in up to eight parts side by side,
  /// however many threads there are.
  void weight_gradient(const E* dy, const E* x, E* dw, bool add) const {
    const ConvolutionRoute way = weight_gradient_route();
    if (way == ConvolutionRoute::sums) {
      const Sliding over = Sliding::over(windows);
      const SlidingDots<E> few{over, channels, filters};
      return each_task(groups, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t g = first; g < last; ++g)
          few.run(images, x + g * in, groups * in, dy + g * filters * out, groups * filters * out,
                  dw + g * filters * rows, add);
      });
    }
    const bool direct = way == ConvolutionRoute::image;
    const std::int64_t batch = way == ConvolutionRoute::together ? several() : 1,
                       batches = (images + batch - 1) / batch, size = groups * filters * rows,
                       parts = size > 1 << 16 ? 1 : std::clamp<std::int64_t>(batches, 1, 8);
    const Space sums(parts > 1 ? parts * size : 0);
    if (!add && parts == 1) std::fill_n(dw, size, E(0));
    parallel_for(parts, 1, [&](std::int64_t low, std::int64_t high) {
      const std::int64_t across = batch > 1 ? batch * out : block;
      const Space columns(direct ? 0 : rows * across), heads(batch > 1 ? filters * across : 0);
      for (std::int64_t part = low; part < high; ++part) {
        E* const sum = parts > 1 ? sums.data + part * size : dw;
        if (parts > 1) std::fill_n(sum, size, E(0));
        const std::int64_t first = batches * part / parts, blocks = direct || batch > 1 ? 1 : (out + block - 1) / block,
                           steps = (batches * (part + 1) / parts - first) * blocks;
        // Up to 16 blocks add to what those before them gave, the sums of as many are added up in pairs.
        constexpr std::int64_t most = 16;
        const std::int64_t stretches = (steps + most - 1) / most;
        const Space waiting(pair_levels_of(stretches) * size);
        const auto at = [&](std::int64_t level) { return level == 0 ? sum : waiting.data + (level - 1) * size; };
        in_pairs(
            stretches,
            [&](std::int64_t k, std::int64_t level) {
              E* const to = at(level);
              if (level > 0) std::fill_n(to, size, E(0));
              for (std::int64_t step = k * most, stop = std::min(steps, step + most); step < stop; ++step)
                for (std::int64_t group = 0; group < groups; ++group) {
                  E* const own = to + group * filters * rows;
                  if (batch > 1) {
                    const std::int64_t image = (first + step) * batch, count = std::min(batch, images - image);
                    gather_together(x, image, count, group, columns.data);
                    heads_together(dy, image, count, group, heads.data);
                    gemm(filters, rows, count * out, {heads.data, count * out, 1}, {columns.data, 1, count * out}, own,
                         true);
                    continue;
                  }
                  const std::int64_t task = (first + step / blocks) * groups + group, begin = step % blocks * block,
                                     end = direct ? out : std::min(out, begin + block);
                  gemm(filters, rows, end - begin, {dy + task * filters * out + begin, out, 1},
                       matrix(x + task * in, begin, end, columns.data).transpose(), own, true);
                }
            },
            [&](std::int64_t level) { add_numbers(at(level), at(level + 1), size); });
      }
    });
    if (parts == 1) return;
    if (!add) std::fill_n(dw, size, E(0));
    for (std::int64_t part = 0; part < parts; ++part) add_numbers(dw, sums.data + part * size, size);
  }

 private:
  ConvolutionRoute by_matrix() const { return windows.trivial() ? ConvolutionRoute::image : ConvolutionRoute::windows; }
  /// Of what is made of `sources` channels, with `results` of them, of these extents.
  ConvolutionRoute route(std::int64_t sources, std::int64_t results, const std::int64_t (&to)[Windows::axes]) const {
    if (!planes_fit() || windows.trivial()) return several() > 1 ? ConvolutionRoute::together : by_matrix();
    if (results <= Tiles<E>::third / 2 && sources * places <= Gemm<E>::longest) return ConvolutionRoute::sums;
    // A row of a plane has more elements than results, by what a kernel covers; these are multiplied in vain. To gather
    // an element for a matrix of windows takes as long as some fifty multiplications.
    const std::int64_t more = (windows.kernel[2] - 1) * windows.dilate[2] / windows.stride[2];
    const double vain = static_cast<double>(more) / static_cast<double>(to[2]);
    if (vain * static_cast<double>(results) <= 48) return ConvolutionRoute::tiles;
    return several() > 1 ? ConvolutionRoute::together : by_matrix();
  }
  /// There are planes, which are not much larger than the images.
  bool planes_fit() const {
    double padded = 1;
    for (int a = 0; a < Windows::axes; ++a)
      padded *= static_cast<double>(windows.in[a]) + 2 * static_cast<double>(windows.pad[a]);
    return tasks * channels * filters * windows.in_size() > 0 && places <= 1024 &&
           padded <= 4096 + 4 * static_cast<double>(windows.in_size() + windows.out_size());
  }
  /// As many images as are one product: with few windows each, tiles of one would not be full, and read all weights.
  std::int64_t several() const {
    const std::int64_t room = (1 << 22) / std::max<std::int64_t>(1, rows * out);
    return std::max<std::int64_t>(1, std::min({images, 1 + 255 / std::max<std::int64_t>(1, out), room}));
  }

  void slide(ConvolutionRoute way, const Sliding& sliding, std::int64_t sources, std::int64_t results,
             std::int64_t by_source, std::int64_t by_result, const E* from, const E* weight, const E* bias, E* to,
             bool add) const {
    if (way == ConvolutionRoute::tiles) {
      const SlidingTiles<E> product(sliding, groups, sources, results, by_source, by_result, filters * rows, weight);
      return each_task(tasks,
                       [&](std::int64_t first, std::int64_t last) { product.run(first, last, from, bias, to, add); });
    }
    const SlidingSums<E> few{sliding, sources, results, by_source, by_result};
    parallel_for(tasks, std::max<std::int64_t>(1, tasks / num_threads()), [&](std::int64_t first, std::int64_t last) {
      few.run(first, last, groups, from, weight, filters * rows, bias, to, add);
    });
  }

  bool is_finite(const E* weight) const {
    bool finite = true;
    for (std::int64_t i = 0; i < groups * filters * rows; ++i) finite &= weight[i] - weight[i] == E(0);
    return finite;
  }
  /// Calls f(first task, end) with tasks side by side; where there are fewer of them than threads, these serve the
  /// loops of each.
  template <class F>
  static void each_task(std::int64_t tasks, F f) {
    const std::int64_t threads = inside_loop ? 1 : num_threads();
    parallel_for(tasks, tasks < threads ? tasks : (tasks + threads - 1) / threads, f);
  }
  /// Calls f(begin, end) for each block of windows.
  template <class F>
  void each_block(F f) const {
    if (windows.trivial()) return f(std::int64_t{0}, out);
    for (std::int64_t begin = 0; begin < out; begin += block) f(begin, std::min(out, begin + block));
  }
  const E* weight_of(const E* weight, std::int64_t task) const { return weight + task % groups * filters * rows; }
  /// The windows [begin, end) of an image as a matrix, in `space` unless the image itself is it.
  Strided<E> matrix(const E* image, std::int64_t begin, std::int64_t end, E* space) const {
    if (windows.trivial()) return {image, out, 1};
    gather_windows(windows, image, channels, begin, end, space);
    return {space, end - begin, 1};
  }
  /// n columns of the filters of a task, in rows `apart`, plus bias, to where they stand in `to`.
  void put(const E* part, std::int64_t apart, const E* bias, std::int64_t task, E* to, std::int64_t n, bool add) const {
    for (std::int64_t f = 0; f < filters; ++f)
      Rows<E>::spread(part + f * apart, to + f * out, n, 1, bias != nullptr ? bias[task % groups * filters + f] : E(0),
                      add);
  }

  // --- several images at once, their windows side by side ------------------------------------------------------------

  void gather_together(const E* x, std::int64_t image, std::int64_t count, std::int64_t group, E* columns) const {
    for (std::int64_t i = 0; i < count; ++i)
      gather_windows(windows, x + ((image + i) * groups + group) * in, channels, 0, out, columns + i * out,
                     count * out);
  }
  void heads_together(const E* dy, std::int64_t image, std::int64_t count, std::int64_t group, E* heads) const {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t f = 0; f < filters; ++f)
        Rows<E>::copy(dy + (((image + i) * groups + group) * filters + f) * out, heads + (f * count + i) * out, out);
  }
  /// f(first image, how many, group, space) for each batch of images and group.
  template <class F>
  void each_batch(std::int64_t room, F f) const {
    const std::int64_t batch = several(), batches = (images + batch - 1) / batch;
    each_task(batches * groups, [&](std::int64_t first, std::int64_t last) {
      const Space space(room * batch * out);
      for (std::int64_t q = first; q < last; ++q)
        f(q / groups * batch, std::min(batch, images - q / groups * batch), q % groups, space.data);
    });
  }
  void result_together(const E* x, const E* weight, const E* bias, E* y, bool add) const {
    each_batch(rows + filters, [&](std::int64_t image, std::int64_t count, std::int64_t group, E* space) {
      const std::int64_t wide = count * out;
      E* const made = space + rows * wide;
      gather_together(x, image, count, group, space);
      gemm(filters, wide, rows, Strided<E>::of(weight_of(weight, group), rows, false), {space, wide, 1}, made);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t task = (image + i) * groups + group;
        put(made + i * out, wide, bias, task, y + task * filters * out, out, add);
      }
    });
  }
  void data_gradient_together(const E* dy, const E* weight, E* dx, bool add) const {
    each_batch(rows + filters, [&](std::int64_t image, std::int64_t count, std::int64_t group, E* space) {
      const std::int64_t wide = count * out;
      E* const heads = space + rows * wide;
      heads_together(dy, image, count, group, heads);
      gemm(rows, wide, filters, Strided<E>::of(weight_of(weight, group), rows, true), {heads, wide, 1}, space);
      for (std::int64_t i = 0; i < count; ++i) {
        E* const to = dx + ((image + i) * groups + group) * in;
        if (!add) std::fill_n(to, in, E(0));
        scatter_windows(windows, space + i * out, channels, 0, out, to, wide);
      }
    });
  }
};

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
