// SPDX-License-Identifier: Apache-2.0
/// \file
/// moments: mean and variance along axes.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/reduce_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

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
  void forward(Cpu& ctx, View<const E> x, View<E> means, View<E> variances) const {
    const detail::ReducePlan plan(x.shape(), axes, false);
    const E scale = E(1) / static_cast<E>(plan.reduced);
    const View<E, 1> parts = ctx.temp<E>(x.size());
    const View<const E> read(parts.data(), x.shape());
    detail::reduce<detail::AddStep>(ctx, x, means, plan);
    bool finite = true;
    for (E& value : means) {
      finite = finite && std::isfinite(value);
      value *= scale;
    }
    if (!finite) {  // a sum overflowed, or an element is no number
      for (std::int64_t i = 0; i < x.size(); ++i) parts[i] = x[i] * scale;
      detail::reduce<detail::AddStep>(ctx, read, means, plan);
    }
    detail::spread(plan, x.shape(), means.data(), parts.data(), E(1));
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const E distance = x[i] - parts[i];
      parts[i] = distance * (distance * scale);  // as small as the variance, so that sums of them do not overflow
    }
    detail::reduce<detail::AddStep>(ctx, read, variances, plan);
    if (plan.reduced == 0) std::fill(variances.begin(), variances.end(), std::numeric_limits<E>::quiet_NaN());
  }
  /// dx = (dmean + 2 · (x − mean) · dvar) / n.
  template <Real E>
  void grad(Cpu& ctx, Head<"mean", View<const E>> dmean, Head<"var", View<const E>> dvar, In<"data", View<const E>> x,
            Out<"mean", View<const E>> means, Grad<"data", View<E>> dx) const {
    if (!dx) return;
    const detail::ReducePlan plan(x.shape(), axes, false);
    const E scale = E(1) / static_cast<E>(plan.reduced);
    const View<E, 1> centre = ctx.temp<E>(x.size()), slope = ctx.temp<E>(x.size());
    detail::spread(plan, x.shape(), means.data(), centre.data(), E(1));
    detail::spread(plan, x.shape(), dvar.data(), slope.data(), 2 * scale);
    detail::spread(plan, x.shape(), dmean.data(), dx.data(), scale);
    for (std::int64_t i = 0; i < x.size(); ++i) dx[i] += (x[i] - centre[i]) * slope[i];
  }
};
inline constexpr Op<Moments, OnUse> moments;

using MomentsOps = OpList<Moments>;

}  // namespace strop::inline v0
