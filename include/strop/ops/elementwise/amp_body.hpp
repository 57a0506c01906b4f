// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/elementwise/amp.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/cast_body.hpp>
#include <strop/ops/elementwise/amp.hpp>

#include <span>

namespace strop::inline v0 {

inline void AmpCast::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::assign(x, y); }

inline void AmpCast::grad_use_none(Cpu&, const NDArray& dy, NDArray& dx) const { detail::assign(dy, dx); }

inline void AmpMulticastGradient::forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const {
  detail::assign(x, y);
}

inline void AmpMulticast::forward(Cpu&, std::span<const NDArray> x, std::span<NDArray> y) const {
  for (std::size_t k = 0; k < x.size(); ++k) detail::assign(x[k], y[k]);
}

}  // namespace strop::inline v0
