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

/// f(registers…, which) for registers of each of the arrays x along n elements, of which `which`, of two, have sums of
/// their own, in stretches of few enough for sums of lanes; end() is called behind each. The last register is filled up
/// with `rest`.
template <class E, class F, class End, class... X>
[[gnu::always_inline]] inline void each_stretch_of_registers(std::int64_t n, E rest, F f, End end, const X*... x) {
  using R = number::Rep<number::Vec<E>>;
  constexpr std::int64_t L = R::lanes, stretch = 2 * chain_of_sums * L;
  for (std::int64_t at = 0; at < n; at += stretch) {
    const std::int64_t stop = std::min(n, at + stretch);
    std::int64_t i = at;
    for (; i + 2 * L <= stop; i += 2 * L) {
      f(std::integral_constant<int, 0>{}, R::load(x + i)...);
      f(std::integral_constant<int, 1>{}, R::load(x + i + L)...);
    }
    for (; i + L <= stop; i += L) f(std::integral_constant<int, 0>{}, R::load(x + i)...);
    if (i < stop) {
      const auto part = [&](const E* from) {
        E last[unsigned_size(L)];
        for (std::int64_t j = 0; j < L; ++j) last[j] = i + j < stop ? from[i + j] : rest;
        return R::load(last);
      };
      f(std::integral_constant<int, 1>{}, part(x)...);
    }
    end();
  }
}

template <class E>
double sum_of(const E* x, std::int64_t n) {
  using V = number::Vec<E>;
  V sums[2] = {V{}, V{}};
  double total = 0;
  each_stretch_of_registers<E>(
      n, E(0), [&](auto k, V v) { sums[k] = sums[k] + v; },
      [&] {
        total += static_cast<double>(sum_of_lanes<E>(sums[0] + sums[1]));
        sums[0] = sums[1] = V{};
      },
      x);
  return total;
}

