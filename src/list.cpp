// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop ops`: the registry as a list, in words and as JSON.
#include "card.hpp"
#include "command.hpp"

#include <strop/strop.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace strop::command {
namespace {

using nlohmann::ordered_json;

/// The call of the example: its parameters, and how its inputs are made; null where no row says how it is called.
ordered_json example_of(const Card& card) {
  if (!card.row) return nullptr;
  ordered_json example, inputs = ordered_json::array();
  example["params"] = ordered_json::object();
  for (const auto& [name, value] : card.call) example["params"][name] = value;
  const std::vector<std::string> names = card.example_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const verify::Sample& sample = card.row->in[i];
    ordered_json input;
    input["name"] = names[i];
    input["shape"] = std::vector<std::int64_t>(sample.shape.begin(), sample.shape.end());
    input["storage"] = name_of(sample.storage);
    input["low"] = sample.low;
    input["high"] = sample.high;
    input["positions"] = sample.positions;
    input["elements"] = sample.elements;
    inputs.push_back(input);
  }
  example["inputs"] = inputs;
  return example;
}

ordered_json json_of(const Card& card) {
  const Entry& e = card.entry;
  ordered_json item;
  item["name"] = e.name;
  std::vector<std::string> aliases;
  if (e.snake != e.name) aliases.emplace_back(e.snake);
  for (std::string_view alias : e.aliases)
    if (alias != e.snake) aliases.emplace_back(alias);
  item["aliases"] = aliases;
  item["inputs"] = card.signature.inputs;
  item["outputs"] = card.signature.outputs;
  item["params"] = ordered_json::array();
  for (std::size_t i = 0; e.params != nullptr && i < e.params->fields.size(); ++i) {
    const detail::Field& field = e.params->fields[i];
    ordered_json param;
    param["name"] = field.name;
    param["type"] = field.type->name;
    param["kind"] = name_of(field.type->kind);
    if (field.type->kind == ParamKind::enumeration)
      param["words"] = std::vector<std::string>(field.type->words.begin(), field.type->words.end());
    param["optional"] = field.type->optional;
    param["required"] = field.type->required;
    if (const Range* const range = e.params->range(i)) {
      if (range->low > -Range::unbounded) param["low"] = range->low;
      if (range->high < Range::unbounded) param["high"] = range->high;
    }
    std::vector<std::string> others;
    for (const ParamAlias& other : e.params->aliases)
      if (other.name == field.name) others.emplace_back(other.alias);
    if (!others.empty()) param["aliases"] = others;
    if (const auto value = card.default_of(i))
      param["default"] = *value;
    else
      param["default"] = nullptr;
    param["doc"] = card.note_of(field.name);
    item["params"].push_back(param);
  }
  item["arguments"] = ordered_json::array();
  const auto add = [&](const std::vector<Argument>& list, bool output) {
    for (const Argument& a : list) {
      ordered_json argument;
      argument["name"] = a.name;
      argument["role"] = output ? "output" : a.written ? "written" : "input";
      argument["optional"] = a.optional;
      if (output)
        argument["hidden"] = a.hidden;
      else
        argument["variadic"] = a.variadic;
      if (a.whole) argument["whole"] = true;
      argument["doc"] = a.doc;
      item["arguments"].push_back(argument);
    }
  };
  add(card.arguments.inputs, false);
  add(card.arguments.outputs, true);
  item["gradient"] = card.gradient();
  item["storages"] = card.storages();
  item["devices"] = detail::devices_of(e);
  item["doc"] = e.doc;
  item["kind"] = e.is_map() ? "map" : "tensor";
  item["types"] = ordered_json::array();
  for (const Dtype type : all_dtypes)
    if (e.dtypes.contains(type)) item["types"].push_back(name_of(type));
  item["cost"] = card.cost();
  item["example"] = example_of(card);
  return item;
}

}  // namespace

int list_operators(bool json) {
  ordered_json list = ordered_json::array();
  int shown_operators = 0;
  for (const Entry* e : detail::all_operators()) {
    if (e->is_gradient()) continue;
    ++shown_operators;
    const Card card(*e);
    if (json) {
      list.push_back(json_of(card));
      continue;
    }
    std::vector<std::string_view> params;
    if (e->params != nullptr)
      for (const detail::Field& field : e->params->fields) params.push_back(field.name);
    std::printf("%-28s (%s%s) {%s}\n", std::string(card.called()).c_str(), joined(card.signature.inputs).c_str(),
                e->inputs < 0 ? "..." : "", joined(params).c_str());
  }
  if (json)
    std::printf("%s\n", list.dump(1).c_str());
  else
    std::printf("%d operators\n", shown_operators);
  return 0;
}

}  // namespace strop::command
