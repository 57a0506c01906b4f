// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/random_sample.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/order.hpp>
#include <strop/ops/random_draws.hpp>
#include <strop/ops/random_sample.hpp>
#include <strop/tensor/random_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// The parameters of each element of the result, refused where they do not hold: `holds(a, b)`.
struct Sampled {
  std::vector<double> a, b;
  std::int64_t count;  // elements of the result for one of the parameters

  Sampled(const NDArray& first, const NDArray& second, const NDArray& y, std::string_view op, std::string_view expected,
          bool (*holds)(double, double))
      : a(first.to_vector<double>()), b(second.to_vector<double>()), count(a.empty() ? 1 : y.size() / std::ssize(a)) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!holds(a[i], b[i])) fail(op, ": ", expected, " at position ", i);
  }
};

/// Each element drawn by itself: draw(its numbers, a, b).
template <class Draw>
void draw_samples(Context& ctx, const NDArray& y, const Sampled& of, Draw draw) {
  draw_elements(ctx.random(), y, [&](ElementDraws& draws, std::int64_t at) {
    const auto i = static_cast<std::size_t>(at / of.count);
    return draw(draws, of.a[i], of.b[i]);
  });
}

/// Many at a time: scale(a, b) makes them, one by one, of the numbers that fill puts there.
template <class Real, class Fill, class Scale>
void fill_samples(Context& ctx, const NDArray& y, const Sampled& of, Fill fill, Scale scale) {
  const random::Stream stream = ctx.random();
  random::detail::fill_blocks<double>(y, stream, [&](const random::Stream& part, double* to, std::int64_t count) {
    Real drawn[random::detail::block_elements];
    fill(part, drawn, count);
    const auto at = static_cast<std::int64_t>(part.offset - stream.offset);
    std::int64_t left = of.count - at % of.count;
    for (std::int64_t i = 0, j = at / of.count; i < count; ++j, left = of.count) {
      const auto each = scale(of.a[static_cast<std::size_t>(j)], of.b[static_cast<std::size_t>(j)]);
      for (const std::int64_t end = std::min(count, i + left); i < end; ++i)
        to[i] = each(static_cast<double>(drawn[i]));
    }
  });
}

}  // namespace STROP_ISA

}  // namespace detail

inline void SampleUniform::forward(Cpu& cpu, const NDArray& first, const NDArray& second, NDArray& y) const {
  const detail::Sampled of(
      first, second, y, name, "low is above high, or one of them is not finite,",
      [](double low, double high) { return low <= high && std::isfinite(low) && std::isfinite(high); });
  const auto scale = [type = y.dtype()](double low, double high) {
    return random::detail::UniformRange(low, high, type);
  };
  if (y.dtype() == f64)
    detail::fill_samples<double>(
        cpu, y, of, [](const random::Stream& part, double* to, std::int64_t n) { part.fill_uniform01d(to, n); }, scale);
  else
    detail::fill_samples<float>(
        cpu, y, of, [](const random::Stream& part, float* to, std::int64_t n) { part.fill_uniform(to, n); }, scale);
}

inline void SampleNormal::forward(Cpu& cpu, const NDArray& first, const NDArray& second, NDArray& y) const {
  const detail::Sampled of(first, second, y, name, "sigma is below 0, or NaN,",
                           [](double, double sigma) { return sigma >= 0; });
  detail::fill_samples<float>(
      cpu, y, of, [](const random::Stream& part, float* to, std::int64_t n) { part.fill_normal(to, n); },
      [](double mu, double sigma) { return [=](double z) { return mu + sigma * z; }; });
}

inline void SampleGamma::forward(Cpu& cpu, const NDArray& first, const NDArray& second, NDArray& y) const {
  const detail::Sampled of(first, second, y, name, "alpha or beta is not above 0",
                           [](double alpha, double beta) { return alpha > 0 && beta > 0; });
  detail::draw_samples(cpu, y, of, [](detail::ElementDraws& draws, double alpha, double beta) {
    return detail::draw_gamma(draws, alpha) * beta;
  });
}

inline void SampleExponential::forward(Cpu& cpu, const NDArray& first, NDArray& y) const {
  const detail::Sampled of(first, first, y, name, "lam is not above 0", [](double lam, double) { return lam > 0; });
  detail::fill_samples<double>(
      cpu, y, of, [](const random::Stream& part, double* to, std::int64_t n) { part.fill_uniform01d(to, n); },
      [](double lam, double) { return [=](double u) { return -std::log1p(-u) / lam; }; });
}

