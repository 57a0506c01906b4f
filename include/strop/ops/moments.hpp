// SPDX-License-Identifier: Apache-2.0
/// \file
/// moments: mean and variance along axes.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/reduce_kernels.hpp>

#include <string_view>

namespace strop::inline v0 {

/// moments: mean = Σ x / n and var = Σ (x − mean)² / n over `axes` (all by default). Two outputs, of shape (1,) where
/// all axes go and keepdims is false. Floating types. Error: an axis outside the array. `moments(array({1, 3}))` is [2]
/// and [1].
struct Moments {
  Axes axes = {};
  bool keepdims = false;
  static constexpr std::string_view name = "moments", outputs[] = {"mean", "var"};
  static constexpr const char* doc = "Mean and variance over the given axes, all by default.";
  static constexpr Note notes[] = {{"axes", "the axes that go"}, {"keepdims", "they stay, with extent 1"}};
  constexpr void infer_shape(Shapes& s) const {
    if (!s.in(0).has_rank()) return;
    for (int k = 0; k < 2; ++k) s.set_out(k, detail::reduced_shape(s.in(0), axes, keepdims, false, s.op()));
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> means, View<E> variances) const;
  /// dx = (dmean + 2 · (x − mean) · dvar) / n.
  template <Real E>
  void grad(Cpu& ctx, Head<"mean", View<const E>> dmean, Head<"var", View<const E>> dvar, In<"data", View<const E>> x,
            Out<"mean", View<const E>> means, Grad<"data", View<E>> dx) const;
};
inline constexpr Op<Moments, OnUse> moments;

using MomentsOps = OpList<Moments>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/moments_body.hpp>
#endif
