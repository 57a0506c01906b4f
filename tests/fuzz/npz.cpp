// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as NumPy's .npz archives: an Error or arrays that are well formed, and that are the same when
/// written and read again.
#include "files.hpp"

#include <strop/tensor/format/npz.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return fuzz::read_twice(
      bytes, size, [](strop::detail::Input& in) { return strop::detail::read_npz(in); },
      [](strop::detail::Output& out, const strop::NamedArrays& arrays) { strop::detail::write_npz(out, arrays); });
}
