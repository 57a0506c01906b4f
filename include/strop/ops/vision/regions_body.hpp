// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/regions.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/vision/bilinear_body.hpp>
#include <strop/ops/vision/planes.hpp>
#include <strop/ops/vision/regions.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// Beyond it no axis reaches.
template <class E>
inline constexpr E region_most = static_cast<E>(1LL << 40);

/// A row of rois: which image, and the corners.
template <class E>
struct Region {
  std::int64_t image = 0;
  E left, top, right, bottom;

  /// Of 5 elements, or of 4 without the image.
  Region(const E* row, std::int64_t width, E scale, E back)
      : image(width == 5 ? whole(row[0]) : 0),
        left(row[width - 4] * scale - back),
        top(row[width - 3] * scale - back),
        right(row[width - 2] * scale - back),
        bottom(row[width - 1] * scale - back) {}

  /// Without its fraction; where a number is too large, or is none, one that no axis has.
  static std::int64_t whole(E value) {
    constexpr E most = region_most<E>;
    return static_cast<std::int64_t>(value > -most ? std::min(value, most) : -most);
  }
};

/// The regions of images of this many channels (of the result), rows and columns.
template <class E>
struct Regions {
  View<const E, 2> rois;
  std::int64_t images, channels, parts;
  E scale, back;

  /// f(k, region, first channel, last channel + 1) for each region k of an image that there is; no two threads have the
  /// same channels. `missing(k, first, last)` where there is no such image.
  template <class F, class Missing>
  void each(F f, Missing missing) const {
    const auto [count, width] = rois.shape();
    const std::int64_t grain = (1 << 12) / std::max<std::int64_t>(1, count * parts);
    parallel_for(channels, std::max<std::int64_t>(1, grain),
                 [&, n = count, step = width](std::int64_t c0, std::int64_t c1) {
                   for (std::int64_t k = 0; k < n; ++k) {
                     const Region<E> region(rois.data() + k * step, step, scale, back);
                     if (region.image >= 0 && region.image < images)
                       f(k, region, c0, c1);
                     else
                       missing(k, c0, c1);
                   }
                 });
  }
};

/// The rows, or columns, of each part of a region: from low to high.
struct PartRange {
  std::int64_t low, high;
  template <class E>
  static PartRange of(std::int64_t part, std::int64_t begin, std::int64_t size, std::int64_t parts,
                      std::int64_t extent) {
    const E step = static_cast<E>(size) / static_cast<E>(parts), from = std::floor(static_cast<E>(part) * step),
            to = std::ceil(static_cast<E>(part + 1) * step);
    return {std::clamp<std::int64_t>(static_cast<std::int64_t>(from) + begin, 0, extent),
            std::clamp<std::int64_t>(static_cast<std::int64_t>(to) + begin, 0, extent)};
  }
};

/// The largest element of a part of a plane and where the first one is, −1 where there is none.
template <class E>
struct Largest {
  E value = 0;
  std::int64_t at = -1;

  static Largest of(const E* plane, std::int64_t width, PartRange rows, PartRange cols) {
    if (rows.low >= rows.high || cols.low >= cols.high) return {};
    Largest most{-std::numeric_limits<E>::infinity(), -1};
    for (std::int64_t i = rows.low; i < rows.high; ++i)
      for (std::int64_t j = cols.low; j < cols.high; ++j)
        if (const E value = plane[i * width + j]; value > most.value || (most.at < 0 && value == most.value))
          most = {value, i * width + j};
    return most;
  }
};

/// Of each part of a region along an axis the samples that lie inside the axis, and how many there are with the others.
template <class E>
struct PartSamples {
  List<LinearWeights<E>> samples;
  List<std::int64_t> ends;  // behind the samples of each part
  E count;

  /// A region that begins or ends where no axis does, or whose extents are NaN, has no samples.
  PartSamples(E begin, E size, std::int64_t parts, int ratio, std::int64_t extent) {
    const E step = size / static_cast<E>(parts);
    count = ratio > 0 ? static_cast<E>(ratio) : std::ceil(step);
    const double apart = static_cast<double>(step / count);
    const bool usable = std::abs(begin) < region_most<E> && size < region_most<E>;
    for (std::int64_t part = 0; part < parts; ++part) {
      const E from = begin + static_cast<E>(part) * step;
      if (usable) {  // and may still be far larger than the axis: only what can lie inside is tried
        const double before = -1 - static_cast<double>(from), behind = before + 1 + static_cast<double>(extent);
        const auto low = static_cast<std::int64_t>(std::clamp(before / apart - 2, 0.0, static_cast<double>(count))),
                   high = static_cast<std::int64_t>(std::clamp(behind / apart + 2, 0.0, static_cast<double>(count)));
        for (std::int64_t i = low; i < high; ++i) {
          const E at = from + (static_cast<E>(i) + E(0.5)) * step / count;
          if (at >= E(-1) && at <= static_cast<E>(extent)) samples.push_back(LinearWeights<E>(at, extent));
        }
      }
      ends.push_back(samples.size());
    }
  }
  Span<const LinearWeights<E>> of(std::int64_t part) const {
    const std::int64_t begin = part == 0 ? 0 : ends[part - 1];
    return samples.span().subspan(begin, ends[part] - begin);
  }
};

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void ROIPooling::forward(Cpu&, View<const E, 4> x, View<const E, 2> rois, View<E, 4> y) const {
  each_part(x, rois, [&](std::int64_t to, const E*, detail::Largest<E> most) { y[to] = most.value; });
}

