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
#include <type_traits>
#include <utility>

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

/// Sums of lanes that are made side by side, so that none waits for the one before.
inline constexpr int sums_beside = 4;
template <class E>
using SumsBeside = number::Vec<E>[std::size_t{sums_beside}];
/// What they add up to; they are 0 again.
template <class E>
[[gnu::always_inline]] inline double taken(SumsBeside<E>& sums) {
  using V = number::Vec<E>;
  const E sum = sum_of_lanes<E>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  sums[0] = sums[1] = sums[2] = sums[3] = V{};
  return static_cast<double>(sum);
}

/// f(which, registers…) for registers of each of the arrays x along n elements. `which`, of sums_beside, says which of
/// several sums side by side they go to. end() is called behind each stretch, which is short enough for sums of lanes.
/// The last register of an array is filled up with its number of `rest`.
template <class E, class F, class End, class... X>
[[gnu::always_inline]] inline void each_stretch_of_registers(std::int64_t n, const E (&rest)[sizeof...(X)], F f,
                                                             End end, const X*... x) {
  using R = number::Rep<number::Vec<E>>;
  constexpr std::int64_t L = R::lanes, stretch = sums_beside * chain_of_sums * L;
  for (std::int64_t at = 0; at < n; at += stretch) {
    const std::int64_t stop = std::min(n, at + stretch);
    std::int64_t i = at;
    for (; i + sums_beside * L <= stop; i += sums_beside * L) {
      f(std::integral_constant<int, 0>{}, R::load(x + i)...);
      f(std::integral_constant<int, 1>{}, R::load(x + i + L)...);
      f(std::integral_constant<int, 2>{}, R::load(x + i + 2 * L)...);
      f(std::integral_constant<int, 3>{}, R::load(x + i + 3 * L)...);
    }
    for (; i + L <= stop; i += L) f(std::integral_constant<int, 0>{}, R::load(x + i)...);
    if (i < stop) {
      const auto part = [&](const E* from, E filler) {
        E last[unsigned_size(L)];
        for (std::int64_t j = 0; j < L; ++j) last[j] = i + j < stop ? from[i + j] : filler;
        return R::load(last);
      };
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        f(std::integral_constant<int, 1>{}, part(x, rest[K])...);
      }(std::index_sequence_for<X...>{});
    }
    end();
  }
}

/// The largest of scale · x; a NaN is none.
template <class E>
E largest_of_row(const E* x, std::int64_t n, E scale) {
  using R = number::Rep<number::Vec<E>>;
  using V = number::Vec<E>;
  constexpr E lowest = -std::numeric_limits<E>::infinity();
  V most[] = {R::splat(lowest), R::splat(lowest), R::splat(lowest), R::splat(lowest)};
  const auto meet = [&](V& m, V v) {
    v = v * scale;
    m = R::select(v > m, v, m);
  };
  std::int64_t i = 0;
  for (; i + 4 * R::lanes <= n; i += 4 * R::lanes)
    unrolled<4>([&](int k) __attribute__((always_inline)) { meet(most[k], R::load(x + i + k * R::lanes)); });
  each_register(x + i, n - i, scale < 0 ? -lowest : lowest, [&](V v, std::int64_t, int) { meet(most[0], v); });
  for (const V& m : {most[1], most[2], most[3]}) most[0] = R::select(m > most[0], m, most[0]);
  E part[R::lanes];
  R::store(part, most[0]);
  return *std::max_element(part, part + R::lanes);
}

/// Σ e^(scale · x − top), and store(register, i, count) of each of them.
template <class E, class Store>
[[gnu::always_inline]] inline E sum_of_exponentials(const E* x, std::int64_t n, E scale, E top, Store store) {
  using R = number::Rep<number::Vec<E>>;
  using V = number::Vec<E>;
  const E least = scale < 0 ? std::numeric_limits<E>::infinity() : -std::numeric_limits<E>::infinity();
  double sum = 0;
  constexpr std::int64_t stretch = chain_of_products * R::lanes;
  for (std::int64_t at = 0; at < n; at += stretch) {
    V sums{};
    each_register(x + at, std::min(stretch, n - at), least, [&](V v, std::int64_t i, int count) {
      const V e = R::exp(v * scale - top);
      sums = sums + e;
      store(e, at + i, count);
    });
    sum += static_cast<double>(sum_of_lanes<E>(sums));
  }
  return static_cast<E>(sum);
}

