// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/norm.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/norm.hpp>
#include <strop/ops/norm_kernels.hpp>
#include <strop/ops/softmax_kernels_body.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace strop::inline v0 {

template <Real E>
inline void BatchNorm::forward(Cpu& ctx, View<const E> x, View<const E, 1> gain, View<const E, 1> beta,
                               View<E, 1> moving_mean, View<E, 1> moving_var, View<E> y, View<E, 1> centre,
                               View<E, 1> scaling) const {
  normalize(false, ctx, x, gain, beta, moving_mean, moving_var, y, centre, scaling);
}

template <Real E>
inline void BatchNorm::normalize(bool gives_variance, Cpu& ctx, View<const E> x, View<const E, 1> gain,
                                 View<const E, 1> beta, View<E, 1> moving_mean, View<E, 1> moving_var, View<E> y,
                                 View<E, 1> centre, View<E, 1> spread) const {
  const detail::AxisSplit s = split(x.shape());
  const bool batch = ctx.train && !use_global_stats && x.size() != 0;
  const detail::List<detail::Moments> now =
      batch ? detail::channel_moments(s, x.data()) : detail::List<detail::Moments>();
  detail::List<detail::Linear<E>> linear(s.length);
  for (std::int64_t c = 0; c < s.length; ++c) {
    const detail::Moments m =
        batch ? now[c] : detail::Moments{static_cast<double>(moving_mean[c]), static_cast<double>(moving_var[c])};
    if (batch) {
      const double stays = momentum;
      moving_mean[c] = static_cast<E>(static_cast<double>(moving_mean[c]) * stays + m.mean * (1 - stays));
      moving_var[c] = static_cast<E>(static_cast<double>(moving_var[c]) * stays + m.variance * (1 - stays));
    }
    const double inverse = 1 / std::sqrt(m.variance + eps),
                 factor = inverse * (fix_gamma ? 1 : static_cast<double>(gain[c]));
    centre[c] = static_cast<E>(m.mean);
    spread[c] = static_cast<E>(gives_variance ? m.variance : inverse);
    // The centre is rounded, and what it lost is put back.
    const double lost = m.mean - static_cast<double>(centre[c]);
    linear[c] = {.x_factor = static_cast<E>(factor),
                 .x_origin = centre[c],
                 .shift = static_cast<E>(static_cast<double>(beta[c]) - lost * factor)};
  }
  detail::channel_linear<E>(s, x.data(), nullptr, y.data(), linear);
}

template <Real E>
inline void BatchNorm::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                            In<"gamma", View<const E, 1>> gain, Out<"mean", View<const E, 1>> centre,
                            Out<"var", View<const E, 1>> scaling, Grad<"data", View<E>> dx,
                            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const {
  const detail::AxisSplit s = split(x.shape());
  const bool batch = ctx.train && !use_global_stats && x.size() != 0;
  const double count = static_cast<double>(s.outer * s.inner);
  const detail::List<detail::HeadSums> sums = detail::channel_head_sums(s, dy.data(), x.data(), centre.data());
  detail::List<detail::Linear<E>> linear(s.length);
  for (std::int64_t c = 0; c < s.length; ++c) {
    const double inverse = static_cast<double>(scaling[c]), lost = batch ? sums[c].off / count : 0,
                 product = (sums[c].product - lost * sums[c].plain) * inverse;  // Σ dy · normalised x
    if (dgamma) dgamma[c] = fix_gamma ? E(0) : static_cast<E>(product);
    if (dbeta) dbeta[c] = static_cast<E>(sums[c].plain);
    // dx = factor · (dy − Σ dy / n − x̂ · Σ dy·x̂ / n); moving statistics are constants.
    const double factor = inverse * (fix_gamma ? 1 : static_cast<double>(gain[c]));
    const double by_x = batch ? -factor * inverse * product / count : 0;
    linear[c] = {.x_factor = static_cast<E>(factor),
                 .y_factor = static_cast<E>(by_x),
                 .y_origin = centre[c],
                 .shift = static_cast<E>(batch ? -factor * sums[c].plain / count - by_x * lost : 0)};
  }
  if (dx) detail::channel_linear(s, dy.data(), x.data(), dx.data(), linear);
}

inline detail::AxisSplit BatchNorm::split(detail::Span<const std::int64_t> shape) const { return {shape, axis}; }

template <Real E>
inline void SyncBatchNorm::forward(Cpu& ctx, View<const E> x, View<const E, 1> gain, View<const E, 1> beta,
                                   View<E, 1> moving_mean, View<E, 1> moving_var, View<E> y, View<E, 1> centre,
                                   View<E, 1> variance) const {
  one().normalize(true, ctx, x, gain, beta, moving_mean, moving_var, y, centre, variance);
}

