// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pad: more elements before and after each axis: a constant, the edge, or the inside reflected.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/tensor/cast.hpp>

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
  double constant_value = 0;

  static constexpr const char* doc =
      "pad_width[2k] elements before and pad_width[2k + 1] after axis k: constant_value, the outermost element (edge), "
      "or the elements inside (reflect).";
  static constexpr Note notes[] = {{"mode", "what is put there"},
                                   {"pad_width", "before and after each axis"},
                                   {"constant_value", "of mode constant"}};
  static constexpr Keeps gradient_keeps = Keeps::none;

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
      if (*mode == reflect && std::max(before, after) > std::max<std::int64_t>(0, in[k] - 1))
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
  detail::List<detail::List<std::int64_t>> sources(const Shape& in) const {
    detail::List<detail::List<std::int64_t>> all(in.ndim());
    for (int k = 0; k < in.ndim(); ++k) {
      const std::int64_t before = (*pad_width)[2 * k], after = (*pad_width)[2 * k + 1], n = in[k];
      for (std::int64_t i = -before; i < n + after; ++i) {
        std::int64_t from = i;
        if (i < 0) from = *mode == constant ? -1 : *mode == edge ? 0 : -i;
        if (i >= n) from = *mode == constant ? -1 : *mode == edge ? n - 1 : 2 * (n - 1) - i;
        all[k].push_back(from);
      }
    }
    return all;
  }
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

namespace detail {

/// Calls f(first element of a row of the padded array, of the source's row or −1) for each row of the last axis.
template <class F>
void each_padded_row(const detail::List<detail::List<std::int64_t>>& sources, const Shape& in, F f) {
  const std::int64_t rank = sources.size();
  if (rank == 0) return f(0, 0);
  const std::int64_t width = sources[rank - 1].size();
  std::int64_t rows = 1;
  for (std::int64_t k = 0; k + 1 < rank; ++k) rows *= sources[k].size();
  parallel_for(rows, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, width)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t r = begin; r < end; ++r) {
                   std::int64_t rest = r, from = 0, step = in[rank - 1];
                   for (std::int64_t k = rank - 1; k-- > 0;) {
                     const std::int64_t extent = sources[k].size();
                     const std::int64_t source = sources[k][rest % extent];
                     from = source < 0 || from < 0 ? -1 : from + source * step;
                     step *= in[k];
                     rest /= extent;
                   }
                   f(r * width, from);
                 }
               });
}

}  // namespace detail

inline void Pad::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const auto from = sources(x.shape());
  std::byte value[8];
  detail::convert_elements(f64, &constant_value, y.dtype(), value, 1);
  if (y.size() == 0) return;
  detail::visit_bits(y.dtype(), [&]<class Bits>(Bits) {
    Bits fill;
    std::memcpy(&fill, value, sizeof fill);
    const Bits* in = x.pointer<Bits>();
    Bits* out = y.pointer<Bits>();
    if (from.empty()) {
      *out = *in;
      return;
    }
    const detail::List<std::int64_t>& last = from.back();
    const auto inside = x.shape().back(), before = (*pad_width)[pad_width.value->ndim() - 2];
    detail::each_padded_row(from, x.shape(), [&](std::int64_t row, std::int64_t source) {
      Bits* to = out + row;
      if (source < 0) {
        std::fill_n(to, last.size(), fill);
        return;
      }
      const auto put = [&](std::int64_t i) { to[i] = last[i] < 0 ? fill : in[source + last[i]]; };
      for (std::int64_t i = 0; i < before; ++i) put(i);
      if (inside != 0) detail::copy_bytes(to + before, in + source, inside * std::int64_t{sizeof(Bits)});
      for (auto i = before + inside; i < static_cast<std::int64_t>(last.size()); ++i) put(i);
    });
  });
}

template <Real E>
void PadGradient::forward(Cpu&, View<const E> dy, View<const E>, View<E> dx) const {
  const Shape shape(dx.shape());
  const auto from = Pad{.mode = mode, .pad_width = pad_width}.sources(shape);
  std::fill(dx.begin(), dx.end(), E(0));
  if (dy.size() == 0) return;
  if (from.empty()) {
    dx[0] = dy[0];
    return;
  }
  // One after the other: rows of the padded array share rows of the source.
  detail::List<std::int64_t> rows;
  const std::int64_t width = from.back().size();
  rows.resize(dy.size() / width);
  detail::each_padded_row(from, shape, [&](std::int64_t row, std::int64_t source) { rows[row / width] = source; });
  for (std::int64_t r = 0; r < rows.size(); ++r) {
    if (rows[r] < 0) continue;
    const E* in = dy.data() + r * width;
    for (std::int64_t i = 0; i < width; ++i)
      if (const std::int64_t at = from.back()[i]; at >= 0) dx[rows[r] + at] += in[i];
  }
}

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
