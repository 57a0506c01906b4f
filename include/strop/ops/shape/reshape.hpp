// SPDX-License-Identifier: Apache-2.0
/// \file
/// Other shapes for the same elements: Reshape, Flatten, expand_dims, squeeze, reshape_like, shape_array, size_array.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/tensor/reshape_codes.hpp>

#include <optional>
#include <string_view>

namespace strop::inline v0 {

/// Reshape: the elements of `data` in another shape with as many of them.
///
/// Codes in `shape`: With `reverse` the codes count from the last axis, and a split is written (left, right, −4). An
/// empty `shape` takes `target_shape`, the older spelling, in which 0 infers and `keep_highest` keeps the first extent.
/// All types; the gradient is the head gradient in the input's shape. Error: the counts differ, or a code finds nothing
/// to work on.
///
/// Example: `reshape(zeros({2, 3, 4}), {.shape = {-3, 0}})` has shape (6, 4).
struct Reshape {
  Shape shape = {};
  bool reverse = false;
  Shape target_shape = {};
  bool keep_highest = false;

  static constexpr const char* doc =
      "The elements in another shape with as many of them. Codes: 0 keeps an extent, -1 infers one, -2 copies the "
      "rest, -3 merges "
      "two, -4 splits one into the two that follow; reverse counts from the last axis.";
  static constexpr Note notes[] = {{"shape", "extents and codes"},
                                   {"reverse", "codes count from the last axis; a split is then (left, right, -4)"},
                                   {"target_shape", "older spelling: 0 infers an extent"},
                                   {"keep_highest", "with target_shape: the first extent stays"}};
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const;
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;

 private:
  template <int = 0>
  constexpr Shape result(const Shape& in) const;
  template <int = 0>
  constexpr Shape partial(const Shape& in) const;
};

/// (a, b, c, …) → (a, b·c·…); (a,) → (a, 1). All types. Error: an array without dimensions.
struct Flatten {
  static constexpr std::string_view aliases[] = {"_npx_batch_flatten"};
  static constexpr const char* doc = "All axes but the first become one: (a, b, c) to (a, b*c).";
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape& in = s.in(0);
    if (in.has_rank() && in.ndim() == 0) s.fail(s.name_in(0), " has no dimension, expected 1 or more");
    if (in.has_rank()) s.set_out(0, Shape{in[0], in.known() ? in.size(1, in.ndim()) : Shape::unknown_extent});
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

/// `expand_dims(zeros({2, 3}), {.axis = 1})` has shape (2, 1, 3). All types. Error: the axis is outside the result.
struct ExpandDims {
  Required<int> axis = {};
  static constexpr std::string_view name = "expand_dims", aliases[] = {"_npi_expand_dims"};
  static constexpr const char* doc =
      "One more axis of extent 1 at `axis` of the result; negative ones count from its end.";
  static constexpr Note notes[] = {{"axis", "where the new axis stands in the result; negative: from its last"}};
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank()) {
      Shape out = s.in(0);
      out.insert(detail::checked_new_axis(*axis, out.ndim() + 1, s.op()), 1);
      s.set_out(0, out);
    }
    if (s.out(0).has_rank() && s.out(0).ndim() > 0) {
      Shape in = s.out(0);
      in.erase(detail::checked_axis(*axis, in.ndim(), s.op()));
      s.set_in(0, in);
    }
  }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

/// A result without axes has shape (1,), as MXNet's. Error: an axis that is given has another extent, or is
/// given twice. All types. `squeeze(zeros({1, 3}))` has shape (3,).
struct Squeeze {
  Axes axis = {};
  static constexpr std::string_view name = "squeeze";
  static constexpr const char* doc = "Without the axes of extent 1, or without those given.";
  static constexpr Note notes[] = {
      {"axis", "axes of extent 1 that go; negative: from the last; None: all of extent 1"}};
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const;
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
};

/// reshape_like: the elements of `lhs` in the shape of `rhs`; with ranges, axes [lhs_begin, lhs_end) of `lhs` are
/// replaced by axes [rhs_begin, rhs_end) of `rhs`. Of `rhs` only the shape is read.
/// All types. Error: the numbers of elements differ, or a range is outside the axes.
struct ReshapeLike {
  std::optional<int> lhs_begin = {}, lhs_end = {}, rhs_begin = {}, rhs_end = {};
  static constexpr std::string_view name = "reshape_like", inputs[] = {"lhs", "rhs"}, aliases[] = {"_npx_reshape_like"};
  static constexpr const char* doc =
      "The elements of lhs in the shape of rhs, or with a range of its axes replaced by one of rhs.";
  static constexpr Note notes[] = {{"lhs_begin", "first axis of lhs that is replaced; None: 0"},
                                   {"lhs_end", "axis of lhs after the last of them; None: all that are left"},
                                   {"rhs_begin", "first axis of rhs that takes their place; None: 0"},
                                   {"rhs_end", "axis of rhs after the last of those; None: all that are left"}};
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const;
  constexpr void infer_type(Types& t) const {
    t.set_out(0, t.in(0));
    t.set_in(0, t.out(0));
  }
  void forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x, const auto& like) const;
};

