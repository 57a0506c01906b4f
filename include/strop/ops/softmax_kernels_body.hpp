// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/softmax_kernels.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/core/shape.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/pieces.hpp>
#include <strop/ops/softmax_kernels.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace strop::inline v0::detail {

inline namespace STROP_ISA {

/// n numbers x in registers of lanes; the last register is filled up with `rest`. `f(register, i, count)`.
template <class E, class F>
[[gnu::always_inline]] inline void each_register(const E* x, std::int64_t n, E rest, F f) {
  using R = number::Rep<number::Vec<E>>;
  std::int64_t i = 0;
  for (; i + R::lanes <= n; i += R::lanes) f(R::load(x + i), i, R::lanes);
  if (i == n) return;
  E part[R::lanes];
  for (std::int64_t j = 0; j < R::lanes; ++j) part[j] = i + j < n ? x[i + j] : rest;
  f(R::load(part), i, static_cast<int>(n - i));
}

template <class E>
[[gnu::always_inline]] inline void store_part(E* to, number::Vec<E> v, int count) {
  using R = number::Rep<number::Vec<E>>;
  if (count == R::lanes) return R::store(to, v);
  E part[R::lanes];
  R::store(part, v);
  for (int j = 0; j < count; ++j) to[j] = part[j];
}

template <class E>
[[gnu::always_inline]] inline E sum_of_lanes(number::Vec<E> v) {
  constexpr int lanes = number::Rep<number::Vec<E>>::lanes;
  if constexpr (lanes == 1) {
    return v;
  } else {
    const auto two = folded<2, lanes>(v);
    return two[0] + two[1];
  }
}

/// One row: y = softmax(scale · x), or its logarithm. x and y may be the same.
template <class E>
void softmax_row(const E* x, E* y, std::int64_t n, E scale, bool logarithm) {
  using R = number::Rep<number::Vec<E>>;
  using V = number::Vec<E>;
  constexpr E lowest = -std::numeric_limits<E>::infinity();
  V most = R::splat(lowest);
  const E least = scale < 0 ? -lowest : lowest;  // what is lowest after scaling
  each_register(x, n, least, [&](V v, std::int64_t, int) {
    v = v * scale;
    most = R::select(v > most, v, most);
  });
  E part[R::lanes];
  R::store(part, most);
  const E top = *std::max_element(part, part + R::lanes);
  double sum = 0;
  constexpr std::int64_t stretch = chain_of_products * R::lanes;
  for (std::int64_t at = 0; at < n; at += stretch) {
    V sums{};
    each_register(x + at, std::min(stretch, n - at), least, [&](V v, std::int64_t i, int count) {
      const V e = R::exp(v * scale - top);
      sums = sums + e;
      if (!logarithm) store_part(y + at + i, e, count);
    });
    sum += static_cast<double>(sum_of_lanes<E>(sums));
  }
  const E total = static_cast<E>(sum);
  if (logarithm) {
    const E shift = number::Rep<E>::log(total);
    each_register(x, n, E(0),
                  [&](V v, std::int64_t i, int count) { store_part<E>(y + i, (v * scale - top) - shift, count); });
  } else {
    const E by = 1 / total;
    each_register(y, n, E(0), [&](V v, std::int64_t i, int count) { store_part<E>(y + i, v * by, count); });
  }
}

/// One row of the gradient: dx = scale · y · (dy − Σ dy·y), of the logarithm scale · (dy − eʸ · Σ dy).
template <class E>
void softmax_gradient_row(const E* dy, const E* y, E* dx, std::int64_t n, E scale, bool logarithm) {
  using R = number::Rep<number::Vec<E>>;
  using V = number::Vec<E>;
  double sum = 0;
  std::int64_t i = 0;
  for (const std::int64_t whole = n - n % R::lanes; i < whole;) {
    V sums{};
    for (const std::int64_t stop = std::min(whole, i + chain_of_sums * R::lanes); i < stop; i += R::lanes)
      sums = sums + (logarithm ? R::load(dy + i) : R::load(dy + i) * R::load(y + i));
    sum += static_cast<double>(sum_of_lanes<E>(sums));
  }
  for (; i < n; ++i) sum += static_cast<double>(logarithm ? dy[i] : dy[i] * y[i]);
  const E total = static_cast<E>(sum);
  each_register(y, n, E(0), [&](V v, std::int64_t at, int count) {
    V g{};
    if (count == R::lanes)
      g = R::load(dy + at);
    else
      each_register(dy + at, count, E(0), [&](V last, std::int64_t, int) { g = last; });
    store_part<E>(dx + at, logarithm ? (g - R::exp(v) * total) * scale : v * (g - total) * scale, count);
  });
}

/// f(row of x, row of y, its number) for all rows along the axis, on several threads; rows that do not lie together in
/// memory are gathered, and y's put back.
template <std::size_t Inputs, class E, class F>
void each_row(const AxisSplit& s, const E* const (&x)[Inputs], E* y, F f) {
  const std::int64_t n = s.length, rows = s.outer * s.inner;
  if (n == 0) return;
  parallel_for(rows, std::max<std::int64_t>(1, (1 << 14) / n), [&](std::int64_t begin, std::int64_t end) {
    List<E> space(s.inner == 1 ? 0 : n * static_cast<std::int64_t>(Inputs + 1));
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t at = r / s.inner * n * s.inner + r % s.inner;
      const E* in[Inputs];
      E* out = y + at;
      for (std::size_t k = 0; k < Inputs; ++k) {
        in[k] = x[k] + at;
        if (s.inner == 1) continue;
        E* row = space.data() + static_cast<std::int64_t>(k) * n;
        for (std::int64_t i = 0; i < n; ++i) row[i] = in[k][i * s.inner];
        in[k] = row;
      }
      if (s.inner != 1) out = space.data() + static_cast<std::int64_t>(Inputs) * n;
      f(in, out, r);
      if (s.inner != 1)
        for (std::int64_t i = 0; i < n; ++i) y[at + i * s.inner] = out[i];
    }
  });
}

}  // namespace STROP_ISA

}  // namespace strop::inline v0::detail
