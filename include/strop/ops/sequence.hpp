// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sequences of different lengths in one array: SequenceMask, SequenceLast, SequenceReverse.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr std::string_view sequence_inputs[] = {"data", "sequence_length"};
inline constexpr Note sequence_notes[] = {
    {"use_sequence_length", "there is a second input, how long each sequence is; else all take the whole axis"},
    {"axis", "the axis of the steps, 0 or 1; the other one is that of the batch"},
    {"value", "what stands behind the end of a sequence"}};

/// Shapes of data and lengths; the shape of the result is data's, or with `last` data's without the steps.
template <int = 0>
constexpr void infer_sequence_shape(Shapes& s, int axis, bool last) {
  if (axis != 0 && axis != 1) s.fail("axis is ", axis, ", expected 0 or 1");
  if (!last) {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
  }
  const Shape& x = s.in(0);
  if (!x.has_rank()) return;
  if (x.ndim() < 2) s.fail(s.name_in(0), " has shape ", x, ", expected 2 dimensions or more");
  if (s.inputs() > 1) s.set_in(1, Shape{x[1 - axis]});
  if (!last) return;
  Shape out = x;
  out.erase(axis);
  s.set_out(0, out);
}
constexpr void infer_sequence_type(Types& t) {
  t.set_out(0, t.in(0));
  t.set_in(0, t.out(0));
}

}  // namespace detail

/// Steps along `axis`, the batch along the other of the first two axes; a length beyond the steps means all of them.
/// All types. The gradient is 0 behind the end. Error: fewer than 2 axes, axis is not 0 or 1. `sequence_mask(array({{1,
/// 2}, {3, 4}}), array({1, 2}), {.use_sequence_length = true})` is [[1, 2], [0, 4]].
struct SequenceMask {
  bool use_sequence_length = false;
  Scalar value = 0;
  int axis = 0;
  static constexpr std::string_view aliases[] = {"_npx_sequence_mask"};
  static constexpr std::span<const std::string_view> inputs = detail::sequence_inputs;
  static constexpr const char* doc = "data with `value` behind the end of each sequence.";
  static constexpr std::span<const Note> notes = detail::sequence_notes;
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}};
  constexpr int input_count() const { return use_sequence_length ? 2 : 1; }
  constexpr void infer_shape(Shapes& s) const { detail::infer_sequence_shape(s, axis, false); }
  constexpr void infer_type(Types& t) const { detail::infer_sequence_type(t); }
  void forward(Cpu&, const NDArray& x, const NDArray& lengths, NDArray& y) const;
  void grad(Cpu&, Head<"output", NDArray> dy, In<"sequence_length", NDArray> lengths, Grad<"data", NDArray> dx) const;

 private:
  void fill(const NDArray& x, const NDArray& lengths, const NDArray& y, const Scalar& behind) const;
};

/// Shape: that of `data` without the axis of the steps. All types. Error: fewer than 2 axes, a length outside 1 …
/// steps. `sequence_last(array({{1, 2}, {3, 4}}), array({1, 2}), {.use_sequence_length = true})` is [1, 4].
struct SequenceLast {
  bool use_sequence_length = false;
  int axis = 0;
  static constexpr std::span<const std::string_view> inputs = detail::sequence_inputs;
  static constexpr const char* doc = "The last step of each sequence.";
  static constexpr std::span<const Note> notes = detail::sequence_notes;
  constexpr int input_count() const { return use_sequence_length ? 2 : 1; }
  constexpr void infer_shape(Shapes& s) const { detail::infer_sequence_shape(s, axis, true); }
  constexpr void infer_type(Types& t) const { detail::infer_sequence_type(t); }
  void forward(Cpu&, const NDArray& x, const NDArray& lengths, NDArray& y) const;
  void grad(Cpu&, Head<"output", NDArray> dy, In<"sequence_length", NDArray> lengths, Grad<"data", NDArray> dx) const;

 private:
  template <class F>
  void each(const NDArray& whole, const NDArray& lengths, F f) const;
};

/// SequenceReverse: the steps of each sequence in reverse order, what is behind its end as it is. All types. Error:
/// fewer than 2 axes, a length outside 0 … steps, axis is not 0.
/// `sequence_reverse(array({{1, 2}, {3, 4}}), array({1, 2}), {.use_sequence_length = true})` is [[1, 4], [3, 2]].
struct SequenceReverse {
  bool use_sequence_length = false;
  int axis = 0;
  static constexpr std::span<const std::string_view> inputs = detail::sequence_inputs;
  static constexpr const char* doc = "The steps of each sequence in reverse order; what is behind its end stays.";
  static constexpr std::span<const Note> notes = detail::sequence_notes;
  constexpr int input_count() const { return use_sequence_length ? 2 : 1; }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (axis != 0) s.fail("axis is ", axis, ", expected 0");
    detail::infer_sequence_shape(s, axis, false);
  }
  constexpr void infer_type(Types& t) const { detail::infer_sequence_type(t); }
  void forward(Cpu&, const NDArray& x, const NDArray& lengths, NDArray& y) const;
  void grad(Cpu&, Head<"output", NDArray> dy, In<"sequence_length", NDArray> lengths, Grad<"data", NDArray> dx) const;

 private:
  void turn(const NDArray& x, const NDArray& lengths, const NDArray& y) const;
};

inline constexpr Op<SequenceMask, OnUse> sequence_mask;
inline constexpr Op<SequenceLast, OnUse> sequence_last;
inline constexpr Op<SequenceReverse, OnUse> sequence_reverse;

using SequenceOps = OpList<SequenceMask, SequenceLast, SequenceReverse>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/sequence_body.hpp>
#endif