inline void SamplePoisson::forward(Cpu& cpu, const NDArray& first, NDArray& y) const {
  const detail::Sampled of(first, first, y, name, "lam is below 0, or NaN,",
                           [](double lam, double) { return lam >= 0; });
  detail::draw_samples(
      cpu, y, of, [](detail::ElementDraws& draws, double lam, double) { return detail::draw_poisson(draws, lam); });
}

inline void SampleNegativeBinomial::forward(Cpu& cpu, const NDArray& first, const NDArray& second, NDArray& y) const {
  const detail::Sampled of(first, second, y, name, "k is below 0, or p not above 0 and at most 1,",
                           [](double k, double p) { return k >= 0 && p > 0 && p <= 1; });
  detail::draw_samples(cpu, y, of, [](detail::ElementDraws& draws, double k, double p) {
    return detail::draw_mixed(draws, k, (1 - p) / p);
  });
}

inline void SampleGeneralizedNegativeBinomial::forward(Cpu& cpu, const NDArray& first, const NDArray& second,
                                                       NDArray& y) const {
  const detail::Sampled of(first, second, y, name, "mu or alpha is below 0, or NaN,",
                           [](double mu, double alpha) { return mu >= 0 && alpha >= 0; });
  detail::draw_samples(cpu, y, of, [](detail::ElementDraws& draws, double mu, double alpha) {
    return alpha > 0 ? detail::draw_mixed(draws, 1 / alpha, alpha * mu) : detail::draw_poisson(draws, mu);
  });
}

inline void SampleMultinomial::forward(Cpu& cpu, const NDArray& data, NDArray& y, NDArray& log_prob) const {
  const std::int64_t width = data.shape().back(), rows = width == 0 ? 0 : data.size() / width;
  if (y.size() != 0 && width == 0) fail(name, ": data has shape ", data.shape(), ", which has no positions");
  if (y.size() != 0) detail::check_positions(data.shape(), -1, y.dtype(), name);
  const std::vector<double> p = data.to_vector<double>();
  std::vector<double> ends(p);  // of each row the sums from its begin
  for (std::int64_t row = 0; row < rows; ++row) {
    double* const end = ends.data() + row * width;
    for (std::int64_t i = 0; i < width; ++i) {
      if (!(end[i] >= 0)) fail(name, ": data is ", end[i], " at (", row, ", ", i, "), expected at least 0");
      if (i != 0) end[i] += end[i - 1];
    }
    if (!(end[width - 1] > 0) || std::isinf(end[width - 1]))
      fail(name, ": row ", row, " of data adds up to ", end[width - 1], ", expected a finite number above 0");
  }
  const std::int64_t count = rows == 0 ? 1 : y.size() / rows;
  const auto place = [&](double u, std::int64_t row) {  // never one of probability 0
    const double* const begin = ends.data() + row * width;
    return std::min(std::upper_bound(begin, begin + width, u * begin[width - 1]) - begin,
                    std::lower_bound(begin, begin + width, begin[width - 1]) - begin);
  };
  const random::Stream stream = cpu.random();
  const auto draw = [&](detail::ElementDraws& draws, std::int64_t at) {
    return static_cast<double>(place(draws.uniform(), at / count));
  };
  detail::draw_elements(stream, y, draw);
  if (!get_prob) return;
  detail::draw_elements(stream, log_prob, [&](detail::ElementDraws& draws, std::int64_t at) {  // of the same numbers
    return std::log(p[static_cast<std::size_t>(at / count * width + place(draws.uniform(), at / count))]);
  });
}

inline void SampleMultinomial::grad(Cpu&, Head<"log_prob", NDArray> dy, In<"data", NDArray> data,
                                    Out<"output", NDArray> at, Grad<"data", NDArray> dx) const {
  if (!dx.defined()) return;
  std::vector<double> sums(static_cast<std::size_t>(dx.size()), 0.0);
  if (get_prob && dx.size() != 0) {
    const std::vector<double> p = data.to_vector<double>(), head = dy.to_vector<double>();
    const std::vector<std::int64_t> drawn = at.to_vector<std::int64_t>();
    const std::int64_t width = dx.shape().back(), count = std::max<std::int64_t>(at.size() / (dx.size() / width), 1);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const auto to = static_cast<std::size_t>(static_cast<std::int64_t>(i) / count * width + drawn[i]);
      sums[to] += head[i] / p[to];
    }
  }
  detail::convert_elements(f64, sums.data(), dx.dtype(), dx.bytes(), dx.size());
}

}  // namespace strop::inline v0
