// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the pieces of a sentence become text.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/shape.hpp>

#include <charconv>

namespace strop::inline v0::detail {

STROP_COLD void Part::append_to(std::string& out) const {
  char buffer[32];
  switch (kind_) {
    case Kind::text: out.append(text_, size_); return;
    case Kind::character: out += static_cast<char>(integer_); return;
    case Kind::integer: out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, integer_).ptr); return;
    case Kind::real: out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, real_).ptr); return;
    case Kind::shape: append_text(out, *shape_); return;
  }
}

STROP_COLD std::string join(std::initializer_list<Part> parts) {
  std::string out;
  for (const Part& part : parts) part.append_to(out);
  return out;
}

STROP_COLD void raise(std::initializer_list<Part> parts) { throw Error(join(parts)); }

STROP_COLD void append_text(std::string& out, const Shape& shape) {
  if (!shape.has_rank()) {
    out += "(...)";
    return;
  }
  out += '(';
  for (int i = 0; i < shape.ndim(); ++i) {
    if (i != 0) out += ", ";
    if (shape[i] < 0) out += '?';
    else Part(shape[i]).append_to(out);
  }
  out += shape.ndim() == 1 ? ",)" : ")";
}

}  // namespace strop::inline v0::detail

namespace strop::inline v0 {

STROP_COLD std::string to_text(const Shape& shape) {
  std::string out;
  detail::append_text(out, shape);
  return out;
}

}  // namespace strop::inline v0
