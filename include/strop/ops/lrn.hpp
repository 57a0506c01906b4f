// SPDX-License-Identifier: Apache-2.0
/// \file
/// LRN: each element divided by a power of what its neighbours in other channels are.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/op/loops.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

namespace detail {
/// x · normᵖ.
struct TimesPower {
  double exponent = 0;
  constexpr auto forward(auto x, auto base) const { return x * pow(base, exponent); }
};
}  // namespace detail

/// LRN: y = x / tmp_normᵇᵉᵗᵃ with tmp_norm = knorm + alpha / nsize · Σ x² over the nsize channels (axis 1) around that
/// of x; channels that are not there count as 0.
///
/// data (batch, channels, …) of two dimensions or more. Hidden output: tmp_norm, in the shape of data. Floating types;
/// sparse arrays by the dense fallback. Error: nsize is even, data has fewer dimensions.
///
/// Example: `lrn(array({{1, 1}}), {.alpha = 3, .beta = 1, .knorm = 1, .nsize = 3})` is [[0.3333333, 0.3333333]].
struct LRN {
  float alpha = 1e-4f, beta = 0.75f, knorm = 2;
  Required<int> nsize = {};

  static constexpr std::string_view outputs[] = {"output", "tmp_norm"};
  static constexpr const char* doc =
      "x / (knorm + alpha / nsize · Σ x²)^beta, summed over the nsize channels around that of x.";
  static constexpr Note notes[] = {{"alpha", "factor of the mean of squares"},
                                   {"beta", "the power of the divisor"},
                                   {"knorm", "what is added to it"},
                                   {"nsize", "how many channels, an odd number"}};
  static constexpr Range range[] = {{"nsize", 1}};
  static constexpr int visible = 1;

  constexpr void infer_shape(Shapes& s) const {
    if (*nsize % 2 == 0) s.fail("nsize is ", *nsize, ", expected an odd number");
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (!s.in(0).has_rank()) return;
    if (s.in(0).ndim() < 2) s.fail(s.name_in(0), " has shape ", s.in(0), ", expected 2 dimensions or more");
    s.set_out(1, s.in(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y, View<E> base) const {
    around(x.shape(), [&](std::int64_t to, std::int64_t from, std::int64_t n, bool first) {
      const E factor = static_cast<E>(alpha) / static_cast<E>(*nsize);
      if (first) std::fill_n(base.data() + to, n, static_cast<E>(knorm));
      for (std::int64_t i = 0; i < n; ++i) base[to + i] += factor * (x[from + i] * x[from + i]);
    });
    times_power(x.data(), base.data(), -static_cast<double>(beta), y.data(), x.size());
  }
  /// dx = dy · norm^−beta − 2 · alpha / nsize · beta · x · Σ dy · x · norm^(−beta − 1).
  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
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

 private:
  /// f(elements of a channel, elements of one around it, how many, whether it is the first of these).
  template <class F>
  void around(detail::Span<const std::int64_t> shape, F f) const {
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
  static void times_power(const E* x, const E* base, double exponent, E* y, std::int64_t n) {
    const detail::TimesPower power{exponent};
    parallel_for(n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
      const void* in[] = {x + begin, base + begin};
      void* out[] = {y + begin};
      detail::lane_loop<detail::TimesPower, E>(&power, in, out, end - begin);
    });
  }
};
inline constexpr Op<LRN, OnUse> lrn;

using LrnOps = OpList<LRN>;

}  // namespace strop::inline v0
