// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/moments.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/moments.hpp>
#include <strop/ops/reduce_kernels_body.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace strop::inline v0 {

template <Real E>
inline void Moments::forward(Cpu& ctx, View<const E> x, View<E> means, View<E> variances) const {
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
  if (!finite) {  // a sum overflowed, or an element is NaN
    for (std::int64_t i = 0; i < x.size(); ++i) parts[i] = x[i] * scale;
    detail::reduce<detail::AddStep>(ctx, read, means, plan);
  }
  detail::spread(plan, x.shape(), means.data(), parts.data(), E(1));
  for (std::int64_t i = 0; i < x.size(); ++i) parts[i] = x[i] - parts[i];
  detail::List<E> offs(means.size());  // how far the means are off, since they are rounded
  detail::reduce<detail::AddStep>(ctx, read, View<E>(offs.data(), means.shape()), plan);
  // As small as the variance, so that sums of them do not overflow.
  for (std::int64_t i = 0; i < x.size(); ++i) parts[i] *= parts[i] * scale;
  detail::reduce<detail::AddStep>(ctx, read, variances, plan);
  for (std::int64_t i = 0; i < variances.size(); ++i) {
    const E off = offs[i] * scale, less = variances[i] - off * off;
    if (less >= 0) variances[i] = less;
  }
  if (plan.reduced == 0) std::fill(variances.begin(), variances.end(), std::numeric_limits<E>::quiet_NaN());
}

template <Real E>
inline void Moments::grad(Cpu& ctx, Head<"mean", View<const E>> dmean, Head<"var", View<const E>> dvar,
                          In<"data", View<const E>> x, Out<"mean", View<const E>> means,
                          Grad<"data", View<E>> dx) const {
  if (!dx) return;
  const detail::ReducePlan plan(x.shape(), axes, false);
  const E scale = E(1) / static_cast<E>(plan.reduced);
  const View<E, 1> centre = ctx.temp<E>(x.size()), slope = ctx.temp<E>(x.size());
  detail::spread(plan, x.shape(), means.data(), centre.data(), E(1));
  detail::spread(plan, x.shape(), dvar.data(), slope.data(), 2 * scale);
  detail::spread(plan, x.shape(), dmean.data(), dx.data(), scale);
  for (std::int64_t i = 0; i < x.size(); ++i) dx[i] += (x[i] - centre[i]) * slope[i];
}

}  // namespace strop::inline v0
