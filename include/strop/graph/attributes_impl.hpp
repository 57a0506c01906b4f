// SPDX-License-Identifier: Apache-2.0
/// \file
/// Attributes of nodes: under which keys they are kept, and which of them say what a variable's array is.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/params.hpp>
#include <strop/core/printable.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/node.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// Attributes that other tools read: said by their own names, kept as `__key__`.
inline constexpr std::string_view hidden_keys[] = {"ctx_group", "lr_mult", "wd_mult", "force_mirroring",
                                                   "mirror_stage"};

STROP_IMPL bool is_hidden(std::string_view key) {
  return std::find(std::begin(hidden_keys), std::end(hidden_keys), key) != std::end(hidden_keys);
}
STROP_IMPL std::string attribute_key(std::string_view key) {
  return is_hidden(key) ? cat("__", key, "__") : std::string(key);
}

/// Takes in what an attribute says of a variable's array; false for other attributes. An extent that is not known is −1
/// or, as in the original's texts, 0, which is an extent only where `zero_is_extent`.
STROP_IMPL bool describe(Variable& variable, std::string_view key, std::string_view text, bool zero_is_extent) {
  if (key == "__shape__") {
    Shape shape;
    if (!parse_shape(text, shape)) fail("'__shape__' is '", printable(text, 60), "', expected whole numbers as (2, 3)");
    for (std::int64_t& extent : shape)
      if (extent < 0 || (extent == 0 && !zero_is_extent)) extent = Shape::unknown_extent;
    variable.shape = shape.empty() && !zero_is_extent ? Shape::unknown() : shape;
    return true;
  }
  if (key == "__dtype__") {
    std::int64_t number = 0;
    Dtype type = f32;
    if (parse_integer(text, number)) {
      if (number == -1) return true;  // it does not say
      const auto* const found = std::find_if(std::begin(all_dtypes), std::end(all_dtypes),
                                             [&](Dtype one) { return static_cast<std::int64_t>(one) == number; });
      if (found == std::end(all_dtypes)) fail("'__dtype__' is ", number, ", which is none of the element types");
      type = *found;
    } else if (!parse_dtype(text, type)) {
      fail("'__dtype__' is '", printable(text, 60), "', expected an element type");
    }
    variable.dtype = type;
    return true;
  }
  if (key == "__storage_type__") {
    std::int64_t number = 0;
    if (!parse_integer(text, number) || number < -1 || number > 2)
      fail("'__storage_type__' is '", printable(text, 60), "', expected 0, 1 or 2");
    if (number >= 0) variable.storage = static_cast<Storage>(number);
    return true;
  }
  return false;
}

STROP_IMPL bool has_zero_extent(const Shape& shape) {
  return shape.has_rank() && std::find(shape.begin(), shape.end(), 0) != shape.end();
}
/// As describe() reads it: an extent that is not known is 0, or −1 where 0 is one.
STROP_IMPL std::string text_of(Shape shape, bool zero_is_extent) {
  for (std::int64_t& extent : shape)
    if (extent < 0) extent = zero_is_extent ? -1 : 0;
  return print_shape(shape);
}

/// Sets an attribute of a node, as a program says it.
STROP_IMPL void set_attribute(Node& node, std::string_view key, std::string_view text) {
  try {
    if (node.is_variable() && describe(node.variable, key, text, false)) return;
  } catch (const Error& error) {
    fail("variable '", node.name, "': ", error.what());
  }
  node.attributes.push_back({attribute_key(key), std::string(text)});
}

}  // namespace strop::inline v0::detail
