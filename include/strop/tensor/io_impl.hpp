// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which of the file formats serves a file.
#pragma once
#include <strop/core/config.hpp>
#include <strop/tensor/format/npy.hpp>
#include <strop/tensor/format/npz.hpp>
#include <strop/tensor/format/params.hpp>
#include <strop/tensor/io.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// The arrays of a file of any of the three formats, told apart by its first bytes.
STROP_IMPL NamedArrays read_arrays(Input& in) {
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

STROP_IMPL void save(const std::string& path, const NamedArrays& arrays) {
  detail::leave_trace("save()");
  for (const auto& [name, a] : arrays)
    if (!a.defined()) fail("strop: save(\"", path, "\"): '", name, "' is a handle without an array");
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
STROP_IMPL void save(const std::string& path, const NDArray& a) { save(path, NamedArrays{{std::string(), a}}); }

STROP_IMPL NamedArrays load(const std::string& path) {
  detail::Input in(path);
  try {
    return detail::read_arrays(in);
  } catch (const std::bad_alloc&) {
    in.refuse(cat("there is not enough memory for a file of ", in.size(), " bytes"));
  } catch (const Error& error) {
    const std::string_view why = error.what();
    if (why.starts_with("strop: load(")) throw;
    in.refuse(why);  // memory's sentence names no file
  }
}

}  // namespace strop::inline v0
