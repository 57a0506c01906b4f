// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parts of arrays: slice, slice_axis, slice_like, and assignment to such parts.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/bounds.hpp>
#include <strop/ops/shape/move.hpp>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// Throws unless the window of the shape of input `part` lies inside the shape of input `whole`.
template <int = 0>
constexpr void check_window(const Shapes& s, int whole, int part, const Bounds<>& begin, const Bounds<>& step,
                            const std::optional<int>& axis) {
  const Shape &in = s.in(whole), &window = s.in(part);
  if (!in.known() || !window.known()) return;
  const int first = axis ? checked_axis(*axis, in.ndim(), s.op()) : 0;
  bool inside = in.ndim() == window.ndim();
  for (int k = 0; inside && k < in.ndim(); ++k) {
    const AxisRange r = axis_range(in[k], k < first ? std::nullopt : begin[k - first], std::nullopt,
                                   k < first ? std::nullopt : step[k - first], s.op());
    inside = window[k] <= r.count;
  }
  if (!inside)
    s.fail(s.name_in(part), " of shape ", window, " is no window of ", s.name_in(whole), ", which has shape ", in);
}

/// The shape of a slice; an extent that is not known stays so unless the whole axis is taken.
template <int = 0>
constexpr Shape sliced_shape(const Shape& in, const Bounds<true>& begin, const Bounds<true>& end,
                             const Bounds<false>& step, std::string_view op) {
  if (begin.count() != end.count()) fail(op, ": begin has ", begin.count(), " entries, end ", end.count());
  if (begin.count() > in.ndim())
    fail(op, ": ", begin.count(), " bounds for an array of ", in.ndim(), in.ndim() == 1 ? " dimension" : " dimensions");
  if (step.count() != 0 && step.count() != begin.count())
    fail(op, ": step has ", step.count(), " entries, begin ", begin.count());
  Shape out = in;
  for (int k = 0; k < begin.count(); ++k) {
    if (step[k] == 0) fail(op, ": the step of axis ", k, " is 0");
    if (in[k] >= 0) out[k] = axis_range(in[k], begin[k], end[k], step[k], op).count;
  }
  return out;
}

inline constexpr Note slice_notes[] = {{"scalar", "what the slice is set to"},
                                       {"begin", "first position of each of the first axes; None: no bound"},
                                       {"end", "position after the last of each of them; None: no bound"},
                                       {"step", "from one position to the next, not 0; none given: 1"}};

/// Whether a CSR array is walked in steps of 1.
template <int = 0>
constexpr bool steps_singly(const Bounds<false>& step) {
  for (int k = 0; k < step.count(); ++k)
    if (step[k].value_or(1) != 1) return false;
  return true;
}

}  // namespace detail

/// slice: elements begin[k], begin[k] + step[k], … before end[k] of each of the first axes, all of the others.
///
/// Negative bounds count from the end of their axis, bounds outside are cut off, open ones (None) take everything; a
/// negative step walks backwards. All types. The gradient is the head gradient in zeros. Error: more bounds than axes,
/// lists that differ in length, a step of 0.
///
/// Example: `slice(array({1, 2, 3, 4}), {.begin = {1}, .end = {std::nullopt}, .step = {2}})` is [2, 4].
struct Slice {
  Bounds<true> begin = {}, end = {};
  Bounds<> step = {};

  static constexpr std::string_view name = "slice", aliases[] = {"_sparse_slice", "crop", "_npx_slice", "_npi_slice"};
  static constexpr const char* doc =
      "Elements begin[k], begin[k] + step[k], ... before end[k] of each of the first axes. Negative bounds count from "
      "the end, bounds "
      "outside are cut off, None takes everything. CSR stays CSR with steps of 1.";
  static constexpr std::span<const Note> notes = detail::slice_notes;
  static constexpr Keeps gradient_keeps = Keeps::none;

