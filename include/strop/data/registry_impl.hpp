// SPDX-License-Identifier: Apache-2.0
/// \file
/// How iterators are found by name and opened.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/text.hpp>
#include <strop/data/registry.hpp>
#include <strop/op/param_box.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

STROP_IMPL std::vector<const IteratorEntry*> all_iterators() {
  std::vector<const IteratorEntry*> all;
  for (const IteratorSlot* slot = iterator_head.load(); slot != nullptr; slot = slot->next.load())
    all.push_back(slot->entry);
  std::sort(all.begin(), all.end(), [](const IteratorEntry* a, const IteratorEntry* b) { return a->name < b->name; });
  for (std::size_t k = 1; k < all.size(); ++k)
    if (all[k]->name == all[k - 1]->name) fail("strop: two iterators are called '", all[k]->name, "'");
  return all;
}

STROP_IMPL const IteratorEntry& find_iterator(std::string_view name) {
  std::vector<std::string_view> names;
  for (const IteratorEntry* entry : all_iterators()) {
    if (entry->name == name) return *entry;
    names.push_back(entry->name);
  }
  if (names.empty())
    fail("strop: no iterator '", name, "'; there is none, those of the library come with <strop/data/iterators.hpp>");
  fail("strop: no iterator '", name, "'; nearest: ", list_nearest(name, names));
}

STROP_IMPL void list_params(const ParamTable& table, std::span<const Note> notes, std::vector<IteratorParam>& to) {
  const ParamBox defaults(&table);
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    IteratorParam one;
    const ValueType& type = *table.fields[i].type;
    one.name = table.fields[i].name, one.type = type.name, one.kind = type.kind, one.words = type.words;
    one.required = table.missing(defaults.get(), i);
    if (!one.required) one.value = table.print(defaults.get(), i);
    for (const Note& note : notes)
      if (note.name == one.name) one.doc = note.text;
    to.push_back(std::move(one));
  }
}

STROP_IMPL std::vector<IteratorParam> params_of_iterator(const IteratorEntry& entry) {
  std::vector<IteratorParam> all;
  list_params(*entry.source, entry.notes, all);
  list_params(*entry.batching, entry.batching_notes, all);
  return all;
}

}  // namespace detail

STROP_IMPL DataIter open_iter(std::string_view name,
                              std::span<const std::pair<std::string_view, std::string_view>> params) {
  const IteratorEntry& entry = detail::find_iterator(name);
  detail::ParamBox source(entry.source), batching(entry.batching);
  std::vector<std::string_view> given;
  for (const auto& [key, text] : params) {
    if (std::find(given.begin(), given.end(), key) != given.end())
      fail(entry.name, ": parameter '", key, "' is given twice");
    given.push_back(key);
    if (entry.source->find(key)) {
      detail::set_param(entry.name, *entry.source, source.get(), key, text);
    } else if (entry.batching->find(key)) {
      detail::set_param(entry.name, *entry.batching, batching.get(), key, text);
    } else {
      std::vector<std::string_view> names;
      for (const detail::ParamTable* table : {entry.source, entry.batching})
        for (const detail::Field& field : table->fields) names.push_back(field.name);
      fail(entry.name, ": no parameter '", key, "'; it has ", detail::list_nearest(key, names));
    }
  }
  detail::check_params(entry.name, *entry.source, source.get());
  detail::check_params(entry.name, *entry.batching, batching.get());
  return entry.open(source.get(), batching.get());
}

}  // namespace strop::inline v0
