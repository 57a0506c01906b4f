// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/norm.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
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
  detail::share_channels(s, [&](std::int64_t begin, std::int64_t end) {
    detail::Moments now[detail::most_channels];
    if (batch) detail::channel_moments(s, x.data(), begin, end, now);
    detail::Linear<E> linear[detail::most_channels];
    for (std::int64_t c = begin; c < end; ++c) {
      const detail::Moments m =
          batch ? now[c - begin]
                : detail::Moments{static_cast<double>(moving_mean[c]), static_cast<double>(moving_var[c])};
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
      linear[c - begin] = {.x_factor = static_cast<E>(factor),
                           .x_origin = centre[c],
                           .shift = static_cast<E>(static_cast<double>(beta[c]) - lost * factor)};
    }
    detail::channel_linear(s, begin, end, linear, y.data(), x.data());
  });
}

template <Real E>
inline void BatchNorm::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                            In<"gamma", View<const E, 1>> gain, Out<"mean", View<const E, 1>> centre,
                            Out<"var", View<const E, 1>> scaling, Grad<"data", View<E>> dx,
                            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const {
  const detail::AxisSplit s = split(x.shape());
  const bool batch = ctx.train && !use_global_stats && x.size() != 0;
  const double count = static_cast<double>(s.outer * s.inner);
  detail::share_channels(s, [&](std::int64_t begin, std::int64_t end) {
    detail::HeadSums sums[detail::most_channels];
    detail::channel_head_sums(s, dy.data(), x.data(), centre.data(), begin, end, sums);
    detail::Linear<E> linear[detail::most_channels];
    for (std::int64_t c = begin; c < end; ++c) {
      const detail::HeadSums& of = sums[c - begin];
      const double inverse = static_cast<double>(scaling[c]), lost = batch ? of.off / count : 0,
                   product = (of.product - lost * of.plain) * inverse;  // Σ dy · normalised x
      if (dgamma) dgamma[c] = fix_gamma ? E(0) : static_cast<E>(product);
      if (dbeta) dbeta[c] = static_cast<E>(of.plain);
      // dx = factor · (dy − Σ dy / n − x̂ · Σ dy·x̂ / n); moving statistics are constants.
      const double factor = inverse * (fix_gamma ? 1 : static_cast<double>(gain[c]));
      const double by_x = batch ? -factor * inverse * product / count : 0;
      linear[c - begin] = {.x_factor = static_cast<E>(factor),
                           .y_factor = static_cast<E>(by_x),
                           .y_origin = centre[c],
                           .shift = static_cast<E>(batch ? -factor * of.plain / count - by_x * lost : 0)};
    }
    if (dx) detail::channel_linear(s, begin, end, linear, dx.data(), dy.data(), x.data());
  });
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
    detail::each_element_of_rows<E>(
        s.length, out,
        [&](auto v, auto factor, auto more) { return ((v - average) * inverse + shift) * factor + more; }, in[0],
        gain.data(), beta.data());
  });
}

template <Real E>
inline void LayerNorm::grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                            In<"gamma", View<const E, 1>> gain, Out<"mean", View<const E>> centre,
                            Out<"std", View<const E>> deviation, Grad<"data", View<E>> dx,
                            Grad<"gamma", View<E, 1>> dgamma, Grad<"beta", View<E, 1>> dbeta) const {
  const detail::AxisSplit s = split(x.shape());
  const std::int64_t n = s.length;
  const detail::RowGroups rows(s, std::int64_t{sizeof(E)});
  // Each part of the rows adds up what it has for gamma and beta. There are as many for any number of threads.
  const std::int64_t parts = std::clamp<std::int64_t>(std::min(x.size() >> 15, rows.count), 1, 32);
  const bool sums = dgamma || dbeta;
  detail::List<double> by_part(sums ? parts * 2 * n : 0);
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      detail::SumsOfRows<E> by_gamma(sums ? n : 0), by_beta = by_gamma;
      rows.each(rows.count * part / parts, rows.count * (part + 1) / parts, {dy.data(), x.data()}, dx.data(),
                [&](const E* const(&in)[2], E* out, std::int64_t row) {
                  const E average = centre.data()[row];
                  const detail::HeadSums of = detail::head_sums(in[0], in[1], n, average, gain.data());
                  // Of the row the mean of x − mean, of a mean that is rounded.
                  const double inverse = 1 / static_cast<double>(deviation.data()[row]),
                               off = of.off / static_cast<double>(n), product = (of.product - off * of.plain) * inverse;
                  const E scale = static_cast<E>(inverse);
                  if (sums) {
                    const E lost = static_cast<E>(-off * inverse);
                    by_gamma.add([&](auto g, auto v) { return g * ((v - average) * scale + lost); }, in[0], in[1]);
                    by_beta.add([](auto g) { return g; }, in[0]);
                  }
                  if (out == nullptr) return;
                  // dx = (g − Σ g / n − x̂ · Σ g·x̂ / n) / deviation
                  const double by_x = -inverse * product / static_cast<double>(n);
                  const E factor = static_cast<E>(by_x),
                          shift = static_cast<E>(-of.plain / static_cast<double>(n) - by_x * off);
                  detail::each_element_of_rows<E>(
                      n, out,
                      [&](auto g, auto v, auto by) { return (g * by + (v - average) * factor + shift) * scale; }, in[0],
                      in[1], gain.data());
                });
      if (!sums) continue;
      by_gamma.give(by_part.data() + part * 2 * n);
      by_beta.give(by_part.data() + (part * 2 + 1) * n);
    }
  });
  if (!sums) return;
  for (std::int64_t i = 0; i < n; ++i) {
    double of_gamma = 0, of_beta = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      of_gamma += by_part[part * 2 * n + i];
      of_beta += by_part[(part * 2 + 1) * n + i];
    }
    if (dgamma) dgamma[i] = static_cast<E>(of_gamma);
    if (dbeta) dbeta[i] = static_cast<E>(of_beta);
  }
}

inline detail::AxisSplit LayerNorm::split(detail::Span<const std::int64_t> shape) const { return {shape, axis}; }

}  // namespace strop::inline v0
