// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as MXNet's .params files: an Error or arrays that are well formed, and that are the same when
/// written and read again.
#include "files.hpp"

#include <strop/tensor/format/params.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return fuzz::read_twice(
      bytes, size, [](strop::detail::Input& in) { return strop::detail::read_params(in); },
      [](strop::detail::Output& out, const strop::NamedArrays& arrays) { strop::detail::write_params(out, arrays); });
}
