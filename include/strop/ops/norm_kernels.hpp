// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums and linear functions of the elements of channels: an array as outer × channels × inner, each channel with
/// numbers of its own.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/pairwise.hpp>
#include <strop/ops/softmax_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace strop::inline v0::detail {

/// Mean and (biased) variance.
struct Moments {
  double mean = 0, variance = 0;
};
/// Σ dy, Σ dy · (x − centre) and Σ (x − centre), of a centre that is the mean, rounded.
struct HeadSums {
  double plain = 0, product = 0, off = 0;
};

inline namespace STROP_ISA {

template <class E>
double sum_of(const E* x, std::int64_t n) {
  SumsBeside<E> sums{};
  double total = 0;
  each_stretch_of_registers<E>(
      n, {E(0)}, [&](auto k, number::Vec<E> v) { sums[k] = sums[k] + v; }, [&] { total += taken<E>(sums); }, x);
  return total;
}

/// Σ (x − centre) and Σ (x − centre)².
struct Deviations {
  double plain = 0, squares = 0;
};
template <class E>
Deviations deviations_from(E centre, const E* x, std::int64_t n) {
  SumsBeside<E> plain{}, squares{};
  Deviations total;
  each_stretch_of_registers<E>(
      n, {centre},
      [&](auto k, number::Vec<E> v) {
        const number::Vec<E> d = v - centre;
        plain[k] = plain[k] + d;
        squares[k] = squares[k] + d * d;
      },
      [&] {
        total.plain += taken<E>(plain);
        total.squares += taken<E>(squares);
      },
      x);
  return total;
}

/// Those of count elements, which `each` calls its argument with: in double and in parts that are as small as the
/// result, where registers overflowed.
template <class Each>
Moments wide_moments(double count, Each each) {
  Moments m;
  each([&](auto x) { m.mean += static_cast<double>(x) / count; });
  each([&](auto x) {
    const double d = static_cast<double>(x) - m.mean;
    m.variance += d * (d / count);
  });
  return m;
}
/// Of one row, in two passes, so that no digits are lost; the second makes good for what the first and the rounding of
/// the centre lost.
template <class E>
Moments moments(const E* x, std::int64_t n) {
  if (n == 0) return {};
  const double count = static_cast<double>(n);
  const E centre = static_cast<E>(sum_of(x, n) / count);
  const Deviations d = deviations_from(centre, x, n);
  const double off = d.plain / count, variance = d.squares / count - off * off;
  if (std::isfinite(variance)) return {static_cast<double>(centre) + off, variance < 0 ? 0 : variance};
  return wide_moments(count, [&](auto f) { std::for_each(x, x + n, f); });
}

/// to[i] = f(x[i]…) for n elements. `to` may be any of x.
template <class E, class F, class... X>
[[gnu::always_inline]] inline void each_element_of_rows(std::int64_t n, E* to, F f, const X*... x) {
  using R = number::Rep<number::Vec<E>>;
  std::int64_t i = 0;
  for (; i + R::lanes <= n; i += R::lanes) R::store(to + i, f(R::load(x + i)...));
  if (i == n) return;
  const auto part = [&](const E* from) {
    E last[unsigned_size(R::lanes)] = {};
    std::copy(from + i, from + n, last);
    return R::load(last);
  };
  store_part<E>(to + i, f(part(x)...), static_cast<int>(n - i));
}

/// Sums of rows, element by element: in E of as many as a chain may add, and the sums of these in double.
template <class E>
class SumsOfRows {
 public:
  explicit SumsOfRows(std::int64_t n) : now_(n), total_(n) {}
  /// Adds f(x[i]…).
  template <class F, class... X>
  [[gnu::always_inline]] void add(F f, const X*... x) {
    each_element_of_rows<E>(
        now_.size(), now_.data(), [&](auto sum, auto... v) { return sum + f(v...); }, now_.data(), x...);
    if (++rows_ == chain_of_sums) take();
  }
  /// Puts the sums at `to`.
  void give(double* to) {
    take();
    std::copy(total_.begin(), total_.end(), to);
  }

 private:
  void take() {
    for (std::int64_t i = 0; i < now_.size(); ++i) total_[i] += static_cast<double>(now_[i]);
    std::fill(now_.begin(), now_.end(), E(0));
    rows_ = 0;
  }
  List<E> now_;
  List<double> total_;
  std::int64_t rows_ = 0;
};

/// Of head gradients g, which are dy, or dy · gain where that is given.
template <class E, class... Gain>
HeadSums head_sums(const E* dy, const E* x, std::int64_t n, E centre, const Gain*... gain) {
  using V = number::Vec<E>;
  SumsBeside<E> plain{}, product{}, off{};
  HeadSums total;
  const E rest[] = {E(0), centre, (static_cast<void>(gain), E(0))...};
  each_stretch_of_registers<E>(
      n, rest,
      [&](auto k, V g, V v, auto... factor) {
        const V d = v - centre;
        ((g = g * factor), ...);
        plain[k] = plain[k] + g;
        product[k] = product[k] + g * d;
        off[k] = off[k] + d;
      },
      [&] {
        total.plain += taken<E>(plain);
        total.product += taken<E>(product);
        total.off += taken<E>(off);
      },
      dy, x, gain...);
  return total;
}

/// Whether the elements of a channel are so few beside each other that registers span channels: the array is then
/// gone through by columns, of which each channel has `inner`.
constexpr bool spans_channels(const AxisSplit& s) { return s.inner < 16; }
/// Channels that are gone through together, and the columns of them, at most.
inline constexpr std::int64_t most_channels = 64, most_columns = 80;
/// f(begin, end) for parts of the channels, of at most most_channels, on several threads.
template <class F>
void share_channels(const AxisSplit& s, F f) {
  const std::int64_t together = spans_channels(s) ? (most_channels - 1) / std::max<std::int64_t>(1, s.inner) + 1 : 1;
  parallel_for((s.length + together - 1) / together,
               (1 << 14) / std::max<std::int64_t>(1, s.outer * s.inner * together) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t part = begin; part < end; ++part)
                   f(part * together, std::min(s.length, (part + 1) * together));
               });
}
/// The registers of columns whose sums are made at once.
inline constexpr int sum_registers = 2;
/// to[k][c] += the sums k of each channel c of [begin, end): add(sums, first element, columns, first column) adds a row
/// of columns.
template <class E, std::size_t K, class Add>
[[gnu::always_inline]] inline void add_sums_of_channels(const AxisSplit& s, std::int64_t begin, std::int64_t end,
                                                        double (&to)[K][most_channels], Add add) {
  constexpr std::int64_t width = ColumnPiece<E, sum_registers>::width;
  const std::int64_t columns = (end - begin) * s.inner, pitch = s.length * s.inner;
  for (std::int64_t first = 0; first < columns; first += width) {
    const std::int64_t count = std::min(width, columns - first);
    double totals[K][std::size_t{width}];
    sums_of_columns<E, sum_registers, chain_of_sums>(s.outer, totals, [&](auto& sums, std::int64_t row) {
      add(sums, row * pitch + begin * s.inner + first, count, first);
    });
    for (std::size_t k = 0; k < K; ++k)
      for (std::int64_t j = 0; j < count; ++j) to[k][(first + j) / s.inner] += totals[k][j];
  }
}
/// The numbers that each channel has, for each column.
template <class E, class F>
void spread_over_columns(const AxisSplit& s, std::int64_t begin, std::int64_t end, E (&to)[most_columns], F f) {
  for (std::int64_t c = begin; c < end; ++c)
    for (std::int64_t j = 0; j < s.inner; ++j) to[(c - begin) * s.inner + j] = f(c);
}