/// Σ (x − centre) and Σ (x − centre)².
struct Deviations {
  double plain = 0, squares = 0;
};
template <class E>
Deviations deviations_from(E centre, const E* x, std::int64_t n) {
  using V = number::Vec<E>;
  V plain[2] = {V{}, V{}}, squares[2] = {V{}, V{}};
  Deviations total;
  each_stretch_of_registers<E>(
      n, centre,
      [&](auto k, V v) {
        const V d = v - centre;
        plain[k] = plain[k] + d;
        squares[k] = squares[k] + d * d;
      },
      [&] {
        total.plain += static_cast<double>(sum_of_lanes<E>(plain[0] + plain[1]));
        total.squares += static_cast<double>(sum_of_lanes<E>(squares[0] + squares[1]));
        plain[0] = plain[1] = squares[0] = squares[1] = V{};
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

/// f(first element, elements, first channel) for the stretches of memory that make up channels [begin, end): one per
/// channel and outer position, or, where a channel's stretches are short, one per outer position for all of them.
template <class F>
void each_stretch(const AxisSplit& s, std::int64_t begin, std::int64_t end, F f) {
  if (s.inner < 16) {
    for (std::int64_t o = 0; o < s.outer; ++o) f((o * s.length + begin) * s.inner, (end - begin) * s.inner, begin);
    return;
  }
  for (std::int64_t c = begin; c < end; ++c)
    for (std::int64_t o = 0; o < s.outer; ++o) f((o * s.length + c) * s.inner, s.inner, c);
}
/// f(element, channel) for the elements of a stretch that spans channels.
template <class F>
[[gnu::always_inline]] inline void each_element(const AxisSplit& s, std::int64_t at, std::int64_t count,
                                                std::int64_t channel, F f) {
  for (std::int64_t end = at + count; at < end; ++channel)
    for (std::int64_t j = 0; j < s.inner; ++j) f(at++, channel);
}
/// f(begin, end) for parts of the channels, on several threads.
template <class F>
void share_channels(const AxisSplit& s, F f) {
  const std::int64_t work = std::max<std::int64_t>(1, s.outer * s.inner);
  parallel_for(s.length, std::max<std::int64_t>(s.inner < 16 ? 16 : 1, (1 << 14) / work), f);
}

template <class E>
detail::List<Moments> channel_moments(const AxisSplit& s, const E* x) {
  detail::List<Moments> out(s.length);
  const double count = static_cast<double>(s.outer * s.inner);
  if (count == 0) return out;
  Moments* const m = out.data();
  const bool spans = s.inner < 16;
  detail::List<double> offs(s.length);  // Σ (x − mean), of means that are rounded
  share_channels(s, [&](std::int64_t begin, std::int64_t end) {
    each_stretch(s, begin, end, [&](std::int64_t at, std::int64_t n, std::int64_t channel) {
      if (!spans)
        m[channel].mean += sum_of(x + at, n);
      else
        each_element(s, at, n, channel,
                     [&](std::int64_t i, std::int64_t c) { m[c].mean += static_cast<double>(x[i]); });
    });
    for (std::int64_t c = begin; c < end; ++c) m[c].mean /= count;
    each_stretch(s, begin, end, [&](std::int64_t at, std::int64_t n, std::int64_t channel) {
      if (!spans) {
        const Deviations d = deviations_from(static_cast<E>(m[channel].mean), x + at, n);
        offs[channel] += d.plain;
        m[channel].variance += d.squares;
      } else {
        each_element(s, at, n, channel, [&](std::int64_t i, std::int64_t c) {
          const double d = static_cast<double>(x[i]) - m[c].mean;
          m[c].variance += d * d;
        });
      }
    });
    for (std::int64_t c = begin; c < end; ++c) {
      const double off = offs[c] / count;
      if (!spans) m[c].mean = static_cast<double>(static_cast<E>(m[c].mean)) + off;
      m[c].variance = m[c].variance / count - off * off;
      if (m[c].variance < 0) m[c].variance = 0;
      if (std::isfinite(m[c].variance)) continue;
      m[c] = wide_moments(count, [&](auto f) {
        for (std::int64_t o = 0; o < s.outer; ++o)
          std::for_each(x + (o * s.length + c) * s.inner, x + (o * s.length + c + 1) * s.inner, f);
      });
    }
  });
  return out;
}

template <class E>
HeadSums head_sums(const E* dy, const E* x, std::int64_t n, E centre) {
  using V = number::Vec<E>;
  V plain[2] = {V{}, V{}}, product[2] = {V{}, V{}}, off[2] = {V{}, V{}};
  HeadSums total;
  const auto add = [&](int k, V g, V d) {
    plain[k] = plain[k] + g;
    product[k] = product[k] + g * d;
    off[k] = off[k] + d;
  };
  const auto end = [&] {
    total.plain += static_cast<double>(sum_of_lanes<E>(plain[0] + plain[1]));
    total.product += static_cast<double>(sum_of_lanes<E>(product[0] + product[1]));
    total.off += static_cast<double>(sum_of_lanes<E>(off[0] + off[1]));
    for (V* const sums : {plain, product, off}) sums[0] = sums[1] = V{};
  };
  const std::int64_t lanes = number::Rep<V>::lanes, whole = n - n % lanes;
  each_stretch_of_registers<E>(whole, E(0), [&](auto k, V g, V v) { add(k, g, v - centre); }, end, dy, x);
  for (std::int64_t i = whole; i < n; ++i) {
    const double g = static_cast<double>(dy[i]), d = static_cast<double>(x[i] - centre);
    total.plain += g;
    total.product += g * d;
    total.off += d;
  }
  return total;
}
template <class E>
detail::List<HeadSums> channel_head_sums(const AxisSplit& s, const E* dy, const E* x, const E* mean) {
  detail::List<HeadSums> out(s.length);
  HeadSums* const sums = out.data();
  share_channels(s, [&](std::int64_t begin, std::int64_t end) {
    each_stretch(s, begin, end, [&](std::int64_t at, std::int64_t n, std::int64_t channel) {
      if (s.inner < 16)
        return each_element(s, at, n, channel, [&](std::int64_t i, std::int64_t c) {
          const double g = static_cast<double>(dy[i]), d = static_cast<double>(x[i] - mean[c]);
          sums[c].plain += g;
          sums[c].product += g * d;
          sums[c].off += d;
        });
      const HeadSums more = head_sums(dy + at, x + at, n, mean[channel]);
      sums[channel].plain += more.plain;
      sums[channel].product += more.product;
      sums[channel].off += more.off;
    });
  });
  return out;
}

/// The numbers of a channel: z = x_factor · (x − x_origin) + y_factor · (y − y_origin) + shift.
template <class E>
struct Linear {
  E x_factor = 0, x_origin = 0, y_factor = 0, y_origin = 0, shift = 0;
  template <class V>
  [[gnu::always_inline]] V of(V x) const {
    return (x - x_origin) * x_factor + shift;
  }
  template <class V>
  [[gnu::always_inline]] V of(V x, V y) const {
    return of(x) + (y - y_origin) * y_factor;
  }
};
/// Without y where that is null.
template <class E>
void channel_linear(const AxisSplit& s, const E* x, const E* y, E* z, const detail::List<Linear<E>>& of) {
  using R = number::Rep<number::Vec<E>>;
  const Linear<E>* const linear = of.data();
  share_channels(s, [&](std::int64_t begin, std::int64_t end) {
    each_stretch(s, begin, end, [&](std::int64_t at, std::int64_t n, std::int64_t channel) {
      if (s.inner < 16)
        return each_element(s, at, n, channel, [&](std::int64_t i, std::int64_t c) {
          z[i] = y == nullptr ? linear[c].of(x[i]) : linear[c].of(x[i], y[i]);
        });
      const Linear<E> f = linear[channel];
      std::int64_t i = at;
      for (; i + R::lanes <= at + n; i += R::lanes)
        R::store(z + i, y == nullptr ? f.of(R::load(x + i)) : f.of(R::load(x + i), R::load(y + i)));
      for (; i < at + n; ++i) z[i] = y == nullptr ? f.of(x[i]) : f.of(x[i], y[i]);
    });
  });
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
