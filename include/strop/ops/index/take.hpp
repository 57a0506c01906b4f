// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements and rows by their positions: take, batch_take, pick, Embedding.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/index/kernels.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/ops/shape/reshape.hpp>

#include <optional>
#include <string_view>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // the mode `clip` is no use of the operator of that name

namespace strop::inline v0 {

/// Shape: that of `a` with the shape of `indices` in place of the axis.
///
/// Positions of floating types truncate. What lies outside is moved to the nearest end (clip), counted round (wrap), or
/// is an Error (raise; negative ones are outside). All types; a CSR `a` gives CSR along axis 0 with
/// clip and wrap, and takes positions of one dimension. The gradient of `a` adds each part of the head gradient where
/// it came from; `indices` has none.
///
/// Example: `take(array({{1, 2}, {3, 4}}), array({1, 1}))` is [[3, 4], [3, 4]].
struct Take {
  enum Mode : int { raise, wrap, clip };
  int axis = 0;
  Mode mode = clip;

  static constexpr std::string_view name = "take", aliases[] = {"_npi_take"}, inputs[] = {"a", "indices"};
  static constexpr const char* doc =
      "Entries `indices` of a along axis. Positions outside are moved to the nearest end (clip), counted round (wrap), "
      "or refused (raise). "
      "A CSR array gives CSR along axis 0 with clip and wrap.";
  static constexpr Note notes[] = {{"axis", "the axis of a"}, {"mode", "what happens to positions outside"}};
  static constexpr std::string_view gradient_reads[] = {"indices"};

  /// What the kernels make of a mode.
  template <int = 0>
  static constexpr detail::Outside outside(Mode mode) {
    return mode == raise ? detail::Outside::refuse : mode == wrap ? detail::Outside::wrap : detail::Outside::clip;
  }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape &a = s.in(0), &at = s.in(1);
    if (!a.has_rank() || !at.has_rank()) return;
    const int k = detail::checked_axis(axis, a.ndim(), s.op());
    Shape out;
    for (int i = 0; i < k; ++i) out.push_back(a[i]);
    for (std::int64_t extent : at) out.push_back(extent);
    for (int i = k + 1; i < a.ndim(); ++i) out.push_back(a[i]);
    s.set_out(0, out);
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  constexpr bool infer_storage(Storages& s) const {
    const bool rows = s.in(0) == csr && s.in(1) == dense && axis == 0 && mode != raise;
    return s.set_out(0, rows ? csr : dense) && (rows || (s.in(0) == dense && s.in(1) == dense));
  }
  void forward(Cpu&, const NDArray& a, const NDArray& indices, NDArray& y) const;
  auto gradient(const auto& dy, const auto& a, const auto& indices) const;
};

/// `data` added up in zeros of the shape of `like`, where take found it: the gradient of take. Internal.
struct TakeGradient {
  int axis = 0;
  Take::Mode mode = Take::clip;
  static constexpr std::string_view name = "_backward_take", inputs[] = {"data", "indices", "like"};
  static constexpr const char* doc =
      "data added up in zeros of the shape of like, at the positions that take found it.";
  static constexpr std::string_view gradient_reads[] = {"indices"};
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(2));
    detail::expect_made_by(Take{axis, mode}, s, 0, {2, 1});
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  /// The third input lends its shape alone, in whatever storage.
  constexpr bool infer_storage(Storages& s) const {
    const bool rows = s.in(0) == csr && s.in(1) == dense && axis == 0;
    return s.set_out(0, rows ? csr : dense) && (rows || (s.in(0) == dense && s.in(1) == dense));
  }
  template <detail::Addable E>
  void forward(Cpu&, const NDArray& dy, const NDArray& indices, const NDArray&, NDArray& da) const;
  auto gradient(const auto& ddx, const auto& dy, const auto& indices, const auto& like) const;
};

/// `a` is a matrix of any type, `indices` has an element of any type for each of its rows and gives the result its
/// shape. The gradient of `a` is the head gradient where it came from. Error: another number of elements.
///
/// Example: `batch_take(array({{1, 2}, {3, 4}}), array({1, 0}))` is [2, 3].
struct BatchTake {
  static constexpr std::string_view name = "batch_take", inputs[] = {"a", "indices"};
  static constexpr const char* doc = "y[i] = a[i, indices[i]]; positions outside are moved to the nearest end.";
  static constexpr std::string_view gradient_reads[] = {"indices"};
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.expect_rank(0, 2);
    s.set_out(0, s.in(1));
    s.set_in(1, s.out(0));
    if (s.in(0).has_rank() && s.in(1).known() && s.in(0)[0] >= 0 && s.in(1).size() != s.in(0)[0])
      s.fail(s.name_in(1), " has shape ", s.in(1), ", expected ", s.in(0)[0], " elements, one per row of ",
             s.name_in(0));
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  void forward(Cpu&, const NDArray& a, const NDArray& indices, NDArray& y) const;
  auto gradient(const auto& dy, const auto& a, const auto& indices) const;
};