/// y = e^(scale · x − the largest of that); gives Σ y. x and y may be the same.
template <class E>
E exponentials_of_row(const E* x, E* y, std::int64_t n, E scale) {
  return sum_of_exponentials(x, n, scale, largest_of_row(x, n, scale),
                             [&](number::Vec<E> e, std::int64_t i, int count) { store_part<E>(y + i, e, count); });
}

/// One row: y = softmax(scale · x), or its logarithm. x and y may be the same.
template <class E>
void softmax_row(const E* x, E* y, std::int64_t n, E scale, bool logarithm) {
  using V = number::Vec<E>;
  if (logarithm) {
    const E top = largest_of_row(x, n, scale);
    const E shift = number::Rep<E>::log(sum_of_exponentials(x, n, scale, top, [](V, std::int64_t, int) {}));
    each_register(x, n, E(0),
                  [&](V v, std::int64_t i, int count) { store_part<E>(y + i, (v * scale - top) - shift, count); });
  } else {
    const E by = 1 / exponentials_of_row(x, y, n, scale);
    each_register(y, n, E(0), [&](V v, std::int64_t i, int count) { store_part<E>(y + i, v * by, count); });
  }
}

/// One row of the gradient: dx = scale · y · (dy − Σ dy·y), of the logarithm scale · (dy − eʸ · Σ dy).
template <class E>
void softmax_gradient_row(const E* dy, const E* y, E* dx, std::int64_t n, E scale, bool logarithm) {
  using R = number::Rep<number::Vec<E>>;
  using V = number::Vec<E>;
  SumsBeside<E> sums{};
  double sum = 0;
  const auto end = [&] { sum += taken<E>(sums); };
  if (logarithm)
    each_stretch_of_registers<E>(n, {E(0)}, [&](auto k, V g) { sums[k] = sums[k] + g; }, end, dy);
  else
    each_stretch_of_registers<E>(n, {E(0), E(0)}, [&](auto k, V g, V v) { sums[k] = sums[k] + g * v; }, end, dy, y);
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

/// N registers of a row of columns, of which `count` are there.
template <class E, int N>
struct ColumnPiece {
  using R = number::Rep<number::Vec<E>>;
  static constexpr std::int64_t width = N * R::lanes;
  number::Vec<E> v[std::size_t{N}];
  [[gnu::always_inline]] ColumnPiece() {
    unrolled<N>([&](int k) __attribute__((always_inline)) { v[k] = number::Vec<E>{}; });
  }
  [[gnu::always_inline]] explicit ColumnPiece(const E* from, std::int64_t count = width) {
    E part[std::size_t{width}] = {};
    if (count != width) {
      std::copy_n(from, count, part);
      from = part;
    }
    load(from);
  }
  [[gnu::always_inline]] void load(const E* from) {
    unrolled<N>([&](int k) __attribute__((always_inline)) { v[k] = R::load(from + k * R::lanes); });
  }
  [[gnu::always_inline]] void store(E* to, std::int64_t count = width) const {
    E part[std::size_t{width}];
    E* const all = count == width ? to : part;
    unrolled<N>([&](int k) __attribute__((always_inline)) { R::store(all + k * R::lanes, v[k]); });
    if (count != width) std::copy_n(part, count, to);
  }
};
/// K sums of each of N registers of columns, down n rows: add(sums, row) adds a row, in stretches of `chain` rows.
template <class E, int N, std::int64_t chain, std::size_t K, class Add>
[[gnu::always_inline]] inline void sums_of_columns(std::int64_t n, double (&totals)[K][ColumnPiece<E, N>::width],
                                                   Add add) {
  using Piece = ColumnPiece<E, N>;
  constexpr std::size_t width = std::size_t{Piece::width};
  for (auto& of : totals) std::fill(of, of + width, 0.0);
  for (std::int64_t at = 0; at < n; at += chain) {
    Chains<Piece, static_cast<int>(K)> sums;
    for (std::int64_t i = at; i < std::min(n, at + chain); ++i) add(sums.of, i);
    for (std::size_t k = 0; k < K; ++k) {
      E part[width];
      sums.of[k].store(part);
      for (std::size_t j = 0; j < width; ++j) totals[k][j] += static_cast<double>(part[j]);
    }
  }
}
/// One sum, rounded.
template <class E, int N, std::int64_t chain, class Add>
[[gnu::always_inline]] inline ColumnPiece<E, N> sum_of_columns(std::int64_t n, Add add) {
  constexpr std::size_t width = std::size_t{ColumnPiece<E, N>::width};
  double total[1][width];
  sums_of_columns<E, N, chain>(n, total, [&](auto& sums, std::int64_t i) { add(sums[0], i); });
  E part[width];
  for (std::size_t j = 0; j < width; ++j) part[j] = static_cast<E>(total[0][j]);
  return ColumnPiece<E, N>(part);
}

/// softmax_row down `count` columns whose rows are `pitch` apart. `space`: room for n rows of N registers, in which the
/// columns lie together: rows of memory that are a power of two apart share few places of a cache.
template <class E, int N>
void softmax_columns(const E* x, E* y, std::int64_t n, std::int64_t pitch, std::int64_t count, E scale, bool logarithm,
                     E* space) {
  using Piece = ColumnPiece<E, N>;
  using R = typename Piece::R;
  Piece most;
  unrolled<N>([&](int k) __attribute__((always_inline)) { most.v[k] = R::splat(-std::numeric_limits<E>::infinity()); });
  for (std::int64_t i = 0; i < n; ++i) {
    Piece v(x + i * pitch, count);
    unrolled<N>([&](int k) __attribute__((always_inline)) {
      v.v[k] = v.v[k] * scale;
      most.v[k] = R::select(v.v[k] > most.v[k], v.v[k], most.v[k]);
    });
    v.store(space + i * Piece::width);
  }
  Piece last = sum_of_columns<E, N, chain_of_products>(n, [&](Piece& sums, std::int64_t i) {
    Piece e(space + i * Piece::width);
    unrolled<N>([&](int k) __attribute__((always_inline)) {
      e.v[k] = R::exp(e.v[k] - most.v[k]);
      sums.v[k] = sums.v[k] + e.v[k];
    });
    if (!logarithm) e.store(space + i * Piece::width);
  });
  unrolled<N>([&](int k)
                  __attribute__((always_inline)) { last.v[k] = logarithm ? R::log(last.v[k]) : E(1) / last.v[k]; });
  for (std::int64_t i = 0; i < n; ++i) {
    Piece v(space + i * Piece::width);
    unrolled<N>([&](int k) __attribute__((always_inline)) {
      v.v[k] = logarithm ? (v.v[k] - most.v[k]) - last.v[k] : v.v[k] * last.v[k];
    });
    v.store(y + i * pitch, count);
  }
}
/// softmax_gradient_row down columns; `space`: room for twice as many rows.
template <class E, int N>
void softmax_gradient_columns(const E* dy, const E* y, E* dx, std::int64_t n, std::int64_t pitch, std::int64_t count,
                              E scale, bool logarithm, E* space) {
  using Piece = ColumnPiece<E, N>;
  using R = typename Piece::R;
  const Piece total = sum_of_columns<E, N, chain_of_sums>(n, [&](Piece& sums, std::int64_t i) {
    const Piece g(dy + i * pitch, count), v(y + i * pitch, count);
    unrolled<N>([&](int k)
                    __attribute__((always_inline)) { sums.v[k] = sums.v[k] + (logarithm ? g.v[k] : g.v[k] * v.v[k]); });
    g.store(space + 2 * i * Piece::width);
    v.store(space + (2 * i + 1) * Piece::width);
  });
  for (std::int64_t i = 0; i < n; ++i) {
    Piece g(space + 2 * i * Piece::width);
    const Piece v(space + (2 * i + 1) * Piece::width);
    unrolled<N>([&](int k) __attribute__((always_inline)) {
      g.v[k] = logarithm ? (g.v[k] - R::exp(v.v[k]) * total.v[k]) * scale : v.v[k] * (g.v[k] - total.v[k]) * scale;
    });
    g.store(dx + i * pitch, count);
  }
}

/// f(N, first element, columns, space) for tiles of columns, N registers wide, on several threads. `space` has room for
/// so many arrays of such columns. Whether there are columns enough for registers; else nothing was done.
template <int arrays, class E, class F>
bool each_tile_of_columns(const AxisSplit& s, F f) {
  constexpr std::int64_t lanes = number::Rep<number::Vec<E>>::lanes;
  if (s.inner == 1 || 2 * s.inner < lanes) return false;
  const auto run = [&]<int N>(std::integral_constant<int, N> registers) {
    constexpr std::int64_t width = N * lanes;
    const std::int64_t tiles = (s.inner - 1) / width + 1, room = arrays * s.length * width;
    parallel_for(
        s.outer * tiles, (1 << 14) / std::max<std::int64_t>(1, room) + 1, [&](std::int64_t begin, std::int64_t end) {
          List<E> space(room);
          for (std::int64_t t = begin; t < end; ++t) {
            const std::int64_t first = t % tiles * width;
            f(registers, t / tiles * s.length * s.inner + first, std::min(width, s.inner - first), space.data());
          }
        });
  };
  // what a core keeps beside it, of every processor of the last years
  constexpr std::int64_t near = 1 << 19;
  if (s.inner > 2 * lanes && s.length <= near / (arrays * 4 * lanes * std::int64_t{sizeof(E)}))
    run(std::integral_constant<int, 4>{});
  else
    run(std::integral_constant<int, 1>{});
  return true;
}

/// Rows along the axis in groups that are gone through together: one row where rows lie together in memory, else as
/// many as have their elements beside each other in a line of a cache; these are gathered, and y's put back.
struct RowGroups {
  AxisSplit split;
  std::int64_t size, groups_of_outer, count;
  /// Of elements of so many bytes.
  RowGroups(const AxisSplit& s, std::int64_t bytes)
      : split(s),
        size(s.inner == 1 ? 1 : std::min(s.inner, 64 / bytes)),
        groups_of_outer(size == 0 ? 0 : (s.inner - 1) / size + 1),
        count(s.outer * groups_of_outer) {}

  /// f(row of each x, row of y, its number) for the rows of groups [begin, end); without y where that is null.
  template <std::size_t Inputs, class E, class F>
  void each(std::int64_t begin, std::int64_t end, const E* const (&x)[Inputs], E* y, F f) const {
    const std::int64_t n = split.length;
    const E* in[Inputs];
    if (split.inner == 1) {
      for (std::int64_t r = begin; r < end; ++r) {
        for (std::size_t k = 0; k < Inputs; ++k) in[k] = x[k] + r * n;
        f(in, y == nullptr ? y : y + r * n, r);
      }
      return;
    }
    const std::int64_t pitch = n + 64 / std::int64_t{sizeof(E)};  // no power of two, which shares places of a cache
    List<E> space(pitch * size * static_cast<std::int64_t>(Inputs + 1));
    E* const out = space.data() + static_cast<std::int64_t>(Inputs) * size * pitch;
    for (std::int64_t g = begin; g < end; ++g) {
      const std::int64_t outer = g / groups_of_outer, first = g % groups_of_outer * size,
                         rows = std::min(size, split.inner - first), at = outer * n * split.inner + first;
      for (std::size_t k = 0; k < Inputs; ++k) {
        E* const to = space.data() + static_cast<std::int64_t>(k) * size * pitch;
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < rows; ++j) to[j * pitch + i] = x[k][at + i * split.inner + j];
      }
      for (std::int64_t j = 0; j < rows; ++j) {
        for (std::size_t k = 0; k < Inputs; ++k)
          in[k] = space.data() + (static_cast<std::int64_t>(k) * size + j) * pitch;
        f(in, y == nullptr ? y : out + j * pitch, outer * split.inner + first + j);
      }
      if (y == nullptr) continue;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < rows; ++j) y[at + i * split.inner + j] = out[j * pitch + i];
    }
  }
};

/// f(row of each x, row of y, its number) for all rows along the axis, on several threads.
template <std::size_t Inputs, class E, class F>
void each_row(const AxisSplit& s, const E* const (&x)[Inputs], E* y, F f) {
  if (s.length == 0) return;
  const RowGroups rows(s, std::int64_t{sizeof(E)});
  parallel_for(rows.count, (1 << 14) / (s.length * std::max<std::int64_t>(1, rows.size)) + 1,
               [&](std::int64_t begin, std::int64_t end) { rows.each(begin, end, x, y, f); });
}

}  // namespace STROP_ISA

}  // namespace strop::inline v0::detail
