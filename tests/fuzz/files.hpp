// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the fuzzers of files of arrays do: read any bytes, look at what came, write it and read it again.
#pragma once
#include <strop/core/output.hpp>
#include <strop/op/dispatch.hpp>  // what a program with arrays links, header-only
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/format/file.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/named_arrays.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace fuzz {

using namespace strop;

/// A sparse array that was read has indices inside its shape, and in order once what stands in any order, or several
/// times, has been put together: a reader takes that, and nothing else that check_format refuses.
inline void expect_format(const NamedArrays& arrays) {
  try {
    for (const auto& [name, a] : arrays)
      if (a.defined()) {
        a.check_format(false);
        detail::merged(a, true).check_format();
      }
  } catch (const Error& error) {
    std::fprintf(stderr, "read, and then: %s\n", error.what());
    std::abort();
  }
}

/// `read(Input&)` gives NamedArrays or throws Error, `write(Output&, NamedArrays)` what it reads again.
template <class Read, class Write>
int read_twice(const std::uint8_t* bytes, std::size_t size, Read read, Write write) {
  NamedArrays arrays;
  try {
    detail::Input in(bytes, static_cast<std::int64_t>(size), "fuzz");
    arrays = read(in);
  } catch (const Error&) {
    return 0;
  }
  expect_format(arrays);
  for (const auto& [name, a] : arrays)
    if (!a.defined()) return 0;  // an array that is none cannot be written
  std::string text;
  try {
    detail::Output out(&text);
    write(out, arrays);
  } catch (const Error&) {  // of names that stand twice, or that this form has no room for
    return 0;
  }
  detail::Input again(text.data(), static_cast<std::int64_t>(text.size()), "written");
  const NamedArrays back = read(again);
  expect_format(back);
  if (back.size() != arrays.size()) std::abort();
  for (std::size_t i = 0; i < back.size(); ++i) {
    const NDArray &a = arrays[i].second, &b = back[i].second;
    if (a.dtype() != b.dtype() || a.storage() != b.storage()) std::abort();
    if (a.size() < 100000 && !allclose(a, b, 0, 0, true)) std::abort();
  }
  return 0;
}

}  // namespace fuzz
