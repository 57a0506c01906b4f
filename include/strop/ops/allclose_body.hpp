// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/allclose.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/allclose.hpp>
#include <strop/tensor/allclose.hpp>

#include <cstdint>

namespace strop::inline v0 {

inline void Allclose::forward(Cpu&, const NDArray& a, const NDArray& b, NDArray& y) const {
  const bool close = detail::close_elements(a, b, static_cast<double>(rtol), static_cast<double>(atol), equal_nan);
  *y.pointer<std::uint8_t>() = close ? 1 : 0;
}

}  // namespace strop::inline v0
