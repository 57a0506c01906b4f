// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions along axes: sum, mean, prod, nansum, nanprod, max, min, norm, argmax, argmin, argmax_channel.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/reduce_kernels.hpp>
#include <strop/ops/reduce_sparse.hpp>

namespace strop::inline v0 {

namespace detail {
inline constexpr Note reduce_notes[] = {{"ord", "2: the root of the sum of squares; 1: the sum of magnitudes"},
                                        {"axis", "the axes that go, None or (): all; negative: from the last"},
                                        {"keepdims", "they stay, with extent 1"},
                                        {"exclude", "all axes go but those"},
                                        {"out_dtype", "the type of the result; that of data where not given"}};
}  // namespace detail

/// Hands the gradient of a reduction back: dx = dy (times a factor) at every element that was reduced into dy.
struct ReduceGradient {
  static constexpr std::string_view name = "_backward_reduce", inputs[] = {"data", "like"};
  Axes axis = {};
  bool keepdims = false, exclude = false, mean = false;
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(1));
    if (s.in(1).known()) s.set_in(0, detail::reduced_shape(s.in(1), axis, keepdims, exclude, s.op()));
  }
  /// The second input lends its shape alone, in whatever storage.
  constexpr bool infer_storage(Storages& s) const { return s.set_out(0, dense) && s.in(0) == dense; }
  template <Real E>
  void forward(Cpu&, const NDArray& dy, const NDArray&, NDArray& dx) const;
  auto gradient(const auto& ddx, const auto& dy, const auto&) const;
};

/// What sum, mean and their like share: axes, the shape of the result.
#define STROP_REDUCE_FIELDS                                            \
  static constexpr std::span<const Note> notes = detail::reduce_notes; \
  Axes axis = {};                                                      \
  bool keepdims = false, exclude = false;
#define STROP_REDUCE_PARAMS                                                                                \
  STROP_REDUCE_FIELDS                                                                                      \
  constexpr void infer_shape(Shapes& s) const {                                                            \
    if (s.in(0).has_rank()) s.set_out(0, detail::reduced_shape(s.in(0), axis, keepdims, exclude, s.op())); \
  }
#define STROP_CHOICE_PARAMS                                                                                       \
  STROP_REDUCE_FIELDS                                                                                             \
  constexpr void infer_shape(Shapes& s) const {                                                                   \
    if (!s.in(0).has_rank()) return;                                                                              \
    s.set_out(0, detail::reduced_shape(s.in(0), axis, keepdims, exclude, s.op()));                                \
    if (s.in(0).known() && s.in(0).size() == 0 && s.out(0).size() != 0)                                           \
      s.fail(s.name_in(0), " has shape ", s.in(0), ", which leaves no element to choose along the axes that go"); \
  }

// Of every reduction below: it goes over the axes given (all by default), over the others with `exclude`; negative ones
// count from the last. The result has the shape of data without them (with 1 for them where keepdims), and (1,) when
// all axes go and keepdims is false, as MXNet has it. Errors: an axis is outside, or given twice.

/// y = Σ x. Types: floating, and i8, u8, i32, i64, which wrap. A sparse array is summed over its stored values (CSR
/// without exclude); the result is dense. Gradient: dy, at every element. `sum(array({{1,
/// 2}, {3, 4}}), {.axis = 1})` is [3, 7].
struct Sum {
  static constexpr std::string_view name = "sum", aliases[] = {"_sparse_sum", "sum_axis"};
  static constexpr const char* doc = "Sum over the given axes, all by default.";
  STROP_REDUCE_PARAMS
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr bool infer_storage(Storages& s) const { return detail::infer_reduced_storage(s, exclude); }
  template <detail::Summable E>
  void forward(Cpu& ctx, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
  NDArray spread_gradient(const NDArray& dy, const Shape& x) const;
  template <class... X>
  static constexpr auto on_numbers(X... x) {
    return (x + ...);
  }
};

/// y = Σ x / n, n the number of elements that are reduced into one; NaN for none. Types: floating. Storages as sum.
/// Gradient: dy / n. `mean(array({{1, 2}, {3, 4}}), {.axis = 1})` is [1.5, 3.5].
struct Mean {
  static constexpr std::string_view name = "mean", aliases[] = {"_sparse_mean"};
  static constexpr const char* doc = "Mean over the given axes, all by default.";
  STROP_REDUCE_PARAMS
  static constexpr Keeps gradient_keeps = Keeps::none;
  constexpr bool infer_storage(Storages& s) const { return detail::infer_reduced_storage(s, exclude); }
  template <Real E>
  void forward(Cpu& ctx, const NDArray& x, NDArray& y) const;
  auto gradient(const auto& dy, const auto& x) const;
  NDArray spread_gradient(const NDArray& dy, const Shape& x) const;
};

/// y = Π x, 1 for no element. Types: floating, and i8, u8, i32, i64, which wrap. Gradient: dy times the product of the
/// other elements. `prod(array({{1, 2}, {3, 4}}), {.axis = 1})` is [2, 12].
struct Prod {
  static constexpr std::string_view name = "prod";
  static constexpr const char* doc = "Product over the given axes, all by default.";
  STROP_REDUCE_PARAMS
  template <detail::Summable E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const;
  /// dx = dy · y / x, and the product of the others where x is 0.
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> y, View<E> dx) const;
};

