// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as gzip or zstd data: an Error, or a text; what is neither stays as it is.
#include <strop/core/error.hpp>
#include <strop/data/input_files.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const bool is_packed = text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd");
  try {
    const std::string made = strop::detail::unpacked(text);
    if (!is_packed && made != text) std::abort();
  } catch (const strop::Error&) {
    if (!is_packed) std::abort();
  }
  return 0;
}
