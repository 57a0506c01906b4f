// SPDX-License-Identifier: Apache-2.0
/// \file
/// The idx format of MNIST and its relatives, plain or gzip: big-endian header, then the elements.
#pragma once
#include <strop/tensor/convert.hpp>
#include <strop/tensor/format/file.hpp>
#include <strop/tensor/format/inflate.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace strop::inline v0 {
namespace detail {

/// The whole file, unpacked where it is gzip (RFC 1952). Throws Error naming the file for what is cut or damaged.
inline std::vector<unsigned char> read_unpacked(const std::string& path) {
  Input file(path);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(file.size()));
  file.read(bytes.data(), file.size(), "the file");
  if (bytes.size() < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b) return bytes;
  const auto refuse = [&](std::string_view why) { fail("strop: ", path, ": ", why); };
  std::size_t at = 10;
  if (bytes.size() < 18 || bytes[2] != 8) refuse("the gzip header is cut or of an unknown method");
  const unsigned flags = bytes[3];
  if ((flags & 4U) != 0) at += 2 + bytes[10] + 256U * bytes[11];
  for (unsigned text = 8; text <= 16; text *= 2)  // the name, then the comment
    if ((flags & text) != 0) {
      while (at < bytes.size() && bytes[at] != 0) ++at;
      ++at;
    }
  if ((flags & 2U) != 0) at += 2;
  if (at + 8 > bytes.size()) refuse("the gzip header is cut");
  const auto little = [&](std::size_t from) {
    std::uint32_t value = 0;
    for (int i = 3; i >= 0; --i) value = value << 8 | bytes[from + static_cast<std::size_t>(i)];
    return value;
  };
  const std::uint32_t sum = little(bytes.size() - 8), size = little(bytes.size() - 4);
  Inflate inflate;
  auto out = inflate.run(bytes.data() + at, static_cast<std::int64_t>(bytes.size() - at - 8), size);
  if (!inflate.why.empty()) refuse(cat("cannot be unpacked: ", inflate.why));
  if (out.size() != size || crc32(0, out.data(), static_cast<std::int64_t>(out.size())) != sum)
    refuse("the unpacked data does not match its check sum");
  return out;
}

}  // namespace detail

/// Reads an idx file, plain or gzip, as an array of its own type (u8, i8, i32, f32 or f64). Throws Error for a wrong
/// magic, a type that the format does not have, and sizes that the file does not hold.
inline NDArray load_idx(const std::string& path) try {
  const std::vector<unsigned char> bytes = detail::read_unpacked(path);
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0)
    fail("strop: ", path, ": this is not an idx file: it begins with two zero bytes");
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
      fail("strop: ", path, ": idx type ", static_cast<int>(bytes[2]), " is not one of 8, 9, 12, 13, 14");
  }
  const std::size_t rank = bytes[3];
  if (bytes.size() < 4 + 4 * rank) fail("strop: ", path, ": the file ends within the extents");
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t extent = 0;
    for (std::size_t k = 0; k < 4; ++k) extent = extent << 8 | bytes[4 + 4 * i + k];
    shape.push_back(extent);
  }
  std::int64_t need = 0;
  try {
    need = detail::byte_count(shape, type);
  } catch (const Error&) {
    fail("strop: ", path, ": an array cannot have shape ", shape);
  }
  const std::int64_t have = std::ssize(bytes) - 4 - 4 * static_cast<std::int64_t>(rank);
  if (need != have)
    fail("strop: ", path, ": an array of shape ", shape, " has ", need, " bytes, the file holds ", have);
  NDArray out(shape, type);
  const unsigned char* from = bytes.data() + 4 + 4 * rank;
  const auto size = static_cast<std::size_t>(size_of(type));
  auto* to = reinterpret_cast<unsigned char*>(out.bytes());
  for (std::size_t i = 0; i < static_cast<std::size_t>(need); i += size)  // big-endian to the machine's order
    for (std::size_t k = 0; k < size; ++k) to[i + k] = from[i + size - 1 - k];
  return out;
} catch (const std::bad_alloc&) {
  fail("strop: ", path, ": there is not enough memory for what the file holds");
}

}  // namespace strop::inline v0