/// y = Σ x in which NaN counts as 0 and has no gradient. Types: floating. `nansum(array({1, NAN, 2}))` is [3].
struct Nansum {
  static constexpr std::string_view name = "nansum";
  static constexpr const char* doc = "Sum over the given axes; NaN counts as 0.";
  STROP_REDUCE_PARAMS
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const;
  template <Real E>
  void grad_use_in(Cpu&, View<const E> dy, View<const E> x, View<E> dx) const;
};

/// y = Π x in which NaN counts as 1 and has no gradient. Types: floating. `nanprod(array({3, NAN, 2}))` is [6].
struct Nanprod {
  static constexpr std::string_view name = "nanprod";
  static constexpr const char* doc = "Product over the given axes; NaN counts as 1.";
  STROP_REDUCE_PARAMS
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const;
  /// dx = dy · y / x, the product of the others where x is 0, and 0 where x is NaN.
  template <Real E>
  void grad_use_in_out(Cpu& ctx, View<const E> dy, View<const E> x, View<const E> y, View<E> dx) const;
};

/// The largest element; NaN where one is NaN. Error: there is none to choose. Types: floating, i8, u8, i32, i64.
/// A sparse array is read by its stored values (CSR without exclude), beside which zeros count; the result is dense.
/// The gradient goes to every element that equals it. `max(array({{1, 2}, {3, 4}}), {.axis = 0})` is [3, 4].
struct Max {
  static constexpr std::string_view name = "max", aliases[] = {"max_axis"};
  static constexpr const char* doc = "Largest element over the given axes, all by default.";
  STROP_CHOICE_PARAMS
  constexpr bool infer_storage(Storages& s) const { return detail::infer_reduced_storage(s, exclude); }
  template <detail::Summable E>
  void forward(Cpu& ctx, const NDArray& x, NDArray& y) const;
  constexpr bool infer_gradient_storage(Storages& s) const {
    return detail::infer_reduced_gradient_storage(s, exclude);
  }
  static constexpr Share gradient_inplace[] = {{1, 0}};  // in that of x
  template <Real E>
  void grad_use_in_out(Cpu&, const NDArray& dy, const NDArray& x, const NDArray& y, NDArray& dx) const;
  template <class A, class B>
  static constexpr auto on_numbers(A a, B b) {
    return max(a, b);
  }
};

/// The smallest element; NaN where one is NaN. Error: there is none to choose. Types: floating, i8, u8, i32,
/// i64. Storages as max. The gradient goes to every element that equals it. `min(array({{1, 2}, {3, 4}}), {.axis = 0})`
/// is [1, 2].
struct Min {
  static constexpr std::string_view name = "min", aliases[] = {"min_axis"};
  static constexpr const char* doc = "Smallest element over the given axes, all by default.";
  STROP_CHOICE_PARAMS
  constexpr bool infer_storage(Storages& s) const { return detail::infer_reduced_storage(s, exclude); }
  template <detail::Summable E>
  void forward(Cpu& ctx, const NDArray& x, NDArray& y) const;
  constexpr bool infer_gradient_storage(Storages& s) const {
    return detail::infer_reduced_gradient_storage(s, exclude);
  }
  static constexpr Share gradient_inplace[] = {{1, 0}};  // in that of x
  template <Real E>
  void grad_use_in_out(Cpu&, const NDArray& dy, const NDArray& x, const NDArray& y, NDArray& dx) const;
  template <class A, class B>
  static constexpr auto on_numbers(A a, B b) {
    return min(a, b);
  }
};
#undef STROP_CHOICE_PARAMS
#undef STROP_REDUCE_PARAMS
#undef STROP_REDUCE_FIELDS

/// y = √Σ x² (ord 2) or Σ |x| (ord 1), in the type `out_dtype`; float64 is accumulated in as well. Squares neither
/// over- nor underflow. Types: floating. A sparse array is read by its stored values; the result is dense. Gradient: dy
/// · x / y (0 where y is 0), or dy · sign x. `norm(array({3, 4}))` is [5].
struct Norm {
  static constexpr std::string_view name = "norm", aliases[] = {"_sparse_norm"};
  static constexpr const char* doc = "Norm over the given axes: ord 1 or 2.";
  int ord = 2;
  Axes axis = {};
  std::optional<Dtype> out_dtype = {};
  bool keepdims = false;
  static constexpr Range range[] = {{"ord", 1, 2}};
  static constexpr std::span<const Note> notes = detail::reduce_notes;
  constexpr void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank()) s.set_out(0, detail::reduced_shape(s.in(0), axis, keepdims, false, s.op()));
  }
  constexpr void infer_type(Types& t) const {
    t.set_out(0, out_dtype ? out_dtype : t.in(0));
    if (!out_dtype) t.set_in(0, t.out(0));
  }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_reduced_storage(s, false); }
  template <Real E>
  void forward(Cpu& ctx, const NDArray& x, NDArray& y) const;
  constexpr bool infer_gradient_storage(Storages& s) const { return detail::infer_reduced_gradient_storage(s, false); }
  /// ord 2: dx = dy · x / y; ord 1: dx = dy · sign x.
  template <Real E>
  void grad_use_in_out(Cpu& ctx, const NDArray& head, const NDArray& data, const NDArray& output,
                       NDArray& gradient) const;

 private:
  template <class E>
  static NDArray as(const NDArray& a);
};

