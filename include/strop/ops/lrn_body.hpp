// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/lrn.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/op/loops.hpp>
#include <strop/ops/lrn.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

/// x · normᵖ.
struct TimesPower {
  double exponent = 0;
  constexpr auto forward(auto x, auto base) const { return x * pow(base, exponent); }
};

}  // namespace detail

template <Real E>
inline void LRN::forward(Cpu&, View<const E> x, View<E> y, View<E> base) const {
  around(x.shape(), [&](std::int64_t to, std::int64_t from, std::int64_t n, bool first) {
    const E factor = static_cast<E>(alpha) / static_cast<E>(*nsize);
    if (first) std::fill_n(base.data() + to, n, static_cast<E>(knorm));
    for (std::int64_t i = 0; i < n; ++i) base[to + i] += factor * (x[from + i] * x[from + i]);
  });
  times_power(x.data(), base.data(), -static_cast<double>(beta), y.data(), x.size());
}

template <Real E>
inline void LRN::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                      Out<"tmp_norm", View<const E>> base, Grad<"data", View<E>> dx) const {
  if (!dx) return;
  const View<E, 1> part = ctx.temp<E>(x.size());
  for (std::int64_t i = 0; i < x.size(); ++i) part[i] = dy[i] * x[i];
  times_power(part.data(), base.data(), -static_cast<double>(beta) - 1, part.data(), x.size());
  times_power(dy.data(), base.data(), -static_cast<double>(beta), dx.data(), x.size());
  const E factor = E(-2) * static_cast<E>(alpha) * static_cast<E>(beta) / static_cast<E>(*nsize);
  around(x.shape(), [&](std::int64_t to, std::int64_t from, std::int64_t n, bool) {
    for (std::int64_t i = 0; i < n; ++i) dx[to + i] += factor * x[to + i] * part[from + i];
  });
}

template <class F>
inline void LRN::around(detail::Span<const std::int64_t> shape, F f) const {
  const std::int64_t channels = shape[1], half = *nsize / 2;
  std::int64_t inner = 1;
  for (int i = 2; i < shape.size(); ++i) inner *= shape[i];
  parallel_for(shape[0] * channels, std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, inner)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t c = row % channels, low = std::max<std::int64_t>(0, c - half),
                                      high = std::min(channels, c + half + 1);
                   for (std::int64_t k = low; k < high; ++k) f(row * inner, (row - c + k) * inner, inner, k == low);
                 }
               });
}

template <class E>
inline void LRN::times_power(const E* x, const E* base, double exponent, E* y, std::int64_t n) {
  const detail::TimesPower power{exponent};
  parallel_for(n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    const void* in[] = {x + begin, base + begin};
    void* out[] = {y + begin};
    detail::lane_loop<detail::TimesPower, E>(&power, in, out, end - begin);
  });
}

}  // namespace strop::inline v0
