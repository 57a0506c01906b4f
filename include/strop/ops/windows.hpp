// SPDX-License-Identifier: Apache-2.0
/// \file
/// Windows that slide over the spatial axes of images: their parameters, their geometry, and the matrix that has a
/// column for each of them.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/text.hpp>
#include <strop/op/infer.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// Refuses a kernel that has not one, two or three axes; throws Error.
template <int = 0>
constexpr void check_kernel(const Shapes& s, const Shape& kernel) {
  if (kernel.ndim() < 1 || kernel.ndim() > 3)
    s.fail("kernel = ", kernel, " lists ", kernel.ndim(), " numbers, expected 1 to 3, one per spatial axis");
  for (std::int64_t extent : kernel)
    if (extent < 1) s.fail("kernel = ", print_shape(kernel), ", expected numbers of 1 or more");
}

/// Refuses a list that is neither empty nor has a number of at least `least` per axis of the kernel; throws Error.
template <int = 0>
constexpr void check_steps(const Shapes& s, std::string_view name, const Shape& list, int rank, std::int64_t least) {
  if (list.ndim() != 0 && list.ndim() != rank)
    s.fail(name, " = ", list, " lists ", list.ndim(), list.ndim() == 1 ? " number" : " numbers", ", expected ", rank,
           ", one per axis of the kernel");
  for (std::int64_t step : list)
    if (step < least) s.fail(name, " = ", print_shape(list), ", expected numbers of ", least, " or more");
}

/// Number i of a list that may be empty.
constexpr std::int64_t step_of(const Shape& list, int i, std::int64_t otherwise) {
  return list.ndim() == 0 ? otherwise : list[i];
}

/// How far the windows that begin at 0, stride, … of a padded axis may begin: its extent with padding, less what a
/// window covers. Throws Error where a window covers more.
template <int = 0>
constexpr std::int64_t window_room(const Shapes& s, int axis, std::int64_t extent, std::int64_t pad,
                                   std::int64_t covered) {
  const std::int64_t padded = checked_sum(extent, checked_product(2, pad, s.op()), s.op());
  if (padded < covered)
    s.fail("axis ", axis, " of ", s.name_in(0), " has extent ", extent, ", with padding ", padded,
           ", and a window covers ", covered);
  return padded - covered;
}

struct Windows;

}  // namespace strop::inline v0::detail

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/windows_body.hpp>
#endif
