// SPDX-License-Identifier: Apache-2.0
/// \file
/// How schemas of PyTorch are written.
#pragma once
#include <strop/core/config.hpp>
#include <strop/host/torch/schema.hpp>
#include <strop/op/names.hpp>

#include <algorithm>

namespace strop::inline v0 {
namespace detail {

/// PyTorch's number of an element type.
constexpr int torch_number(Dtype type) {
  switch (type) {
    case Dtype::u8:
      return 0;
    case Dtype::i8:
      return 1;
    case Dtype::i32:
      return 3;
    case Dtype::i64:
      return 4;
    case Dtype::f16:
      return 5;
    case Dtype::f32:
      return 6;
    case Dtype::f64:
      return 7;
    case Dtype::boolean:
      return 11;
    case Dtype::bf16:
      return 15;
  }
  return 6;
}

/// A list as our text has it, "(1, 2)" or "1", as PyTorch's: "[1, 2]".
STROP_IMPL std::string torch_list(std::string_view text) {
  while (!text.empty() && (text.front() == '(' || text.front() == '[')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ')' || text.back() == ']' || text.back() == ',')) text.remove_suffix(1);
  return cat('[', text, ']');
}

STROP_IMPL std::string torch_default(const ParamTable& table, const void* object, std::size_t i) {
  const ValueType& type = *table.fields[i].type;
  std::string text = table.print(object, i);
  if (type.optional && text == "None") return text;
  if (type.kind == ParamKind::bounds) return "None";  // PyTorch has no default of such a list; None is not given
  switch (type.kind) {
    case ParamKind::flag:
    case ParamKind::integer:
      return text;
    case ParamKind::real:
      return type.name == "double" || text.find_first_of(".einf") != std::string::npos ? text : cat(text, ".0");
    case ParamKind::string:
    case ParamKind::enumeration:
      return cat('"', text, '"');
    case ParamKind::shape:
    case ParamKind::axes:
    case ParamKind::numbers:
      return torch_list(text);
    case ParamKind::bounds:
      break;
    case ParamKind::dtype:
      for (const Dtype dtype : all_dtypes)
        if (name_of(dtype) == text) return cat(torch_number(dtype));
  }
  return "None";
}

STROP_IMPL std::string torch_parameters(const Entry& e, bool trains) {
  std::string text;
  const auto add = [&](std::string_view one) { text += cat(text.empty() ? ", *, " : ", ", one); };
  if (e.params != nullptr) {
    const ParamBox defaults(e.params);
    for (std::size_t i = 0; i < e.params->fields.size(); ++i) {
      const Field& field = e.params->fields[i];
      const std::string one = cat(host::torch_type(*field.type), ' ', field.name);
      add(e.params->missing(defaults.get(), i) ? one : cat(one, '=', torch_default(*e.params, defaults.get(), i)));
    }
  }
  if (trains) add("bool training=False");
  return text;
}

}  // namespace detail

namespace host {

STROP_IMPL bool is_torch_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

STROP_IMPL std::string torch_type(const detail::ValueType& type) {
  const auto named = [&]() -> std::string_view {
    switch (type.kind) {
      case ParamKind::flag:
        return "bool";
      case ParamKind::integer:
        return "int";
      case ParamKind::real:
        return type.name == "double" ? "Scalar" : "float";
      case ParamKind::string:
      case ParamKind::enumeration:
        return "str";
      case ParamKind::shape:
      case ParamKind::axes:
        return "int[1]";
      case ParamKind::bounds:
        return "int?[]";
      case ParamKind::numbers:
        return "float[1]";
      case ParamKind::dtype:
        return "ScalarType";
    }
    return "str";
  };
  const bool none = type.optional || (type.kind == ParamKind::bounds && !type.required);
  return cat(named(), none ? "?" : "");
}

STROP_IMPL TorchSchemas torch_schemas(const Facts& facts) {
  const Entry& e = facts.entry;
  TorchSchemas made;
  const auto name = [&](std::string_view one) {
    if (is_torch_name(one) && std::find(made.names.begin(), made.names.end(), one) == made.names.end())
      made.names.emplace_back(one);
  };
  name(e.name);
  name(e.snake);
  for (const std::string_view alias : e.aliases) name(alias);

  const std::string parameters = detail::torch_parameters(e, facts.trains);
  const auto with = [&](std::string_view tensors, std::string_view results) {
    const std::string_view rest = parameters;
    return cat('(', tensors, tensors.empty() && !rest.empty() ? rest.substr(2) : rest, ") -> ", results);
  };
  const std::vector<Argument>& inputs = facts.arguments.inputs;
  std::string tensors;
  char alias = 'a';
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Argument& a = inputs[i];
    const bool ends = std::all_of(inputs.begin() + static_cast<std::ptrdiff_t>(i), inputs.end(),
                                  [](const Argument& later) { return later.optional; });
    tensors += tensors.empty() ? "" : ", ";
    tensors += a.variadic ? "Tensor" : a.written ? cat("Tensor(", alias++, "!)") : "Tensor";
    tensors += a.variadic ? "[]" : a.optional ? "?" : "";
    tensors += cat(' ', a.name, a.optional && ends && !a.variadic ? "=None" : "");
  }
  const auto results = [](int count) {
    if (count < 0) return std::string("Tensor[]");
    std::string list = "Tensor";
    for (int k = 1; k < count; ++k) list += ", Tensor";
    return count == 1 ? list : cat('(', list, ')');
  };
  made.forward = with(tensors, results(facts.visible));
  if (facts.visible != facts.outputs || facts.visible < 0) made.all = with(tensors, results(facts.outputs));
  if (facts.differentiable) {
    made.gradient = with("Tensor?[] _heads, Tensor[] _inputs, Tensor[] _outputs, int[] _wanted", "Tensor[]");
    made.second_gradient =
        with("Tensor?[] _seconds, Tensor?[] _heads, Tensor[] _inputs, Tensor[] _outputs, int[] _wanted, int[] _given",
             "Tensor[]");
  }
  return made;
}

}  // namespace host
}  // namespace strop::inline v0
