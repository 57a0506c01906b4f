// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/regression_output.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/op/loops.hpp>
#include <strop/ops/cast_body.hpp>
#include <strop/ops/regression_output.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

/// dx = scale · slope(y, label) / elements of an example.
template <class E, class Slope>
void regression_gradient(View<const E> y, const NDArray& labels, View<E> dx, float grad_scale, Slope slope) {
  if (!dx || y.size() == 0) return;
  NDArray label = labels;
  if (labels.dtype() != dtype_of<E> || labels.storage() != dense) {
    label = NDArray(labels.shape(), dtype_of<E>);
    assign(labels, label);
  }
  const E* const l = label.pointer<const E>();
  const E scale =
      static_cast<E>(grad_scale) * static_cast<E>(y.ndim() == 0 ? 1 : y.shape()[0]) / static_cast<E>(y.size());
  parallel_for(y.size(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) dx[i] = slope(y[i], l[i]) * scale;
  });
}

}  // namespace detail

template <Real E>
inline void LinearRegressionOutput::forward(Cpu&, View<const E> x, const NDArray&, View<E> y) const {
  if (x.data() != y.data()) std::copy(x.begin(), x.end(), y.begin());
}

template <Real E>
inline void LinearRegressionOutput::grad(Cpu&, In<"label", NDArray> label, Out<"output", View<const E>> y,
                                         Grad<"data", View<E>> dx) const {
  detail::regression_gradient<E>(y, label, dx, grad_scale, [](E a, E b) { return a - b; });
}

template <Real E>
inline void MAERegressionOutput::forward(Cpu&, View<const E> x, const NDArray&, View<E> y) const {
  if (x.data() != y.data()) std::copy(x.begin(), x.end(), y.begin());
}

template <Real E>
inline void MAERegressionOutput::grad(Cpu&, In<"label", NDArray> label, Out<"output", View<const E>> y,
                                      Grad<"data", View<E>> dx) const {
  detail::regression_gradient<E>(y, label, dx, grad_scale, [](E a, E b) { return a > b ? E(1) : E(-1); });
}

template <Real E>
inline void LogisticRegressionOutput::forward(Cpu&, View<const E> x, const NDArray&, View<E> y) const {
  parallel_for(x.size(), 1 << 15, [&](std::int64_t begin, std::int64_t end) {
    const Curve curve;
    const void* in[] = {x.data() + begin};
    void* out[] = {y.data() + begin};
    detail::lane_loop<Curve, E>(&curve, in, out, end - begin);
  });
}

template <Real E>
inline void LogisticRegressionOutput::grad(Cpu&, In<"label", NDArray> label, Out<"output", View<const E>> y,
                                           Grad<"data", View<E>> dx) const {
  detail::regression_gradient<E>(y, label, dx, grad_scale, [](E a, E b) { return a - b; });
}

template <Real E>
inline void MakeLoss::forward(Cpu&, const NDArray& x, NDArray& y) const {
  if (!x.is(y)) detail::assign(x, y);
}

template <Real E>
inline void MakeLoss::grad(Cpu&, In<"data", View<const E>> x, Grad<"data", View<E>> dx) const {
  if (!dx) return;
  double divisor = 1;
  if (normalization == batch && x.ndim() > 0) divisor = static_cast<double>(x.shape()[0]);
  if (normalization == valid) {
    std::int64_t count = 0;
    for (const E& e : x) count += e > static_cast<E>(valid_thresh) ? 1 : 0;
    divisor = static_cast<double>(std::max<std::int64_t>(1, count));
  }
  std::fill(dx.begin(), dx.end(), static_cast<E>(grad_scale / divisor));
}

}  // namespace strop::inline v0
