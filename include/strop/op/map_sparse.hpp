// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs a map on sparse inputs: the pattern of the result is found, every input's values are laid along it, and the
/// operator's own loop runs over the stored values only.
#pragma once
#include <strop/op/map_infer.hpp>
#include <strop/op/mode.hpp>
#include <strop/op/stored_pattern.hpp>

namespace strop::inline v0::detail {

/// The elements of an array, whose shape broadcasts to that of `onto` where it is dense, at the positions that `onto`
/// stores: a sparse array of the storage and pattern of `onto`.
NDArray projected(const NDArray& a, const NDArray& onto);
/// a + b of sparse arrays of one shape, storage and type, stored where one of them is.
NDArray add_stored(const NDArray& a, const NDArray& b);

/// Result k of a map of `outputs` results at the positions that `onto` stores: a sparse array of its storage, type and
/// pattern. The inputs are dense, or sparse arrays of any pattern; what they do not store is zero, one without memory
/// is not read.
NDArray map_on_pattern(const Entry& entry, const void* op, Span<const NDArray> in, Index outputs, Index k,
                       const NDArray& onto);

/// The map where the result is sparse. All sparse inputs have the result's storage and shape; outputs are fresh arrays.
/// `mutated`: positions of the inputs that the map writes.
void run_sparse_map(const Entry& entry, const void* op, const MapStorage& how, Inputs in, Span<const int> mutated,
                    Span<NDArray> out, Span<const Request> requests);

/// The map where results are dense, on the CPU, and sparse inputs have one storage and the shape that all broadcast to.
/// Where the result is zero wherever nothing is stored (`how` has a sparse storage), it is computed on the pattern and
/// put into zeros, or added up where the result is smaller. Else it is computed with zero in place of the sparse inputs
/// everywhere, then once more where one of them stores something. Results are overwritten, or not asked for; one may
/// lie in the memory of a dense input.
void run_map_into_dense(const Entry& entry, const void* op, const MapStorage& how, Inputs in, Span<const NDArray> out,
                        Span<const Request> requests);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/op/sparse_parts.hpp>
#endif
