// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums and linear functions of the elements of a channel, in registers of lanes.
#pragma once
#include <strop/ops/softmax_kernels.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// Mean and (biased) variance.
struct Moments {
  double mean = 0, variance = 0;
};
/// Σ dy and Σ dy · (x − mean).
struct HeadSums {
  double plain = 0, product = 0;
};

inline namespace STROP_ISA {

/// f(channel) for every channel, on several threads.
template <class F>
void each_channel(const AxisSplit& s, F f) {
  const std::int64_t work = std::max<std::int64_t>(1, s.outer * s.inner);
  parallel_for(s.length, std::max<std::int64_t>(1, (1 << 14) / work), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) f(c);
  });
}
/// f(offset) for every stretch of `inner` elements of a channel.
template <class F>
void each_stretch(const AxisSplit& s, std::int64_t channel, F f) {
  for (std::int64_t o = 0; o < s.outer; ++o) f((o * s.length + channel) * s.inner);
}

/// Σ x of n elements; Σ (x − centre)² below.
template <class E>
double sum_of(const E* x, std::int64_t n) {
  double total = 0;
  constexpr std::int64_t block = 4096;  // few enough additions per lane for float
  for (std::int64_t at = 0; at < n; at += block) {
    number::Vec<E> sums{};
    each_register(x + at, std::min(block, n - at), E(0), [&](number::Vec<E> v, std::int64_t, int) { sums = sums + v; });
    total += static_cast<double>(sum_of_lanes<E>(sums));
  }
  return total;
}
template <class E>
double squares_about(const E* x, std::int64_t n, E centre) {
  double total = 0;
  constexpr std::int64_t block = 4096;
  for (std::int64_t at = 0; at < n; at += block) {
    number::Vec<E> sums{};
    each_register(x + at, std::min(block, n - at), centre, [&](number::Vec<E> v, std::int64_t, int) {
      const number::Vec<E> d = v - centre;
      sums = sums + d * d;
    });
    total += static_cast<double>(sum_of_lanes<E>(sums));
  }
  return total;
}

/// In two passes, so that no digits are lost; the second makes good for the rounding of the centre.
template <class E>
Moments moments(const E* x, std::int64_t n) {
  if (n == 0) return {};
  const double count = static_cast<double>(n), mean = sum_of(x, n) / count;
  const E centre = static_cast<E>(mean);
  const double off = mean - static_cast<double>(centre);
  return {mean, squares_about(x, n, centre) / count - off * off};
}
template <class E>
Moments channel_moments(const AxisSplit& s, std::int64_t channel, const E* x) {
  const double count = static_cast<double>(s.outer * s.inner);
  if (count == 0) return {};
  double total = 0, squares = 0;
  each_stretch(s, channel, [&](std::int64_t at) { total += sum_of(x + at, s.inner); });
  const double mean = total / count;
  const E centre = static_cast<E>(mean);
  const double off = mean - static_cast<double>(centre);
  each_stretch(s, channel, [&](std::int64_t at) { squares += squares_about(x + at, s.inner, centre); });
  return {mean, squares / count - off * off};
}

template <class E>
HeadSums channel_head_sums(const AxisSplit& s, std::int64_t channel, const E* dy, const E* x, double mean) {
  HeadSums out;
  each_stretch(s, channel, [&](std::int64_t at) {
    for (std::int64_t i = at; i < at + s.inner; ++i) {
      out.plain += static_cast<double>(dy[i]);
      out.product += static_cast<double>(dy[i]) * (static_cast<double>(x[i]) - mean);
    }
  });
  return out;
}

/// y = scale · x + shift along a channel.
template <class E>
void channel_linear(const AxisSplit& s, std::int64_t channel, const E* x, E* y, E scale, E shift) {
  each_stretch(s, channel, [&](std::int64_t at) {
    each_register(x + at, s.inner, E(0), [&](number::Vec<E> v, std::int64_t i, int count) { store_part<E>(y + at + i, v * scale + shift, count); });
  });
}
/// z = a · x + b · y + shift along a channel.
template <class E>
void channel_linear(const AxisSplit& s, std::int64_t channel, const E* x, const E* y, E* z, E a, E b, E shift) {
  each_stretch(s, channel, [&](std::int64_t at) {
    for (std::int64_t i = at; i < at + s.inner; ++i) z[i] = a * x[i] + b * y[i] + shift;
  });
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
