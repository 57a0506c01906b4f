// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop ops` and `strop describe`: the registry as text and as JSON.
#include "card.hpp"
#include "command.hpp"
#include "operator.hpp"

#include <strop/strop.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace strop::command {
namespace {

using nlohmann::ordered_json;

/// What is to be known of an input or output besides its name and document; empty where there is nothing.
std::string role_of(const Argument& a) {
  std::vector<std::string_view> words;
  if (a.written) words.push_back("is written");
  if (a.optional) words.push_back("optional");
  if (a.variadic) words.push_back("any number");
  if (a.hidden) words.push_back("hidden");
  return joined(words);
}

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

/// A default as text; that of an empty string is seen.
std::string shown(const std::string& value) { return value.empty() ? "''" : value; }

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

int describe(const std::string& name) {
  const Entry& e = operator_called(name);
  const Card card(e);
  std::vector<std::string> arguments(card.signature.inputs.begin(), card.signature.inputs.end());
  if (e.inputs < 0) arguments.emplace_back("...");
  const std::size_t fields = e.params != nullptr ? e.params->fields.size() : 0;
  for (std::size_t i = 0; i < fields; ++i) {
    const auto value = card.default_of(i);
    arguments.push_back(cat(e.params->fields[i].name, value ? cat('=', shown(*value)) : ""));
  }
  std::printf("%s(%s) -> %s\n", std::string(e.snake).c_str(), joined(arguments).c_str(),
              joined(card.signature.outputs).c_str());
  if (!e.doc.empty()) std::printf("\n  %s\n", std::string(e.doc).c_str());
  const auto line = [](const char* label, const std::string& text) {
    std::printf("  %-10s %s\n", label, text.c_str());
  };
  std::printf("\n");
  line("name", cat(e.name, e.aliases.empty() ? "" : ", also ", joined(e.aliases)));
  line("kind", e.is_map() ? "map: element by element" : "tensor operator");
  line("types", card.dtypes());
  line("gradient", card.gradient());
  const char* label = "storages";
  for (const std::string& served : card.storages()) line(std::exchange(label, ""), served);
  line("devices", joined(detail::devices_of(e)));
  if (e.resources != nullptr) line("resources", card.resources());
  if (const std::string cost = card.cost(); !cost.empty()) line("cost", cost);
  if (e.cpu.make_state != nullptr) line("state", "kept from forward to backward");
  label = "\n  arguments\n";
  for (const auto* list : {&card.arguments.inputs, &card.arguments.outputs})
    for (const Argument& a : *list)
      if (const std::string role = role_of(a); !role.empty() || !a.doc.empty())
        std::printf("%s    %-16s %s%s%s\n", std::exchange(label, ""), std::string(a.name).c_str(), role.c_str(),
                    role.empty() || a.doc.empty() ? "" : "  ", std::string(a.doc).c_str());
  if (fields != 0) std::printf("\n  parameters\n");
  for (std::size_t i = 0; i < fields; ++i) {
    const detail::Field& field = e.params->fields[i];
    const auto value = card.default_of(i);
    const std::string range = card.range_of(field.name), note = card.note_of(field.name);
    std::printf("    %-16s %s, %s%s%s%s%s\n", std::string(field.name).c_str(), std::string(field.type->name).c_str(),
                value ? cat("default ", shown(*value)).c_str() : "required", range.empty() ? "" : ", ", range.c_str(),
                note.empty() ? "" : "  ", note.c_str());
  }
  std::printf("\n");
  line("example", card.example(program()));
  if (const std::string inputs = card.example_inputs(); !inputs.empty()) line("", cat("with ", inputs));
  return 0;
}

}  // namespace strop::command
