// SPDX-License-Identifier: Apache-2.0
/// \file
/// Between the elements of an image: where a position lies along an axis, and the four elements around one of a plane.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// Refuses a parameter that is not (rows, columns); gives how many places a plane of these has.
template <int = 0>
constexpr std::int64_t checked_places(const Shapes& s, std::string_view parameter, const Shape& plane) {
  if (plane.ndim() != 2 || plane[0] < 1 || plane[1] < 1)
    s.fail(parameter, " = ", plane, ", expected (rows, columns) of 1 or more");
  return checked_product(plane[0], plane[1], s.op());
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/bilinear_body.hpp>
#endif
