// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where sparse arrays store something: patterns compared, merged, given to results, and arrays' values along them.
/// Work is divided among threads by what is stored; nothing depends on how many there are.
#pragma once
#include <strop/tensor/ndarray.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// Positions that the result stores: rows of a row-sparse array, (row, column) of a CSR one. The lists are on the CPU
/// and have the widths of those that they come from.
struct StoredPattern {
  NDArray indices;   // columns, or rows
  NDArray indptr;    // of CSR
  bool own = false;  // no array has these lists yet
  std::int64_t count() const { return indices.defined() ? indices.size() : 0; }

  // Of all that two patterns have: their lists, and for each place which of them has it, bit 0 and bit 1.
  struct Side {
    NDArray indices, indptr;
  };
  Side sides[2] = {};
  NDArray sources = {};
};
bool operator==(const StoredPattern& a, const StoredPattern& b);

/// The lists of an array, which is checked not to lead outside.
StoredPattern pattern_of(const NDArray& a);
/// The positions of two sorted patterns: all of them, or what stands in both. A list is of 64 bits where one of the two
/// is, or where it could not count otherwise.
StoredPattern merge_patterns(const StoredPattern& a, const StoredPattern& b, bool both);
/// The input's elements at the pattern's positions, contiguous; zero where a sparse input stores nothing. Its own
/// memory where it is stored so. Patterns of two sparse arrays that differ have to be sorted.
NDArray values_at(const NDArray& x, const StoredPattern& pattern, const Shape& shape, Storage storage);
/// Gives a sparse array the pattern (its values stay to be written): the lists themselves where no array has them.
void store_pattern(const NDArray& y, StoredPattern& pattern);
/// Puts values of the stored positions to where they belong in a dense array.
void scatter_values(const NDArray& values, const StoredPattern& pattern, const NDArray& to);
/// Adds values of the stored positions up in a dense array whose shape broadcasts to `shape`, in double.
void sum_values(const NDArray& values, const StoredPattern& pattern, const Shape& shape, const NDArray& to);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/stored_pattern_impl.hpp>
#endif
