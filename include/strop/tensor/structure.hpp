// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whether the structure of a sparse array, its indptr and indices, stays inside of it: looked at before any kernel
/// sees it, once per version of each list.
#pragma once
#include <strop/tensor/ndarray.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// Throws BadStructure where a sparse array's structure would lead a kernel outside of it: lengths, indptr, range of
/// indices; their order is left aside. A list is looked at again only when it was written since, and at every call
/// where its memory was lent out. A dense array, and a shell that stores nothing yet, have no structure.
void check_structure(const NDArray& a);

/// Looks at the structure of a sparse array on the CPU, whatever is remembered, and whether more rows are stored than
/// there are; unless `full` at lengths and ends alone.
void check_parts(const NDArray& a, bool full);

/// Says that what stands in the lists was just made of lists that had been looked at.
void trust_structure(const NDArray& a);
/// The same of one list, a copy of the other: what is known of that is known of it.
void trust_copy(const NDArray& copy, const NDArray& of);

/// Says that an operator of the program may have written the lists of a sparse array.
void structure_written(const NDArray& a);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/structure_impl.hpp>
#endif
