// SPDX-License-Identifier: Apache-2.0
/// \file
/// diag: a diagonal of an array, or a matrix with one; depth_to_space and space_to_depth.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>

#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// The diagonal k of axes axis1 and axis2 of an array: where it begins, how long it is, its step, and the other axes.
struct DiagonalPlan {
  int first, second;
  std::int64_t start, length, step;

  /// Of a shape that is known in part only first, second and result() say something, and of the length no more than 0.
  constexpr DiagonalPlan(const Shape& shape, int k, int axis1, int axis2, std::string_view op)
      : first(checked_axis(axis1, shape.ndim(), op)), second(checked_axis(axis2, shape.ndim(), op)) {
    if (first == second) fail(op, ": axis1 and axis2 are both axis ", first);
    const Shape steps = row_major(shape);
    length =
        k >= 0 ? detail::smaller(shape[first], shape[second] - k) : detail::smaller(shape[first] + k, shape[second]);
    if (length < 0) length = 0;
    const bool none = length == 0;  // such a diagonal begins outside
    start = none ? 0 : k >= 0 ? k * steps[second] : -static_cast<std::int64_t>(k) * steps[first];
    step = none ? 0 : steps[first] + steps[second];
  }
  /// The other axes, then the diagonal.
  template <int = 0>
  constexpr Shape result(const Shape& shape) const {
    Shape out;
    for (int i = 0; i < shape.ndim(); ++i)
      if (i != first && i != second) out.push_back(shape[i]);
    out.push_back(length);
    return out;
  }
  /// From the array to its diagonals, or, with `back`, from the diagonals into the array.
  Move move(const Shape& shape, bool back) const {
    const Shape steps = row_major(shape), near = row_major(result(shape));
    Move m;
    int at = 0;
    const auto axis = [&](std::int64_t extent, std::int64_t far) {
      back ? m.axis(extent, near[at], far) : m.axis(extent, far, near[at]), ++at;
    };
    for (int i = 0; i < shape.ndim(); ++i)
      if (i != first && i != second) axis(shape[i], steps[i]);
    axis(length, step);
    (back ? m.out_start : m.in_start) = start;
    return m;
  }
};

}  // namespace detail

/// diag: of an array of 2 or more dimensions diagonal k of axes axis1 and axis2, as the last axis of the result; of a
/// vector the square matrix that has it as diagonal k and zeros elsewhere. All types. Error: there is no such diagonal.
/// `diag(array({{1, 2}, {3, 4}}))` is [1, 4]; `diag(array({1, 2}))` is [[1, 0], [0, 2]].
struct Diag {
  int k = 0;
  int axis1 = 0, axis2 = 1;
  static constexpr std::string_view name = "diag";
  static constexpr const char* doc =
      "Diagonal k of axes axis1 and axis2 as the last axis; of a vector the matrix that has it as diagonal k.";
  static constexpr Note notes[] = {{"k", "which diagonal: 0 is the main one, above it k > 0, below it k < 0"},
                                   {"axis1", "the axis of rows; negative: from the last; of no account for a vector"},
                                   {"axis2", "the axis of columns, another one"}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape& in = s.in(0);
    if (!in.has_rank()) return;
    if (in.ndim() == 0) s.fail(s.name_in(0), " has no dimension, expected 1 or more");
    if (in.ndim() == 1) {
      if (in[0] < 0) return s.set_out(0, Shape{-1, -1});
      const std::int64_t n = detail::checked_sum(in[0], k < 0 ? -static_cast<std::int64_t>(k) : k, s.op());
      return s.set_out(0, Shape{n, n});
    }
    const detail::DiagonalPlan plan(in, k, axis1, axis2, s.op());
    if (plan.length == 0 && in.known() && in.size() != 0)
      s.fail(s.name_in(0), " of shape ", in, " has no diagonal ", k);
    Shape out = plan.result(in);
    if (in[plan.first] < 0 || in[plan.second] < 0) out.back() = -1;
    s.set_out(0, out);
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

/// `data` as the diagonals of zeros of the shape of `like`, or its diagonal where that is a vector: the gradient of
/// diag. Internal.
struct DiagGradient {
  int k = 0;
  int axis1 = 0, axis2 = 1;
  static constexpr std::string_view name = "_backward_diag", inputs[] = {"data", "like"};
  static constexpr const char* doc =
      "data as the diagonals of zeros of the shape of like, or its diagonal where like is a vector.";
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(1));
    detail::expect_made_by(Diag{k, axis1, axis2}, s, 0, {1});
  }
  void forward(Cpu&, const NDArray& dy, const NDArray&, NDArray& dx) const;
  auto gradient(const auto& ddx, const auto& dy, const auto& like) const;
};

