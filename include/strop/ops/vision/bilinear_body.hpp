// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/vision/bilinear.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/vision/bilinear.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace strop::inline v0::detail {

inline namespace STROP_ISA {

/// A position along an axis: the elements at both sides of it, each where there is one, and the share of the second.
template <class E>
struct Beside {
  std::int64_t low = 0, high = 0;
  E share = 0;
  bool has_low = false, has_high = false;

  /// Beyond the ends there are no elements; neither are there around NaN.
  static Beside within(E at, std::int64_t extent) {
    if (!(at > E(-1) && at < static_cast<E>(extent))) return {};
    const E before = std::floor(at);
    const auto low = static_cast<std::int64_t>(before);
    return {low, low + 1, at - before, low >= 0 && low < extent, low + 1 < extent};
  }
};

/// The same where there always are two: beyond the ends the elements there go on. The axis is not empty, the position a
/// number.
template <class E>
struct LinearWeights {
  std::int64_t low, high;
  E share;

  LinearWeights(E at, std::int64_t extent) {
    const E inside = std::clamp(at, E(0), static_cast<E>(extent - 1));
    low = std::min(static_cast<std::int64_t>(inside), extent - 1);
    high = std::min(low + 1, extent - 1);
    share = inside - static_cast<E>(low);
  }
};

/// The sides of an element around a position: −1 where it comes first, 1 where it comes second.
template <class E>
struct Corner {
  E down, along;            // shares in what is interpolated
  E down_side, along_side;  // how fast these grow with the position
};

/// f(place, corner) for each of the four elements around a position that there are, in a plane of rows of `width`.
template <class E, class F>
[[gnu::always_inline]] inline void each_corner(const Beside<E>& y, const Beside<E>& x, std::int64_t width, F f) {
  const E top = 1 - y.share, left = 1 - x.share;
  if (y.has_low && x.has_low) f(y.low * width + x.low, Corner<E>{top, left, -1, -1});
  if (y.has_low && x.has_high) f(y.low * width + x.high, Corner<E>{top, x.share, -1, 1});
  if (y.has_high && x.has_low) f(y.high * width + x.low, Corner<E>{y.share, left, 1, -1});
  if (y.has_high && x.has_high) f(y.high * width + x.high, Corner<E>{y.share, x.share, 1, 1});
}

/// What lies between the four elements.
template <class E>
[[gnu::always_inline]] inline E interpolated(const E* plane, const Beside<E>& y, const Beside<E>& x,
                                             std::int64_t width) {
  E total = 0;
  each_corner(y, x, width, [&](std::int64_t at, const Corner<E>& c) { total += plane[at] * c.down * c.along; });
  return total;
}

/// Adds to the sums of the four elements' gradients what is theirs of the gradient of what lies between them.
template <class E>
[[gnu::always_inline]] inline void spread(E head, double* plane, const Beside<E>& y, const Beside<E>& x,
                                          std::int64_t width) {
  each_corner(y, x, width,
              [&](std::int64_t at, const Corner<E>& c) { plane[at] += static_cast<double>(head * c.down * c.along); });
}

/// The same between rows of a plane and elements of them that are all there.
template <class E>
[[gnu::always_inline]] inline E interpolated(const E* plane, const LinearWeights<E>& y, const LinearWeights<E>& x,
                                             std::int64_t width) {
  const E *const above = plane + y.low * width, *const below = plane + y.high * width;
  const E top = (1 - x.share) * above[x.low] + x.share * above[x.high],
          bottom = (1 - x.share) * below[x.low] + x.share * below[x.high];
  return (1 - y.share) * top + y.share * bottom;
}

template <class E>
[[gnu::always_inline]] inline void spread(E head, double* plane, const LinearWeights<E>& y, const LinearWeights<E>& x,
                                          std::int64_t width) {
  double *const above = plane + y.low * width, *const below = plane + y.high * width;
  const E top = head * (1 - y.share), bottom = head * y.share;
  above[x.low] += static_cast<double>(top * (1 - x.share));
  above[x.high] += static_cast<double>(top * x.share);
  below[x.low] += static_cast<double>(bottom * (1 - x.share));
  below[x.high] += static_cast<double>(bottom * x.share);
}

}  // namespace STROP_ISA

}  // namespace strop::inline v0::detail
