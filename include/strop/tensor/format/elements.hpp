// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the file formats share: named arrays, and elements that are read only where the file holds them.
#pragma once
#include <strop/tensor/format/file.hpp>
#include <strop/tensor/named_arrays.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// Reads the elements of a dense array; bytes of a bool become 0 or 1.
inline void read_elements(Input& in, const NDArray& a, std::string_view what) {
  in.read(a.bytes(), a.size() * size_of(a.dtype()), what);
  if (a.dtype() != boolean) return;
  auto* bytes = reinterpret_cast<std::uint8_t*>(a.bytes());
  for (std::int64_t i = 0; i < a.size(); ++i) bytes[i] = bytes[i] != 0 ? 1 : 0;
}

/// Rows that the sparse arrays of one file may have together for which it holds no indptr, beside one for each of its
/// bytes: memory follows what the file holds.
inline constexpr std::int64_t unpaid_rows = 1 << 24;

/// Refuses `rows` more rows without an indptr where the file's arrays then have too many.
inline void claim_rows(Input& in, std::int64_t rows) {
  const std::int64_t most = unpaid_rows + in.size();
  if (rows > most - in.unpaid)
    in.refuse(cat("sparse arrays for which the file holds no indptr have ", in.unpaid, " + ", rows, " rows, at most ",
                  most, " are read from a file of this size"));
  if (rows > 0) in.unpaid += rows;
}

/// The most dimensions of an array in a file.
inline constexpr int most_dimensions = 64;
inline void check_dimensions(const Output& out, const Shape& shape) {
  if (shape.ndim() > most_dimensions)
    out.refuse(cat("an array of ", shape.ndim(), " dimensions: a file holds arrays of at most ", most_dimensions));
}

/// Bytes of an array as a file describes it, refused where that cannot be.
inline std::int64_t described_bytes(Input& in, const Shape& shape, Dtype dtype, std::string_view what) {
  try {
    return byte_count(shape, dtype);
  } catch (const Error&) {
    std::string extents;
    for (std::int64_t extent : shape) extents += cat(extents.empty() ? "" : ", ", extent);
    in.refuse(cat(what, " cannot have extents ", extents));
  }
}

/// A dense array of the elements that follow; nothing is allocated that the file cannot fill.
inline NDArray read_array(Input& in, const Shape& shape, Dtype dtype, std::string_view what) {
  in.require(described_bytes(in, shape, dtype, what), what);
  NDArray a(shape, dtype);
  read_elements(in, a, what);
  return a;
}

}  // namespace detail
}  // namespace strop::inline v0
