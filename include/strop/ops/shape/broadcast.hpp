// SPDX-License-Identifier: Apache-2.0
/// \file
/// Repetition along axes: broadcast_to, broadcast_axis, broadcast_like, tile, repeat.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// All types. The gradient is the sum of the head gradient over the repeated axes. Error: another rank, or an axis that
/// is not 1. `broadcast_to(array({{1}, {2}}), {.shape = {2, 3}})` is [[1, 1, 1], [2, 2, 2]].
struct BroadcastTo {
  Shape shape = {};
  static constexpr std::string_view name = "broadcast_to";
  static constexpr const char* doc = "Axes of extent 1 repeated to the extents of shape, in which 0 keeps an extent.";
  static constexpr Note notes[] = {{"shape", "extents of the result, as many as data has axes; 0 keeps one"}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape& in = s.in(0);
    if (!in.has_rank()) return;
    if (in.ndim() != shape.ndim())
      s.fail(s.name_in(0), " has shape ", in, ", which has another rank than shape = ", shape);
    Shape out = shape;
    for (int k = 0; k < in.ndim(); ++k) {
      if (out[k] == 0) out[k] = in[k];
      if (in[k] >= 0 && in[k] != out[k] && in[k] != 1)
        s.fail(s.name_in(0), " of shape ", in, " does not broadcast to ", shape, ": axis ", k,
               " has neither extent 1 nor ", out[k]);
    }
    s.set_out(0, out);
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

/// All types. The gradient is the sum over the repeated axes. Error: `axis` and `size` differ in length, an axis has
/// another extent than 1 or is given twice, a size is negative.
struct BroadcastAxis {
  Shape axis = {}, size = {};
  static constexpr std::string_view name = "broadcast_axis", aliases[] = {"broadcast_axes"};
  static constexpr const char* doc = "axis[k], of extent 1, repeated size[k] times.";
  static constexpr Note notes[] = {{"axis", "the axes that are repeated, of extent 1; negative: from the last"},
                                   {"size", "how often each of them; as many numbers as axis has"}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (axis.ndim() != size.ndim()) s.fail("axis has ", axis.ndim(), " entries, size ", size.ndim());
    if (!s.in(0).has_rank()) return;
    Shape out = s.in(0);
    for (int i = 0; i < axis.ndim(); ++i) {
      const int k = detail::checked_axis(axis[i], out.ndim(), s.op());
      if (s.in(0)[k] >= 0 && s.in(0)[k] != 1)
        s.fail("axis ", axis[i], " of ", s.name_in(0), " has extent ", s.in(0)[k], ", expected 1");
      if (size[i] < 0) s.fail("size ", size[i], " of axis ", axis[i], " is negative");
      if (s.in(0)[k] == 1 && out[k] != 1) s.fail("axis ", axis[i], " is given twice");
      out[k] = size[i];
    }
    s.set_out(0, out);
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

/// All types; of `rhs` only the shape is read. The gradient is the sum over the repeated axes. Error: `lhs` does not
/// broadcast to that shape, or the two lists of axes differ in length or are empty.
struct BroadcastLike {
  std::optional<Shape> lhs_axes = {}, rhs_axes = {};
  static constexpr std::string_view name = "broadcast_like", inputs[] = {"lhs", "rhs"};
  static constexpr const char* doc =
      "lhs repeated to the shape of rhs, or its axes lhs_axes to the extents of rhs_axes of rhs.";
  static constexpr Note notes[] = {{"lhs_axes", "axes of lhs that are repeated, None: all; negative: from the last"},
                                   {"rhs_axes", "axes of rhs whose extents they get, as many as lhs_axes"}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape &in = s.in(0), &like = s.in(1);
    if (!in.has_rank() || !like.has_rank()) return;
    Shape out = in;
    const auto widen = [&](int k, std::int64_t extent) {
      if (in[k] >= 0 && extent >= 0 && in[k] != extent && in[k] != 1)
        s.fail(s.name_in(0), " of shape ", in, " does not broadcast to ", s.name_in(1), " of shape ", like);
      out[k] = extent;
    };
    if (lhs_axes.has_value() != rhs_axes.has_value() || (lhs_axes && lhs_axes->ndim() != rhs_axes->ndim()))
      s.fail("lhs_axes and rhs_axes list equally many axes");
    if (lhs_axes && lhs_axes->ndim() == 0) s.fail("lhs_axes and rhs_axes list one axis or more");
    if (!lhs_axes) {
      if (in.ndim() != like.ndim())
        s.fail(s.name_in(0), " of shape ", in, " does not broadcast to ", s.name_in(1), " of shape ", like,
               ": their ranks differ");
      for (int k = 0; k < in.ndim(); ++k) widen(k, like[k]);
    } else {
      for (int i = 0; i < lhs_axes->ndim(); ++i)
        widen(detail::checked_axis((*lhs_axes)[i], in.ndim(), s.op()),
              like[detail::checked_axis((*rhs_axes)[i], like.ndim(), s.op())]);
    }
    s.set_out(0, out);
  }
  constexpr void infer_type(Types& t) const {
    t.set_out(0, t.in(0));
    t.set_in(0, t.out(0));
  }
  void forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x, const auto& like) const;
};

/// Sums of `data` over the axes along which `like`, of the same rank, has extent 1: the gradient of broadcasting.
/// Internal.
struct BroadcastGradient {
  static constexpr std::string_view name = "_backward_broadcast", inputs[] = {"data", "like"};
  static constexpr const char* doc = "Sums of data over the axes along which like has extent 1.";
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(1));
    const Shape &in = s.in(0), &like = s.in(1);
    if (!in.known() || !like.known()) return;
    bool fits = in.ndim() == like.ndim();
    for (int k = 0; fits && k < in.ndim(); ++k) fits = like[k] == 1 || like[k] == in[k];
    if (!fits)
      s.fail(s.name_in(1), " has shape ", like, ", which does not broadcast to ", in, ", the shape of ", s.name_in(0));
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, t.in(0)); }
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<const E>, View<E> y) const;
  auto gradient(const auto& dy, const auto& x, const auto& like) const;
};

