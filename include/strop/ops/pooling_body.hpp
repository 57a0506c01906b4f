// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/pooling.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/pooling.hpp>
#include <strop/ops/pooling_kernels.hpp>
#include <strop/ops/windows_body.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// What a window is cut to: its elements inside the data, from low to high along each axis, and how many it counts.
struct CutWindow {
  std::int64_t low[Windows::axes], high[Windows::axes];
  double counted;  // the padding may be of any size
};

/// Calls f(window) for each window in its order. `with_padding`: what is counted includes padding.
template <class F>
void each_window(const Windows& w, bool with_padding, F f) {
  CutWindow cut{};
  double counted[Windows::axes] = {};
  const auto place = [&](int axis, std::int64_t at) {
    const std::int64_t begin = at * w.stride[axis] - w.pad[axis],
                       end = std::min(begin + w.kernel[axis], w.in[axis] + w.pad[axis]);
    cut.low[axis] = std::max<std::int64_t>(begin, 0);
    cut.high[axis] = std::max(cut.low[axis], std::min(end, w.in[axis]));
    counted[axis] =
        static_cast<double>(with_padding ? std::max<std::int64_t>(0, end - begin) : cut.high[axis] - cut.low[axis]);
  };
  for (std::int64_t a = 0; a < w.out[0]; ++a) {
    place(0, a);
    for (std::int64_t b = 0; b < w.out[1]; ++b) {
      place(1, b);
      for (std::int64_t c = 0; c < w.out[2]; ++c) {
        place(2, c);
        cut.counted = counted[0] * counted[1] * counted[2];
        f(cut);
      }
    }
  }
}

/// Calls f(position) for each element of a window.
template <class F>
[[gnu::always_inline]] inline void each_element(const Windows& w, const CutWindow& cut, F f) {
  for (std::int64_t a = cut.low[0]; a < cut.high[0]; ++a)
    for (std::int64_t b = cut.low[1]; b < cut.high[1]; ++b) {
      const std::int64_t row = (a * w.in[1] + b) * w.in[2];
      for (std::int64_t c = cut.low[2]; c < cut.high[2]; ++c) f(row + c);
    }
}

