// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pooling in registers of lanes, where each channel lies by itself: windows are made up along the columns of an image
/// first, whose rows lie together, then along its rows.
#pragma once
#include <strop/core/list.hpp>
#include <strop/number/lanes.hpp>
#include <strop/number/lanes_wide.hpp>
#include <strop/ops/softmax_kernels_body.hpp>
#include <strop/ops/windows_body.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

#if STROP_LANE_BYTES == 0
struct Widened {
  double low, high;
};
inline Widened widened(float x) { return {static_cast<double>(x), 0}; }
inline float narrowed(Widened w) { return static_cast<float>(w.low); }
#else
[[gnu::always_inline]] inline auto widened(number::Vec<float> x) { return number::detail_lanes::widen(x); }
[[gnu::always_inline]] inline auto narrowed(number::detail_lanes::Wide w) { return number::detail_lanes::narrow(w); }
#endif

/// Every other number of two registers, from number 0 or 1.
template <int from, class V>
[[gnu::always_inline]] inline V every_other(V a, V b) {
  constexpr int lanes = sizeof(V) / sizeof(a[0]), f = from;
  if constexpr (lanes == 2)
    return __builtin_shufflevector(a, b, f, 2 + f);
  else if constexpr (lanes == 4)
    return __builtin_shufflevector(a, b, f, 2 + f, 4 + f, 6 + f);
  else if constexpr (lanes == 8)
    return __builtin_shufflevector(a, b, f, 2 + f, 4 + f, 6 + f, 8 + f, 10 + f, 12 + f, 14 + f);
  else
    return __builtin_shufflevector(a, b, f, 2 + f, 4 + f, 6 + f, 8 + f, 10 + f, 12 + f, 14 + f, 16 + f, 18 + f, 20 + f,
                                   22 + f, 24 + f, 26 + f, 28 + f, 30 + f);
}

/// Σ x, made in double.
template <class E>
double wide_sum(const E* x, std::int64_t n) {
  using R = number::Rep<number::Vec<E>>;
  using D = number::Vec<double>;
  constexpr std::int64_t L = R::lanes;
  double rest = 0;
  if (n < L) {
    for (std::int64_t i = 0; i < n; ++i) rest += static_cast<double>(x[i]);
    return rest;
  }
  D low{}, high{};
  const auto add = [&](number::Vec<E> v) __attribute__((always_inline)) {
    if constexpr (sizeof(E) == sizeof(double)) {
      low = low + v;
    } else {
      const auto wide = widened(v);
      low = low + wide.low;
      high = high + wide.high;
    }
  };
  std::int64_t i = 0;
  for (; i + L <= n; i += L) add(R::load(x + i));
  if (n - i > L / 4) {  // the last register, without what the one before had
    static constexpr auto counts = [] {
      std::array<E, unsigned_size(2 * L)> of{};
      std::fill_n(of.begin() + L, L, E(1));
      return of;
    }();
    add(R::select(R::load(counts.data() + (n - i)) != E(0), R::load(x + n - L), number::Vec<E>{}));
  } else {
    for (; i < n; ++i) rest += static_cast<double>(x[i]);
  }
  return sum_of_lanes<double>(low + high) + rest;
}
/// to[i] = value.
template <class E>
void fill_row(E* to, std::int64_t n, E value) {
  using R = number::Rep<number::Vec<E>>;
  constexpr std::int64_t L = R::lanes;
  if (n < L) return static_cast<void>(std::fill_n(to, n, value));
  const number::Vec<E> v = R::splat(value);
  for (std::int64_t i = 0; i + L <= n; i += L) R::store(to + i, v);
  if (n % L != 0) R::store(to + n - L, v);
}

/// One image of one channel: rows of E, and the windows over them.
template <class E>
struct PlaneOfWindows {
  using R = number::Rep<number::Vec<E>>;
  using V = number::Vec<E>;
  static constexpr std::int64_t L = R::lanes;
  const Windows& w;
  /// Room for a row with its padding, as far as registers read it.
  std::int64_t width = 0;

