// SPDX-License-Identifier: Apache-2.0
/// \file
/// What an operator's entry says, for signatures, documents and stubs.
#include "schema.hpp"

#include <strop/op/describe.hpp>

#include <string_view>
#include <vector>

namespace strop::python {
namespace {

nb::list describe_arguments(const std::vector<Argument>& list) {
  nb::list all;
  for (const Argument& a : list) {
    nb::dict one;
    one["name"] = to_text(a.name);
    one["doc"] = to_text(a.doc);
    one["written"] = a.written;
    one["optional"] = a.optional;
    one["variadic"] = a.variadic;
    one["hidden"] = a.hidden;
    one["whole"] = a.whole;
    all.append(one);
  }
  return all;
}

}  // namespace

nb::dict describe(const Schema& schema) {
  const Entry& e = schema.entry;
  nb::dict all;
  nb::list aliases, params, types;
  for (std::string_view alias : e.aliases) aliases.append(to_text(alias));
  for (const Dtype type : all_dtypes)
    if (e.dtypes.contains(type)) types.append(to_text(name_of(type)));
  for (std::size_t i = 0; i < schema.fields; ++i) {
    const detail::Field& field = e.params->fields[i];
    nb::dict one;
    nb::list words;
    for (std::string_view word : field.type->words) words.append(to_text(word));
    one["name"] = to_text(field.name);
    one["type"] = to_text(field.type->name);
    one["kind"] = to_text(name_of(field.type->kind));
    one["optional"] = field.type->optional;
    one["words"] = words;
    const bool required = e.params->missing(schema.defaults.get(), i);
    one["default"] = required ? nb::none() : to_text(e.params->print(schema.defaults.get(), i));
    one["required"] = required;
    one["range"] = nb::none();
    if (const Range* const range = e.params->range(i)) one["range"] = to_text(detail::bounds_of(*range, {}));
    one["doc"] = to_text("");
    for (const Note& note : e.notes)
      if (note.name == field.name) one["doc"] = to_text(note.text);
    params.append(one);
  }
  all["name"] = to_text(e.name);
  all["snake"] = to_text(e.snake);
  all["aliases"] = aliases;
  all["doc"] = to_text(e.doc);
  all["inputs"] = describe_arguments(schema.arguments.inputs);
  all["outputs"] = describe_arguments(schema.arguments.outputs);
  all["params"] = params;
  all["dtypes"] = types;
  all["map"] = e.is_map();
  all["library"] = e.library;
  all["zero_gradient"] = e.gradient.zero;
  all["gradient"] = e.gradient.entry != nullptr || e.gradient.compose != nullptr;
  return all;
}
}  // namespace strop::python