  constexpr void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank()) s.set_out(0, detail::sliced_shape(s.in(0), begin, end, step, s.op()));
  }
  constexpr bool infer_storage(Storages& s) const {
    const bool single = s.in(0) == csr && detail::steps_singly(step);
    return s.set_out(0, single ? csr : dense) && (single || s.in(0) == dense);
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

/// slice_axis: elements begin … end − 1 of one axis, to its end without `end`. Error: bounds outside the axis.
/// `slice_axis(array({{1, 2, 3}}), {.axis = 1, .begin = 1})` is [[2, 3]].
struct SliceAxis {
  Required<int> axis = {};
  Required<std::int64_t> begin = {};
  std::optional<std::int64_t> end = {};

  static constexpr std::string_view name = "slice_axis";
  static constexpr const char* doc =
      "Elements begin to end - 1 of one axis; negative bounds count from its end, an end of None takes the rest.";
  static constexpr Note notes[] = {{"axis", "the axis that is cut; negative: from the last"},
                                   {"begin", "first position; negative: from the end"},
                                   {"end", "position after the last; negative: from the end; None: the rest"}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape& in = s.in(0);
    if (!in.has_rank()) return;
    const int k = detail::checked_axis(*axis, in.ndim(), s.op());
    Shape out = in;
    if (in[k] >= 0) {
      const std::int64_t first = *begin < 0 ? *begin + in[k] : *begin, last = !end       ? in[k]
                                                                              : *end < 0 ? *end + in[k]
                                                                                         : *end;
      if (first < 0 || last > in[k] || first > last)
        s.fail("[", *begin, ", ", end.value_or(in[k]), ") is outside axis ", *axis, " of ", s.name_in(0),
               ", which has extent ", in[k]);
      out[k] = last - first;
    }
    s.set_out(0, out);
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

/// All types; of `shape_like` only the shape is read. The gradient is the head gradient in zeros. Error: an axis of
/// `data` is shorter; ranks differ where no `axes` are given.
struct SliceLike {
  Shape axes = {};
  static constexpr std::string_view name = "slice_like", inputs[] = {"data", "shape_like"};
  static constexpr const char* doc =
      "The first elements of data along each of axes (all by default), as many as shape_like has there.";
  static constexpr Note notes[] = {{"axes", "the axes that are cut, of both inputs; none given: all"}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape &in = s.in(0), &like = s.in(1);
    if (!in.has_rank() || !like.has_rank()) return;
    Shape out = in;
    const auto cut = [&](int k, int from) {
      if (like[from] > in[k] && in[k] >= 0)
        s.fail("axis ", k, " of ", s.name_in(0), " has extent ", in[k], ", ", s.name_in(1), " asks for ", like[from]);
      out[k] = like[from];
    };
    if (axes.ndim() == 0) {
      if (in.ndim() != like.ndim())
        s.fail(s.name_in(0), " has shape ", in, ", ", s.name_in(1), " has shape ", like,
               "; without axes their ranks are equal");
      for (int k = 0; k < in.ndim(); ++k) cut(k, k);
    }
    for (std::int64_t axis : axes)
      cut(detail::checked_axis(axis, in.ndim(), s.op()), detail::checked_axis(axis, like.ndim(), s.op()));
    s.set_out(0, out);
  }
  constexpr void infer_type(Types& t) const {
    t.set_out(0, t.in(0));
    t.set_in(0, t.out(0));
  }
  void forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x, const auto& like) const;
};

/// The window of `data` of the shape of `like`: what the gradient of a gradient of slices reads. Internal.
struct SliceWindow {
  Bounds<> begin = {}, step = {};
  std::optional<int> axis = {};
  static constexpr std::string_view name = "_backward_slice_window", inputs[] = {"data", "like"};
  static constexpr const char* doc =
      "The part of data that begins at `begin`, walks in steps of `step` and has the shape of like.";
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(1));
    detail::check_window(s, 0, 1, begin, step, axis);
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, t.in(0)); }
  void forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x, const auto& like) const;
};