/// Of the channels [begin, end).
template <class E>
void channel_moments(const AxisSplit& s, const E* x, std::int64_t begin, std::int64_t end,
                     Moments (&out)[most_channels]) {
  const double count = static_cast<double>(s.outer * s.inner);
  const auto each_stretch = [&](std::int64_t c, auto f) {
    for (std::int64_t o = 0; o < s.outer; ++o) f(x + (o * s.length + c) * s.inner);
  };
  using Piece = ColumnPiece<E, sum_registers>;
  double sum[1][most_channels] = {}, sums[2][most_channels] = {};  // of x; of x − centre and its square
  E centre[most_columns] = {};
  const auto put_centre = [&] {
    spread_over_columns(s, begin, end, centre,
                        [&](std::int64_t c) { return static_cast<E>(sum[0][c - begin] / count); });
  };
  if (spans_channels(s)) {
    add_sums_of_channels<E>(s, begin, end, sum, [&](auto& of, std::int64_t at, std::int64_t n, std::int64_t) {
      const Piece v(x + at, n);
      unrolled<sum_registers>([&](int k) __attribute__((always_inline)) { of[0].v[k] = of[0].v[k] + v.v[k]; });
    });
    put_centre();
    add_sums_of_channels<E>(s, begin, end, sums, [&](auto& of, std::int64_t at, std::int64_t n, std::int64_t first) {
      const Piece v(x + at, n), middle(centre + first, n);
      unrolled<sum_registers>([&](int k) __attribute__((always_inline)) {
        const auto d = v.v[k] - middle.v[k];
        of[0].v[k] = of[0].v[k] + d;
        of[1].v[k] = of[1].v[k] + d * d;
      });
    });
  } else {
    for (std::int64_t c = begin; c < end; ++c) {
      each_stretch(c, [&](const E* from) { sum[0][c - begin] += sum_of(from, s.inner); });
      const E middle = static_cast<E>(sum[0][c - begin] / count);
      each_stretch(c, [&](const E* from) {
        const Deviations d = deviations_from(middle, from, s.inner);
        sums[0][c - begin] += d.plain;
        sums[1][c - begin] += d.squares;
      });
    }
  }
  for (std::int64_t c = begin; c < end; ++c) {
    const std::int64_t at = c - begin;
    const double off = sums[0][at] / count, variance = sums[1][at] / count - off * off;
    out[at] = {static_cast<double>(static_cast<E>(sum[0][at] / count)) + off, variance < 0 ? 0 : variance};
    if (!std::isfinite(variance))
      out[at] = wide_moments(
          count, [&](auto f) { each_stretch(c, [&](const E* from) { std::for_each(from, from + s.inner, f); }); });
  }
}

