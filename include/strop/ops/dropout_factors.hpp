// SPDX-License-Identifier: Apache-2.0
/// \file
/// What dropout multiplies with: 0 with probability p, else 1 / (1 − p).
#pragma once
#include <cstdint>

namespace strop::inline v0::detail {

/// So many factors are drawn at a time, and a thread has so many.
inline constexpr std::int64_t dropout_block = 1024, dropout_grain = 16 * dropout_block;

}  // namespace strop::inline v0::detail

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/dropout_factors_body.hpp>
#endif