template <Real E>
inline void ROIPooling::grad(Cpu&, Head<"output", View<const E, 4>> dy, In<"data", View<const E, 4>> x,
                             In<"rois", View<const E, 2>> rois, Grad<"data", View<E, 4>> dx) const {
  if (!dx) return;
  detail::GradientSums<E> sums(dx.data(), dx.size());
  each_part(x, rois, [&](std::int64_t from, const E* plane, detail::Largest<E> most) {
    if (most.at >= 0) sums.data()[plane - x.data() + most.at] += static_cast<double>(dy[from]);
  });
  sums.store();
}

template <class E, class F>
inline void ROIPooling::each_part(View<const E, 4> x, View<const E, 2> rois, F f) const {
  const auto [images, channels, rows, cols] = x.shape();
  const std::int64_t down = (*pooled_size)[0], along = (*pooled_size)[1], all = channels, size = rows * cols;
  const detail::Regions<E> regions{rois, images, channels, down * along, static_cast<E>(*spatial_scale), E(0)};
  const std::int64_t height = rows, width = cols;
  const auto each = [&](std::int64_t k, std::int64_t c0, std::int64_t c1, auto of) {
    for (std::int64_t c = c0; c < c1; ++c)
      for (std::int64_t i = 0; i < down; ++i)
        for (std::int64_t j = 0; j < along; ++j) of(((k * all + c) * down + i) * along + j, c, i, j);
  };
  regions.each(
      [&](std::int64_t k, const detail::Region<E>& r, std::int64_t c0, std::int64_t c1) {
        using Whole = detail::Region<E>;
        const std::int64_t left = Whole::whole(std::round(r.left)), top = Whole::whole(std::round(r.top));
        const std::int64_t wide = std::max<std::int64_t>(1, Whole::whole(std::round(r.right)) - left + 1),
                           high = std::max<std::int64_t>(1, Whole::whole(std::round(r.bottom)) - top + 1);
        each(k, c0, c1, [&](std::int64_t at, std::int64_t c, std::int64_t i, std::int64_t j) {
          const E* const plane = x.data() + (r.image * all + c) * size;
          f(at, plane,
            detail::Largest<E>::of(plane, width, detail::PartRange::of<E>(i, top, high, down, height),
                                   detail::PartRange::of<E>(j, left, wide, along, width)));
        });
      },
      [&](std::int64_t k, std::int64_t c0, std::int64_t c1) {
        each(k, c0, c1,
             [&](std::int64_t at, std::int64_t, std::int64_t, std::int64_t) { f(at, x.data(), detail::Largest<E>{}); });
      });
}

template <Real E>
inline void ROIAlign::forward(Cpu&, View<const E, 4> x, View<const E, 2> rois, View<E, 4> y) const {
  std::fill(y.begin(), y.end(), E(0));
  each_part(x.shape(), rois, [&](std::int64_t to, std::int64_t plane, auto rows, auto cols, E share) {
    double total = 0;
    for (const detail::LinearWeights<E>& down : rows)
      for (const detail::LinearWeights<E>& along : cols)
        total += static_cast<double>(detail::interpolated(x.data() + plane, down, along, x.shape()[3]));
    y[to] = static_cast<E>(static_cast<double>(share) * total);
  });
}

template <Real E>
inline void ROIAlign::grad(Cpu&, Head<"output", View<const E, 4>> dy, In<"rois", View<const E, 2>> rois,
                           Grad<"data", View<E, 4>> dx) const {
  if (!dx) return;
  detail::GradientSums<E> sums(dx.data(), dx.size());
  each_part(dx.shape(), rois, [&](std::int64_t from, std::int64_t plane, auto rows, auto cols, E share) {
    for (const detail::LinearWeights<E>& down : rows)
      for (const detail::LinearWeights<E>& along : cols)
        detail::spread(dy[from] * share, sums.data() + plane, down, along, dx.shape()[3]);
  });
  sums.store();
}

template <class E, class F>
inline void ROIAlign::each_part(const std::array<std::int64_t, 4>& shape, View<const E, 2> rois, F f) const {
  const std::int64_t down = (*pooled_size)[0], along = (*pooled_size)[1], parts = down * along;
  const std::int64_t height = shape[2], width = shape[3], channels = position_sensitive ? shape[1] / parts : shape[1];
  if (height == 0 || width == 0) return;
  const detail::Regions<E> regions{
      rois, shape[0], channels, parts, static_cast<E>(*spatial_scale), aligned ? E(0.5) : E(0)};
  regions.each(
      [&](std::int64_t k, const detail::Region<E>& r, std::int64_t c0, std::int64_t c1) {
        E wide = r.right - r.left, high = r.bottom - r.top;
        if (aligned && !(wide > E(0) && high > E(0)))
          fail("_contrib_roi_align: region ", k, " is ", wide, " wide and ", high, " high, expected more than 0");
        if (!aligned) wide = std::max(wide, E(1)), high = std::max(high, E(1));
        const detail::PartSamples<E> rows(r.top, high, down, sample_ratio, height),
            cols(r.left, wide, along, sample_ratio, width);
        const E share = 1 / (rows.count * cols.count);
        for (std::int64_t c = c0; c < c1; ++c)
          for (std::int64_t i = 0; i < down; ++i)
            for (std::int64_t j = 0; j < along; ++j) {
              const std::int64_t channel = position_sensitive ? c * parts + i * along + j : c;
              const std::int64_t at = ((k * channels + c) * down + i) * along + j,
                                 plane = (r.image * shape[1] + channel) * height * width;
              if (rows.of(i).size() != 0 && cols.of(j).size() != 0) f(at, plane, rows.of(i), cols.of(j), share);
            }
      },
      [](std::int64_t, std::int64_t, std::int64_t) {});
}

}  // namespace strop::inline v0
