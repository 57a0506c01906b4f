// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reductions along axes: sum, mean, prod, nansum, nanprod, max, min, norm, argmax, argmin.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/reduce_kernels.hpp>

#include <limits>
#include <tuple>

namespace strop::inline v0 {

/// Hands the gradient of a reduction back: dx = dy (times a factor) at every element that was reduced into dy.
struct ReduceGradient {
  static constexpr std::string_view name = "_reduce_gradient", inputs[] = {"data", "like"};
  Axes axis;
  bool keepdims = false, exclude = false, mean = false;
  static constexpr Keeps gradient_keeps = Keeps::none;
  void infer_shape(Shapes& s) const { s.set_out(0, s.in(1)); }
  template <Real E>
  void forward(Cpu&, View<const E> dy, View<const E>, View<E> dx) const {
    const detail::ReducePlan plan(dx.shape(), axis, exclude);
    const E factor = mean ? E(1) / static_cast<E>(plan.reduced) : E(1);
    detail::spread(plan, dx.shape(), dy.data(), dx.data(), factor);
  }
  auto gradient(const auto& ddx, const auto& dy, const auto&) const;
};

/// What sum, mean and their like share: axes, the shape of the result.
#define STROP_REDUCE_PARAMS                                                                             \
  Axes axis;                                                                                            \
  bool keepdims = false, exclude = false;                                                               \
  void infer_shape(Shapes& s) const {                                                                   \
    if (s.in(0).known()) s.set_out(0, detail::reduced_shape(s.in(0), axis, keepdims, exclude, s.op())); \
  }

/// Sum over the axes given (all by default), the others with `exclude`. y = Σ x. Result (1,) when all axes go and
/// keepdims is false, as the original has it. Types: floating, i32, i64.
/// `sum(array({{1, 2}, {3, 4}}), {.axis = 1})` is [3, 7].
struct Sum {
  static constexpr std::string_view name = "sum", aliases[] = {"sum_axis"},
                                    doc = "Sum over the given axes, all by default.";
  STROP_REDUCE_PARAMS
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <detail::Summable E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    detail::reduce<detail::AddStep>(ctx, x, y, detail::ReducePlan(x.shape(), axis, exclude));
  }
  auto gradient(const auto& dy, const auto& x) const;
  template <class... X>
  static constexpr auto on_numbers(X... x) {
    return (x + ...);
  }
};

/// Mean over the axes. y = Σ x / n.
struct Mean {
  static constexpr std::string_view name = "mean", doc = "Mean over the given axes, all by default.";
  STROP_REDUCE_PARAMS
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    const detail::ReducePlan plan(x.shape(), axis, exclude);
    detail::reduce<detail::AddStep>(ctx, x, y, plan);
    const E scale = E(1) / static_cast<E>(plan.reduced);
    for (E& value : y) value *= scale;
  }
  auto gradient(const auto& dy, const auto& x) const;
};

/// Product over the axes.
struct Prod {
  static constexpr std::string_view name = "prod", doc = "Product over the given axes, all by default.";
  STROP_REDUCE_PARAMS
  template <detail::Summable E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    detail::reduce<detail::MultiplyStep>(ctx, x, y, detail::ReducePlan(x.shape(), axis, exclude));
  }
  /// dx = dy · y / x, and the product of the others where x is 0.
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> y, View<E> dx) const {
    detail::spread_product(detail::ReducePlan(x.shape(), axis, exclude), x, dy, y, dx);
  }
};

/// Sum over the axes in which NaN counts as 0.
struct Nansum {
  static constexpr std::string_view name = "nansum", doc = "Sum over the given axes; NaN counts as 0.";
  STROP_REDUCE_PARAMS
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    detail::reduce<detail::AddNumbersStep>(ctx, x, y, detail::ReducePlan(x.shape(), axis, exclude));
  }
  template <Real E>
  void grad_use_in(Cpu&, View<const E> dy, View<const E> x, View<E> dx) const {
    detail::spread(detail::ReducePlan(x.shape(), axis, exclude), x.shape(), dy.data(), dx.data(), E(1));
    for (std::int64_t i = 0; i < x.size(); ++i)
      if (x[i] != x[i]) dx[i] = 0;
  }
};

/// Largest element over the axes; NaN where one is NaN. The gradient goes to every element that equals it.
struct Max {
  static constexpr std::string_view name = "max", aliases[] = {"max_axis"},
                                    doc = "Largest element over the given axes, all by default.";
  STROP_REDUCE_PARAMS
  template <detail::Summable E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    detail::reduce<detail::MaxStep>(ctx, x, y, detail::ReducePlan(x.shape(), axis, exclude));
  }
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> y, View<E> dx) const {
    detail::spread_equal(detail::ReducePlan(x.shape(), axis, exclude), x, dy, y, dx);
  }
  template <class A, class B>
  static constexpr auto on_numbers(A a, B b) {
    return max(a, b);
  }
};

