// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/convolution.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/convolution.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/windows_body.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// A convolution as products of matrices. A task is a group of channels of an image; the matrix of its windows has a
/// row per channel and place of the kernel, and is made in blocks of columns, so that it stays in the caches.
template <class E>
struct Convolver {
  Windows windows;
  std::int64_t images, groups, channels, filters;  // channels and filters of a group
  std::int64_t rows = channels * windows.kernel_size(), out = windows.out_size(), in = channels * windows.in_size();
  bool direct = windows.trivial();  // the image itself is the matrix
  std::int64_t block =
      direct ? out : std::min(out, std::max<std::int64_t>(256, (1 << 18) / std::max<std::int64_t>(1, rows)));
  std::int64_t tasks = images * groups;

  using Space = typename Gemm<E>::Space;

  /// Calls f(first task, end) with tasks side by side; where there are fewer of them than threads, these serve the
  /// loops of each.
  template <class F>
  void each_task(F f) const {
    const std::int64_t threads = inside_loop ? 1 : num_threads();
    parallel_for(tasks, tasks < threads ? tasks : (tasks + threads - 1) / threads, f);
  }
  /// Calls f(begin, end) for each block of windows.
  template <class F>
  void each_block(F f) const {
    for (std::int64_t begin = 0; begin < out; begin += block) f(begin, std::min(out, begin + block));
  }
  const E* weight_of(const E* weight, std::int64_t task) const { return weight + task % groups * filters * rows; }
  /// The windows [begin, end) of an image as a matrix, in `space` unless the image itself is it.
  Strided<E> matrix(const E* image, std::int64_t begin, std::int64_t end, E* space) const {
    if (direct) return {image, out, 1};
    gather_windows(windows, image, channels, begin, end, space);
    return {space, end - begin, 1};
  }

  /// y = weight · windows + bias, or y += that.
  void result(const E* x, const E* weight, const E* bias, E* y, bool add) const {
    each_task([&](std::int64_t first, std::int64_t last) {
      const Space columns(direct ? 0 : rows * block), part(block < out ? filters * block : 0);
      for (std::int64_t task = first; task < last; ++task)
        each_block([&](std::int64_t begin, std::int64_t end) {
          const Strided<E> b = matrix(x + task * in, begin, end, columns.data),
                           a = Strided<E>::of(weight_of(weight, task), rows, false);
          E* const to = y + task * filters * out;
          if (block == out) {
            if (bias != nullptr) put(nullptr, bias, task, to, 0, out, add);
            gemm(filters, out, rows, a, b, to, add || bias != nullptr);
          } else {
            gemm(filters, end - begin, rows, a, b, part.data);
            put(part.data, bias, task, to, begin, end, add);
          }
        });
    });
  }

  /// dx = weightᵀ · dy, put back where the windows took it, or dx += that.
  void data_gradient(const E* dy, const E* weight, E* dx, bool add) const {
    each_task([&](std::int64_t first, std::int64_t last) {
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
    const std::int64_t size = groups * filters * rows,
                       parts = size > 1 << 16 ? 1 : std::clamp<std::int64_t>(images, 1, 8);
    const Space sums(parts > 1 ? parts * size : 0);
    if (!add && parts == 1) std::fill_n(dw, size, E(0));
    parallel_for(parts, 1, [&](std::int64_t low, std::int64_t high) {
      const Space columns(direct ? 0 : rows * block);
      for (std::int64_t part = low; part < high; ++part) {
        E* const sum = parts > 1 ? sums.data + part * size : dw;
        if (parts > 1) std::fill_n(sum, size, E(0));
        const std::int64_t first = images * part / parts, blocks = (out + block - 1) / block,
                           steps = (images * (part + 1) / parts - first) * blocks;
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
                  const std::int64_t task = (first + step / blocks) * groups + group, begin = step % blocks * block,
                                     end = std::min(out, begin + block);
                  gemm(filters, rows, end - begin, {dy + task * filters * out + begin, out, 1},
                       matrix(x + task * in, begin, end, columns.data).transpose(), to + group * filters * rows, true);
                }
            },
            [&](std::int64_t level) { add_numbers(at(level), at(level + 1), size); });
      }
    });
    if (parts == 1) return;
    if (!add) std::fill_n(dw, size, E(0));
    for (std::int64_t part = 0; part < parts; ++part)
      for (std::int64_t i = 0; i < size; ++i) dw[i] += sums.data[part * size + i];
  }

 private:
  /// The columns [begin, end) of the filters of a task: `part` (nothing: zeros) plus bias, to where they stand in `to`.
  void put(const E* part, const E* bias, std::int64_t task, E* to, std::int64_t begin, std::int64_t end,
           bool add) const {
    for (std::int64_t f = 0; f < filters; ++f) {
      const E plus = bias != nullptr ? bias[task % groups * filters + f] : E(0);
      E* const row = to + f * out + begin;
      const E* const from = part + (part != nullptr ? f * (end - begin) : 0);
      for (std::int64_t i = 0; i < end - begin; ++i)
        row[i] = (add ? row[i] : E(0)) + (part != nullptr ? from[i] + plus : plus);
    }
  }
};

