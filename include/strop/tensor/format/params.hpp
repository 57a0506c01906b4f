// SPDX-License-Identifier: Apache-2.0
/// \file
/// MXNet's `.params` files: lists of arrays, dense and sparse, with or without names.
#pragma once
#include <strop/tensor/format/elements.hpp>
#include <strop/tensor/ndarray.hpp>
#include <strop/tensor/sparse.hpp>
#include <strop/tensor/structure.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {

// Little-endian. A file: u64 0x112, u64 0, u64 count, the arrays, u64 names (0 or count), each name as u64 length and
// bytes. An array of version 2: u32 magic, i32 storage, [sparse: shape of the stored values], shape, i32 device kind,
// i32 device number, i32 dtype, [sparse: for each part of the structure i32 dtype and shape], stored values, [sparse:
// the parts: CSR indptr and indices, row-sparse indices]. A shape: i32 rank and i64 extents. Version 3 is version 2
// where an extent may be 0 and a rank 0 is a scalar; in version 2 an array of rank 0 is no array and ends after its
// shape. Version 1 has neither storage nor parts. Before that, there was no magic: u32 rank, u32 extents, device,
// dtype, values.
inline constexpr std::uint64_t params_magic = 0x112;
inline constexpr std::uint32_t params_v1 = 0xF993FAC8U, params_v2 = 0xF993FAC9U, params_v3 = 0xF993FACAU;

inline Shape read_shape(Input& in, std::string_view what) {
  const auto rank = in.number<std::int32_t>(what);
  if (rank < 0 || rank > most_dimensions) in.refuse(cat(what, " has ", rank, " dimensions"));
  in.require(std::int64_t{rank} * 8, what);
  Shape shape = Shape::filled(rank, 0);
  in.read(shape.data(), std::int64_t{rank} * 8, what);
  return shape;
}

inline Dtype read_dtype(Input& in, std::string_view what) {
  const auto value = in.number<std::int32_t>(what);
  if (value == 8) in.refuse(cat(what, " has dtype int16, which is none of ours"));
  if (!is_dtype(value)) in.refuse(cat(what, " has the unknown dtype ", value));
  return static_cast<Dtype>(value);
}

inline NDArray read_sparse(Input& in, const Shape& shape, Storage storage, const Shape& stored) {
  if (storage == csr && shape.ndim() != 2) in.refuse(cat("a CSR array has 2 dimensions, not shape ", to_text(shape)));
  if (shape.ndim() == 0) in.refuse("a row-sparse array has 1 dimension or more, not shape ()");
  const Dtype dtype = read_dtype(in, "an array");
  described_bytes(in, shape, dtype, "a sparse array");
  described_bytes(in, stored, dtype, "the values of a sparse array");
  struct Section {
    Dtype dtype;
    Shape shape;
  };
  std::vector<Section> parts;
  for (int i = 0; i < (storage == csr ? 2 : 1); ++i) {
    const Dtype part = read_dtype(in, "the structure of a sparse array");
    parts.push_back({part, read_shape(in, "the structure of a sparse array")});
  }
  const Shape places = parts.back().shape;
  const std::int64_t count = places.ndim() == 1 ? places[0] : -1;
  Shape values{count};
  for (int i = 1; storage == row_sparse && i < shape.ndim(); ++i) values.push_back(shape[i]);
  // MXNet writes the shape of the values before it waits for them: their number is that of the indices.
  Shape claimed = stored;
  if (!claimed.empty()) claimed[0] = count;
  const bool fits = count == 0 || (count > 0 && claimed == values);
  if (!fits)
    in.refuse(cat("a ", name_of(storage), " array of shape ", to_text(shape), " has values of shape ", to_text(stored),
                  " and indices of shape ", to_text(places)));
  // An array that stores nothing may come without an indptr; its length is not paid for by the file.
  const bool without = storage == csr && count == 0 && parts[0].shape == Shape{0};
  if (without) claim_rows(in, shape[0]);
  const bool starts = storage == csr && parts[0].shape.ndim() == 1 && parts[0].shape[0] - 1 == shape[0];
  if (storage == csr && !starts && !without)
    in.refuse(cat("a CSR array of shape ", to_text(shape), " has an indptr of shape ", to_text(parts[0].shape)));

  NDArray out = NDArray::shell(shape, dtype, cpu(), storage);
  Body& body = out.body();
  body.buffer = read_array(in, values, dtype, "the values of a sparse array").body().buffer;
  const auto integers = [&](const Section& part, std::string_view what) {
    NDArray a = read_array(in, part.shape, part.dtype, what);
    if (part.dtype == i64) return a;
    NDArray wide(part.shape, i64);
    convert_elements(part.dtype, a.bytes(), i64, wide.bytes(), a.size());
    return wide;
  };
  if (storage == csr) {
    NDArray indptr = integers(parts[0], "the indptr of a CSR array");
    if (without) {
      indptr = NDArray({shape[0] + 1}, i64);
      clear(indptr, (shape[0] + 1) * 8);
    }
    body.indptr = indptr.body_ref();
  }
  body.indices = integers(parts.back(), "the indices of a sparse array").body_ref();
  try {
    check_parts(out, true);
  } catch (const Error& error) {
    in.refuse(cat("an array of shape ", to_text(shape), " is broken: ", error.what()));
  }
  return out;
}

