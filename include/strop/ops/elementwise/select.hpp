// SPDX-License-Identifier: Apache-2.0
/// \file
/// Choosing: clip and where.
#pragma once
#include <strop/core/params.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/elementwise/bodies.hpp>
#include <strop/ops/list.hpp>

#include <string_view>
#include <tuple>

namespace strop::inline v0 {

/// Error: a bound is missing.
struct Clip {
  Required<Scalar> a_min{};
  Required<Scalar> a_max{};

  static constexpr std::string_view name = "clip";
  static constexpr std::string_view aliases[] = {"_sparse_clip", "_npi_clip"};
  static constexpr Note notes[] = {{"a_min", "the least result"}, {"a_max", "the greatest result"}};
  static constexpr const char* doc =
      "a_max where x > a_max, a_min where x < a_min, else x; NaN stays. Floating and integer types; on integers the "
      "bounds "
      "are truncated first. The derivative is 1 within the bounds, themselves included, and 0 beyond. A sparse input "
      "keeps "
      "its storage where 0 is within the bounds. Example: clip(array({-1, 2, 9}), {.a_min = 0, .a_max = 5}) is [0, 2, "
      "5].";
  static constexpr DtypeSet dtypes = floating | integral;
  friend constexpr bool leaves_type(const Clip& op, Dtype type) {
    return !(*op.a_min).fits(type) || !(*op.a_max).fits(type);
  }
  constexpr auto forward(auto x) const {
    const auto low = detail::like(x, *a_min), high = detail::like(x, *a_max);
    return where(x > high, high, where(x < low, low, x));
  }
};

namespace detail {

template <class M>
inline constexpr bool is_mask = std::is_same_v<M, bool>;
template <class S>
inline constexpr bool is_mask<number::Mask<S>> = true;

}  // namespace detail

/// The condition has their shape and any type, or is a vector with an entry for each of their rows (positions along the
/// first axis). Errors: other shapes.
struct Where {
  static constexpr std::string_view name = "where";
  static constexpr std::string_view aliases[] = {"_sparse_where", "_npi_where"};
  static constexpr std::string_view inputs[] = {"condition", "x", "y"};
  static constexpr Note notes[] = {{"condition", "of the shape of x, or a vector as long as its first axis"},
                                   {"x", "taken where the condition is not 0"},
                                   {"y", "taken elsewhere"}};
  static constexpr const char* doc =
      "x where the condition is not 0, else y. The condition has their shape and any type, or is a vector with an "
      "entry for "
      "each of their rows. x and y have one shape and one type, any. The gradients are the head gradient where the "
      "element "
      "was chosen and 0 elsewhere; the condition's is 0. CSR arrays give CSR, a CSR condition of dense ones dense. "
      "Example: "
      "where(array({1, 0}), array({1, 2}), array({3, 4})) is [1, 4].";
  static constexpr DtypeSet dtypes = any_dtype;

  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_in(2, shapes.in(1));
    shapes.set_in(1, shapes.in(2));
    shapes.set_out(0, shapes.in(1));
    shapes.set_in(1, shapes.out(0));
    shapes.set_in(2, shapes.out(0));
    const Shape &c = shapes.in(0), &x = shapes.in(1);
    if (!x.known() || !c.known()) return;
    if (c != x && !(c.ndim() == 1 && x.ndim() > 0 && c[0] == x[0]))
      shapes.fail(shapes.name_in(0), " has shape ", c, ", expected ", x, x.ndim() > 1 ? cat(" or ", Shape{x[0]}) : "",
                  " like ", shapes.name_in(1));
  }
  template <int = 0>
  constexpr void infer_type(Types& types) const {
    types.set_out(0, types.in(1) ? types.in(1) : types.in(2));
    types.set_in(1, types.out(0));
    types.set_in(2, types.out(0));
  }
  /// A CSR condition costs its stored values, beside a copy of y; of CSR arrays alone the result has their places.
  constexpr bool infer_storage(Storages& s) const {
    if (s.in(0) == csr && s.in(1) == csr && s.in(2) == csr) return s.set_out(0, csr);
    return s.set_out(0, dense) && s.in(0) != row_sparse && s.in(1) == dense && s.in(2) == dense;
  }
  void forward(Cpu& ctx, const NDArray& condition, const NDArray& x, const NDArray& y, NDArray& out) const;
  /// Nothing is less than itself: a zero that no infinity spoils.
  auto gradient(const auto& dy, const auto& condition, const auto&, const auto&) const {
    const auto zero = dy < dy;
    return std::tuple(condition < condition, Op<Where, OnUse>{}(condition, dy, zero),
                      Op<Where, OnUse>{}(condition, zero, dy));
  }
  /// On numbers: the choice itself.
  static constexpr auto on_numbers(auto c, auto x, auto y) {
    if constexpr (detail::is_mask<decltype(c)>)
      return where(c, x, y);
    else
      return where(c != 0, x, y);
  }
};

inline constexpr Op<Clip, OnUse> clip;
template <>
inline constexpr bool detail::reads_any_index<Where> = true;
template <>
inline constexpr bool detail::zero_unless_stored<Where> = true;
inline constexpr Op<Where, OnUse> where;

using SelectOps = OpList<Clip, Where>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/elementwise/select_body.hpp>
#endif
