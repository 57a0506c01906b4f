// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scalar: a number as a program writes it, before it is an element of any type.
#pragma once
#include <strop/core/dtype.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0 {

/// A real number, or a whole one of 64 bits with all its digits: what a parameter is that meets elements of any type.
///
/// It becomes an element as the number of the element's type that is nearest to it: towards an integer fractions are
/// cut off, what lies outside is the type's end, and NaN is 0. bool is "not zero".
struct Scalar {
  double real = 0;
  std::int64_t whole = 0;  // the same number as a 64-bit integer becomes of it
  bool is_whole = true;    // it was given as an integer, and `whole` is it

  constexpr Scalar() = default;
  template <std::integral N>
  constexpr Scalar(N value) : real(static_cast<double>(value)), whole(static_cast<std::int64_t>(value)) {
    if constexpr (std::is_unsigned_v<N> && sizeof(N) == sizeof whole)
      if (whole < 0) whole = INT64_MAX, is_whole = false;
  }
  template <std::floating_point N>
  constexpr Scalar(N value)
      : real(static_cast<double>(value)), whole(detail::from_double<std::int64_t>(real)), is_whole(false) {}
  constexpr Scalar(half value) : Scalar(detail::to_double(value)) {}
  constexpr Scalar(bfloat16 value) : Scalar(detail::to_double(value)) {}

  constexpr explicit operator double() const { return real; }

  /// −1 or 1 where it is less or more than every integer of 64 bits.
  constexpr int beyond() const { return is_whole ? 0 : real >= 0x1p63 ? 1 : real < -0x1p63 ? -1 : 0; }
  constexpr bool is_nan() const { return real != real; }
  /// Whether the integer that it becomes is one of the type.
  constexpr bool fits(Dtype dtype) const {
    return is_floating(dtype) || (beyond() == 0 && detail::nearest_integer(dtype, whole) == whole);
  }

  friend constexpr bool operator==(const Scalar& a, const Scalar& b) { return a.real == b.real && a.whole == b.whole; }

  /// Writes it as an element of that type.
  void store(Dtype dtype, void* to) const;
};

namespace detail {

/// How many of start, start + step, … stand before stop, none where they go the other way; −1 where there is no end.
constexpr std::int64_t count_range(const Scalar& start, const Scalar& stop, const Scalar& step) {
  if (step.real == 0) return -1;
  if (start.is_whole && stop.is_whole && step.is_whole) {
    const bool up = step.whole > 0;
    if (up ? stop.whole <= start.whole : stop.whole >= start.whole) return 0;
    const auto first = static_cast<std::uint64_t>(start.whole), last = static_cast<std::uint64_t>(stop.whole),
               by = static_cast<std::uint64_t>(step.whole);
    const std::uint64_t steps = up ? (last - first - 1) / by : (first - last - 1) / (0 - by);
    return steps < std::uint64_t{1} << 62 ? static_cast<std::int64_t>(steps) + 1 : -1;
  }
  const double steps = (stop.real - start.real) / step.real;
  if (!(steps < 0x1p53)) return -1;
  const std::int64_t all = steps > 0 ? static_cast<std::int64_t>(steps) : 0;
  return all + (static_cast<double>(all) < steps ? 1 : 0);
}

}  // namespace detail
}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/core/scalar_impl.hpp>
#endif
