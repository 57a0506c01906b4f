// SPDX-License-Identifier: Apache-2.0
/// \file
/// Conversion of elements between dtypes, sizes of arrays in bytes, and the codes of reshape.
#pragma once
#include <strop/core/device.hpp>
#include <strop/core/dtype.hpp>
#include <strop/core/shape.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// Elements of an array of this shape, times `width`. Error where an extent is negative or where the extents other than
/// 0 multiply to more than 64 bits hold (so that every product of some extents is exact).
std::int64_t checked_count(const Shape& shape, std::int64_t width = 1);

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
/// The same for elements that lie on a device.
void convert_elements_on(Device device, Dtype from, const void* source, Dtype to, void* target, std::int64_t n);

/// The shape that reshape's codes make of `from`: 0 keeps an extent, −1 infers one, −2 copies the rest, −3 merges two,
/// −4 splits one into the two that follow (one of which may be −1). The element count is always the same. Kept extents
/// take no part in the inference, so that codes (0, −1) of shape (0, 2, 3) give (0, 6).
Shape reshape_codes(const Shape& from, const Shape& codes);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/convert_impl.hpp>
#endif
