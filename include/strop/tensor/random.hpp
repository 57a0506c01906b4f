// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays of random numbers.
#pragma once
#include <strop/memory/random.hpp>
#include <strop/tensor/ndarray.hpp>

namespace strop::inline v0::random {

namespace detail {
NDArray uniform(const Shape& shape, double low, double high, Dtype dtype, Device device);
NDArray normal(const Shape& shape, double mean, double deviation, Dtype dtype, Device device);
}  // namespace detail

/// Uniform random numbers in [low, high): element i is low + u (high − low) with u a multiple of 2^-24 (2^-53 for
/// float64). The 16-bit types round to nearest, so `high` itself can occur.
template <int Once = 0>
NDArray uniform(const Shape& shape, double low, double high, Dtype dtype = f32, Device device = cpu()) {
  static_cast<void>(detail::JoinedAtStart<Once>::here());
  return detail::uniform(shape, low, high, dtype, device);
}
template <int = 0>
NDArray uniform(const Shape& shape, Dtype dtype = f32, Device device = cpu()) {
  return uniform<>(shape, 0, 1, dtype, device);
}

/// Normal random numbers: mean + deviation · n with n of mean 0 and deviation 1, a float (|n| < 6.7).
template <int Once = 0>
NDArray normal(const Shape& shape, double mean, double deviation, Dtype dtype = f32, Device device = cpu()) {
  static_cast<void>(detail::JoinedAtStart<Once>::here());
  return detail::normal(shape, mean, deviation, dtype, device);
}
template <int = 0>
NDArray normal(const Shape& shape, Dtype dtype = f32, Device device = cpu()) {
  return normal<>(shape, 0, 1, dtype, device);
}

}  // namespace strop::inline v0::random

#if !defined(STROP_COMPILED)
#include <strop/tensor/random_impl.hpp>
#endif
