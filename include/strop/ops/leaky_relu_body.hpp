// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/leaky_relu.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/op/loops.hpp>
#include <strop/ops/leaky_relu.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

/// The curves as maps.
struct LeakyCurve {
  double slope = 0;
  constexpr auto forward(auto x) const { return where(x > 0, x, slope * x); }
};

struct EluCurve {
  double slope = 0;
  constexpr auto forward(auto x) const { return where(x > 0, x, slope * expm1(x)); }
};

struct SeluCurve {
  constexpr auto forward(auto x) const { return 1.0507009873554805 * where(x > 0, x, 1.6732632423543772 * expm1(x)); }
};

struct GeluCurve {
  constexpr auto forward(auto x) const { return 0.5 * x * (1 + erf(x * 0.70710678118654752)); }
};

inline namespace STROP_ISA {

template <class Curve, class E>
void run_curve(const Curve& curve, const E* x, E* y, std::int64_t n) {
  parallel_for(n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    const void* in[] = {x + begin};
    void* out[] = {y + begin};
    lane_loop<Curve, E>(&curve, in, out, end - begin);
  });
}

template <class Curve, class E>
void run_curve_gradient(const Curve& curve, const E* dy, const E* x, E* dx, std::int64_t n) {
  const Gradient<Curve> gradient{curve};
  parallel_for(n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    const void* in[] = {dy + begin, x + begin};
    void* out[] = {dx + begin};
    lane_loop<Gradient<Curve>, E>(&gradient, in, out, end - begin);
  });
}

}  // namespace STROP_ISA

}  // namespace detail

inline Resources LeakyReLU::resources(std::span<const Shape>) const {
  return {.random = act_type == rrelu && detail::call_mode.training};
}

template <Real E>
inline void LeakyReLU::forward(Cpu& ctx, View<const E> x, View<const E> slopes, View<E> y, View<E> mask) const {
  const std::int64_t n = x.size();
  switch (act_type) {
    case leaky:
      return detail::run_curve(detail::LeakyCurve{slope}, x.data(), y.data(), n);
    case elu:
      return detail::run_curve(detail::EluCurve{slope}, x.data(), y.data(), n);
    case selu:
      return detail::run_curve(detail::SeluCurve{}, x.data(), y.data(), n);
    case gelu:
      return detail::run_curve(detail::GeluCurve{}, x.data(), y.data(), n);
    case prelu:
      return each_slope(x.shape(), slopes.shape(), [&](std::int64_t at, std::int64_t count, std::int64_t k) {
        detail::run_curve(detail::LeakyCurve{static_cast<double>(slopes[k])}, x.data() + at, y.data() + at, count);
      });
    case rrelu:
      break;
  }
  const random::Stream stream = ctx.train ? ctx.random() : random::Stream{};
  parallel_for(n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const E r = ctx.train ? static_cast<E>(stream.uniform(i, lower_bound, upper_bound))
                            : static_cast<E>((lower_bound + upper_bound) / 2);
      mask[i] = x[i] > 0 ? E(1) : r;
      y[i] = x[i] * mask[i];
    }
  });
}

template <Real E>
inline void LeakyReLU::grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                            In<"gamma", View<const E>> slopes, Out<"mask", View<const E>> mask,
                            Grad<"data", View<E>> dx, Grad<"gamma", View<E>> dgamma) const {
  const std::int64_t n = x.size();
  if (dgamma) {
    detail::List<double> sums(dgamma.size(), 0.0);
    each_slope(x.shape(), dgamma.shape(), [&](std::int64_t at, std::int64_t count, std::int64_t k) {
      double total = 0;
      for (std::int64_t i = at; i < at + count; ++i)
        total += x[i] > 0 ? 0.0 : static_cast<double>(dy[i]) * static_cast<double>(x[i]);
      sums[k] += total;
    });
    std::copy(sums.begin(), sums.end(), dgamma.begin());
  }
  if (!dx) return;
  switch (act_type) {
    case leaky:
      return detail::run_curve_gradient(detail::LeakyCurve{slope}, dy.data(), x.data(), dx.data(), n);
    case elu:
      return detail::run_curve_gradient(detail::EluCurve{slope}, dy.data(), x.data(), dx.data(), n);
    case selu:
      return detail::run_curve_gradient(detail::SeluCurve{}, dy.data(), x.data(), dx.data(), n);
    case gelu:
      return detail::run_curve_gradient(detail::GeluCurve{}, dy.data(), x.data(), dx.data(), n);
    case prelu:
      return each_slope(x.shape(), slopes.shape(), [&](std::int64_t at, std::int64_t count, std::int64_t k) {
        detail::run_curve_gradient(detail::LeakyCurve{static_cast<double>(slopes[k])}, dy.data() + at, x.data() + at,
                                   dx.data() + at, count);
      });
    case rrelu:
      for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] * mask[i];
  }
}

template <class F>
inline void LeakyReLU::each_slope(std::span<const std::int64_t> shape, std::span<const std::int64_t> slopes, F f) {
  std::int64_t n = 1, inner = 1, count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    n *= shape[i];
    if (i > 1) inner *= shape[i];
  }
  for (std::int64_t extent : slopes) count *= extent;
  if (count == 1) return f(std::int64_t{0}, n, std::int64_t{0});
  if (n == 0) return;
  const std::int64_t channels = shape.size() < 2 ? 1 : shape[1];
  const bool by_example = shape.size() < 2 || (slopes.size() == 2 && slopes[0] != 1);
  const std::int64_t along = shape.size() < 2 ? 1 : slopes.back();  // slopes of one example
  for (std::int64_t run = 0; run * inner < n; ++run)
    f(run * inner, inner, (by_example ? run / channels * along : 0) + (along == 1 ? 0 : run % channels));
}

}  // namespace strop::inline v0
