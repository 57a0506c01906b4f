// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/vision/rotated_regions.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/vision/bilinear_body.hpp>
#include <strop/ops/vision/regions_body.hpp>
#include <strop/ops/vision/rotated_regions.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// A row of rois: which image, the centre, extents and angle.
template <class E>
struct RotatedRegion {
  std::int64_t image;
  E x, y, width, height, cosine, sine;

  RotatedRegion(const E* row, E scale)
      : image(Region<E>::whole(row[0])),
        x(row[1] * scale),
        y(row[2] * scale),
        width(std::max(row[3] * scale, E(1))),
        height(std::max(row[4] * scale, E(1))) {
    const E angle = static_cast<E>(static_cast<double>(row[5]) * std::numbers::pi / 180.0);
    cosine = std::cos(angle);
    sine = std::sin(angle);
  }
  /// Whether its numbers are such that an image can have anything of it.
  bool usable() const {
    constexpr E most = region_most<E>;
    return std::abs(x) < most && std::abs(y) < most && width < most && height < most && cosine == cosine;
  }
};

/// Samples along an axis of a region, from its centre: of each of `parts` parts of extent `step`, `count` samples.
template <class E>
struct RotatedAxis {
  E begin, step, count;
  double low, high;  // beyond them no sample lies in the image

  RotatedAxis(E size, std::int64_t parts, int ratio)
      : begin(-size / 2),
        step(size / static_cast<E>(parts)),
        count(ratio > 0 ? static_cast<E>(ratio) : std::ceil(step)) {}

  /// f(position) for each sample of a part that may lie in the image.
  template <class F>
  void each(std::int64_t part, F f) const {
    const E from = begin + static_cast<E>(part) * step;
    const double apart = static_cast<double>(step / count);
    const auto place = [&](double position) {
      return static_cast<std::int64_t>(std::clamp(position / apart, 0.0, static_cast<double>(count)));
    };
    const std::int64_t first = place(low - static_cast<double>(from) - 2 * apart),
                       end = place(high - static_cast<double>(from) + 2 * apart);
    for (std::int64_t i = first; i < end; ++i) f(from + (static_cast<E>(i) + E(0.5)) * step / count);
  }
};

/// A sample: the four elements around it in a plane of rows of `width`, and the share of each.
template <class E>
struct PlaneSample {
  std::int64_t at[4];
  E share[4];

  PlaneSample(const LinearWeights<E>& down, const LinearWeights<E>& along, std::int64_t width)
      : at{down.low * width + along.low, down.low * width + along.high, down.high * width + along.low,
           down.high * width + along.high},
        share{(1 - down.share) * (1 - along.share), (1 - down.share) * along.share, down.share * (1 - along.share),
              down.share * along.share} {}
  E of(const E* plane) const {
    return share[0] * plane[at[0]] + share[1] * plane[at[1]] + share[2] * plane[at[2]] + share[3] * plane[at[3]];
  }
};

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void RROIAlign::forward(Cpu&, View<const E, 4> x, View<const E, 2> rois, View<E, 4> y) const {
  std::fill(y.begin(), y.end(), E(0));
  if (x.size() == 0) return;
  // Some channels of a region at a time: its samples are found once for them all.
  const std::int64_t channels = x.shape()[1], blocks = (channels + together - 1) / together;
  parallel_for(rois.shape()[0] * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t first = k % blocks * together;
      pool(x, rois, k / blocks, first, std::min(first + together, channels), y);
    }
  });
}

template <class E>
inline void RROIAlign::pool(View<const E, 4> x, View<const E, 2> rois, std::int64_t k, std::int64_t first,
                            std::int64_t last, View<E, 4> y) const {
  const detail::RotatedRegion<E> r(rois.data() + k * 6, static_cast<E>(*spatial_scale));
  const std::int64_t channels = x.shape()[1], height = x.shape()[2], width = x.shape()[3];
  if (!r.usable() || r.image < 0 || r.image >= x.shape()[0]) return;
  const std::int64_t down = (*pooled_size)[0], along = (*pooled_size)[1];
  detail::RotatedAxis<E> rows(r.height, down, sampling_ratio), cols(r.width, along, sampling_ratio);
  // The image seen from the region: around its centre, turned back.
  const E edge_x = static_cast<E>(width), edge_y = static_cast<E>(height);
  bound(rows, r.cosine, r.sine, -1 - r.y, edge_y - r.y, -1 - r.x, edge_x - r.x);
  bound(cols, r.cosine, -r.sine, -1 - r.x, edge_x - r.x, -1 - r.y, edge_y - r.y);
  constexpr detail::Index most = 1 << 10;  // samples that are kept
  detail::List<detail::PlaneSample<E>> samples;
  double totals[together];
  const auto add_samples = [&] {
    for (std::int64_t c = first; c < last; ++c) {
      const E* const plane = x.data() + (r.image * channels + c) * height * width;
      double total = totals[c - first];
      for (const detail::PlaneSample<E>& s : samples) total += static_cast<double>(s.of(plane));
      totals[c - first] = total;
    }
    samples.clear();
  };
  for (std::int64_t i = 0; i < down; ++i)
    for (std::int64_t j = 0; j < along; ++j) {
      std::fill_n(totals, together, 0.0);
      rows.each(i, [&](E v) {
        cols.each(j, [&](E u) {
          const E at_x = u * r.cosine + v * r.sine + r.x, at_y = v * r.cosine - u * r.sine + r.y;
          if (!(at_y >= E(-1) && at_y <= edge_y && at_x >= E(-1) && at_x <= edge_x)) return;
          samples.push_back({detail::LinearWeights<E>(at_y, height), detail::LinearWeights<E>(at_x, width), width});
          if (samples.size() == most) add_samples();
        });
      });
      add_samples();
      for (std::int64_t c = first; c < last; ++c)
        y[((k * channels + c) * down + i) * along + j] =
            static_cast<E>(totals[c - first] / static_cast<double>(rows.count * cols.count));
    }
}

template <class E>
inline void RROIAlign::bound(detail::RotatedAxis<E>& axis, E cosine, E sine, E low, E high, E other_low, E other_high) {
  const auto reach = [](E factor, E a, E b) {
    const double one = static_cast<double>(factor) * static_cast<double>(a),
                 other = static_cast<double>(factor) * static_cast<double>(b);
    return std::pair(std::min(one, other), std::max(one, other));
  };
  const auto [own_low, own_high] = reach(cosine, low, high);
  const auto [cross_low, cross_high] = reach(sine, other_low, other_high);
  axis.low = own_low + cross_low;
  axis.high = own_high + cross_high;
}

}  // namespace strop::inline v0
