// SPDX-License-Identifier: Apache-2.0
/// \file
/// Saving and loading of arrays: `.params`, `.npy`, `.npz`.
#pragma once
#include <strop/tensor/format/npy.hpp>
#include <strop/tensor/format/npz.hpp>
#include <strop/tensor/format/params.hpp>
#include <strop/tensor/ndarray.hpp>

#include <string>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// The arrays of a file of any of the three formats, told apart by its first bytes.
inline NamedArrays read_arrays(Input& in) {
  const std::string start =
      Input(in, 0, std::min<std::int64_t>(in.size(), 8), "").text(std::min<std::int64_t>(in.size(), 8), "the header");
  Input whole(in, 0, in.size(), "");
  if (start.starts_with(npy_magic)) {
    NamedArrays arrays;
    arrays.emplace_back(std::string(), read_npy(whole));
    return arrays;
  }
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06")) return read_npz(in);
  if (start == std::string_view("\x12\x01\0\0\0\0\0\0", 8)) return read_params(whole);
  in.refuse("this is neither a .params nor a .npy nor a .npz file");
}

}  // namespace detail

/// Writes arrays under names to a file of the format that its extension names.
///
/// `.params` (the original's) and `.npz` (NumPy's) hold any number of arrays, dense and sparse; `.npy` holds one dense
/// array and no name. bfloat16 is written to NumPy's formats as two opaque bytes ('<V2'), as the ml_dtypes package
/// does, and read back as bfloat16. The file is complete or, where an Error is thrown, as it was before.
inline void save(const std::string& path, const NamedArrays& arrays) {
  for (const auto& [name, a] : arrays)
    if (!a) fail("strop: save(\"", path, "\"): '", name, "' is a handle without an array");
  const bool params = path.ends_with(".params"), npy = path.ends_with(".npy");
  if (!params && !npy && !path.ends_with(".npz"))
    fail("strop: save(\"", path, "\"): the name must end in .params, .npy or .npz, which chooses the format");
  if (npy && arrays.size() != 1) fail("strop: save(\"", path, "\"): a .npy file holds one array, not ", arrays.size());
  detail::Output out(path);
  if (params)
    detail::write_params(out, arrays);
  else if (npy)
    detail::write_npy(out, arrays.front().second);
  else
    detail::write_npz(out, arrays);
  out.commit();
}
inline void save(const std::string& path, const NDArray& a) { save(path, NamedArrays{{std::string(), a}}); }

/// The arrays of a `.params`, `.npy` or `.npz` file with their names, in the order of the file; what kind of file it is
/// is read from its content.
///
/// Arrays arrive on the CPU. From NumPy's formats, 16-bit integers become int32, unsigned 32-bit and 64-bit ones int64
/// (refused where a value exceeds it). An array that a `.params` file marks as none is a handle without an array.
/// Errors name the file: it is missing, damaged, cut off or of a dtype that is none of ours. Memory is taken only for
/// what the file holds.
inline NamedArrays load(const std::string& path) {
  detail::Input in(path);
  return detail::read_arrays(in);
}

}  // namespace strop::inline v0