template <Real E>
inline void SyncBatchNorm::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                                In<"gamma", View<const E, 1>> gain, Out<"mean", View<const E, 1>> centre,
                                Out<"var", View<const E, 1>> variance, Grad<"data", View<E>> dx,
                                Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const {
  detail::List<E> scaling(variance.size());
  for (std::int64_t c = 0; c < variance.size(); ++c)
    scaling[c] = static_cast<E>(1 / std::sqrt(static_cast<double>(variance[c]) + eps));
  one().grad(ctx, dy, x, gain, centre,
             Out<"var", View<const E, 1>>(View<const E, 1>(scaling.data(), {variance.size()})), dx, dgamma, dbeta);
}

template <Real E>
inline void LayerNorm::forward(Cpu&, View<const E> x, View<const E, 1> gain, View<const E, 1> beta, View<E> y,
                               View<E> centre, View<E> deviation) const {
  const detail::AxisSplit s = split(x.shape());
  if (s.length == 0) {  // no rows to go through, and statistics of each
    for (std::int64_t row = 0; row < centre.size(); ++row) {
      centre[row] = E(0);
      deviation[row] = std::sqrt(static_cast<E>(eps));
    }
  }
  detail::each_row<1, E>(s, {x.data()}, y.data(), [&](const E* const(&in)[1], E* out, std::int64_t row) {
    const detail::Moments m = detail::moments(in[0], s.length);
    const double root = std::sqrt(m.variance + static_cast<double>(eps));
    centre[row] = static_cast<E>(m.mean);
    deviation[row] = static_cast<E>(root);
    const E average = static_cast<E>(m.mean), inverse = static_cast<E>(1 / root),
            shift = static_cast<E>((static_cast<double>(average) - m.mean) / root);  // what its rounding lost
    for (std::int64_t i = 0; i < s.length; ++i) out[i] = ((in[0][i] - average) * inverse + shift) * gain[i] + beta[i];
  });
}

template <Real E>
inline void LayerNorm::grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                            In<"gamma", View<const E, 1>> gain, Out<"mean", View<const E>> centre,
                            Out<"std", View<const E>> deviation, Grad<"data", View<E>> dx,
                            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const {
  const detail::AxisSplit s = split(x.shape());
  const std::int64_t n = s.length;
  const std::int64_t rows = s.outer * s.inner;
  // Of each row the mean of x − mean, of a mean that is rounded, and 1 / deviation.
  detail::List<double> offs(n == 0 ? 0 : rows), inverses = offs;
  parallel_for(offs.size(), std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, n)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const E* const from = x.data() + row / s.inner * n * s.inner + row % s.inner;
                   double off = 0;
                   if (s.inner == 1)
                     off = detail::deviations_from(centre[row], from, n).plain;
                   else
                     for (std::int64_t i = 0; i < n; ++i) off += static_cast<double>(from[i * s.inner] - centre[row]);
                   offs[row] = off / static_cast<double>(n);
                   inverses[row] = 1 / static_cast<double>(deviation[row]);
                 }
               });
  if (dgamma || dbeta) {
    detail::List<double> by_gamma(n, 0.0), by_beta = by_gamma;
    for (std::int64_t o = 0; o < s.outer; ++o)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < s.inner; ++j) {
          const std::int64_t at = (o * n + i) * s.inner + j, row = o * s.inner + j;
          const double g = static_cast<double>(dy[at]);
          by_beta[i] += g;
          by_gamma[i] += g * ((static_cast<double>(x[at] - centre[row]) - offs[row]) * inverses[row]);
        }
    for (std::int64_t i = 0; i < n; ++i) {
      if (dgamma) dgamma[i] = static_cast<E>(by_gamma[i]);
      if (dbeta) dbeta[i] = static_cast<E>(by_beta[i]);
    }
  }
  if (!dx) return;
  detail::each_row<2, E>(s, {dy.data(), x.data()}, dx.data(), [&](const E* const(&in)[2], E* out, std::int64_t row) {
    const double inverse = inverses[row];
    double plain = 0, product = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double g = static_cast<double>(in[0][i] * gain[i]);
      plain += g;
      product += g * static_cast<double>(in[1][i] - centre[row]);
    }
    product = (product - offs[row] * plain) * inverse;
    // dx = (g − Σ g / n − x̂ · Σ g·x̂ / n) / deviation
    const double by_x = -inverse * product / static_cast<double>(n);
    const E average = centre[row], scale = static_cast<E>(inverse), factor = static_cast<E>(by_x),
            shift = static_cast<E>(-plain / static_cast<double>(n) - by_x * offs[row]);
    for (std::int64_t i = 0; i < n; ++i) out[i] = (in[0][i] * gain[i] + (in[1][i] - average) * factor + shift) * scale;
  });
}

inline detail::AxisSplit LayerNorm::split(detail::Span<const std::int64_t> shape) const { return {shape, axis}; }

}  // namespace strop::inline v0
