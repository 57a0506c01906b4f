// SPDX-License-Identifier: Apache-2.0
/// \file
/// How gamma and Poisson numbers are drawn: by rejection, with as many random words as it takes, of which every element
/// has a sequence of its own. So an element is a function of seed, call and position, whatever the others take.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/memory/random.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/ndarray.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace strop::inline v0::detail {

/// The random numbers of one element: words 2^16 i, 2^16 i + 1, … of the stream, as Stream::bits() has them, four at a
/// time. No draw takes that many.
class ElementDraws {
 public:
  ElementDraws(const random::Stream& stream, std::int64_t element)
      : stream_(stream), block_((stream.offset + (static_cast<std::uint64_t>(element) << 16)) / 4) {}

  /// Uniform in (0, 1): (k + 1/2) 2^-52.
  double uniform() {
    if (used_ == 4) {
      const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
      words_ = random::philox({low(block_), low(block_ >> 32), low(stream_.call >> 32) << 1, low(stream_.call)},
                              {low(stream_.seed), low(stream_.seed >> 32)});
      ++block_, used_ = 0;
    }
    const std::uint64_t bits = std::uint64_t{words_[used_]} << 32 | words_[used_ + 1];
    used_ += 2;
    return (static_cast<double>(static_cast<std::int64_t>(bits >> 12)) + 0.5) * 0x1p-52;
  }
  /// Normal, by the polar method (G. Marsaglia and T. A. Bray, A convenient method for generating normal variables,
  /// 1964). Of the pair that it makes the second is not used.
  double normal() {
    for (;;) {
      const double x = 2 * uniform() - 1, y = 2 * uniform() - 1, square = x * x + y * y;
      if (square < 1 && square != 0) return x * std::sqrt(-2 * std::log(square) / square);
    }
  }

 private:
  random::Stream stream_;
  std::uint64_t block_;
  std::array<std::uint32_t, 4> words_{};
  std::size_t used_ = 4;
};

/// Gamma with shape `alpha` and scale 1, alpha > 0 (G. Marsaglia and W. W. Tsang, A simple method for generating gamma
/// variables, 2000; below 1 by the power of a uniform number, section 6 there).
inline double draw_gamma(ElementDraws& draws, double alpha) {
  if (alpha < 1) {
    const double u = draws.uniform();
    return draw_gamma(draws, alpha + 1) * std::pow(u, 1 / alpha);
  }
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = draws.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, u = draws.uniform(), square = x * x;
    if (u < 1 - 0.0331 * square * square || std::log(u) < 0.5 * square + d * (1 - v + std::log(v))) return d * v;
  }
}

/// log P(k) of the Poisson distribution with mean `rate` ≥ 10, for whole k ≥ 0: Stirling's series, and distances from
/// the mean instead of differences of large numbers.
inline double log_poisson(double k, double rate) {
  if (k < 10) {
    double factorial = 1;
    for (double i = 2; i <= k; ++i) factorial *= i;
    return k * std::log(rate) - rate - std::log(factorial);
  }
  constexpr double half_log_two_pi = 0.91893853320467274178;
  const double distance = (k - rate) / rate, inverse = 1 / k, square = inverse * inverse;
  const double rest = inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  return -rate * ((1 + distance) * std::log1p(distance) - distance) - half_log_two_pi - 0.5 * std::log(k) - rest;
}

/// Poisson with mean `rate` ≥ 0: below 10 by inversion, one uniform number along the sums of the probabilities; else by
/// transformed rejection (W. Hörmann, The transformed rejection method for generating Poisson random variables, 1993,
/// algorithm PTRS).
inline double draw_poisson(ElementDraws& draws, double rate) {
  if (!(rate > 0)) return 0;
  if (rate < 10) {
    const double u = draws.uniform();
    double term = std::exp(-rate), sum = term, k = 0;
    while (u > sum && term > 0) sum += term *= rate / ++k;
    return k;
  }
  if (rate == std::numeric_limits<double>::infinity()) return rate;
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = draws.uniform() - 0.5, v = draws.uniform(), us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= log_poisson(k, rate)) return k;
  }
}

/// Poisson with a mean that is a gamma number (M. Greenwood and G. U. Yule, 1920); 0 where its scale is.
inline double draw_mixed(ElementDraws& draws, double shape, double scale) {
  return shape > 0 && scale > 0 ? draw_poisson(draws, draw_gamma(draws, shape) * scale) : 0.0;
}

/// Every element of the array drawn by itself, draw(its numbers, its position), and converted to the array's type.
template <class Draw>
void draw_elements(const random::Stream& stream, const NDArray& y, const Draw& draw) {
  parallel_for(y.size(), 4096, [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t block = 256;
    double values[block];
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t count = end - at < block ? end - at : block;
      for (std::int64_t i = 0; i < count; ++i) {
        ElementDraws draws(stream, at + i);
        values[i] = draw(draws, at + i);
      }
      convert_elements(f64, values, y.dtype(), y.bytes() + at * size_of(y.dtype()), count);
    }
  });
}

}  // namespace strop::inline v0::detail
