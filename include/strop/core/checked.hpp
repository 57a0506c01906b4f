// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums and products of extents, counts and bytes that are refused where 64 bits do not hold them.
#pragma once
#include <strop/core/error.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// a · b; Error beginning with `op` where it does not fit.
constexpr std::int64_t checked_product(std::int64_t a, std::int64_t b, std::string_view op) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]]
    fail(op, ": ", a, " times ", b, " is more than 64 bits can count");
  return product;
}

/// extent · times; −1 where the extent is not known.
constexpr std::int64_t times_extent(std::int64_t extent, std::int64_t times, std::string_view op) {
  return extent < 0 ? -1 : checked_product(extent, times, op);
}

/// a + b; Error beginning with `op` where it does not fit.
constexpr std::int64_t checked_sum(std::int64_t a, std::int64_t b, std::string_view op) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) [[unlikely]]
    fail(op, ": ", a, " plus ", b, " is more than 64 bits can count");
  return sum;
}

/// std::max and std::min of extents, for what every program reads: <algorithm> costs a compiler more than all of
/// strop's core.
constexpr std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return b < a ? b : a; }

}  // namespace strop::inline v0::detail