/// All types. The gradient is the sum over the copies. Error: a negative repetition. `tile(array({1, 2}), {.reps = {2,
/// 2}})` is [[1, 2, 1, 2], [1, 2, 1, 2]].
struct Tile {
  Required<Shape> reps = {};
  static constexpr std::string_view name = "tile", aliases[] = {"_npi_tile"};
  static constexpr const char* doc =
      "The whole array reps[k] times along axis k; a shorter list counts for the last axes, a longer one adds axes in "
      "front.";
  static constexpr Note notes[] = {
      {"reps", "how often along each axis, 0 or more; a shorter list is of the last axes"}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  /// Extents of the input and repetitions, both with as many axes as the result.
  struct Plan {
    Shape extents, reps;
  };
  template <int = 0>
  constexpr Plan plan(const Shape& in) const {
    Plan p{in, *reps};
    while (p.extents.ndim() < p.reps.ndim()) p.extents.insert(0, 1);
    while (p.reps.ndim() < p.extents.ndim()) p.reps.insert(0, 1);
    return p;
  }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    for (std::int64_t r : *reps)
      if (r < 0) s.fail("parameter 'reps' has a repetition of ", r, ", expected 0 or more");
    if (!s.in(0).has_rank()) return;
    const Plan p = plan(s.in(0));
    Shape out = p.extents;
    for (int k = 0; k < out.ndim(); ++k) out[k] = detail::times_extent(out[k], p.reps[k], s.op());
    s.set_out(0, out);
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

/// Internal.
struct TileGradient {
  Shape reps = {};
  static constexpr std::string_view name = "_backward_tile", inputs[] = {"data", "like"};
  static constexpr const char* doc = "Sums of the copies that tile makes of an array of the shape of like.";
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(1));
    detail::expect_made_by(Tile{.reps = reps}, s, 0, {1});
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<const E>, View<E> y) const;
  auto gradient(const auto& dy, const auto& x, const auto& like) const;
};

