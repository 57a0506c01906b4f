// SPDX-License-Identifier: Apache-2.0
/// \file
/// LeakyReLU: the activations that bend at 0, with a fixed, a learned or a random slope.
#pragma once
#include <strop/op/gradient.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

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
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}, {1, 0}};

  static constexpr int visible = 1;  // what a call in C++ gives; invoke_all gives those that visible_count says
  constexpr int visible_count() const { return act_type == rrelu ? 2 : 1; }
  constexpr int input_count() const { return act_type == prelu ? 2 : 1; }
  Resources resources(std::span<const Shape>) const;
  /// The slopes of rrelu are kept for its gradient; the others keep none.
  template <int = 0>
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
  void forward(Cpu& ctx, View<const E> x, View<const E> slopes, View<E> y, View<E> mask) const;

  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"gamma", View<const E>> slopes,
            Out<"mask", View<const E>> mask, Grad<"data", View<E>> dx, Grad<"gamma", View<E>> dgamma) const;

 private:
  /// Whether several slopes lie along the first two axes of x, the channels' last.
  template <int = 0>
  static constexpr bool slopes_fit(const Shape& slopes, const Shape& x) {
    if (x.ndim() < 2) return slopes == x;
    if (slopes.ndim() == 1) return slopes[0] == x[1];
    return slopes.ndim() == 2 && (slopes[0] == x[0] || slopes[0] == 1) && (slopes[1] == x[1] || slopes[1] == 1);
  }
  /// f(first element, elements, slope) for runs of elements with one slope; a single slope serves all.
  template <class F>
  static void each_slope(std::span<const std::int64_t> shape, std::span<const std::int64_t> slopes, F f);
};
inline constexpr Op<LeakyReLU, OnUse> leaky_relu;

using LeakyReluOps = OpList<LeakyReLU>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/leaky_relu_body.hpp>
#endif
