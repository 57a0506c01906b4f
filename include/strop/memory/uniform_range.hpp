// SPDX-License-Identifier: Apache-2.0
/// \file
/// Uniform numbers from one bound to below another, which stay below it when they are rounded to a narrower type.
#pragma once
#include <strop/core/dtype.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace strop::inline v0::random::detail {

/// The largest number of the floating type E below x, which is finite.
template <class E, class X>
constexpr E last_below(X x) {
  const E nearest = convert<E>(x);
  if (convert<X>(nearest) < x) return nearest;
  using Bits = std::conditional_t<sizeof(E) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(E) == 4, std::uint32_t, std::uint16_t>>;
  constexpr auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(E) - 1));
  const auto bits = std::bit_cast<Bits>(nearest);
  if ((bits & ~sign) == 0) return std::bit_cast<E>(static_cast<Bits>(sign | 1U));
  return std::bit_cast<E>(static_cast<Bits>((bits & sign) != 0 ? bits + 1 : bits - 1));
}

/// What numbers from lo to below hi may be at most, if they are to be below hi as numbers of `type` as well: below lo
/// where the type has none between them. lo where lo is not below hi.
template <class X>
constexpr X last_between(X lo, X hi, Dtype type) {
  if (!(lo < hi)) return lo;
  switch (type) {
    case f16:
      return convert<X>(last_below<half>(hi));
    case bf16:
      return convert<X>(last_below<bfloat16>(hi));
    case f32:
      return convert<X>(last_below<float>(hi));
    default:
      return last_below<X>(hi);
  }
}

/// Numbers from lo to below hi, rounded to `type`, of numbers from 0 to below 1.
class UniformRange {
 public:
  constexpr UniformRange(double lo, double hi, Dtype type)
      : times_(hi / 2 - lo / 2 <= std::numeric_limits<double>::max() / 2 ? 1 : 2),
        lo_(lo / times_),
        width_(hi / times_ - lo_),
        last_(last_between(lo, hi, type)) {}
  constexpr double operator()(double u) const {
    const double x = times_ * (lo_ + u * width_);
    return x < last_ ? x : last_;
  }

 private:
  double times_;  // 2 where the width would overflow
  double lo_, width_, last_;
};

}  // namespace strop::inline v0::random::detail