/// Of the channels [begin, end), whose means are `mean`.
template <class E>
void channel_head_sums(const AxisSplit& s, const E* dy, const E* x, const E* mean, std::int64_t begin, std::int64_t end,
                       HeadSums (&out)[most_channels]) {
  using Piece = ColumnPiece<E, sum_registers>;
  if (spans_channels(s)) {
    E centre[most_columns] = {};
    spread_over_columns(s, begin, end, centre, [&](std::int64_t c) { return mean[c]; });
    double sums[3][most_channels] = {};
    add_sums_of_channels<E>(s, begin, end, sums, [&](auto& of, std::int64_t at, std::int64_t n, std::int64_t first) {
      const Piece g(dy + at, n), v(x + at, n), middle(centre + first, n);
      unrolled<sum_registers>([&](int k) __attribute__((always_inline)) {
        const auto d = v.v[k] - middle.v[k];
        of[0].v[k] = of[0].v[k] + g.v[k];
        of[1].v[k] = of[1].v[k] + g.v[k] * d;
        of[2].v[k] = of[2].v[k] + d;
      });
    });
    for (std::int64_t c = 0; c < end - begin; ++c) out[c] = {sums[0][c], sums[1][c], sums[2][c]};
    return;
  }
  for (std::int64_t c = begin; c < end; ++c) {
    HeadSums& total = out[c - begin] = {};
    for (std::int64_t o = 0; o < s.outer; ++o) {
      const std::int64_t at = (o * s.length + c) * s.inner;
      const HeadSums more = head_sums(dy + at, x + at, s.inner, mean[c]);
      total.plain += more.plain;
      total.product += more.product;
      total.off += more.off;
    }
  }
}

/// The numbers of a channel: z = x_factor · (x − x_origin) + y_factor · (y − y_origin) + shift.
template <class T>
struct Linear {
  T x_factor = {}, x_origin = {}, y_factor = {}, y_origin = {}, shift = {};
  template <class V>
  [[gnu::always_inline]] V of(V x) const {
    return (x - x_origin) * x_factor + shift;
  }
  template <class V>
  [[gnu::always_inline]] V of(V x, V y) const {
    return of(x) + (y - y_origin) * y_factor;
  }
};
/// Of the channels [begin, end); without y where `arrays` are x alone.
template <class E, class... Arrays>
void channel_linear(const AxisSplit& s, std::int64_t begin, std::int64_t end, const Linear<E> (&linear)[most_channels],
                    E* z, const Arrays*... arrays) {
  if (!spans_channels(s)) {
    for (std::int64_t c = begin; c < end; ++c)
      for (std::int64_t o = 0; o < s.outer; ++o) {
        const std::int64_t at = (o * s.length + c) * s.inner;
        const Linear<E> f = linear[c - begin];
        each_element_of_rows<E>(s.inner, z + at, [&](auto... v) { return f.of(v...); }, arrays + at...);
      }
    return;
  }
  const std::int64_t columns = (end - begin) * s.inner;
  E of[5][most_columns] = {};
  using Member = E Linear<E>::*;  // nvcc puts parentheses around a declaration without a name of its type
  const Member members[] = {&Linear<E>::x_factor, &Linear<E>::x_origin, &Linear<E>::y_factor, &Linear<E>::y_origin,
                            &Linear<E>::shift};
  for (std::size_t k = 0; k < 5; ++k)
    spread_over_columns(s, begin, end, of[k], [&](std::int64_t c) { return linear[c - begin].*members[k]; });
  for (std::int64_t o = 0; o < s.outer; ++o) {
    const std::int64_t at = (o * s.length + begin) * s.inner;
    each_element_of_rows<E>(
        columns, z + at,
        [](auto xf, auto xo, auto yf, auto yo, auto shift, auto... v) {
          return Linear<decltype(xf)>{xf, xo, yf, yo, shift}.of(v...);
        },
        of[0], of[1], of[2], of[3], of[4], arrays + at...);
  }
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
