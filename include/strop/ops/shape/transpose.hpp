// SPDX-License-Identifier: Apache-2.0
/// \file
/// Other orders of axes and elements: transpose, SwapAxis, reverse.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>

#include <string_view>
#include <utility>

namespace strop::inline v0 {

/// transpose: axis k of the result is axis axes[k] of `data`; without `axes` the order is turned round. All types.
/// Error: `axes` is no order of all axes. Example: `transpose(zeros({2, 3, 4}), {.axes = {2, 0, 1}})` has shape (4, 2,
/// 3).
struct Transpose {
  Shape axes = {};
  static constexpr std::string_view name = "transpose";
  static constexpr const char* doc =
      "Axis k of the result is axis axes[k] of the input; without axes the order is turned round.";
  static constexpr Note notes[] = {{"axes", "an order of the input's axes, the reverse of theirs by default"}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  /// axes, counted from 0.
  template <int = 0>
  constexpr Shape order(int rank, std::string_view op) const {
    Shape all = Shape::filled(rank, 0), there = all;  // std::vector<bool> is no constant for clang beside libstdc++ 12
    if (axes.ndim() != 0 && axes.ndim() != rank)
      fail(op, ": axes ", axes, " for an array of ", rank, rank == 1 ? " dimension" : " dimensions");
    for (int k = 0; k < rank; ++k) {
      const int from = axes.ndim() == 0 ? rank - 1 - k : detail::checked_axis(axes[k], rank, op);
      if (there[from] != 0) fail(op, ": axes ", axes, " name axis ", from, " twice");
      there[from] = 1;
      all[k] = from;
    }
    return all;
  }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const int rank = s.in(0).has_rank()    ? s.in(0).ndim()
                     : s.out(0).has_rank() ? s.out(0).ndim()
                     : axes.ndim() != 0    ? axes.ndim()
                                           : -1;
    if (rank < 0) return;
    const Shape from = order(rank, s.op());
    Shape in = Shape::filled(rank, Shape::unknown_extent), out = in;
    if (s.in(0).has_rank())
      for (int k = 0; k < rank; ++k) out[k] = s.in(0)[from[k]];
    s.set_out(0, out);
    for (int k = 0; k < rank; ++k) in[from[k]] = s.out(0)[k];
    s.set_in(0, in);
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy) const;
};

/// All types. Error: an axis is outside. `swapaxes(zeros({2, 3}), {.dim1 = 0, .dim2 = 1})` has shape (3, 2).
struct SwapAxis {
  int dim1 = 0, dim2 = 0;
  static constexpr std::string_view aliases[] = {"swapaxes", "_npi_swapaxes"};
  static constexpr const char* doc = "Axes dim1 and dim2 change places.";
  static constexpr Note notes[] = {{"dim1", "one axis; negative: from the last"},
                                   {"dim2", "the other axis; negative: from the last"}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr Shape swapped(const Shape& shape, std::string_view op) const {
    Shape out = shape;
    const int a = detail::checked_axis(dim1, shape.ndim(), op), b = detail::checked_axis(dim2, shape.ndim(), op);
    std::swap(out[a], out[b]);
    return out;
  }
  constexpr void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank()) s.set_out(0, swapped(s.in(0), s.op()));
    if (s.out(0).has_rank()) s.set_in(0, swapped(s.out(0), s.op()));
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy) const;
};

/// The shape stays; all types. The gradient is the head gradient, reversed. An axis that is given twice is as it was.
/// Error: an axis is outside. `reverse(array({1, 2, 3}), {.axis = {0}})` is [3, 2, 1].
struct Reverse {
  Required<Shape> axis = {};
  static constexpr std::string_view name = "reverse", aliases[] = {"flip"};
  static constexpr const char* doc = "The elements along each of the axes given in the opposite order.";
  static constexpr Note notes[] = {{"axis", "the axes whose order is turned round; negative ones count from the last"}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (s.in(0).has_rank())
      for (std::int64_t asked : *axis) detail::checked_axis(asked, s.in(0).ndim(), s.op());
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy) const;
};

inline constexpr Op<Transpose, OnUse> transpose;
inline constexpr Op<SwapAxis, OnUse> swapaxes;
inline constexpr Op<Reverse, OnUse> reverse;

auto Transpose::gradient(const auto& dy) const {
  Shape back = axes;
  for (int k = 0; k < axes.ndim(); ++k) back[axes[k] < 0 ? axes[k] + axes.ndim() : axes[k]] = k;
  return strop::transpose(dy, {.axes = back});
}
auto SwapAxis::gradient(const auto& dy) const { return swapaxes(dy, *this); }
auto Reverse::gradient(const auto& dy) const { return strop::reverse(dy, *this); }

using TransposeOps = OpList<Transpose, SwapAxis, Reverse>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/shape/transpose_body.hpp>
#endif
