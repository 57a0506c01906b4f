// SPDX-License-Identifier: Apache-2.0
/// \file
/// _contrib_index_array: where each element stands; _contrib_index_copy: rows put at positions;
/// _contrib_boolean_mask: rows by a mask.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/index/kernels.hpp>
#include <strop/ops/index/take.hpp>
#include <strop/ops/init.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>

#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// _contrib_index_array: y[…, k] is the position of the element along axis axes[k], or along axis k without `axes`.
///
/// Shape: that of `data`, then as many as there are axes. Of `data` only the shape is read, of any type; the result is
/// int64. The gradient is zero. Error: an axis outside the array.
///
/// Example: `index_array(ones({1, 2}))` is [[[0, 0], [0, 1]]].
struct IndexArray {
  Axes axes = {};
  static constexpr std::string_view name = "_contrib_index_array", aliases[] = {"index_array"};
  static constexpr const char* doc =
      "The position of every element along each of axes (all by default), as the last axis of the result, in int64.";
  static constexpr Note notes[] = {{"axes", "along which; negative: from the last; None: all, in order"}};
  static constexpr bool zero_gradient = true;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (!s.in(0).has_rank()) return;
    Shape out = s.in(0);
    out.push_back(count(s.in(0)));
    for (std::int64_t k = 0; k < count(s.in(0)); ++k) axis(k, s.in(0));
    s.set_out(0, out);
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, i64); }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;

 private:
  constexpr std::int64_t count(const Shape& shape) const { return axes.list ? axes.list->ndim() : shape.ndim(); }
  constexpr int axis(std::int64_t k, const Shape& shape) const {
    const int at = static_cast<int>(k);
    return axes.list ? detail::checked_axis((*axes.list)[at], shape.ndim(), name) : at;
  }
};

/// _contrib_index_copy: `old_tensor` with row i of `new_tensor` put at row index_vector[i]; the last of equal positions
/// stays.
///
/// index_vector (n,) of any type, whose floating numbers truncate and negative ones count from the end; new_tensor has
/// n rows and otherwise the shape of old_tensor. All types. The head gradient goes to the row of new_tensor that was
/// put in its place, and else to old_tensor; rows of equal positions are each given all of it. Error: a position
/// outside, extents that do not agree.
///
/// Example: `index_copy(zeros({3}), array({2, 0}), array({5, 6}))` is [6, 0, 5].
struct IndexCopy {
  static constexpr std::string_view name = "_contrib_index_copy", aliases[] = {"index_copy"};
  static constexpr std::string_view inputs[] = {"old_tensor", "index_vector", "new_tensor"};
  static constexpr const char* doc =
      "old_tensor with the rows of new_tensor in place of its rows index_vector; the last of equal positions stays.";
  static constexpr std::string_view gradient_reads[] = {"index_vector"};
  static constexpr Share inplace[] = {{0, 0}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    s.expect_rank(1, 1);
    if (!s.in(0).has_rank()) return;
    if (s.in(0).ndim() == 0) s.fail(s.name_in(0), " has no dimension, expected 1 or more");
    Shape rows = s.in(0);
    rows[0] = s.in(1).has_rank() ? s.in(1)[0] : Shape::unknown_extent;
    s.set_in(2, rows);
    s.set_in(1, {s.in(2)[0]});
  }
  constexpr void infer_type(Types& t) const {
    detail::type_of_first(t);
    t.set_in(2, t.in(0));
  }
  void forward(Cpu&, const NDArray& old, const NDArray& at, const NDArray& rows, NDArray& y) const;
  auto gradient(const auto& dy, const auto& old, const auto& at, const auto& rows) const;
};

/// Shape: that of `data`, but for the first extent, which follows from the values: symbols and traced functions refuse
/// it, recorded calls do not. All types, of `index` as well. The gradient of `data` is the head gradient at the rows
/// that were taken and zero at the others; `index` has none. Error: an index of another length, an axis but 0.
///
/// Example: `boolean_mask(array({{1, 2}, {3, 4}, {5, 6}}), array({1, 0, 1}))` is [[1, 2], [5, 6]].
struct BooleanMask {
  int axis = 0;
  static constexpr std::string_view name = "_contrib_boolean_mask", aliases[] = {"boolean_mask"};
  static constexpr std::string_view inputs[] = {"data", "index"};
  static constexpr const char* doc =
      "The rows of data where index, a vector with an element for each, is not 0. How many there are follows from the "
      "values, so that it is called on arrays and makes no symbol.";
  static constexpr Note notes[] = {{"axis", "the axis of data, which is the first"}};
  static constexpr Range range[] = {{"axis", 0, 0}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.expect_rank(1, 1);
    if (!s.in(0).has_rank()) return;
    if (s.in(0).ndim() == 0) s.fail(s.name_in(0), " has no dimension, expected 1 or more");
    s.set_in(1, {s.in(0)[0]});
    Shape rows = s.in(0);
    rows[0] = s.in(1)[0];
    s.set_in(0, rows);
    rows[0] = Shape::unknown_extent;  // how many are taken
    s.set_out(0, rows);
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, t.in(0)); }
  template <Element E>
  constexpr void forward(Cpu&, View<const E> data, View<const double, 1> index, DenseResult<E>& found) const;
  template <Real E>
  constexpr void grad(Cpu&, Head<"output", View<const E>> dy, In<"index", View<const double, 1>> index,
                      Grad<"data", View<E>> dx) const;
};

inline constexpr Op<IndexArray, OnUse> index_array;
inline constexpr Op<IndexCopy, OnUse> index_copy;
inline constexpr Op<BooleanMask, OnUse> boolean_mask;

auto IndexCopy::gradient(const auto& dy, const auto&, const auto& at, const auto& rows) const {
  using Node = std::remove_cvref_t<decltype(dy)>;
  return std::vector<Node>{index_copy(dy, at, zeros_like(rows)), Node(), take(dy, at, {.mode = Take::wrap})};
}

using IndexCopyOps = OpList<IndexArray, IndexCopy, BooleanMask>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/index/index_copy_body.hpp>
#endif