/// pick: of each run along `axis` the element at `index`, whose shape is that of `data` without the axis (or with
/// extent 1). keepdims keeps the axis. All types; the gradient is the head gradient where it came from. Error: the axis
/// is outside or None, `index` has another shape. `pick(array({{1, 2}, {3, 4}}), array({0, 1}))` is [1, 4].
struct Pick {
  enum Mode : int { wrap, clip };
  std::optional<int> axis = -1;
  bool keepdims = false;
  Mode mode = clip;
  static constexpr std::string_view name = "pick", aliases[] = {"choose_element_0index", "_npx_pick"},
                                    inputs[] = {"data", "index"};
  static constexpr const char* doc =
      "Of each run along axis the element at index. Positions outside are moved to the nearest end (clip) or counted "
      "round (wrap).";
  static constexpr Note notes[] = {
      {"axis", "the axis of the runs; negative: from the last"},
      {"keepdims", "the axis stays, with extent 1"},
      {"mode", "positions outside: moved to the nearest end (clip), or counted round (wrap)"}};
  static constexpr std::string_view gradient_reads[] = {"index"};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (!axis) s.fail("parameter 'axis' is None, expected an axis");
    const Shape &in = s.in(0), &index = s.in(1);
    if (!in.has_rank()) return;
    const int k = detail::checked_axis(*axis, in.ndim(), s.op());
    Shape kept = in, dropped = in;
    kept[k] = 1;
    dropped.erase(k);
    if (dropped.ndim() == 0) dropped.push_back(1);
    s.set_out(0, keepdims ? kept : dropped);
    if (!index.has_rank()) return s.set_in(1, keepdims ? kept : dropped);
    s.set_in(1, index.ndim() == kept.ndim() && (index.ndim() != dropped.ndim() || keepdims) ? kept : dropped);
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  void forward(Cpu&, const NDArray& x, const NDArray& index, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x, const auto& index) const;
};

/// `data` in zeros of the shape of `like`, where pick found it: the gradient of pick. Internal.
struct PickGradient {
  int axis = -1;
  Pick::Mode mode = Pick::clip;
  static constexpr std::string_view name = "_backward_pick", inputs[] = {"data", "index", "like"};
  static constexpr const char* doc = "data in zeros of the shape of like, at the positions that pick found it.";
  static constexpr std::string_view gradient_reads[] = {"index"};
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(2));
    const Shape &data = s.in(0), &index = s.in(1), &like = s.in(2);
    if (!data.known() || !index.known() || !like.known()) return;
    const int k = detail::checked_axis(axis, like.ndim(), s.op());
    const std::int64_t runs = like.size(0, k) * like.size(k + 1, like.ndim());
    if (data.size() != runs || index.size() != runs)
      s.fail(s.name_in(0), " and ", s.name_in(1), " have shapes ", data, " and ", index, ", expected ", runs,
             " elements each, one per run of axis ", axis, " of ", s.name_in(2), ", which has shape ", like);
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  void forward(Cpu&, const NDArray& dy, const NDArray& index, const NDArray&, NDArray& dx) const;
  auto gradient(const auto& ddx, const auto& dy, const auto& index, const auto& like) const;
};

template <>
inline constexpr bool detail::reads_any_index<Take> = true;
inline constexpr Op<Take, OnUse> take;
template <>
inline constexpr bool detail::reads_any_index<TakeGradient> = true;
inline constexpr Op<TakeGradient, OnUse> take_gradient;
inline constexpr Op<BatchTake, OnUse> batch_take;
inline constexpr Op<Pick, OnUse> pick;
inline constexpr Op<PickGradient, OnUse> pick_gradient;

// Positions and inputs that only lend their shape get no gradient.
auto Take::gradient(const auto& dy, const auto& a, const auto& indices) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{take_gradient(dy, indices, a, {.axis = axis, .mode = mode})};
}
auto TakeGradient::gradient(const auto& ddx, const auto&, const auto& indices, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(ddx)>>{take(ddx, indices, {.axis = axis, .mode = mode})};
}
auto BatchTake::gradient(const auto& dy, const auto& a, const auto& indices) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{pick_gradient(dy, indices, a, {.axis = 1})};
}
auto Pick::gradient(const auto& dy, const auto& x, const auto& index) const {
  return std::vector<std::remove_cvref_t<decltype(dy)>>{pick_gradient(dy, index, x, {.axis = *axis, .mode = mode})};
}
/// The result keeps the shape of dy, whichever way it was picked.
auto PickGradient::gradient(const auto& ddx, const auto& dy, const auto& index, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(ddx)>>{
      reshape_like(pick(ddx, index, {.axis = axis, .mode = mode}), dy)};
}

template <>
inline constexpr bool detail::zero_unless_stored<Take> = true;

using TakeOps = OpList<Take, TakeGradient, BatchTake, Pick, PickGradient>;

}  // namespace strop::inline v0

#pragma GCC diagnostic pop

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/index/take_body.hpp>
#endif
