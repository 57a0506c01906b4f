// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/dropout_factors.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/isa.hpp>
#include <strop/engine/pool.hpp>
#include <strop/memory/random.hpp>
#include <strop/ops/dropout_factors.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

inline namespace STROP_ISA {

/// The factors of up to a block of elements, whose numbers begin at the stream.
template <class E>
void draw_dropout(const random::Stream& stream, float p, E* factors, std::int64_t count) {
  const float keep = 1 - p;
  const E factor = keep > 0 ? E(1) / static_cast<E>(keep) : E(0);
  float u[dropout_block];
  stream.fill_uniform(u, count);
  for (std::int64_t i = 0; i < count; ++i) factors[i] = u[i] < keep ? factor : E(0);
}

/// y = x · factors.
template <class E>
void multiply_dropout(const E* x, const E* factors, E* y, std::int64_t n) {
  parallel_for(n, 2 * dropout_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = x[i] * factors[i];
  });
}

}  // namespace STROP_ISA

}  // namespace strop::inline v0::detail
