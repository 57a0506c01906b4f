// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of an array by their numbers.
#pragma once
#include <strop/core/span.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>

namespace strop::inline v0::detail {

/// An array of the CPU whose rows can be taken: a row-sparse one with its stored rows in order.
NDArray with_rows(const NDArray& a);

/// The rows of these numbers, which `a` has, one below the other: a new array of the same type and storage; indices
/// keep their width. Threads share what is worth it.
NDArray take_rows(const NDArray& a, Span<const std::int64_t> rows);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/data/array_rows_impl.hpp>
#endif