/// shape_array: the extents as an int64 array. `shape_array(zeros({2, 3}))` is [2, 3].
struct ShapeArray {
  static constexpr std::string_view name = "shape_array", aliases[] = {"_npx_shape_array"};
  static constexpr const char* doc = "The extents of the input as an int64 array.";
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank()) s.set_out(0, Shape{s.in(0).ndim()});
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, i64); }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
};

/// size_array: the number of elements as an int64 array of shape (1,).
struct SizeArray {
  static constexpr std::string_view name = "size_array";
  static constexpr const char* doc = "The number of elements of the input as an int64 array of shape (1,).";
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { s.set_out(0, Shape{1}); }
  constexpr void infer_type(Types& t) const { t.set_out(0, i64); }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
};

inline constexpr Op<Reshape, OnUse> reshape;
inline constexpr Op<Flatten, OnUse> flatten;
inline constexpr Op<ExpandDims, OnUse> expand_dims;
inline constexpr Op<Squeeze, OnUse> squeeze;
inline constexpr Op<ReshapeLike, OnUse> reshape_like;
inline constexpr Op<ShapeArray, OnUse> shape_array;
inline constexpr Op<SizeArray, OnUse> size_array;

auto Reshape::gradient(const auto& dy, const auto& x) const { return reshape_like(dy, x); }
auto Flatten::gradient(const auto& dy, const auto& x) const { return reshape_like(dy, x); }
auto ExpandDims::gradient(const auto& dy, const auto& x) const { return reshape_like(dy, x); }
auto Squeeze::gradient(const auto& dy, const auto& x) const { return reshape_like(dy, x); }
/// `like` gives no more than a shape.
auto ReshapeLike::gradient(const auto& dy, const auto& x, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{reshape_like(dy, x)};
}

template <int>
constexpr Shape Reshape::result(const Shape& in) const {
  const auto reversed = [](const Shape& a) {
    Shape b = a;
    for (int i = 0; i < a.ndim(); ++i) b[i] = a[a.ndim() - 1 - i];
    return b;
  };
  if (shape.ndim() == 0 && target_shape.ndim() != 0) {
    Shape codes = target_shape;
    for (int i = 0; i < codes.ndim(); ++i) codes[i] = i == 0 && keep_highest ? in[0] : codes[i] == 0 ? -1 : codes[i];
    return detail::reshape_codes(in, codes);
  }
  if (!reverse) return detail::reshape_codes(in, shape);
  return reversed(detail::reshape_codes(reversed(in), reversed(shape)));
}

/// What follows from an input of which some extents are known: those that are given, and those that are kept.
template <int>
constexpr Shape Reshape::partial(const Shape& in) const {
  if (reverse || shape.ndim() == 0) return Shape::unknown();
  Shape out;
  for (int i = 0; i < shape.ndim(); ++i) {
    if (shape[i] < -1 || (shape[i] == 0 && i >= in.ndim())) return Shape::unknown();
    out.push_back(shape[i] == 0 ? in[i] : shape[i] > 0 ? shape[i] : Shape::unknown_extent);
  }
  return out;
}

