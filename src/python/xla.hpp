// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a handler of XLA's foreign function interface is given: the layout of its C interface, version 0, whose structs
/// say their sizes and grow at their ends only (xla/ffi/api/c_api.h). Nothing of JAX is needed to build with it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace strop::python::xla {

struct Extension {
  std::size_t struct_size;
  int type;
  Extension* next;
};
inline constexpr int metadata_extension = 1;

struct Version {
  std::size_t struct_size;
  Extension* extensions;
  int major, minor;
};
/// What XLA asks of a handler when it is registered.
struct Metadata {
  std::size_t struct_size;
  Version version;
  std::uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

enum class Code : int { invalid_argument = 3, internal = 13 };
struct Error;
struct ErrorArguments {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  Code code;
};
struct Api {
  std::size_t struct_size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorArguments*);
};

struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  int dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* extents;
};
struct Buffers {  // arguments, results
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* types;
  void** buffers;
};
struct Bytes {
  const char* data;
  std::size_t size;
};
inline constexpr int string_attribute = 4;
struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* types;
  Bytes** names;
  void** values;
};
inline constexpr int execute_stage = 3;
struct Frame {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;
  void* context;
  int stage;
  Buffers arguments, results;
  Attributes attributes;
};

}  // namespace strop::python::xla
