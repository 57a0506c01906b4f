// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as NumPy's .npz archives: an Error or arrays that can be used, and that are the same when written and read
/// again.
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/format/npz.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace strop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    detail::Input in(bytes, static_cast<std::int64_t>(size), "fuzz");
    NamedArrays arrays = detail::read_npz(in);
    for (const auto& [name, a] : arrays)
      if (!a) return 0;  // an array that is none cannot be written
    std::string text;
    detail::Output out(&text);
    detail::write_npz(out, arrays);
    detail::Input again(text.data(), static_cast<std::int64_t>(text.size()), "written");
    const NamedArrays back = detail::read_npz(again);
    if (back.size() != arrays.size()) std::abort();
    for (std::size_t i = 0; i < back.size(); ++i) {
      const NDArray &a = arrays[i].second, &b = back[i].second;
      if (a.dtype() != b.dtype() || a.storage() != b.storage()) std::abort();
      if (a.size() < 100000 && !allclose(a, b, 0, 0, true)) std::abort();
    }
  } catch (const Error&) {
  }
  return 0;
}
