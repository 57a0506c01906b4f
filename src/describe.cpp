// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop describe`: what the registry says of an operator, as text.
#include "card.hpp"
#include "command.hpp"
#include "operator.hpp"

#include <strop/strop.hpp>

#include <cstdio>
#include <utility>

namespace strop::command {
namespace {

/// What is to be known of an input or output besides its name and document; empty where there is nothing.
std::string role_of(const Argument& a) {
  std::vector<std::string_view> words;
  if (a.whole) words.push_back("whole numbers");
  if (a.written) words.push_back("is written");
  if (a.optional) words.push_back("optional");
  if (a.variadic) words.push_back("any number");
  if (a.hidden) words.push_back("hidden");
  return joined(words);
}

/// A default as text; that of an empty string is seen.
std::string shown(const std::string& value) { return value.empty() ? "''" : value; }

}  // namespace

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
