// SPDX-License-Identifier: Apache-2.0
/// \file
/// What dropout multiplies with: 0 with probability p, else 1 / (1 − p).
#pragma once
#include <strop/core/isa.hpp>
#include <strop/engine/pool.hpp>
#include <strop/memory/random.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// So many factors are drawn at a time, and a thread has so many.
inline constexpr std::int64_t dropout_block = 1024, dropout_grain = 16 * dropout_block;

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
