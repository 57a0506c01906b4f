// SPDX-License-Identifier: Apache-2.0
/// \file
/// Conversion of elements between dtypes, and sizes of arrays in bytes.
#pragma once
#include <strop/core/device.hpp>
#include <strop/core/dtype.hpp>
#include <strop/core/shape.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// Elements of an array of this shape, times `width`. Error where an extent is negative or where the extents other than
/// 0 multiply to more than 64 bits hold (so that every product of some extents is exact).
constexpr std::int64_t checked_count(const Shape& shape, std::int64_t width = 1) {
  std::int64_t count = width;
  bool empty = false, overflow = !shape.has_rank();
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    const std::int64_t extent = shape[axis];
    if (extent < 0) fail("strop: an array cannot have extent ", extent, " along axis ", axis);
    if (extent == 0)
      empty = true;
    else
      overflow = overflow || __builtin_mul_overflow(count, extent, &count);
  }
  if (overflow) refuse_size(shape);
  return empty ? 0 : count;
}

/// Bytes of a dense array, under the same conditions.
std::int64_t byte_count(const Shape& shape, Dtype dtype);

/// Elements of any type as doubles, and doubles as elements of any type.
void load_doubles(Dtype dtype, const void* from, double* to, std::int64_t n);
void store_doubles(Dtype dtype, const double* from, void* to, std::int64_t n);

/// Elements of an integer type (or bool) as 64-bit integers, and back.
void load_integers(Dtype dtype, const void* from, std::int64_t* to, std::int64_t n);
void store_integers(Dtype dtype, const std::int64_t* from, void* to, std::int64_t n);

/// Converts n elements as `convert<To>` does each. The ranges do not overlap (equal types may).
void convert_elements(Dtype from, const void* source, Dtype to, void* target, std::int64_t n);
/// The same of many elements, by all threads. What is larger than the caches is written past them.
void convert_by_all(Dtype from, const void* source, Dtype to, void* target, std::int64_t n);
/// As convert_by_all, for elements that lie on a device.
void convert_elements_on(Device device, Dtype from, const void* source, Dtype to, void* target, std::int64_t n);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/convert_impl.hpp>
#endif