/// argmax, argmin: the position of the largest or the smallest element along the axis (of all elements without one), as
/// a number of the input's type; of equal elements the first, and the first NaN where there is one. The gradient is 0.
/// Types: floating, i8, u8, i32, i64. Errors: the axis is outside or has no element, or the type does not hold its
/// positions exactly, which float32 does up to 2^24 and float16 up to 2048. `argmax(array({3, 5, 4}))` is [1].
template <bool Largest>
struct ArgExtreme {
  static constexpr std::string_view name = Largest ? "argmax" : "argmin";
  static constexpr const char* doc = Largest
                                         ? "Position of the largest element along axis, of all elements without one."
                                         : "Position of the smallest element along axis, of all elements without one.";
  static constexpr Note notes[] = {{"axis", "the axis that goes; negative: from the last; None: all of them"},
                                   {"keepdims", "it stays, with extent 1"}};
  // In files of before 0.9.5 an axis of -1 is all elements: MXNet drops it there (its
  // src/nnvm/legacy_json_util.cc; 1.9.1, asked, drops it of version 904 and keeps it of 905).
  static constexpr ParamUpgrade upgrades[] = {{"axis", "-1", "None", 905}};
  std::optional<int> axis = {};
  bool keepdims = false;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const {
    if (s.in(0).has_rank())
      s.set_out(0, detail::reduced_shape(s.in(0), axis ? Axes(*axis) : Axes(), keepdims, false, s.op()));
  }
  template <detail::Located E>
  void forward(Cpu&, View<const E> x, View<E> y) const;
};
using Argmax = ArgExtreme<true>;
using Argmin = ArgExtreme<false>;
/// argmax_channel: the position of the largest element along axis 1.
/// Shape: that of data without axis 1. The gradient is 0. Types, NaN and errors are those of argmax.
struct ArgmaxChannel {
  static constexpr std::string_view name = "argmax_channel";
  static constexpr const char* doc = "Position of the largest element along axis 1.";
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { Argmax{.axis = 1}.infer_shape(s); }
  template <detail::Located E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const;
};

template <>
inline constexpr bool detail::reads_any_index<ReduceGradient> = true;
inline constexpr Op<ReduceGradient, OnUse> reduce_gradient;
template <>
inline constexpr bool detail::reads_any_index<Sum> = true;
inline constexpr Op<Sum, OnUse> sum;
template <>
inline constexpr bool detail::reads_any_index<Mean> = true;
inline constexpr Op<Mean, OnUse> mean;
inline constexpr Op<Prod, OnUse> prod;
inline constexpr Op<Nansum, OnUse> nansum;
inline constexpr Op<Nanprod, OnUse> nanprod;
template <>
inline constexpr bool detail::reads_any_index<Max> = true;
inline constexpr Op<Max, OnUse> max;
template <>
inline constexpr bool detail::reads_any_index<Min> = true;
inline constexpr Op<Min, OnUse> min;
template <>
inline constexpr bool detail::reads_any_index<Norm> = true;
inline constexpr Op<Norm, OnUse> norm;
inline constexpr Op<Argmax, OnUse> argmax;
inline constexpr Op<Argmin, OnUse> argmin;
inline constexpr Op<ArgmaxChannel, OnUse> argmax_channel;

auto Sum::gradient(const auto& dy, const auto& x) const {
  return reduce_gradient(dy, x, {.axis = axis, .keepdims = keepdims, .exclude = exclude});
}
auto Mean::gradient(const auto& dy, const auto& x) const {
  return reduce_gradient(dy, x, {.axis = axis, .keepdims = keepdims, .exclude = exclude, .mean = true});
}
/// A sum of ddx, which has dy's shape; `like` has no gradient.
auto ReduceGradient::gradient(const auto& ddx, const auto& dy, const auto&) const {
  using Node = std::remove_cvref_t<decltype(dy)>;
  std::vector<Node> out;
  if (mean)
    out.push_back(strop::mean(ddx, {.axis = axis, .keepdims = keepdims, .exclude = exclude}));
  else
    out.push_back(strop::sum(ddx, {.axis = axis, .keepdims = keepdims, .exclude = exclude}));
  return out;
}

using ReduceOps =
    OpList<ReduceGradient, Sum, Mean, Prod, Nansum, Nanprod, Max, Min, Norm, Argmax, Argmin, ArgmaxChannel>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/reduce_body.hpp>
#endif
