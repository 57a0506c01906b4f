// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums and linear functions of the elements of channels: an array as outer × channels × inner, each channel with
/// numbers of its own.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/softmax_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace strop::inline v0::detail {

/// Mean and (biased) variance.
struct Moments {
  double mean = 0, variance = 0;
};
/// Σ dy and Σ dy · (x − mean).
struct HeadSums {
  double plain = 0, product = 0;
};

inline namespace STROP_ISA {

/// Σ f(register) over n elements; a lane adds up few enough registers for float. The last one is filled up with `rest`.
template <class E, class F>
double sum_registers(const E* x, std::int64_t n, E rest, F f) {
  constexpr std::int64_t block = 4096;
  double total = 0;
  for (std::int64_t at = 0; at < n; at += block) {
    number::Vec<E> sums{};
    each_register(x + at, std::min(block, n - at), rest,
                  [&](number::Vec<E> v, std::int64_t, int) { sums = sums + f(v); });
    total += static_cast<double>(sum_of_lanes<E>(sums));
  }
  return total;
}
template <class E>
double sum_of(const E* x, std::int64_t n) {
  return sum_registers(x, n, E(0), [](number::Vec<E> v) { return v; });
}
template <class E>
double squares_about(const E* x, std::int64_t n, E centre) {
  return sum_registers(x, n, centre, [centre](number::Vec<E> v) { return (v - centre) * (v - centre); });
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
/// Of one row, in two passes, so that no digits are lost; the second makes good for the rounding of the centre.
template <class E>
Moments moments(const E* x, std::int64_t n) {
  if (n == 0) return {};
  const double count = static_cast<double>(n), mean = sum_of(x, n) / count;
  const E centre = static_cast<E>(mean);
  const double off = mean - static_cast<double>(centre), variance = squares_about(x, n, centre) / count - off * off;
  if (std::isfinite(variance)) return {mean, variance};
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
      if (!spans)
        m[channel].variance += squares_about(x + at, n, static_cast<E>(m[channel].mean));
      else
        each_element(s, at, n, channel, [&](std::int64_t i, std::int64_t c) {
          const double d = static_cast<double>(x[i]) - m[c].mean;
          m[c].variance += d * d;
        });
    });
    for (std::int64_t c = begin; c < end; ++c) {
      const double off = spans ? 0 : m[c].mean - static_cast<double>(static_cast<E>(m[c].mean));
      m[c].variance = m[c].variance / count - off * off;
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
detail::List<HeadSums> channel_head_sums(const AxisSplit& s, const E* dy, const E* x, const E* mean) {
  detail::List<HeadSums> out(s.length);
  HeadSums* const sums = out.data();
  using R = number::Rep<number::Vec<E>>;
  share_channels(s, [&](std::int64_t begin, std::int64_t end) {
    each_stretch(s, begin, end, [&](std::int64_t at, std::int64_t n, std::int64_t channel) {
      std::int64_t done = 0;
      if (s.inner >= 16) {
        number::Vec<E> plain{}, product{};
        for (; done + R::lanes <= n; done += R::lanes) {
          const number::Vec<E> g = R::load(dy + at + done);
          plain = plain + g;
          product = product + g * (R::load(x + at + done) - mean[channel]);
        }
        sums[channel].plain += static_cast<double>(sum_of_lanes<E>(plain));
        sums[channel].product += static_cast<double>(sum_of_lanes<E>(product));
        for (; done < n; ++done) {
          sums[channel].plain += static_cast<double>(dy[at + done]);
          sums[channel].product += static_cast<double>(dy[at + done] * (x[at + done] - mean[channel]));
        }
        return;
      }
      each_element(s, at, n, channel, [&](std::int64_t i, std::int64_t c) {
        sums[c].plain += static_cast<double>(dy[i]);
        sums[c].product += static_cast<double>(dy[i]) * static_cast<double>(x[i] - mean[c]);
      });
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
