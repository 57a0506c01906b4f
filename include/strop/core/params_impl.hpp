// SPDX-License-Identifier: Apache-2.0
/// \file
/// How parameters are checked and set from text.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/params.hpp>

namespace strop::inline v0::detail {

STROP_IMPL std::string bounds_of(const Range& range, std::string_view subject) {
  if (range.low <= -Range::unbounded) return cat("at most ", range.high);
  if (range.high >= Range::unbounded) return cat("at least ", range.low);
  return cat(subject, "from ", range.low, " to ", range.high);
}

/// Why a parameter is refused, or an empty string.
STROP_IMPL std::string check_field(std::string_view op, const ParamTable& table, const void* object, std::size_t i) {
  const Field& field = table.fields[i];
  if (table.missing(object, i)) return cat(op, ": parameter '", field.name, "' (", field.type->name, ") is required");
  const Range* const range = table.range(i);
  if (range == nullptr) return {};
  const std::optional<double> number = table.number(object, i);
  if (number && !range->contains(*number))
    return cat(op, ": parameter '", field.name, "' is ", table.print(object, i), ", expected ",
               bounds_of(*range, "a value "));
  return {};
}

/// Throws Error when a required parameter is missing or one is out of its range.
STROP_IMPL void check_params(std::string_view op, const ParamTable& table, const void* object) {
  for (std::size_t i = 0; i < table.fields.size(); ++i)
    if (std::string why = check_field(op, table, object, i); !why.empty()) throw Error(why);
}

/// What a value of the type is, for the end of a sentence.
STROP_IMPL std::string expected_value(const ValueType& type) {
  switch (type.kind) {
    case ParamKind::dtype:
      return one_of(any_dtype);
    case ParamKind::enumeration:
      return cat("one of ", type.name);
    case ParamKind::shape:
      return "whole numbers as (2, 3)";
    case ParamKind::axes:
      return "an axis or axes as (0, 1)";
    case ParamKind::bounds:
      return "bounds as (0, None)";
    case ParamKind::numbers:
      return "numbers as (0.1, 0.2)";
    default:
      return cat(type.name == "int" ? "an " : "a ", type.name);
  }
}

/// Sets one parameter from text. Keys written `__key__` are attributes of other tools and are passed over.
STROP_IMPL void set_param(std::string_view op, const ParamTable& table, void* object, std::string_view key,
                          std::string_view text) {
  if (const std::optional<std::size_t> i = table.find(key)) {
    if (!table.parse(object, *i, text))
      fail(op, ": parameter '", key, "' is '", text, "', expected ", expected_value(*table.fields[*i].type));
    if (std::string why = check_field(op, table, object, *i); !why.empty()) throw Error(why);
    return;
  }
  if (key.size() > 4 && key.starts_with("__") && key.ends_with("__")) return;
  std::vector<std::string_view> names;
  for (const Field& field : table.fields) names.push_back(field.name);
  if (names.empty()) fail(op, ": no parameter '", key, "'; it takes none");
  fail(op, ": no parameter '", key, "'; it has ", list_nearest(key, names));
}

STROP_IMPL std::string_view upgraded(const ParamTable& table, std::string_view key, std::string_view text,
                                     int version) {
  const std::optional<std::size_t> i = table.find(key);
  for (const ParamUpgrade& change : table.upgrades)
    if (i && version < change.until && table.fields[*i].name == change.name && text == change.from) text = change.to;
  return text;
}

}  // namespace strop::inline v0::detail