/// All types. The gradient is the sum over the copies. Error: the axis is outside. `repeat(array({1, 2}), {.repeats =
/// 2})` is [1, 1, 2, 2].
struct Repeat {
  Required<int> repeats = {};
  std::optional<int> axis = {};
  static constexpr std::string_view name = "repeat", aliases[] = {"_np_repeat"};
  static constexpr const char* doc =
      "Each element `repeats` times along axis, or each of the flattened array without one.";
  static constexpr Note notes[] = {{"repeats", "how often each element"},
                                   {"axis", "the axis; negative: from the last; None: the whole array as one row"}};
  static constexpr Range range[] = {{"repeats", 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape& in = s.in(0);
    if (axis && in.has_rank()) {
      Shape out = in;
      const int k = detail::checked_axis(*axis, in.ndim(), s.op());
      if (in[k] >= 0) out[k] = detail::checked_product(in[k], *repeats, s.op());
      s.set_out(0, out);
    } else if (!axis && in.known()) {
      s.set_out(0, Shape{detail::checked_product(in.size(), *repeats, s.op())});
    }
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

/// Internal.
struct RepeatGradient {
  int repeats = 1;
  std::optional<int> axis = {};
  static constexpr std::string_view name = "_backward_repeat", inputs[] = {"data", "like"};
  static constexpr const char* doc =
      "Sums of the copies that repeat makes of each element of an array of the shape of like.";
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(1));
    if (repeats < 0) s.fail("repeats is ", repeats, ", expected 0 or more");
    detail::expect_made_by(Repeat{.repeats = repeats, .axis = axis}, s, 0, {1});
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<const E>, View<E> y) const;
  auto gradient(const auto& dy, const auto& x, const auto& like) const;
};

inline constexpr Op<BroadcastTo, OnUse> broadcast_to;
inline constexpr Op<BroadcastAxis, OnUse> broadcast_axis;
inline constexpr Op<BroadcastLike, OnUse> broadcast_like;
inline constexpr Op<BroadcastGradient, OnUse> broadcast_gradient;
inline constexpr Op<Tile, OnUse> tile;
inline constexpr Op<TileGradient, OnUse> tile_gradient;
inline constexpr Op<Repeat, OnUse> repeat;
inline constexpr Op<RepeatGradient, OnUse> repeat_gradient;

auto BroadcastTo::gradient(const auto& dy, const auto& x) const { return broadcast_gradient(dy, x); }
auto BroadcastAxis::gradient(const auto& dy, const auto& x) const { return broadcast_gradient(dy, x); }
auto Tile::gradient(const auto& dy, const auto& x) const { return tile_gradient(dy, x, {.reps = *reps}); }
auto Repeat::gradient(const auto& dy, const auto& x) const {
  return repeat_gradient(dy, x, {.repeats = *repeats, .axis = axis});
}
// Inputs that only lend their shape get no gradient.
auto BroadcastLike::gradient(const auto& dy, const auto& x, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{broadcast_gradient(dy, x)};
}
auto BroadcastGradient::gradient(const auto& dy, const auto& x, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{broadcast_like(dy, x)};
}
auto TileGradient::gradient(const auto& dy, const auto&, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{tile(dy, {.reps = reps})};
}
auto RepeatGradient::gradient(const auto& dy, const auto&, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{repeat(dy, {.repeats = repeats, .axis = axis})};
}

using RepetitionOps =
    OpList<BroadcastTo, BroadcastAxis, BroadcastLike, BroadcastGradient, Tile, TileGradient, Repeat, RepeatGradient>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/shape/broadcast_body.hpp>
#endif
