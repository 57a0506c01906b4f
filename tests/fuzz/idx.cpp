// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes as an idx file, plain or gzip: an Error, or an array whose elements can be read.
#include <strop/data/idx.hpp>
#include <strop/op/dispatch.hpp>  // what a program with arrays links, header-only

#include <cstdint>
#include <cstdlib>

using namespace strop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    detail::Input in(bytes, static_cast<std::int64_t>(size), "fuzz");
    const NDArray a = detail::read_idx(in);
    if (std::ssize(a.to_vector<double>()) != a.size()) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
