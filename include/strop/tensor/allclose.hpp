// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whether two arrays are equal to rounding.
#pragma once
#include <strop/tensor/ndarray.hpp>

namespace strop::inline v0 {

/// Whether the shapes are the same and |a − b| ≤ atol + rtol · |b| holds for all elements, in double. Any dtypes and
/// storages; of two sparse arrays of one storage only the stored values are read. NaN is unequal to everything unless
/// `equal_nan` says otherwise.
[[nodiscard]] bool allclose(const NDArray& a, const NDArray& b, double rtol = 1e-5, double atol = 1e-6,
                            bool equal_nan = false);

namespace detail {
/// The same of dense arrays of one shape whose elements are there.
bool close_elements(const NDArray& a, const NDArray& b, double rtol, double atol, bool equal_nan);
}  // namespace detail

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/tensor/allclose_impl.hpp>
#endif