/// `data` as a window of zeros of the shape of `like`: the gradient of slices. Internal.
struct SliceGradient {
  Bounds<> begin = {}, step = {};
  std::optional<int> axis = {};
  static constexpr std::string_view name = "_backward_slice", inputs[] = {"data", "like"};
  static constexpr const char* doc =
      "Zeros of the shape of like with data in the part that begins at `begin` and walks in steps of `step`.";
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(1));
    detail::check_window(s, 1, 0, begin, step, axis);
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, t.in(0)); }
  /// The second input lends its shape alone, in whatever storage.
  constexpr bool infer_storage(Storages& s) const {
    const bool single = s.in(0) == csr && !axis && detail::steps_singly(step);
    return s.set_out(0, single ? csr : dense) && (single || s.in(0) == dense);
  }
  void forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x, const auto& like) const;
};

/// `rhs` has the shape of the slice. All types, of both the same. Errors are those of slice, and another shape of
/// `rhs`.
struct SliceAssign {
  Bounds<true> begin = {}, end = {};
  Bounds<> step = {};
  static constexpr std::string_view name = "_slice_assign",
                                    aliases[] = {"slice_assign", "_crop_assign", "_npi_slice_assign"},
                                    inputs[] = {"lhs", "rhs"};
  static constexpr const char* doc = "lhs with rhs in place of the slice begin:end:step.";
  static constexpr std::span<const Note> notes = detail::slice_notes;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (s.in(0).has_rank()) s.set_in(1, detail::sliced_shape(s.in(0), begin, end, step, s.op()));
  }
  void forward(Cpu&, const NDArray& x, const NDArray& part, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x, const auto& part) const;
};

/// All types. The gradient is the head gradient with 0 in the slice. Errors are those of slice.
struct SliceAssignScalar {
  Scalar scalar = 0;
  Bounds<true> begin = {}, end = {};
  Bounds<> step = {};
  static constexpr std::string_view name = "_slice_assign_scalar",
                                    aliases[] = {"slice_assign_scalar", "_crop_assign_scalar",
                                                 "_npi_slice_assign_scalar"};
  static constexpr const char* doc = "data with scalar everywhere in the slice begin:end:step.";
  static constexpr std::span<const Note> notes = detail::slice_notes;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (s.in(0).has_rank()) detail::sliced_shape(s.in(0), begin, end, step, s.op());
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

template <>
inline constexpr bool detail::reads_any_index<Slice> = true;
inline constexpr Op<Slice, OnUse> slice;
inline constexpr Op<SliceAxis, OnUse> slice_axis;
inline constexpr Op<SliceLike, OnUse> slice_like;
inline constexpr Op<SliceWindow, OnUse> slice_window;
template <>
inline constexpr bool detail::reads_any_index<SliceGradient> = true;
inline constexpr Op<SliceGradient, OnUse> slice_gradient;
inline constexpr Op<SliceAssign, OnUse> slice_assign;
inline constexpr Op<SliceAssignScalar, OnUse> slice_assign_scalar;

auto Slice::gradient(const auto& dy, const auto& x) const {
  return slice_gradient(dy, x, {.begin = begin, .step = step});
}
auto SliceAxis::gradient(const auto& dy, const auto& x) const {
  return slice_gradient(dy, x, {.begin = {*begin}, .axis = *axis});
}
// Inputs that only lend their shape get no gradient.
auto SliceLike::gradient(const auto& dy, const auto& x, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{slice_gradient(dy, x)};
}
auto SliceWindow::gradient(const auto& dy, const auto& x, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{
      slice_gradient(dy, x, {.begin = begin, .step = step, .axis = axis})};
}
auto SliceGradient::gradient(const auto& dy, const auto& x, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{
      slice_window(dy, x, {.begin = begin, .step = step, .axis = axis})};
}
auto SliceAssign::gradient(const auto& dy, const auto&, const auto&) const {
  return std::tuple(slice_assign_scalar(dy, {.begin = begin, .end = end, .step = step}),
                    strop::slice(dy, {.begin = begin, .end = end, .step = step}));
}
auto SliceAssignScalar::gradient(const auto& dy, const auto&) const {
  return slice_assign_scalar(dy, {.begin = begin, .end = end, .step = step});
}

template <>
inline constexpr bool detail::zero_unless_stored<Slice> = true;

using SliceOps = OpList<Slice, SliceAxis, SliceLike, SliceWindow, SliceGradient, SliceAssign, SliceAssignScalar>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/shape/slice_body.hpp>
#endif
