// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as NumPy's .npy files: an Error or arrays that can be used, and that are the same when written and read
/// again.
#include <strop/op/dispatch.hpp>  // what a program with arrays links, header-only
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/format/npy.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace strop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    detail::Input in(bytes, static_cast<std::int64_t>(size), "fuzz");
    const NDArray a = detail::read_npy(in);
    std::string text;
    detail::Output out(&text);
    detail::write_npy(out, a);
    detail::Input again(text.data(), static_cast<std::int64_t>(text.size()), "written");
    const NDArray b = detail::read_npy(again);
    if (a.dtype() != b.dtype() || !allclose(a, b, 0, 0, true)) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
