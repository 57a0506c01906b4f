// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shapes as text.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/shape.hpp>

namespace strop::inline v0 {

namespace detail {

STROP_IMPL void refuse_size(const Shape& shape) {
  fail("strop: an array of shape ", shape, " has more elements than 64 bits can count");
}

STROP_IMPL void append_text(std::string& out, const Shape& shape) {
  if (!shape.has_rank()) {
    out += "(...)";
    return;
  }
  out += '(';
  for (int i = 0; i < shape.ndim(); ++i) {
    if (i != 0) out += ", ";
    if (shape[i] < 0)
      out += '?';
    else
      Part(shape[i]).append_to(out);
  }
  out += shape.ndim() == 1 ? ",)" : ")";
}

}  // namespace detail

STROP_IMPL std::string to_text(const Shape& shape) {
  std::string out;
  detail::append_text(out, shape);
  return out;
}

}  // namespace strop::inline v0
