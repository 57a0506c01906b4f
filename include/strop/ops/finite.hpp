// SPDX-License-Identifier: Apache-2.0
/// \file
/// What mixed precision asks of many arrays at once: whether all their elements are finite, and sums of squares.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// Floating inputs of any types, a result of float32.
constexpr void infer_floats_to_float(Types& types) {
  for (int i = 0; i < types.inputs(); ++i) types.expect_in(i, floating);
  types.set_out(0, f32);
}
inline constexpr Note finite_notes[] = {
    {"num_arrays", "how many arrays there are"},
    {"init_output", "false: the result stays as it is where all are finite, so that several calls into it add up"}};

}  // namespace detail

/// all_finite: [1], or [0] where an element is infinite or NaN, in float32. Floating types; sparse arrays by the dense
/// fallback. Without `init_output` the result, which the call is then given (`into`), stays as it is where all are
/// finite. `all_finite(array({1, 2}))` is [1].
struct AllFinite {
  bool init_output = true;

  static constexpr std::string_view name = "all_finite";
  static constexpr std::span<const Note> notes = {detail::finite_notes + 1, 1};
  static constexpr const char* doc = "Whether all elements are finite, as 1 or 0.";
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { s.set_out(0, {1}); }
  constexpr void infer_type(Types& t) const { detail::infer_floats_to_float(t); }
  void forward(Cpu&, const NDArray& x, NDArray& y) const;
};
inline constexpr Op<AllFinite, OnUse> all_finite;

/// multi_all_finite: all_finite of several arrays together. Error: another number of them than `num_arrays`.
/// `multi_all_finite({array({1}), array({2})}, {.num_arrays = 2})` is [1].
struct MultiAllFinite {
  int num_arrays = 1;
  bool init_output = true;

  static constexpr std::string_view name = "multi_all_finite", inputs[] = {"array"};
  static constexpr std::span<const Note> notes = detail::finite_notes;
  static constexpr Range range[] = {{"num_arrays", 1}};
  static constexpr const char* doc = "Whether all elements of all arrays are finite, as 1 or 0.";
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count_of(s, "num_arrays", num_arrays);
    s.set_out(0, {1});
  }
  constexpr void infer_type(Types& t) const { detail::infer_floats_to_float(t); }
  void forward(Cpu&, std::span<const NDArray> x, NDArray& y) const;
};
inline constexpr Op<MultiAllFinite, OnUse> multi_all_finite;

/// multi_sum_sq: the sum of squares of each of `num_arrays` arrays, computed in double, as one array of float32.
/// Floating types; sparse arrays by the dense fallback. Error: another number of arrays.
/// `multi_sum_sq({array({1, 2}), array({3})}, {.num_arrays = 2})` is [5, 9].
struct MultiSumSq {
  Required<int> num_arrays{};

  static constexpr std::string_view name = "multi_sum_sq";
  static constexpr std::span<const Note> notes = {detail::finite_notes, 1};
  static constexpr Range range[] = {{"num_arrays", 1}};
  static constexpr const char* doc = "The sums of squares of several arrays, one number for each.";
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count_of(s, "num_arrays", *num_arrays);
    s.set_out(0, {s.inputs()});
  }
  constexpr void infer_type(Types& t) const { detail::infer_floats_to_float(t); }
  void forward(Cpu&, std::span<const NDArray> x, NDArray& y) const;
};
inline constexpr Op<MultiSumSq, OnUse> multi_sum_sq;

using FiniteOps = OpList<AllFinite, MultiAllFinite, MultiSumSq>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/finite_body.hpp>
#endif
