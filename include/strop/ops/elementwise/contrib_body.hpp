// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/elementwise/contrib.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/elementwise/contrib.hpp>

#include <cstdint>

namespace strop::inline v0 {

template <Real E>
constexpr void DivSqrtDim::forward(Cpu&, View<const E> x, View<E> y) const {
  const E divisor = number::Rep<E>::sqrt(static_cast<E>(detail::element(x.shape(), x.ndim() - 1)));
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] / divisor;
}

template <Real E>
constexpr void DivSqrtDim::grad_use_none(Cpu& ctx, View<const E> dy, View<E> dx) const {
  forward<E>(ctx, dy, dx);
}

}  // namespace strop::inline v0