  explicit PlaneOfWindows(const Windows& windows) : w(windows) {
    if (fits()) width = (w.out[2] + L) * w.stride[2] + w.kernel[2] + 2 * L;
  }
  /// Whether a row with its padding is worth room of its own, and places of a window are exact numbers.
  bool fits() const {
    constexpr std::int64_t most = 1 << 20;
    for (const std::int64_t extent : {w.out[2], w.stride[2], w.kernel[2], w.kernel[1], w.kernel[0]})
      if (extent > most) return false;
    return L > 1 && w.out[2] > 1 && (w.out[2] + L) * w.stride[2] <= most &&
           w.kernel[0] * w.kernel[1] * w.kernel[2] <= most &&
           w.kernel[0] * w.kernel[1] * ((w.out[2] + L) * w.stride[2] + w.kernel[2] + 2 * L) <= 4 * most;
  }
  /// f(first row, how many along axis 1, along axis 0) of the image for each row of windows, and where it begins in y.
  template <class F>
  void each_row_of_windows(F f) const {
    for (std::int64_t a = 0; a < w.out[0]; ++a)
      for (std::int64_t b = 0; b < w.out[1]; ++b) f(a, b, (a * w.out[1] + b) * w.out[2]);
  }
  /// The elements of the image along an axis that window `at` covers.
  struct Span {
    std::int64_t low, high, begin;
  };
  Span covered(int axis, std::int64_t at) const {
    const std::int64_t begin = at * w.stride[axis] - w.pad[axis], low = std::max<std::int64_t>(begin, 0);
    return {low, std::max(low, std::min(begin + w.kernel[axis], w.in[axis])), begin};
  }
  /// f(row, number of the row in the window) for the rows of the image that a row of windows covers.
  template <class F>
  [[gnu::always_inline]] void each_row(std::int64_t a, std::int64_t b, F f) const {
    const Span deep = covered(0, a), down = covered(1, b);
    for (std::int64_t i = deep.low; i < deep.high; ++i)
      for (std::int64_t j = down.low; j < down.high; ++j)
        f((i * w.in[1] + j) * w.in[2], (i - deep.begin) * w.kernel[1] + (j - down.begin));
  }

  /// f(place k of the window along axis 2, the elements there of windows [c, c + lanes)) for all places, of a row with
  /// its padding.
  template <class T, class F>
  [[gnu::always_inline]] void each_place(const T* row, std::int64_t c, F f) const {
    using RT = number::Rep<number::Vec<T>>;
    if (w.stride[2] == 1) {
      for (std::int64_t k = 0; k < w.kernel[2]; ++k) f(k, RT::load(row + c + k));
      return;
    }
    if constexpr (RT::lanes > 1)
      if (w.stride[2] == 2) {
        for (std::int64_t k = 0; k < w.kernel[2]; k += 2) {
          const auto a = RT::load(row + 2 * c + k), b = RT::load(row + 2 * c + k + RT::lanes);
          f(k, every_other<0>(a, b));
          if (k + 1 < w.kernel[2]) f(k + 1, every_other<1>(a, b));
        }
        return;
      }
    for (std::int64_t k = 0; k < w.kernel[2]; ++k) {
      T part[RT::lanes];
      for (std::int64_t j = 0; j < RT::lanes; ++j) part[j] = row[(c + j) * w.stride[2] + k];
      f(k, RT::load(part));
    }
  }
  /// f(i, count) for registers along n elements; the last may go over elements of the one before.
  template <class F>
  [[gnu::always_inline]] static void each_whole_register(std::int64_t n, F f) {
    for (std::int64_t i = 0; i + L <= n; i += L) f(i);
    if (n % L != 0) f(n - L);
  }
  [[gnu::always_inline]] static void put(E* to, V v, std::int64_t count, bool add) {
    if (add) v = v + ColumnPiece<E, 1>(to, count).v[0];
    store_part<E>(to, v, static_cast<int>(std::min(L, count)));
  }

  /// y = the largest of each window. `row`: width numbers, −∞ at first.
  void largest(const E* x, E* y, bool add, E* row) const {
    const auto meet = [](V m, V v) __attribute__((always_inline)) { return R::select(v > m, v, m); };
    const V lowest = R::splat(-std::numeric_limits<E>::infinity());
    E* const inside = row + w.pad[2];
    each_row_of_windows([&](std::int64_t a, std::int64_t b, std::int64_t to) {
      if (w.in[2] >= L) {
        each_whole_register(w.in[2], [&](std::int64_t i) {
          V most = lowest;
          each_row(a, b, [&](std::int64_t at, std::int64_t) { most = meet(most, R::load(x + at + i)); });
          R::store(inside + i, most);
        });
      } else {
        std::fill_n(inside, w.in[2], -std::numeric_limits<E>::infinity());
        each_row(a, b, [&](std::int64_t at, std::int64_t) {
          for (std::int64_t i = 0; i < w.in[2]; ++i) inside[i] = x[at + i] > inside[i] ? x[at + i] : inside[i];
        });
      }
      for (std::int64_t c = 0; c < w.out[2]; c += L) {
        V most = lowest;
        each_place(row, c, [&](std::int64_t, V v) { most = meet(most, v); });
        put(y + to + c, most, std::min(L, w.out[2] - c), add);
      }
    });
  }

