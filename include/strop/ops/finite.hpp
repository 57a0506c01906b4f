// SPDX-License-Identifier: Apache-2.0
/// \file
/// What mixed precision asks of many arrays at once: whether all their elements are finite, and sums of squares.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/tensor/cast.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// f(values, count) for stretches of an array's elements as doubles, until one is false; whether none was.
template <class F>
bool each_stretch_as_double(const NDArray& a, F f) {
  constexpr std::int64_t most = 512;
  double values[most];
  for (std::int64_t at = 0, n; at < a.size(); at += n) {
    n = std::min(most, a.size() - at);
    convert_elements(a.dtype(), a.bytes() + at * size_of(a.dtype()), f64, values, n);
    if (!f(values, n)) return false;
  }
  return true;
}
inline bool finite(const NDArray& a) {
  return each_stretch_as_double(a, [](const double* values, std::int64_t n) {
    double none = 0;  // infinity and NaN times 0 are NaN
    for (std::int64_t i = 0; i < n; ++i) none += values[i] * 0;
    return none == 0;
  });
}
inline double sum_of_squares(const NDArray& a) {
  double sum = 0;
  each_stretch_as_double(a, [&](const double* values, std::int64_t n) {
    double parts[4] = {};
    for (std::int64_t i = 0; i < n; ++i) parts[i % 4] += values[i] * values[i];
    sum += parts[0] + parts[1] + (parts[2] + parts[3]);
    return true;
  });
  return sum;
}
/// 1 or 0 in float32; 1 is not written where the result is one of several calls that started with 1.
inline void say_finite(bool finite, bool init, const NDArray& y) {
  if (init || !finite) *y.pointer<float>() = finite ? 1.0f : 0.0f;
}
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
  void forward(Cpu&, const NDArray& x, NDArray& y) const { detail::say_finite(detail::finite(x), init_output, y); }
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
  void forward(Cpu&, std::span<const NDArray> x, NDArray& y) const {
    detail::say_finite(std::all_of(x.begin(), x.end(), detail::finite), init_output, y);
  }
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
  void forward(Cpu&, std::span<const NDArray> x, NDArray& y) const {
    for (std::size_t k = 0; k < x.size(); ++k) y.pointer<float>()[k] = static_cast<float>(detail::sum_of_squares(x[k]));
  }
};
inline constexpr Op<MultiSumSq, OnUse> multi_sum_sq;

using FiniteOps = OpList<AllFinite, MultiAllFinite, MultiSumSq>;

}  // namespace strop::inline v0
