// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/windows.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/windows.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace strop::inline v0::detail {

/// Windows over three axes. Those that an array does not have come first, with extent 1.
struct Windows {
  static constexpr int axes = 3;
  std::int64_t in[axes] = {1, 1, 1}, out[axes] = {1, 1, 1}, kernel[axes] = {1, 1, 1}, stride[axes] = {1, 1, 1},
               dilate[axes] = {1, 1, 1}, pad[axes] = {0, 0, 0};

  /// `from` and `to`: the spatial extents of the data and of the result.
  Windows(std::span<const std::int64_t> from, std::span<const std::int64_t> to, const Shape& size, const Shape& step,
          const Shape& apart, const Shape& around) {
    const int rank = static_cast<int>(from.size()), first = axes - rank;
    for (int i = 0; i < rank; ++i) {
      in[first + i] = from[static_cast<std::size_t>(i)];
      out[first + i] = to[static_cast<std::size_t>(i)];
      kernel[first + i] = size[i];
      stride[first + i] = step_of(step, i, 1);
      dilate[first + i] = step_of(apart, i, 1);
      pad[first + i] = step_of(around, i, 0);
    }
  }

  std::int64_t in_size() const { return size_of(in); }
  std::int64_t out_size() const { return size_of(out); }
  std::int64_t kernel_size() const { return size_of(kernel); }
  /// Every window is one element, and every element one window.
  bool trivial() const {
    for (int i = 0; i < axes; ++i)
      if (kernel[i] != 1 || stride[i] != 1 || pad[i] != 0) return false;
    return true;
  }

  /// Of the windows [begin, end) place `at` of the kernel, in runs along the last axis: f(first window − begin, how
  /// many, position of the first's element in the image), where that is padding with position −1. The elements of a run
  /// are stride[2] apart.
  template <class F>
  void each_run(std::int64_t at, std::int64_t begin, std::int64_t end, F f) const {
    const std::int64_t k[axes] = {at / (kernel[1] * kernel[2]), at / kernel[2] % kernel[1], at % kernel[2]};
    const std::int64_t shift = k[2] * dilate[2] - pad[2];
    const auto first_from = [&](std::int64_t place) {  // the first window along the last axis there or behind
      return place <= shift ? 0 : (place - shift - 1) / stride[2] + 1;
    };
    const std::int64_t low = std::min(out[2], first_from(0)), high = std::max(low, std::min(out[2], first_from(in[2])));
    std::int64_t a = begin / (out[1] * out[2]), b = begin / out[2] % out[1], from = begin % out[2];
    for (std::int64_t p = 0; p < end - begin;) {
      const std::int64_t to = std::min(out[2], from + end - begin - p);
      const std::int64_t deep = a * stride[0] + k[0] * dilate[0] - pad[0],
                         down = b * stride[1] + k[1] * dilate[1] - pad[1];
      const bool inside = deep >= 0 && deep < in[0] && down >= 0 && down < in[1];
      const std::int64_t left = inside ? std::clamp(low, from, to) : to, right = std::clamp(high, left, to);
      if (left > from) f(p, left - from, std::int64_t{-1});
      if (right > left) f(p + left - from, right - left, (deep * in[1] + down) * in[2] + left * stride[2] + shift);
      if (to > right) f(p + right - from, to - right, std::int64_t{-1});
      p += to - from;
      from = 0;
      if (++b == out[1]) b = 0, ++a;
    }
  }

 private:
  static std::int64_t size_of(const std::int64_t (&extents)[axes]) {
    return checked_product(checked_product(extents[0], extents[1], "windows"), extents[2], "windows");
  }
};

inline namespace STROP_ISA {

/// The matrix of the windows [begin, end) of an image: a row for each channel and place of the kernel, a column for
/// each window; what lies in the padding is 0. The rows are `apart`, or one after the other.
template <class E>
void gather_windows(const Windows& w, const E* image, std::int64_t channels, std::int64_t begin, std::int64_t end,
                    E* matrix, std::int64_t apart = 0) {
  const std::int64_t places = w.kernel_size(), width = end - begin, step = w.stride[2], size = w.in_size();
  parallel_for(channels * places, std::max<std::int64_t>(1, (1 << 15) / width),
               [&](std::int64_t low, std::int64_t high) {
                 for (std::int64_t row = low; row < high; ++row) {
                   const E* const channel = image + row / places * size;
                   E* const out = matrix + row * std::max(apart, width);
                   w.each_run(row % places, begin, end, [&](std::int64_t to, std::int64_t count, std::int64_t from) {
                     if (from < 0)
                       std::fill_n(out + to, count, E(0));
                     else if (step == 1)
                       std::copy_n(channel + from, count, out + to);
                     else
                       for (std::int64_t i = 0; i < count; ++i) out[to + i] = channel[from + i * step];
                   });
                 }
               });
}

/// Adds each element of such a matrix to the element of the image that it was gathered from.
template <class E>
void scatter_windows(const Windows& w, const E* matrix, std::int64_t channels, std::int64_t begin, std::int64_t end,
                     E* image, std::int64_t apart = 0) {
  if (channels == 0) return;
  const std::int64_t places = w.kernel_size(), width = end - begin, step = w.stride[2], size = w.in_size();
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / (width * places));
  parallel_for(channels, grain, [&](std::int64_t low, std::int64_t high) {
    for (std::int64_t row = low * places; row < high * places; ++row) {
      E* const channel = image + row / places * size;
      const E* const in = matrix + row * std::max(apart, width);
      w.each_run(row % places, begin, end, [&](std::int64_t from, std::int64_t count, std::int64_t to) {
        if (to < 0) return;
        if (step == 1)
          for (std::int64_t i = 0; i < count; ++i) channel[to + i] += in[from + i];
        else
          for (std::int64_t i = 0; i < count; ++i) channel[to + i * step] += in[from + i];
      });
    }
  });
}

}  // namespace STROP_ISA

}  // namespace strop::inline v0::detail
