// SPDX-License-Identifier: Apache-2.0
/// \file
/// Attributes of nodes: under which keys they are kept, and which of them say what a variable's array is.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/params.hpp>
#include <strop/core/printable.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/node.hpp>
#include <strop/op/param_box.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

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

/// So many are read and written with a node, which has to look through them for each.
inline constexpr std::size_t most_attributes = 1024;

/// The text under a key; null where there is none.
STROP_IMPL const std::string* find_text(const NamedTexts& texts, std::string_view key) {
  for (const auto& [known, text] : texts)
    if (known == key) return &text;
  return nullptr;
}
/// Sets the text under a key, of which there is one.
STROP_IMPL void set_text(NamedTexts& texts, std::string_view key, std::string_view text) {
  for (auto& [known, before] : texts)
    if (known == key) return before = text, void();
  texts.push_back({std::string(key), std::string(text)});
}

/// Parameters that MXNet requires and that have a default here: they are said whatever they are.
inline constexpr std::pair<std::string_view, std::string_view> always_said[] = {{"_split_v2", "indices"},
                                                                                {"slice_axis", "end"}};

/// The parameters of a node that were given: as text as they were written, else those that differ from their defaults;
/// and how many inputs an operator of any number has.
STROP_IMPL NamedTexts parameters_of(const Node& node) {
  NamedTexts out;
  if (node.is_variable() || node.entry->params == nullptr) return out;
  const Entry& entry = *node.entry;
  const ParamTable& table = *entry.params;
  const ParamBox defaults(&table);
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    const std::string_view name = table.fields[i].name;
    const bool counted = entry.inputs < 0 && name == "num_args";
    const std::string* const given = find_text(node.said, name);
    std::string text = counted ? cat(node.inputs.size()) : given != nullptr ? *given : table.print(node.op(), i);
    bool says = counted || given != nullptr || text != table.print(defaults.get(), i);
    for (const auto& [op, parameter] : always_said) says = says || (op == entry.name && parameter == name);
    if (says) out.push_back({std::string(name), std::move(text)});
  }
  return out;
}

/// What inputs that are made by themselves begin with, for initializers.
struct InitialText {
  std::string_view op, input, text;
};
inline constexpr InitialText initial_texts[] = {{"BatchNorm", "moving_mean", "[\"zero\", {}]"},
                                                {"BatchNorm", "moving_var", "[\"one\", {}]"},
                                                {"_contrib_SyncBatchNorm", "moving_mean", "[\"zero\", {}]"},
                                                {"_contrib_SyncBatchNorm", "moving_var", "[\"one\", {}]"},
                                                {"LeakyReLU", "gamma", "[\"Constant\", {\"value\": 0.25}]"}};

/// Takes in what an attribute says of a variable's array; false for other attributes. An extent that is not known is −1
/// or, as in MXNet's texts, 0, which is an extent only where `zero_is_extent`.
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

/// Whether a parameter says the shape of what is made of no input, whose extents may follow from what it meets.
STROP_IMPL bool says_shape(const Entry& entry, std::string_view parameter) {
  return entry.inputs == 0 && entry.library && parameter == "shape";
}
/// Such a text of MXNet's with −1 in place of the 0 that stands for an extent which is not known.
STROP_IMPL std::string with_open_extents(std::string_view text) {
  Shape shape;
  if (!parse_shape(text, shape) || !has_zero_extent(shape)) return std::string(text);
  for (std::int64_t& extent : shape)
    if (extent == 0) extent = Shape::unknown_extent;
  return print_shape(shape);
}

/// Sets an attribute of a node, as a program says it.
STROP_IMPL void set_attribute(Node& node, std::string_view key, std::string_view text) {
  try {
    if (node.is_variable() && describe(node.variable, key, text, false)) return;
  } catch (const Error& error) {
    fail("variable '", node.name, "': ", error.what());
  }
  set_text(node.attributes, attribute_key(key), text);
}

/// Has a variable that is such an input of an operator begin as the operator wants it, unless it says how it begins.
STROP_IMPL void say_initial(const Entry& entry, std::string_view input, Node& variable) {
  for (const InitialText& initial : initial_texts)
    if (entry.name == initial.op && input == initial.input && find_text(variable.attributes, "__init__") == nullptr)
      set_text(variable.attributes, "__init__", initial.text);
}

/// The variable that input i of these becomes which was left out, numbered where it is one of a list. As in the
/// original it says what its operator says.
STROP_IMPL NodeOutput missing_input(const Node& of, std::span<const std::string_view> inputs, int i) {
  const std::string_view input = element(inputs, i);
  const auto first = std::find(inputs.begin(), inputs.end(), input);
  const bool is_listed = std::count(first, inputs.end(), input) > 1;
  const Ref<Node> made(new Node);
  made->name = cat(of.name, '_', input);
  if (is_listed) made->name += cat('_', i - (first - inputs.begin()));
  made->attributes = parameters_of(of);
  for (const auto& [key, text] : of.attributes) set_attribute(*made, key, text);
  say_initial(*of.entry, input, *made);
  return {made, 0};
}

}  // namespace strop::inline v0::detail
