// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients of two bits an element, with what they leave out kept for the next one.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/tensor/ndarray.hpp>

#include <string>

namespace strop::inline v0 {

/// How a store compresses what is pushed: MXNet's parameters.
struct GradientCompression {
  std::string type = "2bit";  ///< the only one there is
  double threshold = 0.5;     ///< above 0: what an element of a push is, or its negative, or 0
};

namespace detail {

/// Words of float32 that n elements take: one for each 16.
constexpr std::int64_t packed_words(std::int64_t n) { return n / 16 + (n % 16 != 0 ? 1 : 0); }

/// residual += gradient; then of each element 11 where it is at least threshold, which is taken off, 10 where it is at
/// most −threshold, which is added, else 00. Element i of a word's 16 stands in byte i / 4, from the top bits on: the
/// original's layout.
void quantize_2bit(const float* gradient, float* residual, float threshold, std::byte* packed, std::int64_t n);

/// out = Σ of what the lists of packed words stand for, in their order.
void dequantize_2bit(Span<const std::byte* const> packed, float threshold, float* out, std::int64_t n);

}  // namespace detail
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/kvstore/compression_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