namespace detail {
/// An extent divided, which it has to allow; −1 where it is not known.
constexpr std::int64_t parts_of(std::int64_t extent, std::int64_t by) { return extent < 0 ? -1 : extent / by; }

template <int = 0>
constexpr void check_blocks(Shapes& s, int block) {
  if (block < 1) s.fail("block_size is ", block, ", expected at least 1");
  s.expect_rank(0, 4);
  for (int k = 1; k < 4 && s.in(0).has_rank(); ++k)
    if (s.in(0)[k] == 0) s.fail(s.name_in(0), " of shape ", s.in(0), " has an axis without elements");
}
}  // namespace detail

/// depth_to_space: (n, c·b², h, w) → (n, c, h·b, w·b): each group of b² channels becomes a block of b × b places.
/// All types. Error: not 4 axes, one but the first without elements, block_size below 1, channels that are no multiple
/// of b².
struct DepthToSpace {
  Required<int> block_size = {};
  static constexpr std::string_view name = "depth_to_space";
  static constexpr const char* doc =
      "(n, c*b*b, h, w) to (n, c, h*b, w*b): b*b channels become a block of b by b places.";
  static constexpr Note notes[] = {{"block_size", "edge b of a block, 1 or more; its square divides the channels"}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const std::int64_t b = *block_size;
    detail::check_blocks(s, *block_size);
    const Shape& in = s.in(0);
    if (!in.has_rank()) return;
    if (in[1] >= 0 && in[1] % (b * b) != 0)
      s.fail(s.name_in(0), " of shape ", in, " has ", in[1], " channels, expected a multiple of ", b * b);
    s.set_out(0, Shape{in[0], detail::parts_of(in[1], b * b), detail::times_extent(in[2], b, s.op()),
                       detail::times_extent(in[3], b, s.op())});
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy) const;
};

/// space_to_depth: (n, c, h·b, w·b) → (n, c·b², h, w): the inverse of depth_to_space.
/// All types. Error: not 4 axes, one but the first without elements, block_size below 1, h or w that is no multiple of
/// b.
struct SpaceToDepth {
  Required<int> block_size = {};
  static constexpr std::string_view name = "space_to_depth";
  static constexpr const char* doc = "(n, c, h*b, w*b) to (n, c*b*b, h, w): the inverse of depth_to_space.";
  static constexpr Note notes[] = {{"block_size", "edge b of a block, 1 or more; it divides rows and columns"}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const std::int64_t b = *block_size;
    detail::check_blocks(s, *block_size);
    const Shape& in = s.in(0);
    if (!in.has_rank()) return;
    if ((in[2] >= 0 && in[2] % b != 0) || (in[3] >= 0 && in[3] % b != 0))
      s.fail(s.name_in(0), " of shape ", in, " has rows or columns that are no multiple of block_size = ", b);
    s.set_out(0, Shape{in[0], detail::times_extent(in[1], b * b, s.op()), detail::parts_of(in[2], b),
                       detail::parts_of(in[3], b)});
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy) const;
};

inline constexpr Op<Diag, OnUse> diag;
inline constexpr Op<DiagGradient, OnUse> diag_gradient;
inline constexpr Op<DepthToSpace, OnUse> depth_to_space;
inline constexpr Op<SpaceToDepth, OnUse> space_to_depth;

auto Diag::gradient(const auto& dy, const auto& x) const {
  return diag_gradient(dy, x, {.k = k, .axis1 = axis1, .axis2 = axis2});
}
auto DiagGradient::gradient(const auto& ddx, const auto&, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(ddx)>>{diag(ddx, {.k = k, .axis1 = axis1, .axis2 = axis2})};
}
auto DepthToSpace::gradient(const auto& dy) const { return space_to_depth(dy, {.block_size = *block_size}); }
auto SpaceToDepth::gradient(const auto& dy) const { return depth_to_space(dy, {.block_size = *block_size}); }

using DiagOps = OpList<Diag, DiagGradient, DepthToSpace, SpaceToDepth>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/shape/diag_body.hpp>
#endif
