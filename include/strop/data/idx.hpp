// SPDX-License-Identifier: Apache-2.0
/// \file
/// The idx format of MNIST and its relatives, plain, gzip or zstd: big-endian header, then the elements.
#pragma once
#include <strop/core/span.hpp>
#include <strop/data/input_files.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/format/file.hpp>
#include <strop/tensor/ndarray.hpp>

#include <new>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// All bytes, unpacked where they are gzip or zstd. Throws Error for what is cut or damaged.
inline std::vector<unsigned char> read_unpacked(Input& in) {
  std::string bytes(unsigned_size(in.size()), '\0');
  in.read(bytes.data(), in.size(), "the file");
  try {
    bytes = unpacked(std::move(bytes));
  } catch (const Error& error) {
    in.refuse(error.what());
  }
  return {bytes.begin(), bytes.end()};
}

inline NDArray read_idx(Input& in) {
  const std::vector<unsigned char> bytes = read_unpacked(in);
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0)
    in.refuse("this is not an idx file, which begins with two zero bytes, a type and a number of dimensions");
  Dtype type = u8;
  switch (bytes[2]) {
    case 0x08:
      type = u8;
      break;
    case 0x09:
      type = i8;
      break;
    case 0x0c:
      type = i32;
      break;
    case 0x0d:
      type = f32;
      break;
    case 0x0e:
      type = f64;
      break;
    default:
      in.refuse(cat("idx type ", static_cast<int>(bytes[2]), " is not one of 8, 9, 12, 13, 14"));
  }
  const std::size_t rank = bytes[3];
  if (bytes.size() < 4 + 4 * rank) in.refuse("the file ends within the extents");
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t extent = 0;
    for (std::size_t k = 0; k < 4; ++k) extent = extent << 8 | bytes[4 + 4 * i + k];
    shape.push_back(extent);
  }
  std::int64_t need = 0;
  try {
    need = byte_count(shape, type);
  } catch (const Error&) {
    in.refuse(cat("an array cannot have shape ", shape));
  }
  const std::int64_t have = std::ssize(bytes) - 4 - 4 * static_cast<std::int64_t>(rank);
  if (need != have) in.refuse(cat("an array of shape ", shape, " has ", need, " bytes, the file holds ", have));
  NDArray out(shape, type);
  const unsigned char* from = bytes.data() + 4 + 4 * rank;
  const auto size = static_cast<std::size_t>(size_of(type));
  auto* to = reinterpret_cast<unsigned char*>(out.bytes());
  for (std::size_t i = 0; i < static_cast<std::size_t>(need); i += size)  // big-endian to the machine's order
    for (std::size_t k = 0; k < size; ++k) to[i + k] = from[i + size - 1 - k];
  return out;
}

}  // namespace detail

/// Reads an idx file, plain, gzip or zstd, as an array of its own type (u8, i8, i32, f32 or f64). Throws Error for a
/// wrong magic, a type that strop has not (16-bit integers), and sizes that the file does not hold.
inline NDArray load_idx(const std::string& path) {
  detail::Input in(path);
  try {
    return detail::read_idx(in);
  } catch (const std::bad_alloc&) {
    in.refuse("there is not enough memory for what the file holds");
  }
}

}  // namespace strop::inline v0
