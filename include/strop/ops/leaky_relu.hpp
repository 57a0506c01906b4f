// SPDX-License-Identifier: Apache-2.0
/// \file
/// LeakyReLU: the activations that bend at 0, with a fixed, a learned or a random slope.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/op/gradient.hpp>
#include <strop/op/loops.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

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

/// LeakyReLU: y = x where x > 0, else
/// leaky: slope · x; elu: slope · (eˣ − 1); prelu: gamma · x; rrelu: r · x with r uniform in [lower_bound, upper_bound)
/// in training and (lower_bound + upper_bound) / 2 otherwise. selu: 1.0507 · (x, or 1.6733 · (eˣ − 1)) and
/// gelu: x · Φ(x) with the normal distribution Φ.
///
/// Any shape, floating types; sparse arrays by the dense fallback. gamma, an input of prelu alone, has one element, one
/// per channel (axis 1) as (channels,) or (1, channels), one per example as (examples, 1), or one per both as
/// (examples, channels); beside data of one dimension one element or as many as data. Outputs: with rrelu also mask,
/// the slope that each element had, in the shape of data. Error: gamma has another shape.
///
/// Example: `leaky_relu(array({-4, 2}))` is [-1, 2].
struct LeakyReLU {
  enum Act : int { rrelu, leaky, prelu, elu, selu, gelu };
  Act act_type = leaky;
  float slope = 0.25f, lower_bound = 0.125f, upper_bound = 0.334f;

  static constexpr std::string_view aliases[] = {"_npx_leaky_relu"};
  static constexpr std::string_view inputs[] = {"data", "gamma"}, outputs[] = {"output", "mask"};
  static constexpr const char* doc =
      "x where it is positive; else slope · x (leaky), slope · (e^x − 1) (elu), gamma · x (prelu), a random multiple "
      "of x "
      "(rrelu); selu and gelu as in their papers.";
  static constexpr Note notes[] = {{"act_type", "which curve"},
                                   {"slope", "of leaky and elu"},
                                   {"lower_bound", "the least slope of rrelu"},
                                   {"upper_bound", "the greatest slope of rrelu"},
                                   {"gamma", "the slope of prelu: one, or one per channel, per example or both"}};
  static constexpr Share inplace[] = {{0, 0}};

  static constexpr int visible = 1;  // what a call in C++ gives; invoke_all gives those that visible_count says
  constexpr int visible_count() const { return act_type == rrelu ? 2 : 1; }
  constexpr int input_count() const { return act_type == prelu ? 2 : 1; }
  Resources resources(std::span<const Shape>) const {
    return {.random = act_type == rrelu && detail::call_mode.training};
  }
  /// The slopes of rrelu are kept for its gradient; the others keep none.
  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_out(0, shapes.in(0));
    shapes.set_in(0, shapes.out(0));
    const Shape& x = shapes.in(0);
    shapes.set_out(1, act_type == rrelu ? x : Shape{0});
    if (act_type != prelu || !x.has_rank()) return;
    const Shape slopes = shapes.in(1);
    if (slopes.ndim() > 1 && !(slopes.known() && x.known())) return;  // whether they fit shows when both are known
    if (slopes.known() && (slopes.size() == 1 || slopes_fit(slopes, x))) return;
    shapes.set_in(1, {x.ndim() < 2 ? 1 : x[1]});
  }

  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<const E> slopes, View<E> y, View<E> mask) const {
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
  void grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"gamma", View<const E>> slopes,
            Out<"mask", View<const E>> mask, Grad<"data", View<E>> dx, Grad<"gamma", View<E>> dgamma) const {
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

 private:
  /// Whether several slopes lie along the first two axes of x, the channels' last.
  static constexpr bool slopes_fit(const Shape& slopes, const Shape& x) {
    if (x.ndim() < 2) return slopes == x;
    if (slopes.ndim() == 1) return slopes[0] == x[1];
    return slopes.ndim() == 2 && (slopes[0] == x[0] || slopes[0] == 1) && (slopes[1] == x[1] || slopes[1] == 1);
  }
  /// f(first element, elements, slope) for runs of elements with one slope; a single slope serves all.
  template <class F>
  static void each_slope(std::span<const std::int64_t> shape, std::span<const std::int64_t> slopes, F f) {
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
};
inline constexpr Op<LeakyReLU, OnUse> leaky_relu;

using LeakyReluOps = OpList<LeakyReLU>;

}  // namespace strop::inline v0
