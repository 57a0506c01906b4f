// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pad: more elements before and after each axis: a constant, the edge, or the inside reflected.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// mode `constant`: constant_value; `edge`: the outermost element; `reflect`: the elements inside, from the outermost
/// one (which is not repeated) inwards, at most extent − 1 of them. Arrays of any rank and type. The gradient adds up
/// what an element became. Error: pad_width does not list two numbers per axis, or reflects more than there is.
///
/// Example: `pad(array({1, 2}), {.mode = Pad::constant, .pad_width = {1, 1}})` is [0, 1, 2, 0].
struct Pad {
  enum Mode : int { constant, edge, reflect };
  Required<Mode> mode = {};
  Required<Shape> pad_width = {};
  Scalar constant_value = 0;

  static constexpr const char* doc =
      "pad_width[2k] elements before and pad_width[2k + 1] after axis k: constant_value, the outermost element (edge), "
      "or the elements inside (reflect).";
  static constexpr Note notes[] = {{"mode", "what is put there"},
                                   {"pad_width", "before and after each axis"},
                                   {"constant_value", "of mode constant"}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape &in = s.in(0), &widths = *pad_width;
    if (!in.has_rank()) return;
    if (widths.ndim() != 2 * in.ndim())
      s.fail("pad_width = ", widths, " lists ", widths.ndim(), " numbers, expected ", 2 * in.ndim(),
             ", two per axis of ", s.name_in(0));
    Shape out = in;
    for (int k = 0; k < in.ndim(); ++k) {
      const std::int64_t before = widths[2 * k], after = widths[2 * k + 1];
      if (before < 0 || after < 0) s.fail("pad_width = ", widths, " has negative numbers");
      if (in[k] < 0) continue;
      if (*mode == reflect && detail::larger(before, after) > detail::larger(0, in[k] - 1))
        s.fail("axis ", k, " of ", s.name_in(0), " has extent ", in[k], ", which reflects at most ", in[k] - 1,
               " elements");
      if (*mode == edge && in[k] == 0 && (before > 0 || after > 0))
        s.fail("axis ", k, " of ", s.name_in(0), " has no edge");
      out[k] = detail::checked_sum(in[k], detail::checked_sum(before, after, s.op()), s.op());
    }
    s.set_out(0, out);
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;

  /// For each axis of the padded array the position that an element comes from; −1 for the constant.
  detail::List<detail::List<std::int64_t>> sources(const Shape& in) const;
};

/// Internal.
struct PadGradient {
  Pad::Mode mode = Pad::constant;
  Shape pad_width = {};
  static constexpr std::string_view name = "_backward_Pad", inputs[] = {"data", "like"};
  static constexpr const char* doc = "Sums of what pad makes of each element of an array of the shape of like.";
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(1));
    detail::expect_made_by(Pad{.mode = mode, .pad_width = pad_width}, s, 0, {1});
  }
  template <Real E>
  void forward(Cpu&, View<const E> dy, View<const E>, View<E> dx) const;
  auto gradient(const auto& ddx, const auto& dy, const auto& like) const;
};

inline constexpr Op<Pad, OnUse> pad;
inline constexpr Op<PadGradient, OnUse> pad_gradient;

auto Pad::gradient(const auto& dy, const auto& x) const {
  return pad_gradient(dy, x, {.mode = *mode, .pad_width = *pad_width});
}
/// Of the padded places only those that hold elements lead back: the constant has no part in it.
auto PadGradient::gradient(const auto& ddx, const auto&, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(ddx)>>{pad(ddx, {.mode = mode, .pad_width = pad_width})};
}

using PadOps = OpList<Pad, PadGradient>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/shape/pad_body.hpp>
#endif