/// Smallest element over the axes; NaN where one is NaN.
struct Min {
  static constexpr std::string_view name = "min", aliases[] = {"min_axis"},
                                    doc = "Smallest element over the given axes, all by default.";
  STROP_REDUCE_PARAMS
  template <detail::Summable E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    detail::reduce<detail::MinStep>(ctx, x, y, detail::ReducePlan(x.shape(), axis, exclude));
  }
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> y, View<E> dx) const {
    detail::spread_equal(detail::ReducePlan(x.shape(), axis, exclude), x, dy, y, dx);
  }
  template <class A, class B>
  static constexpr auto on_numbers(A a, B b) {
    return min(a, b);
  }
};
#undef STROP_REDUCE_PARAMS

/// Euclidean norm (ord 2) or sum of absolute values (ord 1) over the axes.
struct Norm {
  static constexpr std::string_view name = "norm", doc = "Norm over the given axes: ord 1 or 2.";
  int ord = 2;
  Axes axis;
  bool keepdims = false;
  static constexpr Range range[] = {{"ord", 1, 2}};
  void infer_shape(Shapes& s) const {
    if (s.in(0).known()) s.set_out(0, detail::reduced_shape(s.in(0), axis, keepdims, false, s.op()));
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    const detail::ReducePlan plan(x.shape(), axis, false);
    if (ord == 1) return detail::reduce<detail::AddMagnitudeStep>(ctx, x, y, plan);
    detail::reduce<detail::AddSquareStep>(ctx, x, y, plan);
    for (E& value : y) value = number::Rep<E>::sqrt(value);
  }
  /// ord 2: dx = dy · x / y; ord 1: dx = dy · sign x.
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> y, View<E> dx) const {
    const detail::ReducePlan plan(x.shape(), axis, false);
    detail::spread(plan, x.shape(), dy.data(), dx.data(), E(1));
    if (ord == 1) {
      for (std::int64_t i = 0; i < x.size(); ++i) dx[i] *= static_cast<E>((x[i] > 0) - (x[i] < 0));
      return;
    }
    std::vector<E> norm(static_cast<std::size_t>(x.size()));
    detail::spread(plan, x.shape(), y.data(), norm.data(), E(1));
    for (std::int64_t i = 0; i < x.size(); ++i)
      dx[i] *= norm[static_cast<std::size_t>(i)] == 0 ? E(0) : x[i] / norm[static_cast<std::size_t>(i)];
  }
};

/// Position of the largest element along the axis (of all elements without one), as a number of the input's type.
struct Argmax {
  static constexpr std::string_view name = "argmax",
                                    doc = "Position of the largest element along axis, of all elements without one.";
  std::optional<int> axis;
  bool keepdims = false;
  static constexpr bool zero_gradient = true;
  void infer_shape(Shapes& s) const {
    if (s.in(0).known())
      s.set_out(0, detail::reduced_shape(s.in(0), axis ? Axes(*axis) : Axes(), keepdims, false, s.op()));
  }
  template <detail::Summable E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    detail::reduce_position<true>(detail::ReducePlan(x.shape(), axis ? Axes(*axis) : Axes(), false), x, y);
  }
};
/// Position of the smallest element along the axis.
struct Argmin {
  static constexpr std::string_view name = "argmin",
                                    doc = "Position of the smallest element along axis, of all elements without one.";
  std::optional<int> axis;
  bool keepdims = false;
  static constexpr bool zero_gradient = true;
  void infer_shape(Shapes& s) const {
    if (s.in(0).known())
      s.set_out(0, detail::reduced_shape(s.in(0), axis ? Axes(*axis) : Axes(), keepdims, false, s.op()));
  }
  template <detail::Summable E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    detail::reduce_position<false>(detail::ReducePlan(x.shape(), axis ? Axes(*axis) : Axes(), false), x, y);
  }
};

inline constexpr Op<ReduceGradient, OnUse> reduce_gradient;
inline constexpr Op<Sum, OnUse> sum;
inline constexpr Op<Mean, OnUse> mean;
inline constexpr Op<Prod, OnUse> prod;
inline constexpr Op<Nansum, OnUse> nansum;
inline constexpr Op<Max, OnUse> max;
inline constexpr Op<Min, OnUse> min;
inline constexpr Op<Norm, OnUse> norm;
inline constexpr Op<Argmax, OnUse> argmax;
inline constexpr Op<Argmin, OnUse> argmin;

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

using ReduceOps = OpList<ReduceGradient, Sum, Mean, Prod, Nansum, Max, Min, Norm, Argmax, Argmin>;

}  // namespace strop::inline v0