/// db = Σ dy over the images and the places of each filter's channel, or db += that; summed in double.
template <class E>
void bias_gradient(View<const E> dy, View<E, 1> db, bool add) {
  constexpr std::int64_t chains = 4;  // of sums, since one addition waits for the one before it
  const std::int64_t images = dy.shape()[0], filters = db.size();
  const std::int64_t places = dy.size() / std::max<std::int64_t>(1, images * filters);
  for (std::int64_t f = 0; f < filters; ++f) {
    double sums[chains] = {add ? static_cast<double>(db[f]) : 0};
    for (std::int64_t image = 0; image < images; ++image) {
      const E* const from = dy.data() + (image * filters + f) * places;
      std::int64_t i = 0;
      for (; i + chains <= places; i += chains)
        for (std::int64_t c = 0; c < chains; ++c) sums[c] += static_cast<double>(from[i + c]);
      for (; i < places; ++i) sums[0] += static_cast<double>(from[i]);
    }
    db[f] = static_cast<E>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}

}  // namespace STROP_ISA

}  // namespace detail

inline double Convolution::operations(std::span<const Shape> in) const {
  double windows = 1;
  for (int i = 2; i < in[0].ndim(); ++i) {
    const double covers = static_cast<double>(detail::step_of(dilate, i - 2, 1) * ((*kernel)[i - 2] - 1) + 1);
    windows *= (static_cast<double>(in[0][i] + 2 * detail::step_of(pad, i - 2, 0)) - covers) /
                   static_cast<double>(detail::step_of(stride, i - 2, 1)) +
               1;
  }
  return static_cast<double>(in[0][0]) * windows *
         (2 * static_cast<double>(in[1].size()) + (no_bias ? 0 : *num_filter));
}

inline double Convolution::gradient_operations(std::span<const Shape> takes) const {
  Convolution product = *this;
  product.no_bias = true;
  return 2 * product.operations(takes.subspan(1)) + (no_bias ? 0 : static_cast<double>(takes[0].size()));
}

template <Real E>
inline void Convolution::forward(Cpu& ctx, View<const E> x, View<const E> weight, View<const E, 1> bias,
                                 View<E> y) const {
  if (y.size() == 0) return;
  convolver<E>(x.shape(), y.shape())
      .result(x.data(), weight.data(), bias.data(), y.data(), ctx.request() == Request::add);
}

template <Real E>
inline void Convolution::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                              In<"weight", View<const E>> weight, Grad<"data", View<E>> dx, Grad<"weight", View<E>> dw,
                              Grad<"bias", View<E, 1>> db) const {
  const detail::Convolver<E> convolver = this->convolver<E>(x.shape(), dy.shape());
  const auto adds = [&](int i) { return ctx.request(i) == Request::add; };
  if (dx) convolver.data_gradient(dy.data(), weight.data(), dx.data(), adds(0));
  if (dw) convolver.weight_gradient(dy.data(), x.data(), dw.data(), adds(1));
  if (db) detail::bias_gradient<E>(dy, db, adds(2));
}

template <class E>
inline detail::Convolver<E> Convolution::convolver(std::span<const std::int64_t> x,
                                                   std::span<const std::int64_t> y) const {
  return {.windows = {x.subspan(2), y.subspan(2), *kernel, stride, dilate, pad},
          .images = x[0],
          .groups = num_group,
          .channels = x[1] / num_group,
          .filters = y[1] / num_group};
}

inline double ConvolutionGradient::operations(std::span<const Shape> in) const {
  return detail::convolution_of(*this, false).gradient_operations(in);
}

template <Real E>
inline void ConvolutionGradient::forward(Cpu& ctx, View<const E> dy, View<const E> x, View<const E> w, View<E> dx,
                                         View<E> dw, View<E, 1> db) const {
  detail::convolution_of(*this, false).grad<E>(ctx, {dy}, {x}, {w}, {dx}, {dw}, {db});
}

inline double ConvolutionSum::operations(std::span<const Shape> in) const {
  return detail::convolution_of(*this, no_bias).operations(in) + detail::convolution_of(*this, true).operations(in);
}

template <Real E>
inline void ConvolutionSum::forward(Cpu& ctx, View<const E> a, View<const E> b, View<const E> c, View<const E> d,
                                    View<const E, 1> bias, View<E> y) const {
  if (y.size() == 0) return;
  detail::convolution_of(*this, no_bias).forward<E>(ctx, a, b, bias, y);
  detail::convolution_of(*this, true)
      .convolver<E>(c.shape(), y.shape())
      .result(c.data(), d.data(), nullptr, y.data(), true);
}

template <class Node>
inline std::vector<Node> ConvolutionGradient::gradient(std::span<const Node> heads, const Node& dy, const Node& data,
                                                       const Node& weight) const {
  const auto parts = convolution_gradient(dy, heads[0], heads[1], *this);
  const bool bias = heads.size() > 2;
  const ConvolutionSum params{kernel, stride, dilate, pad, num_filter, num_group, !bias};
  std::vector<Node> in{heads[0], weight, data, heads[1]};
  if (bias) in.push_back(heads[2]);
  return {convolution_sum(std::span<const Node>(in), params), parts[0], parts[1]};
}

template <class Node>
inline std::vector<Node> Convolution::gradient_again(std::span<const Node> heads, std::span<const Node> in) const {
  return ConvolutionGradient{kernel, stride, dilate, pad, num_filter, num_group}.gradient<Node>(heads, in[0], in[1],
                                                                                                in[2]);
}

}  // namespace strop::inline v0
