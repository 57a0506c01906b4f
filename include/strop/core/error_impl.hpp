// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the pieces of a sentence become text.
#pragma once
#include <charconv>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/printable.hpp>

namespace strop::inline v0::detail {

STROP_IMPL void Part::append_to(std::string& out) const {
  char buffer[32];
  switch (kind_) {
    case Kind::text:
      out.append(text_, size_);
      return;
    case Kind::character:
      out += static_cast<char>(integer_);
      return;
    case Kind::integer:
      out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, integer_).ptr);
      return;
    case Kind::real:
      out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, real_).ptr);
      return;
    case Kind::shape:
      append_text(out, *shape_);
      return;
  }
}

STROP_IMPL std::string join(std::initializer_list<Part> parts) {
  std::string out;
  for (const Part& part : parts) part.append_to(out);
  return out;
}

STROP_IMPL std::string place_of(std::source_location where) {
  return where.line() == 0 ? std::string() : cat(where.file_name(), ':', where.line());
}

/// Names and texts of a sentence came from files, command lines and programs: they are cut, and never move a cursor.
STROP_IMPL void raise(std::initializer_list<Part> parts) {
  constexpr std::size_t most = 600;
  std::string out, one;
  for (const Part& part : parts) {
    one.clear();
    part.append_to(one);
    append_printable(out, one, most);
  }
  throw Error(out);
}

}  // namespace strop::inline v0::detail

#include <strop/core/shape.hpp>  // last: a sentence may hold a shape, and shape.hpp begins with error.hpp
