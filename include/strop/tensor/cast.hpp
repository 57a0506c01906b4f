// SPDX-License-Identifier: Apache-2.0
/// \file
/// From one storage to another: dense, CSR, row-sparse; dense copies on the host; rows of an array.
#pragma once
#include <strop/tensor/ndarray.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// The same elements in another shape.
NDArray view_as(const NDArray& a, const Shape& shape);
/// factor · a, of a dense array of a floating type, computed in double.
NDArray scaled(const NDArray& a, double factor);

/// The array on `device`: the same one where it is there already, else a copy.
NDArray on_device(const NDArray& a, Device device);
/// A dense array with the same values of another type, on its device: itself where it has that type.
NDArray as_type(const NDArray& a, Dtype type);

/// Refuses a shell that has no memory yet.
void check_filled(const NDArray& a);

/// The array in another storage (the same array where nothing changes). From dense, what is zero is not stored; CSR is
/// for 2 dimensions, row-sparse for 1 or more. Work is proportional to the stored values, and to the dense size where
/// a dense array is read or made.
NDArray cast_storage(const NDArray& a, Storage storage);

/// The same array where it is dense on the CPU, else a dense copy there.
NDArray dense_on_host(const NDArray& a);

/// Element i, in row-major order, of a dense array on the CPU.
double element_as_double(const NDArray& a, std::int64_t i);

/// Rows [begin, end), positions already checked: a view of a dense array, a copy of a CSR one.
NDArray slice_rows(const NDArray& a, std::int64_t begin, std::int64_t end);

/// Sets the first bytes of an array to zero, on any device.
void clear(const NDArray& a, std::int64_t bytes);

/// Where a row's stored values are; refuses a structure that would lead outside the array.
struct RowSpan {
  std::int64_t begin, end;
};
inline RowSpan row_span(const std::int64_t* indptr, std::int64_t row, std::int64_t stored) {
  const RowSpan span{indptr[row], indptr[row + 1]};
  if (span.begin < 0 || span.begin > span.end || span.end > stored)
    fail("strop: indptr of a CSR array says that row ", row, " is stored at ", span.begin, " to ", span.end, " of ",
         stored);
  return span;
}
inline std::int64_t checked_index(std::int64_t index, std::int64_t extent) {
  if (index < 0 || index >= extent) fail("strop: index ", index, " of a sparse array is outside its extent ", extent);
  return index;
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/cast_impl.hpp>
#endif
