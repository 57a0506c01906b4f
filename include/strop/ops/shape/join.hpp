// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays joined and split along an axis: Concat, stack, SliceChannel (split), _split_v2.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// The outputs of a call with several of them, on arrays and on symbols.
inline std::vector<NDArray> each_output(std::vector<NDArray> arrays) { return arrays; }
template <std::same_as<Symbol> S>
std::vector<S> each_output(const S& symbol) {
  std::vector<S> out;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(symbol.size()); ++k) out.push_back(symbol[k]);
  return out;
}

/// Extents of parts and of the whole that is joined from them, each from the others.
template <int = 0>
constexpr void infer_joined(Shapes& s, std::int64_t asked_axis) {
  Shape common = s.out(0);
  for (int i = 0; i < s.inputs(); ++i)
    if (!common.has_rank()) common = s.in(i);
  if (!common.has_rank()) return;
  const int axis = checked_axis(asked_axis, common.ndim(), s.op());
  common[axis] = Shape::unknown_extent;
  for (int i = 0; i < s.inputs(); ++i) {
    Shape part = s.in(i);
    if (!part.has_rank()) continue;
    if (part.ndim() == common.ndim()) part[axis] = Shape::unknown_extent;
    if (!unify(common, part))
      s.fail(s.name_in(i), " (number ", i, ") has shape ", s.in(i), ", expected ", common,
             " with any extent along axis ", axis);
  }
  const Shape whole_before = s.out(0);
  std::int64_t sum = 0;
  int open = -1, opens = 0;
  for (int i = 0; i < s.inputs(); ++i) {
    s.set_in(i, common);
    if (s.in(i)[axis] >= 0)
      sum = checked_sum(sum, s.in(i)[axis], s.op());
    else
      open = i, ++opens;
  }
  Shape whole = common;
  if (opens == 0) whole[axis] = sum;
  if (opens == 1 && whole_before.has_rank() && whole_before[axis] >= sum) {
    Shape rest = common;
    rest[axis] = whole_before[axis] - sum;
    s.set_in(open, rest);
  }
  s.set_out(0, whole);
}

}  // namespace detail

/// Concat: arrays of equal other extents one after the other along axis `dim`. All types; CSR arrays stay CSR along
/// axis 0.
///
/// The gradient of each input is its part of the head gradient. `num_args` may say how many inputs there are.
/// Error: ranks or other extents differ. Example: `concat({array({1, 2}), array({3})}, {.dim = 0})` is [1, 2, 3].
struct Concat {
  int num_args = 0;
  int dim = 1;

