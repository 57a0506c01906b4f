// SPDX-License-Identifier: Apache-2.0
/// \file
/// How numbers that a program writes become elements, and how many make a range.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/scalar.hpp>

#include <cstring>

namespace strop::inline v0 {

STROP_IMPL void Scalar::store(Dtype dtype, void* to) const {
  visit(dtype, [&]<class E>() {
    E element = is_whole ? convert<E>(whole) : convert<E>(real);
    if constexpr (std::integral<E>) element = static_cast<E>(detail::nearest_integer(dtype, whole));
    if constexpr (std::same_as<E, bool>) element = real != 0;
    std::memcpy(to, &element, sizeof element);
  });
}

namespace detail {

STROP_IMPL std::int64_t count_range(const Scalar& start, const Scalar& stop, const Scalar& step) {
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
