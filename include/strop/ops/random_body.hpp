// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/random.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/init_body.hpp>
#include <strop/ops/random.hpp>
#include <strop/ops/random_draws.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/random.hpp>
#include <strop/tensor/random_blocks.hpp>

#include <cmath>
#include <numeric>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// The elements that a draw fills: of a row_sparse array all its rows, which are stored from then on.
inline NDArray drawn_elements(const NDArray& y) {
  if (y.storage() == dense) return y;
  y.allocate_stored(y.shape()[0]);
  std::int64_t* const rows = y.indices().pointer<std::int64_t>();
  std::iota(rows, rows + y.nnz(), std::int64_t{0});
  return y.data();
}

inline void fill_uniform(Context& ctx, const NDArray& y, float low, float high, std::string_view op) {
  if (!(low <= high) || !std::isfinite(low) || !std::isfinite(high))
    fail(op, ": low is ", low, " and high is ", high, ", expected finite numbers with low <= high");
  const random::Stream stream = ctx.random();
  if (y.dtype() == f64 || !std::isfinite(high - low)) {
    const random::detail::UniformRange between(low, high, y.dtype());
    random::detail::fill_blocks<double>(y, stream, [&](const random::Stream& part, double* to, std::int64_t count) {
      part.fill_uniform01d(to, count);
      for (std::int64_t i = 0; i < count; ++i) to[i] = between(to[i]);
    });
  } else {
    random::detail::fill_blocks<float>(y, stream, [&](const random::Stream& part, float* to, std::int64_t count) {
      part.fill_uniform(to, count, low, high, y.dtype());
    });
  }
}

inline void fill_normal(Context& ctx, const NDArray& y, float mean, float deviation, std::string_view op) {
  if (!(deviation >= 0)) fail(op, ": scale is ", deviation, ", expected at least 0");
  random::detail::fill_blocks<float>(y, ctx.random(), [&](const random::Stream& part, float* to, std::int64_t count) {
    part.fill_normal(to, count, mean, deviation);
  });
}

inline void fill_exponential(Context& ctx, const NDArray& y, float rate, std::string_view op) {
  if (!(rate > 0)) fail(op, ": lam is ", rate, ", expected more than 0");
  random::detail::fill_blocks<double>(y, ctx.random(), [&](const random::Stream& part, double* to, std::int64_t count) {
    part.fill_uniform01d(to, count);
    for (std::int64_t i = 0; i < count; ++i) to[i] = -std::log1p(-to[i]) / static_cast<double>(rate);
  });
}

inline void fill_gamma(Context& ctx, const NDArray& y, float alpha, float beta, std::string_view op) {
  if (!(alpha > 0)) fail(op, ": alpha is ", alpha, ", expected more than 0");
  if (!(beta > 0)) fail(op, ": beta is ", beta, ", expected more than 0");
  const double shape = static_cast<double>(alpha), scale = static_cast<double>(beta);
  draw_elements(ctx.random(), y, [=](ElementDraws& draws, std::int64_t) { return draw_gamma(draws, shape) * scale; });
}

inline void fill_poisson(Context& ctx, const NDArray& y, float lam, std::string_view op) {
  if (!(lam >= 0)) fail(op, ": lam is ", lam, ", expected at least 0");
  const double rate = static_cast<double>(lam);
  draw_elements(ctx.random(), y, [=](ElementDraws& draws, std::int64_t) { return draw_poisson(draws, rate); });
}

inline void fill_mixed(Context& ctx, const NDArray& y, double shape, double scale) {
  draw_elements(ctx.random(), y, [=](ElementDraws& draws, std::int64_t) { return draw_mixed(draws, shape, scale); });
}

inline void fill_negative_binomial(Context& ctx, const NDArray& y, int k, float p, std::string_view op) {
  if (k < 0) fail(op, ": k is ", k, ", expected at least 0");
  if (!(p > 0 && p <= 1)) fail(op, ": p is ", p, ", expected more than 0 and at most 1");
  const double failure = static_cast<double>(p);
  fill_mixed(ctx, y, k, (1 - failure) / failure);
}

inline void fill_generalized_negative_binomial(Context& ctx, const NDArray& y, float mu, float alpha,
                                               std::string_view op) {
  if (!(mu >= 0)) fail(op, ": mu is ", mu, ", expected at least 0");
  if (!(alpha >= 0)) fail(op, ": alpha is ", alpha, ", expected at least 0");
  const double mean = static_cast<double>(mu), dispersion = static_cast<double>(alpha);
  if (alpha == 0) return fill_poisson(ctx, y, mu, op);
  fill_mixed(ctx, y, 1 / dispersion, dispersion * mean);
}

}  // namespace detail

#define STROP_THESE(...) __VA_ARGS__
#define STROP_DRAWN(Type, snake, names, notes_, document, like, parameters, ...)        \
  inline void Random##Type::forward(Cpu& cpu, NDArray& y) const {                       \
    detail::check_device(ctx, name);                                                    \
    detail::fill_##snake(cpu, detail::drawn_elements(y), STROP_THESE parameters, name); \
  }                                                                                     \
  inline void Random##Type##Like::forward(Cpu& cpu, const NDArray&, NDArray& y) const { \
    detail::fill_##snake(cpu, detail::drawn_elements(y), STROP_THESE parameters, name); \
  }
#include <strop/ops/distributions.def>
#undef STROP_THESE

inline void RandomRandint::forward(Cpu& cpu, NDArray& given) const {
  detail::check_device(ctx, name);
  const NDArray y = detail::drawn_elements(given);
  if (*low >= *high) fail(name, ": low is ", *low, " and high is ", *high, ", expected low < high");
  const std::uint64_t first = static_cast<std::uint64_t>(*low), width = static_cast<std::uint64_t>(*high) - first;
  const random::Stream high_words = cpu.random(), low_words = cpu.random();
  parallel_for(y.size(), 1 << 15, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t bits = std::uint64_t{high_words.bits(i)} << 32 | low_words.bits(i);
      const auto number = static_cast<std::int64_t>(first + high_half(bits, width));
      detail::convert_elements(i64, &number, y.dtype(), y.bytes() + i * size_of(y.dtype()), 1);
    }
  });
}

inline std::uint64_t RandomRandint::high_half(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a1 = a >> 32, a0 = a & 0xffffffffU, b1 = b >> 32, b0 = b & 0xffffffffU;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xffffffffU);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

inline void Shuffle::forward(Cpu& cpu, const NDArray& x, NDArray& y) const {
  const std::int64_t rows = x.ndim() == 0 ? 1 : x.shape()[0];
  if (rows == 0 || x.size() == 0) return;
  detail::List<std::int64_t> order(rows);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const random::Stream stream = cpu.random();
  for (std::int64_t i = rows; i-- > 1;)
    std::swap(order[i], order[static_cast<std::int64_t>(stream.uniform01d(i) * static_cast<double>(i + 1))]);
  const std::int64_t bytes = x.size() / rows * size_of(x.dtype());
  for (std::int64_t i = 0; i < rows; ++i)
    detail::copy_bytes(y.bytes() + i * bytes, x.bytes() + order[i] * bytes, bytes);
}

}  // namespace strop::inline v0
