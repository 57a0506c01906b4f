// SPDX-License-Identifier: Apache-2.0
/// \file
/// Dropout: zeros at random, in training.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/memory/random.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/dropout_factors.hpp>
#include <strop/ops/elementwise/broadcast.hpp>
#include <strop/ops/list.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// `mode = always` drops in prediction as well; along `axes` one draw serves all elements. Any shape, floating types;
/// sparse arrays by the dense fallback. What is dropped is a function of the seed and of the order of calls; the hidden
/// output `mask` (data's shape with the axes of extent 1) holds the factors, and the gradient is the head gradient
/// times them. Error: p is outside [0, 1], an axis is outside.
///
/// Example: `dropout(array({1, 2}), {.p = 0.3f})` outside of training is [1, 2].
struct Dropout {
  enum Mode : int { training, always };
  float p = 0.5f;
  Mode mode = training;
  Shape axes = {};
  std::optional<bool> cudnn_off = false;

  static constexpr std::string_view aliases[] = {"_npx_dropout"};
  static constexpr std::string_view outputs[] = {"output", "mask"};
  static constexpr int visible = 1;
  static constexpr const char* doc =
      "In training, each element is 0 with probability p, else x / (1 − p); otherwise x itself.";
  static constexpr Note notes[] = {{"p", "the probability of an element to become 0"},
                                   {"mode", "when elements are dropped: in training, or always"},
                                   {"axes", "along these one draw serves all elements"},
                                   {"cudnn_off", "has no effect"}};
  static constexpr Range range[] = {{"p", 0, 1}};
  static constexpr Share inplace[] = {{0, 0}};

  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_out(0, shapes.in(0));
    shapes.set_in(0, shapes.out(0));
    if (!shapes.in(0).has_rank()) return;
    Shape mask = shapes.in(0);
    for (std::int64_t axis : axes) {
      if (axis < 0 || axis >= mask.ndim())
        shapes.fail("axis ", axis, " is outside ", shapes.name_in(0), " of shape ", to_text(shapes.in(0)));
      mask[axis] = 1;
    }
    shapes.set_out(1, mask);
  }

  bool drops(bool train) const { return (train || mode == always) && p > 0; }
  Resources resources(std::span<const Shape>) const { return {.random = drops(detail::call_mode.training)}; }

  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y, View<E> mask) const {
    const bool drop = drops(ctx.train);
    const bool whole = mask.size() == x.size();
    const random::Stream stream = drop ? ctx.random() : random::Stream{};
    parallel_for(mask.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; at += block) {
        const std::int64_t count = std::min(block, end - at);
        if (drop)
          detail::draw_dropout(stream.from(at), p, mask.data() + at, count);
        else
          std::fill(mask.data() + at, mask.data() + at + count, E(1));
        if (whole)
          for (std::int64_t i = at; i < at + count; ++i) y[i] = x[i] * mask[i];
      }
    });
    if (!whole) multiply<E>(x, mask, y);
  }

  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, Out<"mask", View<const E>> mask, Grad<"data", View<E>> dx) const {
    if (dx) multiply<E>(dy, mask, dx);
  }
  /// Of the gradient, which is the head gradient times the mask.
  template <class Node>
  std::vector<Node> gradient_again(std::span<const Node> heads, std::span<const Node> in) const {
    return {broadcast_mul(heads[0], in[1])};
  }

 private:
  static constexpr std::int64_t block = detail::dropout_block, grain = detail::dropout_grain;

  template <class E>
  static void multiply(View<const E> x, View<const E> mask, View<E> y) {
    if (x.size() == mask.size()) return detail::multiply_dropout(x.data(), mask.data(), y.data(), x.size());
    const detail::Walk walk = detail::Walk::of(Shape(x.shape()), Shape(mask.shape()));
    parallel_for(x.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      E factors[block];
      for (std::int64_t at = begin; at < end; at += block) {
        const std::int64_t count = std::min(block, end - at);
        detail::expand<E>(walk, mask.data(), factors, at, count);
        for (std::int64_t i = 0; i < count; ++i) y[at + i] = x[at + i] * factors[i];
      }
    });
  }
};
inline constexpr Op<Dropout, OnUse> dropout;

using DropoutOps = OpList<Dropout>;

}  // namespace strop::inline v0
