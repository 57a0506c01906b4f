// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whether the structure of a sparse array, its indptr and indices, stays inside of it: looked at before any kernel
/// sees it, once per version of each list.
#pragma once
#include <strop/tensor/ndarray.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

// What is found of a list is one number, kept beside the version that it is of: of indices the extent that they are all
// below, of an indptr ~n where it goes from 0 to n and never down. One list may be both, of two arrays.

inline bool has_finding(const Body& list) {
  return list.buffer && !list.buffer->is_lent() && list.finding.is_of(list.buffer->version());
}
inline bool is_known_below(const Body& indices, std::int64_t extent) {
  if (!has_finding(indices)) return false;
  const std::int64_t bound = indices.finding.bound();
  return bound >= 0 && bound <= extent;
}
inline bool is_known_to_end(const Body& indptr, std::int64_t stored) {
  return has_finding(indptr) && indptr.finding.bound() == ~stored;
}

/// Whether the structure of an array, if it has one, was looked at as it is now.
inline bool knows_structure(const NDArray& a) {
  const Body& b = a.body();
  if (b.storage == dense || !b.indices) return true;
  if (b.storage == row_sparse) return b.shape.ndim() != 0 && is_known_below(*b.indices, b.shape[0]);
  if (!b.indptr) return true;
  return b.shape.ndim() == 2 && b.indptr->shape.ndim() == 1 && b.indptr->shape[0] - 1 == b.shape[0] &&
         is_known_below(*b.indices, b.shape[1]) && is_known_to_end(*b.indptr, b.indices->shape[0]);
}

/// Throws BadStructure where a sparse array's structure would lead a kernel outside of it: lengths, indptr, range of
/// indices; their order is left aside. A list is looked at again only when it was written since, and at every call
/// where its memory was lent out. A dense array, and a shell that stores nothing yet, have no structure.
void check_structure(const NDArray& a);

/// Looks at the structure of a sparse array on the CPU, whatever is remembered, and whether more rows are stored than
/// there are; unless `full` at lengths and ends alone.
void check_parts(const NDArray& a, bool full);

/// Says that an operator of the program may have written the lists of a sparse array.
void structure_written(const NDArray& a);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/structure_impl.hpp>
#endif
