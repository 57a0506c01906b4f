// SPDX-License-Identifier: Apache-2.0
/// \file
/// Order along an axis: sort, argsort, topk. Equal elements keep their order; NaN counts as the greatest number.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/ops/softmax_kernels.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// What is sorted: numbers of any type but bool; halves come as converted copies.
template <class E>
concept Sortable = Real<E> || std::same_as<E, std::uint8_t> || std::same_as<E, std::int8_t> ||
                   std::same_as<E, std::int32_t> || std::same_as<E, std::int64_t>;

/// Extents of the result: `count` along the axis, or alone where the whole array is one row; −1 where they depend on
/// one that is not known.
template <int = 0>
constexpr Shape ordered_shape(const Shape& in, std::optional<int> axis, std::int64_t k, std::string_view op) {
  const int at = axis ? checked_axis(*axis, in.ndim(), op) : 0;
  const std::int64_t length = axis ? in[at] : in.known() ? in.size() : -1;
  if (length >= 0 && k > length)
    fail(op, ": k is ", k, ", the ", axis ? "axis" : "array", " has ", length, " elements");
  const std::int64_t count = k < 1 ? length : k;
  if (!axis) return {count};
  Shape out = in;
  out[at] = count;
  return out;
}

/// The rows that are put in order: along the axis, or the whole array as one.
constexpr AxisSplit ordered_rows(const Shape& shape, std::optional<int> axis) {
  const Shape one_row{shape.size()};
  return {axis ? shape : one_row, axis.value_or(0)};
}

/// Refuses a type of positions that does not hold every position of a row exactly.
template <int = 0>
constexpr void check_positions(const Shape& shape, std::optional<int> axis, Dtype dtype, std::string_view op) {
  const std::int64_t length = ordered_rows(shape, axis).length;
  if (length > positions_held(dtype))
    fail(op, ": ", name_of(dtype), " does not hold the ", length, " positions of a row exactly; state a wider dtype");
}

inline constexpr Note order_notes[] = {{"axis", "the axis that is put in order; None: the whole array as one row"},
                                       {"is_ascend", "the smallest element first, else the greatest"},
                                       {"dtype", "the type of positions"},
                                       {"k", "how many elements of each row; less than 1: all"},
                                       {"ret_typ", "the elements, their positions, both, or a mask of their places"}};

}  // namespace detail

/// sort: the elements along `axis` (of the whole array for None) in order. Numbers of any type; equal ones keep their
/// order, NaN counts as the greatest. The gradient goes where the elements came from.
/// Error: the axis is outside. `sort(array({3, 1, 2}))` is [1, 2, 3].
struct Sort {
  std::optional<int> axis = -1;
  bool is_ascend = true;
  static constexpr std::string_view name = "sort", aliases[] = {"_npi_sort"};
  static constexpr const char* doc = "The elements along axis in order, of the whole array where axis is None.";
  static constexpr std::span<const Note> notes = detail::order_notes;
  constexpr void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank()) s.set_out(0, detail::ordered_shape(s.in(0), axis, 0, s.op()));
  }
  template <detail::Sortable E>
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
  template <detail::Sortable E>
  void grad(Cpu&, Head<"output", NDArray> dy, In<"data", NDArray> x, Grad<"data", NDArray> dx) const;
};

/// The gradient is 0. They have type `dtype` and the shape of the input. Error: the axis is outside, `dtype` does not
/// hold the positions exactly. `argsort(array({3, 1, 2}))` is [1, 2, 0].
struct Argsort {
  std::optional<int> axis = -1;
  bool is_ascend = true;
  Dtype dtype = f32;
  static constexpr std::string_view name = "argsort", aliases[] = {"_npi_argsort"};
  static constexpr const char* doc =
      "The positions along axis of the elements in order, of the whole array where axis is None.";
  static constexpr std::span<const Note> notes = detail::order_notes;
  static constexpr bool zero_gradient = true;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (!s.in(0).has_rank()) return;
    s.set_out(0, detail::ordered_shape(s.in(0), axis, 0, s.op()));
    if (s.in(0).known()) detail::check_positions(s.in(0), axis, dtype, s.op());
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, dtype); }
  template <detail::Sortable E>
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
};

/// topk: the `k` greatest elements along `axis` (smallest with is_ascend) in order: their positions, their values,
/// both, or a mask of the input's shape that is 1 at them. Positions count within the axis, or in the whole array for
/// None, and have type `dtype`. The gradient of values goes where they came from. Errors: k is more than
/// there are, `dtype` does not hold the positions exactly.
/// `topk(array({3, 1, 2}), {.k = 2, .ret_typ = Topk::value})` is [3, 2].
struct Topk {
  enum Kind : int { value, indices, mask, both };
  std::optional<int> axis = -1;
  int k = 1;
  Kind ret_typ = indices;
  bool is_ascend = false;
  Dtype dtype = f32;
  static constexpr std::string_view name = "topk", aliases[] = {"_npx_topk"}, outputs[] = {"output", "indices"};
  static constexpr const char* doc =
      "The k greatest elements along axis, or the smallest with is_ascend: positions, values, both, or a mask.";
  static constexpr std::span<const Note> notes = detail::order_notes;

  static constexpr int visible = 1;  // what a call in C++ gives; invoke_all gives those that visible_count says
  constexpr int visible_count() const { return ret_typ == both ? 2 : 1; }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (!s.in(0).has_rank()) return;
    const Shape chosen = detail::ordered_shape(s.in(0), axis, k, s.op());
    if (s.in(0).known() && (ret_typ == indices || ret_typ == both))
      detail::check_positions(s.in(0), axis, dtype, s.op());
    s.set_out(0, ret_typ == mask ? s.in(0) : chosen);
    s.set_out(1, ret_typ == value || ret_typ == both ? chosen : Shape{0});
  }
  constexpr void infer_type(Types& t) const {
    t.set_out(0, ret_typ == indices ? std::optional<Dtype>(dtype) : t.in(0));
    t.set_out(1, ret_typ == both ? dtype : i64);
  }
  template <detail::Sortable E>
  void forward(Cpu&, const NDArray& x, NDArray& y, NDArray& at) const;
  void grad(Cpu&, Head<"output", NDArray> dy, Out<"indices", NDArray> at, Grad<"data", NDArray> dx) const;
};

inline constexpr Op<Sort, OnUse> sort;
inline constexpr Op<Argsort, OnUse> argsort;
inline constexpr Op<Topk, OnUse> topk;

using OrderOps = OpList<Sort, Argsort, Topk>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/order_body.hpp>
#endif
