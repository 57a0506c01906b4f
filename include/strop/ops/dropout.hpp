// SPDX-License-Identifier: Apache-2.0
/// \file
/// Dropout: zeros at random, in training.
#pragma once
#include <strop/memory/random.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/dropout_factors.hpp>
#include <strop/ops/list.hpp>

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
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}};

  template <int = 0>
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

  bool drops(bool train) const;
  Resources resources(std::span<const Shape>) const;

  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y, View<E> mask) const;

  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, Out<"mask", View<const E>> mask, Grad<"data", View<E>> dx) const;
  /// Of the gradient, which is the head gradient times the mask.
  template <class Node>
  std::vector<Node> gradient_again(std::span<const Node> heads, std::span<const Node> in) const;

 private:
  static constexpr std::int64_t block = detail::dropout_block, grain = detail::dropout_grain;

  template <class E>
  static void multiply(View<const E> x, View<const E> mask, View<E> y);
};
inline constexpr Op<Dropout, OnUse> dropout;

using DropoutOps = OpList<Dropout>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/dropout_body.hpp>
#endif
