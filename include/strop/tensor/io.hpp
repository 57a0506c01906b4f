// SPDX-License-Identifier: Apache-2.0
/// \file
/// Saving and loading of arrays: `.params`, `.npy`, `.npz`.
#pragma once
#include <strop/tensor/named_arrays.hpp>
#include <strop/tensor/ndarray.hpp>

#include <string>

namespace strop::inline v0 {

/// Writes arrays under names to a file of the format that its extension names.
///
/// `.params` (MXNet's) and `.npz` (NumPy's) hold any number of arrays, dense and sparse; `.npy` holds one dense
/// array and no name. bfloat16 is written to NumPy's formats as two opaque bytes ('<V2'), as the ml_dtypes package
/// does, and read back as bfloat16. The file is complete or, where an Error is thrown, as it was before.
void save(const std::string& path, const NamedArrays& arrays);
void save(const std::string& path, const NDArray& a);

/// The arrays of a `.params`, `.npy` or `.npz` file with their names, in the order of the file; what kind of file it is
/// is read from its content.
///
/// Arrays arrive on the CPU. From NumPy's formats, 16-bit integers become int32, unsigned 32-bit and 64-bit ones int64
/// (refused where a value exceeds it). An array that a `.params` file marks as none is a handle without an array.
/// Errors name the file: it is missing, damaged, cut off or of a dtype that is none of ours. Memory is taken only for
/// what the file holds.
NamedArrays load(const std::string& path);

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/tensor/io_impl.hpp>
#endif