inline namespace STROP_ISA {

/// Images of `inner` channels that lie element by element beside each other: 1 where a channel lies by itself.
struct Pooler {
  Windows windows;
  std::int64_t images, inner;
  bool with_padding;

  /// y = f(the elements of a window, the window), or y += that.
  template <class E, class F>
  void result(const E* x, E* y, bool add, F f) const {
    const std::int64_t in = windows.in_size() * inner, out = windows.out_size() * inner;
    parallel_for(images, grain(), [&](std::int64_t low, std::int64_t high) {
      for (std::int64_t image = low; image < high; ++image)
        for (std::int64_t channel = 0; channel < inner; ++channel) {
          const E* const from = x + image * in + channel;
          E* to = y + image * out + channel;
          each_window(windows, with_padding, [&](const CutWindow& cut) {
            const E value = f(from, cut);
            *to = add ? *to + value : value;
            to += inner;
          });
        }
    });
  }
  /// What a window counts along an axis: 1 where it counts nothing.
  double counted(int axis, std::int64_t window) const {
    const Windows& w = windows;
    const std::int64_t begin = window * w.stride[axis] - w.pad[axis], low = std::max<std::int64_t>(begin, 0),
                       end = std::min(begin + w.kernel[axis], w.in[axis] + w.pad[axis]);
    const std::int64_t n = with_padding ? end - begin : std::min(end, w.in[axis]) - low;
    return n <= 0 ? 1 : static_cast<double>(n);
  }
  /// Whether there is one window, of all elements, which lie beside each other.
  bool global() const {
    for (int i = 0; i < Windows::axes; ++i)
      if (windows.out[i] != 1 || windows.kernel[i] != windows.in[i] || windows.pad[i] != 0) return false;
    return inner == 1 && windows.in_size() != 0;
  }
  /// Whether registers serve the windows of this operator: the largest, sums and means.
  template <class E>
  bool in_registers() const {
    return inner == 1 && windows.in_size() != 0 && PlaneOfWindows<E>(windows).fits();
  }
  /// f(image) for all images of a channel, on several threads, each with what make() gives.
  template <class Make, class F>
  void each_image(Make make, F f) const {
    parallel_for(images, grain(), [&](std::int64_t low, std::int64_t high) {
      auto own = make();
      for (std::int64_t image = low; image < high; ++image) f(image, own);
    });
  }
  /// The largest of each window, or what windows add up to, over what they count where that is asked for.
  template <class E>
  void largest_in_registers(const E* x, E* y, bool add) const {
    const std::int64_t in = windows.in_size(), out = windows.out_size();
    if (global())
      return each_image([] { return 0; },
                        [&](std::int64_t image, int) {
                          const E most = largest_of_row(x + image * in, in, E(1));
                          y[image] = add ? y[image] + most : most;
                        });
    const PlaneOfWindows<E> plane(windows);
    each_image(
        [&] { return List<E>(plane.width, -std::numeric_limits<E>::infinity()); },
        [&](std::int64_t image, List<E>& row) { plane.largest(x + image * in, y + image * out, add, row.data()); });
  }
  template <class E>
  void sums_in_registers(const E* x, E* y, bool add, bool means) const {
    const std::int64_t in = windows.in_size(), out = windows.out_size();
    if (global()) {
      const double count = means ? static_cast<double>(in) : 1;
      return each_image([] { return 0; },
                        [&](std::int64_t image, int) {
                          const E sum = static_cast<E>(wide_sum(x + image * in, in) / count);
                          y[image] = add ? y[image] + sum : sum;
                        });
    }
    const PlaneOfWindows<E> plane(windows);
    List<double> parts = parts_of_rows(plane.width, means);
    if constexpr (sizeof(E) < sizeof(double))
      for (double& part : parts) part = 1 / part;
    each_image([&] { return List<double>(plane.width); },
               [&](std::int64_t image, List<double>& row) {
                 plane.sums(x + image * in, y + image * out, add, row.data(), parts.data(),
                            [&](int axis, std::int64_t window) { return means ? counted(axis, window) : 1; });
               });
  }
  template <class E>
  void gradient_of_largest_in_registers(const E* dy, const E* x, E* dx, bool add) const {
    const std::int64_t in = windows.in_size(), out = windows.out_size();
    const auto start = [&](std::int64_t image) {
      if (!add) std::fill_n(dx + image * in, in, E(0));
      return dx + image * in;
    };
    constexpr E lowest = -std::numeric_limits<E>::infinity();
    if (global())
      return each_image([] { return 0; },
                        [&](std::int64_t image, int) {
                          E* const to = start(image);
                          const E* const from = x + image * in;
                          const E most = largest_of_row(from, in, E(1));
                          if (most != lowest) to[std::find(from, from + in, most) - from] += dy[image];
                        });
    const PlaneOfWindows<E> plane(windows);
    const std::int64_t rows = windows.kernel[0] * windows.kernel[1];
    each_image([&] { return List<E>((rows + 1) * plane.width, lowest); },
               [&](std::int64_t image, List<E>& space) {
                 plane.gradient_of_largest(dy + image * out, x + image * in, start(image), space.data(),
                                           space.data() + rows * plane.width);
               });
  }
  template <class E>
  void gradient_of_sums_in_registers(const E* dy, E* dx, bool add, bool means) const {
    const std::int64_t in = windows.in_size(), out = windows.out_size();
    if (global()) {
      const E count = means ? static_cast<E>(in) : E(1);
      return each_image([] { return 0; },
                        [&](std::int64_t image, int) {
                          E* const to = dx + image * in;
                          const E part = dy[image] / count;
                          if (!add) return fill_row(to, in, part);
                          for (std::int64_t i = 0; i < in; ++i) to[i] += part;
                        });
    }
    const PlaneOfWindows<E> plane(windows);
    const List<double> parts = parts_of_rows(plane.width, means);
    each_image([&] { return List<E>(2 * plane.width + 2 * windows.kernel[2]); },
               [&](std::int64_t image, List<E>& space) {
                 if (!add) std::fill_n(dx + image * in, in, E(0));
                 plane.gradient_of_sums(
                     dy + image * out, dx + image * in, space.data(), space.data() + plane.width, parts.data(),
                     [&](int axis, std::int64_t window) { return means ? counted(axis, window) : 1; });
               });
  }

  /// f(head gradient, elements of a window, their gradients, the window) adds to the gradients.
  template <class E, class F>
  void gradient(const E* dy, const E* x, E* dx, bool add, F f) const {
    const std::int64_t in = windows.in_size() * inner, out = windows.out_size() * inner;
    parallel_for(images, grain(), [&](std::int64_t low, std::int64_t high) {
      if (!add) std::fill(dx + low * in, dx + high * in, E(0));
      for (std::int64_t image = low; image < high; ++image)
        for (std::int64_t channel = 0; channel < inner; ++channel) {
          const E* head = dy + image * out + channel;
          const E* const from = x + image * in + channel;
          E* const to = dx + image * in + channel;
          each_window(windows, with_padding, [&](const CutWindow& cut) {
            f(*head, from, to, cut);
            head += inner;
          });
        }
    });
  }

 private:
  /// What each window of a row counts along the last axis.
  List<double> parts_of_rows(std::int64_t width, bool means) const {
    List<double> parts(width, 1.0);
    for (std::int64_t c = 0; means && c < windows.out[2]; ++c) parts[c] = counted(2, c);
    return parts;
  }
  std::int64_t grain() const {
    return (1 << 14) / std::max<std::int64_t>(1, (windows.in_size() + windows.out_size()) * inner) + 1;
  }
};

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
inline void Pooling::forward(Cpu& ctx, View<const E> x, View<E> y) const {
  const detail::Pooler pooler = this->pooler(x.shape(), y.shape());
  const detail::Windows& w = pooler.windows;
  const std::int64_t step = pooler.inner;
  const bool add = ctx.request() == Request::add;
  const bool registers = pooler.global() || pooler.in_registers<E>();
  if (registers && pool_type == max) return pooler.largest_in_registers(x.data(), y.data(), add);
  if (registers && power() == 1) return pooler.sums_in_registers(x.data(), y.data(), add, pool_type == avg);
  if (pool_type == max)
    return pooler.result(x.data(), y.data(), add, [&](const E* in, const detail::CutWindow& cut) {
      E most = -std::numeric_limits<E>::infinity();
      detail::each_element(w, cut, [&](std::int64_t at) { most = in[at * step] > most ? in[at * step] : most; });
      return most;
    });
  const int p = power();
  pooler.result(x.data(), y.data(), add, [&](const E* in, const detail::CutWindow& cut) {
    const double total = sum_of(w, cut, in, step, p);
    return static_cast<E>(pool_type == avg ? (cut.counted == 0 ? 0.0 : total / cut.counted) : root(total, p));
  });
}

template <Real E>
inline void Pooling::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                          Grad<"data", View<E>> dx) const {
  if (!dx) return;
  const detail::Pooler pooler = this->pooler(x.shape(), dy.shape());
  const detail::Windows& w = pooler.windows;
  const std::int64_t step = pooler.inner;
  const bool add = ctx.request() == Request::add;
  const int p = power();
  const bool registers = pooler.global() || pooler.in_registers<E>();
  if (registers && pool_type == max)
    return pooler.gradient_of_largest_in_registers(dy.data(), x.data(), dx.data(), add);
  if (registers && p == 1) return pooler.gradient_of_sums_in_registers(dy.data(), dx.data(), add, pool_type == avg);
  pooler.gradient(dy.data(), x.data(), dx.data(), add, [&](E head, const E* in, E* out, const detail::CutWindow& cut) {
    if (pool_type == max) {
      E most = -std::numeric_limits<E>::infinity();
      std::int64_t first = -1;
      detail::each_element(w, cut, [&](std::int64_t at) {
        if (in[at * step] > most) most = in[at * step], first = at;
      });
      if (first >= 0) out[first * step] += head;
    } else if (p == 1) {
      const E part = pool_type == avg && cut.counted != 0 ? head / static_cast<E>(cut.counted) : head;
      detail::each_element(w, cut, [&](std::int64_t at) { out[at * step] += part; });
    } else {  // the gradient of a norm of 0 counts as 0
      const double length = root(sum_of(w, cut, in, step, p), p), inverse = length == 0 ? 0 : 1 / length;
      detail::each_element(w, cut, [&](std::int64_t at) {
        const double ratio = static_cast<double>(in[at * step]) * inverse;
        out[at * step] += static_cast<E>(static_cast<double>(head) * (p == 2 ? ratio : ratio * ratio));
      });
    }
  });
}