template <int>
constexpr void Reshape::infer_shape(Shapes& s) const {
  const Shape in = s.in(0), &out = s.out(0);
  if (in.known()) return s.set_out(0, result(in));
  if (in.has_rank()) s.set_out(0, partial(in));
  // Backwards: the one extent of the input that is not known follows from the count.
  if (!in.has_rank() || !out.known()) return;
  int open = -1;
  std::int64_t others = 1;
  for (int i = 0; i < in.ndim(); ++i) {
    if (in[i] >= 0)
      others = detail::checked_product(others, in[i], s.op());
    else if (open >= 0)
      return;
    else
      open = i;
  }
  if (others == 0 || out.size() % others != 0) return;
  Shape found = in;
  found[open] = out.size() / others;
  s.set_in(0, found);
}

template <int>
constexpr void Squeeze::infer_shape(Shapes& s) const {
  const Shape& in = s.in(0);
  if (!in.has_rank() || (!axis.list && !in.known())) return;
  Shape gone = Shape::filled(in.ndim(), 0);  // std::vector<bool> is no constant for clang beside libstdc++ 12
  if (!axis.list)
    for (int i = 0; i < in.ndim(); ++i) gone[i] = in[i] == 1 ? 1 : 0;
  else
    for (std::int64_t asked : *axis.list) {
      const int k = detail::checked_axis(asked, in.ndim(), s.op());
      if (in[k] >= 0 && in[k] != 1) s.fail("axis ", asked, " of ", s.name_in(0), " has extent ", in[k], ", expected 1");
      if (gone[k] != 0) s.fail("axis ", asked, " is given twice");
      gone[k] = 1;
    }
  Shape out;
  for (int i = 0; i < in.ndim(); ++i)
    if (gone[i] == 0) out.push_back(in[i]);
  if (out.ndim() == 0 && in.ndim() != 0) out.push_back(1);
  s.set_out(0, out);
}

template <int>
constexpr void ReshapeLike::infer_shape(Shapes& s) const {
  const Shape &lhs = s.in(0), &rhs = s.in(1);
  if (!rhs.has_rank()) return;
  const bool ranged = lhs_begin || lhs_end || rhs_begin || rhs_end;
  if (ranged && !lhs.has_rank()) return;
  Shape out = rhs;
  if (ranged) {
    const auto range = [&](const std::optional<int>& begin, const std::optional<int>& end, int rank, int i) {
      const auto place = [&](int at) {
        const int from_front = at < 0 ? at + rank : at;
        if (from_front < 0 || from_front > rank)
          s.fail("position ", at, " is outside the axes of ", s.name_in(i), ", which has ", rank);
        return from_front;
      };
      const int b = place(begin.value_or(0)), e = place(end.value_or(rank));
      if (b > e) s.fail("the range of axes of ", s.name_in(i), " begins at ", b, " and ends at ", e);
      return std::pair(b, e);
    };
    const auto [lb, le] = range(lhs_begin, lhs_end, lhs.ndim(), 0);
    const auto [rb, re] = range(rhs_begin, rhs_end, rhs.ndim(), 1);
    out = Shape{};
    for (int i = 0; i < lb; ++i) out.push_back(lhs[i]);
    for (int i = rb; i < re; ++i) out.push_back(rhs[i]);
    for (int i = le; i < lhs.ndim(); ++i) out.push_back(lhs[i]);
  }
  if (lhs.known() && out.known() && lhs.size() != out.size())
    s.fail(s.name_in(0), " of shape ", lhs, " has ", lhs.size(), " elements, shape ", out, " has ", out.size());
  s.set_out(0, out);
}

using ReshapeOps = OpList<Reshape, Flatten, ExpandDims, Squeeze, ReshapeLike, ShapeArray, SizeArray>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/shape/reshape_body.hpp>
#endif
