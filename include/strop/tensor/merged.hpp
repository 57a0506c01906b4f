// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sparse arrays whose indices are out of order, or that store something for one place several times.
#pragma once
#include <strop/fwd.hpp>

namespace strop::inline v0::detail {

/// Whether the indices of a sparse array on the CPU ascend, so that each place stands once: the columns of each row of
/// a CSR one, the rows of a row-sparse one. False as well where indptr leads outside of the array.
bool ascends(const NDArray& a);

/// Where a sparse array stores something, on the CPU: the array itself there, else one with its indices and no values.
NDArray structure_of(const NDArray& a);

/// What is stored for one place adds up: the array itself where every place stands once, else one with their sums. The
/// indices of a result that is another array ascend, as those of a row-sparse one always do and those of a CSR one
/// where `sorted` asks for it; the result of an array without values has the places alone. Throws Error where indices
/// lead outside and are not in order.
NDArray merged(const NDArray& a, bool sorted = false);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/tensor/merged_impl.hpp>
#endif