  static constexpr std::string_view aliases[] = {"_sparse_concat"};
  static constexpr const char* doc = "The inputs one after the other along axis dim; CSR inputs stay CSR along axis 0.";
  static constexpr Note notes[] = {{"num_args", "how many inputs there are; 0: those that are given"},
                                   {"dim", "the axis"}};
  static constexpr Range range[] = {{"num_args", 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  constexpr void infer_shape(Shapes& s) const {
    detail::check_count(s, num_args);
    detail::infer_joined(s, dim);
  }
  template <int = 0>
  constexpr bool infer_storage(Storages& s) const {
    bool rows = dim == 0 || dim == -2, all_dense = true;
    for (int i = 0; i < s.inputs(); ++i) rows = rows && s.in(i) == csr, all_dense = all_dense && s.in(i) == dense;
    return s.set_out(0, rows ? csr : dense) && (rows || all_dense);
  }
  void forward(Cpu&, std::span<const NDArray> parts, NDArray& y) const;
  template <class Node>
  auto gradient(const auto& dy, std::span<const Node> parts) const;
};

namespace detail {
/// The shape that the arrays behind the first are joined to. A template for the reason of NumbersIn (core/numbers.hpp).
template <class Parts = std::vector<Shape>>
constexpr Shape shape_of_joined(Shapes& s, NameList parts_named, int axis) {
  Parts parts;
  for (int i = 1; i < s.inputs(); ++i) parts.push_back(s.in(i));
  Shape whole = Shape::unknown();
  const CallNames names{s.op(), parts_named};
  Shapes joined(names, parts, {&whole, 1});
  infer_joined(joined, axis);
  return whole;
}
}  // namespace detail

/// The parts of `data` along axis `dim`, with the shapes of the arrays that follow: the gradient of Concat. Internal.
struct ConcatGradient {
  int num_args = 1;
  int dim = 1;
  static constexpr std::string_view name = "_backward_concat", inputs[] = {"data", "like"};
  static constexpr const char* doc = "The parts of data along axis dim, of the shapes of the arrays that follow it.";
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr int output_count() const { return detail::checked_outputs(num_args, name, "num_args"); }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (s.inputs() != num_args + 1) s.fail("takes num_args = ", num_args, " arrays after data, not ", s.inputs() - 1);
    for (int k = 0; k < s.outputs(); ++k) s.set_out(k, s.in(k + 1));
    s.set_in(0, detail::shape_of_joined(s, {inputs + 1, 1}, dim));
  }
  /// The arrays after data lend their shapes alone, in whatever storage.
  template <int = 0>
  constexpr bool infer_storage(Storages& s) const {
    const bool rows = s.in(0) == csr && (dim == 0 || dim == -2);
    bool agreed = rows || s.in(0) == dense;
    for (int k = 0; k < s.outputs(); ++k) agreed = s.set_out(k, rows ? csr : dense) && agreed;
    return agreed;
  }
  void forward(Cpu&, const NDArray& whole, std::span<const NDArray>, std::span<NDArray> parts) const;
  template <class Node>
  std::vector<Node> gradient(std::span<const Node> heads, std::span<const Node>) const;
};

/// stack: arrays of one shape along a new axis. All types. The gradient of each input is its part of the head gradient.
/// Error: the shapes differ, the axis is outside the result, `num_args` is another number. `stack({array({1, 2}),
/// array({3, 4})})` is [[1, 2], [3, 4]].
struct Stack {
  int axis = 0;
  int num_args = 0;
  static constexpr std::string_view name = "stack";
  static constexpr const char* doc = "The inputs, all of one shape, along a new axis.";
  static constexpr Note notes[] = {{"axis", "the new axis of the result"},
                                   {"num_args", "how many inputs there are; 0: those that are given"}};
  static constexpr Range range[] = {{"num_args", 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count(s, num_args);
    Shape common = Shape::unknown();
    if (s.out(0).has_rank()) {
      common = s.out(0);
      common.erase(detail::checked_axis(axis, common.ndim(), s.op()));
    }
    for (int i = 0; i < s.inputs(); ++i)
      if (!unify(common, s.in(i))) s.fail(s.name_in(i), " (number ", i, ") has shape ", s.in(i), ", expected ", common);
    if (!common.has_rank()) return;
    for (int i = 0; i < s.inputs(); ++i) s.set_in(i, common);
    common.insert(detail::checked_new_axis(axis, common.ndim() + 1, s.op()), s.inputs());
    s.set_out(0, common);
  }
  void forward(Cpu&, std::span<const NDArray> parts, NDArray& y) const;
  template <class Node>
  auto gradient(const auto& dy, std::span<const Node> parts) const;
};

/// SliceChannel (split): `num_outputs` equal parts along `axis`; with squeeze_axis, which takes parts of extent 1,
/// without it. Error: the extent is no multiple of num_outputs. `split(array({{1, 2}, {3, 4}}), {.num_outputs = 2})[0]`
/// is [[1], [3]].
struct SliceChannel {
  Required<int> num_outputs = {};
  int axis = 1;
  bool squeeze_axis = false;
  static constexpr std::string_view aliases[] = {"split"};
  static constexpr const char* doc =
      "num_outputs equal parts along axis; with squeeze_axis parts of extent 1 lose the axis.";
  static constexpr Note notes[] = {{"num_outputs", "how many parts; it divides the extent of the axis"},
                                   {"axis", "the axis that is cut; negative: from the last"},
                                   {"squeeze_axis", "parts of extent 1 lose the axis"}};
  static constexpr Range range[] = {{"num_outputs", 1}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr int output_count() const {
    return detail::checked_outputs(num_outputs.value.value_or(1), "slice_channel", "num_outputs");
  }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape& in = s.in(0);
    if (in.has_rank()) {
      const int at = detail::checked_axis(axis, in.ndim(), s.op());
      Shape part = in;
      if (in[at] >= 0) {
        if (in[at] % *num_outputs != 0)
          s.fail("axis ", axis, " of ", s.name_in(0), " has extent ", in[at],
                 ", which is no multiple of num_outputs = ", *num_outputs);
        part[at] = in[at] / *num_outputs;
        if (squeeze_axis && part[at] != 1)
          s.fail("squeeze_axis takes parts of extent 1, those along axis ", axis, " have extent ", part[at]);
      }
      if (squeeze_axis) part.erase(at);
      for (int k = 0; k < s.outputs(); ++k) s.set_out(k, part);
    }
    for (int k = 0; k < s.outputs(); ++k) {
      if (!s.out(k).has_rank()) continue;
      Shape whole = s.out(k);
      if (squeeze_axis) whole.insert(detail::checked_axis(axis, whole.ndim() + 1, s.op()), 1);
      const int at = detail::checked_axis(axis, whole.ndim(), s.op());
      if (whole[at] >= 0) whole[at] = detail::checked_product(whole[at], *num_outputs, s.op());
      s.set_in(0, whole);
    }
  }
  void forward(Cpu&, const NDArray& x, std::span<NDArray> parts) const;
  template <class Node>
  auto gradient(std::span<const Node> heads) const;
};

/// _split_v2: parts along `axis` that begin at `indices` (the first is usually 0), or `sections` parts that are as
/// equal as the extent allows: the first ones have one more. All types. Error: the axis is outside, squeeze_axis of
/// parts of another extent.
struct SplitV2 {
  Shape indices = {};
  int axis = 1;
  bool squeeze_axis = false;
  int sections = 0;
  static constexpr std::string_view name = "_split_v2", aliases[] = {"_npi_split", "split_v2"};
  static constexpr const char* doc =
      "Parts along axis that begin at indices, or `sections` equal parts; with squeeze_axis parts of extent 1 lose the "
      "axis.";
  static constexpr Note notes[] = {{"indices", "where the parts begin along the axis, while sections is 0"},
                                   {"axis", "the axis that is cut; negative: from the last"},
                                   {"squeeze_axis", "parts of extent 1 lose the axis"},
                                   {"sections", "how many parts, as equal as the extent allows; 0: indices says them"}};
  static constexpr Range range[] = {{"sections", 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr int output_count() const {
    return detail::checked_outputs(sections > 0 ? sections : detail::larger(indices.ndim(), 1), name, "sections");
  }
  /// Where part k begins.
  constexpr std::int64_t start(int k, std::int64_t extent) const {
    if (sections > 0) return k * (extent / sections) + detail::smaller(k, extent % sections);
    return k >= indices.ndim() ? extent : detail::smaller(detail::larger(indices[k], 0), extent);
  }
  /// The shape of part k of input 0, whose rank is known.
  template <int = 0>
  constexpr Shape part_shape(const Shapes& s, int k) const {
    const Shape& in = s.in(0);
    const int at = detail::checked_axis(axis, in.ndim(), s.op());
    Shape part = in;
    if (in[at] >= 0) {
      part[at] = detail::larger(0, start(k + 1, in[at]) - start(k, in[at]));
      if (squeeze_axis && part[at] != 1)
        s.fail("squeeze_axis takes parts of extent 1, part ", k, " along axis ", axis, " has extent ", part[at]);
    }
    if (squeeze_axis) part.erase(at);
    return part;
  }
  constexpr void infer_shape(Shapes& s) const {
    if (!s.in(0).has_rank()) return;
    for (int k = 0; k < s.outputs(); ++k) s.set_out(k, part_shape(s, k));
  }
  void forward(Cpu&, const NDArray& x, std::span<NDArray> parts) const;
  template <class Node>
  auto gradient(std::span<const Node> heads, const Node& x) const;
};

/// Internal.
struct SplitV2Gradient {
  Shape indices = {};
  int axis = 1;
  bool squeeze_axis = false;
  int sections = 0;
  static constexpr std::string_view name = "_backward_split_v2", inputs[] = {"like", "parts"};
  static constexpr const char* doc =
      "The parts that _split_v2 makes, each at its place in zeros of the shape of the first input.";
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    const SplitV2 split{indices, axis, squeeze_axis, sections};
    if (s.inputs() != split.output_count() + 1)
      s.fail(s.inputs() - 1, " parts were given, expected ", split.output_count());
    if (!s.in(0).known()) return;
    for (int k = 0; k + 1 < s.inputs(); ++k) s.set_in(k + 1, split.part_shape(s, k));
  }
  void forward(Cpu&, const NDArray&, std::span<const NDArray> parts, NDArray& whole) const;
  template <class Node>
  auto gradient(const auto& dy, std::span<const Node> in) const;
};

template <>
inline constexpr bool detail::reads_any_index<Concat> = true;
inline constexpr Op<Concat, OnUse> concat;
template <>
inline constexpr bool detail::reads_any_index<ConcatGradient> = true;
inline constexpr Op<ConcatGradient, OnUse> concat_gradient;
inline constexpr Op<Stack, OnUse> stack;
inline constexpr Op<SliceChannel, OnUse> split;
inline constexpr Op<SplitV2, OnUse> split_v2;
inline constexpr Op<SplitV2Gradient, OnUse> split_v2_gradient;

template <class Node>
auto Concat::gradient(const auto& dy, std::span<const Node> parts) const {
  std::vector<Node> in{dy};
  in.insert(in.end(), parts.begin(), parts.end());
  return detail::each_output(
      concat_gradient(std::span<const Node>(in), {.num_args = static_cast<int>(parts.size()), .dim = dim}));
}
template <class Node>
auto Stack::gradient(const auto& dy, std::span<const Node> parts) const {
  return detail::each_output(
      split(dy, {.num_outputs = static_cast<int>(parts.size()), .axis = axis, .squeeze_axis = true}));
}
template <class Node>
auto SliceChannel::gradient(std::span<const Node> heads) const {
  return squeeze_axis ? stack(heads, {.axis = axis}) : concat(heads, {.dim = axis});
}
template <class Node>
auto SplitV2::gradient(std::span<const Node> heads, const Node& x) const {
  std::vector<Node> in{x};
  in.insert(in.end(), heads.begin(), heads.end());
  return split_v2_gradient(std::span<const Node>(in),
                           {.indices = indices, .axis = axis, .squeeze_axis = squeeze_axis, .sections = sections});
}
template <class Node>
auto SplitV2Gradient::gradient(const auto& dy, std::span<const Node>) const {
  std::vector<Node> all{Node()};
  for (Node& part : detail::each_output(
           split_v2(dy, {.indices = indices, .axis = axis, .squeeze_axis = squeeze_axis, .sections = sections})))
    all.push_back(part);
  return all;
}

template <>
inline constexpr bool detail::zero_unless_stored<Concat> = true;

using JoinOps = OpList<Concat, ConcatGradient, Stack, SliceChannel, SplitV2, SplitV2Gradient>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/shape/join_body.hpp>
#endif
