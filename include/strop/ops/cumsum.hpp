// SPDX-License-Identifier: Apache-2.0
/// \file
/// cumsum: sums of the elements up to each one.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>

#include <concepts>
#include <optional>
#include <string_view>

namespace strop::inline v0 {

/// cumsum: y[…, i, …] = Σ x[…, j, …] over j ≤ i along `axis`; without it over the elements in their order, as a vector.
///
/// All types but bool; the result is of `dtype`, of the type of a unless said, and so are the sums, but that those of
/// halves are added in float and rounded once. Sparse arrays by the dense fallback. The gradient is the sums of the
/// head gradient from each element on. Error: axis is outside a.
///
/// Example: `cumsum(array({{1, 2}, {3, 4}}), {.axis = 0})` is [[1, 2], [4, 6]].
struct Cumsum {
  std::optional<int> axis = {};
  std::optional<Dtype> dtype = {};

  static constexpr std::string_view name = "_np_cumsum", aliases[] = {"cumsum"}, inputs[] = {"a"};
  static constexpr const char* doc = "The sums of the elements up to each one, along an axis or, without one, of all.";
  static constexpr Note notes[] = {{"axis", "the axis of the sums; negative: from the last; None: a as a vector"},
                                   {"dtype", "the type of the result"}};

  static constexpr DtypeSet dtypes = floating | integral;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const Shape& a = s.in(0);
    if (!axis) {
      if (a.has_rank()) s.set_out(0, {a.known() ? a.size() : -1});
      return;
    }
    if (a.has_rank()) (void)detail::checked_axis(*axis, a.ndim(), s.op());
    s.set_out(0, a);
    s.set_in(0, s.out(0));
  }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    t.expect_in(0, dtypes);
    if (dtype) return t.set_out(0, dtype);
    t.set_out(0, t.in(0));
    t.set_in(0, t.out(0));
  }
  template <class E>
    requires Real<E> || (std::integral<E> && !std::same_as<E, bool>)
  void forward(Cpu&, const NDArray& a, View<E> y) const;
  static constexpr Share gradient_inplace[] = {{0, 0}};
  template <class E>
    requires Real<E> || (std::integral<E> && !std::same_as<E, bool>)
  void grad_use_none(Cpu&, const NDArray& dy, View<E> da) const;
};
inline constexpr Op<Cumsum, OnUse> cumsum;

using CumsumOps = OpList<Cumsum>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/cumsum_body.hpp>
#endif