inline int Pooling::power() const { return pool_type == lp ? *p_value : 1; }

inline double Pooling::root(double total, int p) {
  return p == 1 ? total : p == 2 ? std::sqrt(total) : std::cbrt(total);
}

template <class E>
inline double Pooling::sum_of(const detail::Windows& w, const detail::CutWindow& cut, const E* in, std::int64_t step,
                              int p) {
  double total = 0;
  detail::each_element(w, cut, [&](std::int64_t at) {
    const double x = static_cast<double>(in[at * step]);
    total += p == 1 ? x : p == 2 ? x * x : x * x * x;
  });
  return total;
}

inline detail::Pooler Pooling::pooler(std::span<const std::int64_t> x, std::span<const std::int64_t> y) const {
  const std::size_t rank = x.size() - 2, first = static_cast<std::size_t>(first_axis());
  const auto from = x.subspan(first, rank), to = y.subspan(first, rank);
  const Shape all(from), none;
  const bool apart = !channels_last(), padless = global_pool || pooling_convention == same;
  return {.windows = {from, to, global_pool ? all : kernel, global_pool ? none : stride, none, padless ? none : pad},
          .images = apart ? x[0] * x[1] : x[0],
          .inner = apart ? 1 : x.back(),
          .with_padding = count_include_pad.value_or(true)};
}

