// SPDX-License-Identifier: Apache-2.0
/// \file
/// From one storage to another: dense, CSR, row-sparse; dense copies on the host; rows of an array.
#pragma once
#include <strop/core/error.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>
#include <string_view>

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
/// for 2 dimensions, row-sparse for 1 or more; what a sparse array stores for one place several times adds up. Work is
/// proportional to the stored values, and to the dense size where a dense array is read or made.
NDArray cast_storage(const NDArray& a, Storage storage);

/// The same array where it is dense on the CPU, else a dense copy there.
NDArray dense_on_host(const NDArray& a);

/// Element i, in row-major order, of a dense array on the CPU.
double element_as_double(const NDArray& a, std::int64_t i);

/// Rows [begin, end), positions already checked: a view of a dense array, a copy of a CSR one.
NDArray slice_rows(const NDArray& a, std::int64_t begin, std::int64_t end);

/// Sets the first bytes of an array to zero, on any device.
void clear(const NDArray& a, std::int64_t bytes);

/// Indices of a sparse array, of 32 or of 64 bits, as numbers of 64.
class IndexReader {
 public:
  explicit IndexReader(const std::int64_t* list) : narrow_(nullptr), wide_(list) {}
  explicit IndexReader(const NDArray& part)
      : narrow_(part.dtype() == i32 ? part.pointer<const std::int32_t>() : nullptr),
        wide_(part.dtype() == i32 ? nullptr : part.pointer<const std::int64_t>()) {}
  std::int64_t operator[](std::int64_t k) const { return narrow_ != nullptr ? narrow_[k] : wide_[k]; }
  /// f(const std::int32_t*) or f(const std::int64_t*): a loop for each of them.
  template <class F>
  void as_stored(F&& f) const {
    narrow_ != nullptr ? f(narrow_) : f(wide_);
  }

 private:
  const std::int32_t* narrow_;
  const std::int64_t* wide_;
};

constexpr bool fits_narrow(std::int64_t index) { return index >= INT32_MIN && index <= INT32_MAX; }

/// Whether one of the lists of indices that a sparse array has is of 32 bits.
bool has_narrow_indices(const NDArray& a);
/// The array with indices of 64 bits: itself where it has them or is dense, else one that shares its values.
NDArray with_wide_indices(const NDArray& a);
/// Room for `count` values in a sparse array whose indices are of the type `index`: int32, or int64; that of a CSR
/// array's indptr is int64 as well where it could not count them otherwise.
void allocate_stored_as(const NDArray& a, std::int64_t count, Dtype index);
/// Writes a list of indices, converted to the type that they are stored in.
void write_indices(const NDArray& to, const std::int64_t* from, std::int64_t count, std::int64_t at = 0);
/// Gives `to`, of the same sparse storage and as many rows, whose own width may differ where whole rows are stored, the
/// indices of `from`, in their width, and room for its values.
void copy_structure(const NDArray& from, const NDArray& to);

/// The structure of a sparse array leads outside it.
class BadStructure : public CallError {
 public:
  using CallError::CallError;
};
template <class... Parts>
[[noreturn, gnu::cold]] void fail_structure(const Parts&... parts) {
  throw BadStructure(cat(BadStructure::speaker, parts...));
}

/// Where a row's stored values are; refuses a structure that would lead outside the array.
struct RowSpan {
  std::int64_t begin, end;
};
inline RowSpan row_span(const auto& indptr, std::int64_t row, std::int64_t stored) {
  const RowSpan span{indptr[row], indptr[row + 1]};
  if (span.begin < 0 || span.begin > span.end || span.end > stored)
    fail_structure("indptr of a CSR array says that row ", row, " is stored at ", span.begin, " to ", span.end, " of ",
                   stored);
  return span;
}
inline std::int64_t checked_index(std::int64_t index, std::int64_t extent) {
  if (index < 0 || index >= extent)
    fail_structure("index ", index, " of a sparse array is outside its extent ", extent);
  return index;
}

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/cast_impl.hpp>
#endif
