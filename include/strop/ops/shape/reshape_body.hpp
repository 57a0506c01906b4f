// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/shape/reshape.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/shape/move_body.hpp>
#include <strop/ops/shape/reshape.hpp>

namespace strop::inline v0 {

inline void Reshape::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::copy_elements(x, y); }

inline void Flatten::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::copy_elements(x, y); }

inline void ExpandDims::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::copy_elements(x, y); }

inline void Squeeze::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::copy_elements(x, y); }

inline void ReshapeLike::forward(Cpu&, const NDArray& x, const NDArray&, NDArray& y) const {
  detail::copy_elements(x, y);
}

inline void ShapeArray::forward(Cpu&, const NDArray& x, NDArray& y) const {
  std::copy(x.shape().begin(), x.shape().end(), y.pointer<std::int64_t>());
}

inline void SizeArray::forward(Cpu&, const NDArray& x, NDArray& y) const { *y.pointer<std::int64_t>() = x.size(); }

}  // namespace strop::inline v0