  /// y = the sum of each window, made in double, over what it counts: counted(axis, window) of each axis, 1 where sums
  /// are asked for. `row`: width doubles, 0 at first; `parts`: what the windows of a row count, of float 1 over that.
  template <class Counted>
  void sums(const E* x, E* y, bool add, double* row, const double* parts, Counted counted) const {
    using RD = number::Rep<number::Vec<double>>;
    using D = number::Vec<double>;
    constexpr std::int64_t LD = RD::lanes;
    double* const inside = row + w.pad[2];
    each_row_of_windows([&](std::int64_t a, std::int64_t b, std::int64_t to) {
      if (w.in[2] >= L) {
        each_whole_register(w.in[2], [&](std::int64_t i) {
          if constexpr (sizeof(E) == sizeof(double)) {
            D sum{};
            each_row(a, b, [&](std::int64_t at, std::int64_t) { sum = sum + R::load(x + at + i); });
            RD::store(inside + i, sum);
          } else {
            D low{}, high{};
            each_row(a, b, [&](std::int64_t at, std::int64_t) {
              const auto v = widened(R::load(x + at + i));
              low = low + v.low;
              high = high + v.high;
            });
            RD::store(inside + i, low);
            RD::store(inside + i + LD, high);
          }
        });
      } else {
        std::fill_n(inside, w.in[2], 0.0);
        each_row(a, b, [&](std::int64_t at, std::int64_t) {
          for (std::int64_t i = 0; i < w.in[2]; ++i) inside[i] += static_cast<double>(x[at + i]);
        });
      }
      const double of_row = counted(0, a) * counted(1, b);
      const auto sum_at = [&](std::int64_t c) __attribute__((always_inline)) {
        D sum{};
        each_place(row, c, [&](std::int64_t, D v) { sum = sum + v; });
        // a double keeps what a product with the inverse loses, once it is a float
        if constexpr (sizeof(E) == sizeof(double))
          return sum / (RD::load(parts + c) * of_row);
        else
          return sum * (RD::load(parts + c) * (1 / of_row));
      };
      for (std::int64_t c = 0; c < w.out[2]; c += L) {
        V v{};
        if constexpr (sizeof(E) == sizeof(double))
          v = sum_at(c);
        else
          v = narrowed({sum_at(c), sum_at(c + LD)});
        put(y + to + c, v, std::min(L, w.out[2] - c), add);
      }
    });
  }

  /// dx += the head gradient at the first of the largest elements of each window. `rows`: as many rows with padding as
  /// a window has, −∞ at first; `places`: width numbers.
  void gradient_of_largest(const E* dy, const E* x, E* dx, E* rows, E* places) const {
    const V lowest = R::splat(-std::numeric_limits<E>::infinity());
    each_row_of_windows([&](std::int64_t a, std::int64_t b, std::int64_t from) {
      each_row(a, b,
               [&](std::int64_t at, std::int64_t k) { std::copy_n(x + at, w.in[2], rows + k * width + w.pad[2]); });
      for (std::int64_t c = 0; c < w.out[2]; c += L) {
        V most = lowest, place = R::splat(E(-1));
        each_row(a, b, [&](std::int64_t, std::int64_t k) {
          each_place(rows + k * width, c, [&](std::int64_t at, V v) {
            const auto more = v > most;
            most = R::select(more, v, most);
            place = R::select(more, R::splat(static_cast<E>(k * w.kernel[2] + at)), place);
          });
        });
        R::store(places + c, place);
      }
      const std::int64_t base = ((a * w.stride[0] - w.pad[0]) * w.in[1] + b * w.stride[1] - w.pad[1]) * w.in[2];
      for (std::int64_t c = 0; c < w.out[2]; ++c) {
        if (places[c] < E(0)) continue;
        const std::int32_t place = static_cast<std::int32_t>(places[c]),
                           row = place / static_cast<std::int32_t>(w.kernel[2]);
        const std::int64_t deep = row / w.kernel[1], down = row % w.kernel[1];
        dx[base + (deep * w.in[1] + down) * w.in[2] + c * w.stride[2] - w.pad[2] +
           (place - row * static_cast<std::int32_t>(w.kernel[2]))] += dy[from + c];
      }
    });
  }

  /// dx += dy over what its window counts, at all elements of the window. `row`: width numbers; `heads`: as many, 0 but
  /// for what is written here; `parts`: what the windows of a row count.
  template <class Counted>
  void gradient_of_sums(const E* dy, E* dx, E* row, E* heads, const double* parts, Counted counted) const {
    const std::int64_t places = w.kernel[2], before = places;  // zeros in front
    E* const inside = row + w.pad[2];
    each_row_of_windows([&](std::int64_t a, std::int64_t b, std::int64_t from) {
      const double of_row = counted(0, a) * counted(1, b);
      for (std::int64_t c = 0; c < w.out[2]; ++c) heads[before + c] = dy[from + c] / static_cast<E>(of_row * parts[c]);
      if (w.stride[2] == 1) {
        for (std::int64_t i = 0; i < w.in[2] + w.pad[2]; i += L) {
          V sum{};
          for (std::int64_t k = 0; k < places; ++k) sum = sum + R::load(heads + before + i - k);
          R::store(row + i, sum);
        }
      } else {
        std::fill_n(row, w.in[2] + w.pad[2], E(0));
        const std::int64_t end = w.in[2] + w.pad[2];
        for (std::int64_t c = 0; c < w.out[2]; ++c) {
          const E part = heads[before + c];
          const std::int64_t first = c * w.stride[2], stop = std::min(end, first + places);
          for (std::int64_t i = first; i < stop; ++i) row[i] += part;
        }
      }
      each_row(a, b, [&](std::int64_t at, std::int64_t) { add_numbers(dx + at, inside, w.in[2]); });
    });
  }
};

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