template <Real E>
inline void PoolingTangent::forward(Cpu& ctx, View<const E> tangent, View<const E> x, View<E> y) const {
  const detail::Pooler pooler = of().pooler(x.shape(), y.shape());
  const std::int64_t step = pooler.inner;
  pooler.result(x.data(), y.data(), ctx.request() == Request::add, [&](const E* in, const detail::CutWindow& cut) {
    const E* const change = tangent.data() + (in - x.data());
    E most = -std::numeric_limits<E>::infinity(), of_most = 0;
    double total = 0;
    detail::each_element(pooler.windows, cut, [&](std::int64_t at) {
      if (in[at * step] > most) most = in[at * step], of_most = change[at * step];
      total += static_cast<double>(change[at * step]);
    });
    if (pool_type == Pooling::max) return of_most;
    return static_cast<E>(pool_type == Pooling::avg && cut.counted != 0 ? total / cut.counted : total);
  });
}

template <Real E>
inline void PoolingGradient::forward(Cpu& ctx, View<const E> dy, View<const E> x, View<E> dx) const {
  tangent().of().grad<E>(ctx, {dy}, {x}, {dx});
}

template <class Node>
inline std::vector<Node> Pooling::gradient_again(std::span<const Node> heads, std::span<const Node> in) const {
  if (power() != 1) fail("pooling: the gradient of pool_type lp with p_value ", power(), " has no gradient");
  PoolingTangent params = detail::pooling_as<PoolingTangent>(*this);
  if (pool_type == lp) params.pool_type = sum;
  return {pooling_tangent(heads[0], in[1], params)};
}

}  // namespace strop::inline v0
