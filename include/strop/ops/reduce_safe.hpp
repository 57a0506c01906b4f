// SPDX-License-Identifier: Apache-2.0
/// \file
/// Means and Euclidean norms that over- or underflow only where their result does.
#pragma once
#include <strop/core/list.hpp>
#include <strop/ops/reduce_sparse.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace strop::inline v0::detail {

struct MaxMagnitudeStep {
  template <class E>
  static constexpr E neutral() {
    return E(0);
  }
  template <class R>
  static R map(R x) {
    return number::Rep<R>::abs(x);
  }
  template <class R>
  static R join(R a, R b) {
    return number::Rep<R>::max(a, b);
  }
};

inline namespace STROP_ISA {

/// y = Σ x / n over the axes.
template <class E>
void mean_array(Cpu& ctx, const NDArray& x, const NDArray& y, const Axes& axes, bool exclude) {
  reduce_array<AddStep, E>(ctx, x, y, axes, exclude);
  const E scale = E(1) / static_cast<E>(ReducePlan(x.shape(), axes, exclude).reduced);
  E* const to = y.pointer<E>();
  bool finite = true;
  for (std::int64_t i = 0; i < y.size(); ++i) {
    finite = finite && std::isfinite(to[i]);
    to[i] *= scale;
  }
  if (finite || scale == 1) return;
  // A sum overflowed, or an element is NaN: the parts are made small before they are added.
  NDArray parts = x.copy();
  for (std::int64_t i = 0; i < x.stored(); ++i) parts.pointer<E>()[i] *= scale;
  reduce_array<AddStep, E>(ctx, parts, y, axes, exclude);
}

/// y = √ Σ x² over the axes. Sums that overflowed, or are so small that squares may have lost digits, are taken again
/// of multiples of x.
template <class E>
void euclidean_norm(Cpu& ctx, const NDArray& x, const NDArray& y, const Axes& axes) {
  reduce_array<AddSquareStep, E>(ctx, x, y, axes, false);
  const ReducePlan plan(x.shape(), axes, false);
  using Limits = std::numeric_limits<E>;
  constexpr E most = Limits::max();
  const E least = Limits::min() / Limits::epsilon() * static_cast<E>(std::max<std::int64_t>(plan.reduced, 1));
  E* const to = y.pointer<E>();
  std::vector<std::int64_t> again;
  for (std::int64_t i = 0; i < y.size(); ++i) {
    if (!(to[i] >= least && to[i] <= most)) again.push_back(i);
    to[i] = number::Rep<E>::sqrt(to[i]);
  }
  if (again.empty()) return;
  const E* const from = x.pointer<const E>();
  const NDArray tops(y.shape(), dtype_of<E>);
  E* const top = tops.pointer<E>();
  if (x.storage() == dense) {
    reduce_array<MaxMagnitudeStep, E>(ctx, x, tops, axes, false);
  } else {
    std::fill(top, top + y.size(), E(0));
    each_stored_reduced(x, axes, false, false, [&](std::int64_t i, std::int64_t at) {
      top[at] = MaxMagnitudeStep::join(top[at], MaxMagnitudeStep::map(from[i]));
    });
  }
  // Powers of two, which round nothing; 0 where the root stands as it is: of zeros, infinities and NaN.
  detail::List<double> scales(y.size(), 0.0), sums = scales;
  bool any = false;
  for (std::int64_t i : again) {
    if (!(top[i] > 0 && top[i] <= most)) continue;
    scales[i] = std::ldexp(1.0, -std::max(std::ilogb(top[i]), -1022));
    any = true;
  }
  if (!any) return;
  const auto add = [&](std::int64_t i, std::int64_t at) {
    const double part = static_cast<double>(from[i]) * scales[at];
    sums[at] += part * part;
  };
  if (x.storage() == dense)
    each_reduced(plan, x.size(), add);
  else
    each_stored_reduced(x, axes, false, false, add);
  for (std::int64_t i : again)
    if (const double scale = scales[i]; scale != 0) to[i] = static_cast<E>(std::sqrt(sums[i]) / scale);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
