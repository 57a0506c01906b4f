// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/deconvolution.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/convolution_body.hpp>
#include <strop/ops/deconvolution.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace strop::inline v0 {

inline double Deconvolution::operations(std::span<const Shape> in) const {
  return 2 * static_cast<double>(in[0].size()) * static_cast<double>(in[1].size()) /
         static_cast<double>(std::max<std::int64_t>(1, in[1][0]));
}

inline double Deconvolution::gradient_operations(std::span<const Shape> takes) const {
  return 2 * operations(takes.subspan(1));
}

template <Real E>
inline void Deconvolution::forward(Cpu& ctx, View<const E> x, View<const E> weight, View<const E, 1> bias,
                                   View<E> y) const {
  const bool add = ctx.request() == Request::add;
  if (y.size() == 0) return;
  if (x.size() == 0 && !add) std::fill(y.begin(), y.end(), E(0));
  if (x.size() != 0) convolver<E>(x.shape(), y.shape()).data_gradient(x.data(), weight.data(), y.data(), add);
  if (bias.data() == nullptr) return;
  const std::int64_t filters = *num_filter, inner = y.size() / (y.shape()[0] * filters);
  for (std::int64_t row = 0; row < y.shape()[0] * filters; ++row)
    for (std::int64_t i = row * inner; i < (row + 1) * inner; ++i) y[i] += bias[row % filters];
}

template <Real E>
inline void Deconvolution::grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
                                In<"weight", View<const E>> weight, Grad<"data", View<E>> dx,
                                Grad<"weight", View<E>> dw, Grad<"bias", View<E, 1>> db) const {
  const auto adds = [&](int i) { return ctx.request(i) == Request::add; };
  const detail::Convolver<E> convolver = this->convolver<E>(x.shape(), dy.shape());
  if (dx && dx.size() != 0) convolver.result(dy.data(), weight.data(), nullptr, dx.data(), adds(0));
  if (dw) convolver.weight_gradient(x.data(), dy.data(), dw.data(), adds(1));
  if (db) detail::bias_gradient<E>(dy, db, adds(2));
}

template <class E>
inline detail::Convolver<E> Deconvolution::convolver(std::span<const std::int64_t> x,
                                                     std::span<const std::int64_t> y) const {
  Shape cut = pad;
  if (has_target()) {
    cut = target_shape;
    for (int i = 0; i < cut.ndim(); ++i)
      cut[i] = (reach("deconvolution", i, x[static_cast<std::size_t>(i + 2)]) - target_shape[i] + 1) / 2;
  }
  return {.windows = {y.subspan(2), x.subspan(2), *kernel, stride, dilate, cut},
          .images = x[0],
          .groups = num_group,
          .channels = y[1] / num_group,
          .filters = x[1] / num_group};
}

}  // namespace strop::inline v0