/// One array; a handle without an array where the file has none.
inline NDArray read_params_array(Input& in) {
  const auto magic = in.number<std::uint32_t>("an array");
  const bool v3 = magic == params_v3, tagged = magic == params_v2 || v3;
  Storage storage = dense;
  Shape stored, shape;
  if (tagged) {
    const auto kind = in.number<std::int32_t>("an array");
    if (kind < 0 || kind > 2) in.refuse(cat("an array has the unknown storage ", kind));
    storage = static_cast<Storage>(kind);
    if (storage != dense) stored = read_shape(in, "the values of a sparse array");
  }
  if (tagged || magic == params_v1) {
    shape = read_shape(in, "the shape of an array");
  } else {
    if (magic > most_dimensions) in.refuse(cat("an array begins with neither a known version nor a rank: ", magic));
    for (std::uint32_t i = 0; i < magic; ++i) shape.push_back(in.number<std::uint32_t>("the shape of an array"));
  }
  if (shape.ndim() == 0 && !v3) return {};
  in.number<std::int32_t>("an array");  // the device that it was on
  in.number<std::int32_t>("an array");
  if (storage != dense) return read_sparse(in, shape, storage, stored);
  const Dtype dtype = read_dtype(in, "an array");
  return read_array(in, shape, dtype, "the elements of an array");
}

inline NamedArrays read_params(Input& in) {
  if (in.number<std::uint64_t>("the header") != params_magic) in.refuse("this is not a .params file");
  in.number<std::uint64_t>("the header");
  const auto count = in.number<std::uint64_t>("the header");
  if (count > static_cast<std::uint64_t>(in.left()) / 4)
    in.refuse(cat("a file of this size cannot hold ", std::to_string(count), " arrays"));
  // A handle takes ten times the four bytes that say that there is no array: files have few of these.
  std::int64_t left = (1 << 16) + in.size() / 64;
  NamedArrays arrays;
  for (std::uint64_t i = 0; i < count; ++i) {
    arrays.emplace_back(std::string(), read_params_array(in));
    if (!arrays.back().second.defined() && --left < 0)
      in.refuse(cat("array ", i, " is one more that is marked as none than are read from a file of this size"));
  }
  const auto names = in.number<std::uint64_t>("the names");
  if (names != 0 && names != count)
    in.refuse(cat("there are ", count, " arrays and ", std::to_string(names), " names"));
  for (std::uint64_t i = 0; i < names; ++i) {
    const auto length = in.number<std::uint64_t>("a name");
    if (length > static_cast<std::uint64_t>(in.left()))
      in.refuse(cat("a name of ", std::to_string(length), " bytes exceeds the file"));
    arrays[i].first = in.text(static_cast<std::int64_t>(length), "a name");
  }
  if (in.left() != 0) in.refuse(cat(in.left(), " bytes follow the last name"));
  return arrays;
}

inline void write_shape(Output& out, const Shape& shape) {
  check_dimensions(out, shape);
  out.number(static_cast<std::int32_t>(shape.ndim()));
  for (std::int64_t extent : shape) out.number(extent);
}

inline void write_params_array(Output& out, const NDArray& given) {
  const NDArray a = on_device(given, cpu());
  a.wait();
  check_filled(a);
  const bool legal = a.ndim() != 0 && a.size() != 0;  // in version 2, which has no other empty arrays
  out.number(a.storage() == dense && !legal ? params_v3 : params_v2);
  out.number(static_cast<std::int32_t>(a.storage()));
  const NDArray values = a.data();
  if (a.storage() != dense) write_shape(out, values.shape());
  write_shape(out, a.shape());
  out.number(std::int32_t{1});  // on the CPU
  out.number(std::int32_t{0});
  out.number(static_cast<std::int32_t>(a.dtype()));
  std::vector<NDArray> parts;
  if (a.storage() == csr) parts.push_back(as_type(a.indptr(), i64));  // which is what MXNet reads
  if (a.storage() != dense) parts.push_back(as_type(a.indices(), i64));
  for (const NDArray& part : parts) {
    out.number(static_cast<std::int32_t>(i64));
    write_shape(out, part.shape());
  }
  out.write(values.bytes(), values.size() * size_of(a.dtype()));
  for (const NDArray& part : parts) out.write(part.bytes(), part.size() * 8);
}

inline void write_params(Output& out, const NamedArrays& arrays) {
  std::vector<std::string_view> names;
  for (const auto& [name, a] : arrays)
    if (!name.empty()) names.push_back(name);
  const bool named = !names.empty();
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    out.refuse(cat("two arrays are named '", excerpt(*twice), "'"));
  out.number(params_magic);
  out.number(std::uint64_t{0});
  out.number(static_cast<std::uint64_t>(arrays.size()));
  for (const auto& [name, a] : arrays) write_params_array(out, a);
  out.number(static_cast<std::uint64_t>(named ? arrays.size() : 0));
  for (const auto& [name, a] : arrays) {
    if (!named) break;
    out.number(static_cast<std::uint64_t>(name.size()));
    out.write(name);
  }
}

}  // namespace detail
}  // namespace strop::inline v0
