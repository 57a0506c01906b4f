// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a library's entries become the structures of strop/library/layout.h.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/fork.hpp>
#include <strop/library/export.hpp>
#include <strop/library/export_calls.hpp>

#include <dlfcn.h>
#include <algorithm>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace strop::inline v0::detail {
namespace exported {

/// A parameter with the lists that it points to.
struct OwnParameter {
  strop_parameter c{};
  std::vector<strop_text> words;
};
/// An operator with the lists that it points to.
struct OwnOperator {
  strop_operator c{};
  std::string name;
  std::vector<strop_text> aliases, notes, param_aliases;
  std::deque<OwnParameter> parameters;
  std::vector<const strop_parameter*> parameter;
  std::vector<std::int32_t> shares;
};
/// Everything that one library has handed out. It is never taken down.
struct Exports {
  const void* base = nullptr;  // where the library lies
  std::deque<OwnOperator> operators;
  std::vector<const strop_operator*> list;
  strop_library library{};
};

STROP_IMPL void fill_parameters(OwnOperator& own, const ParamTable& table) {
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    const ValueType& type = *table.fields[i].type;
    OwnParameter& p = own.parameters.emplace_back();
    for (const std::string_view word : type.words) p.words.push_back(text_of(word));
    p.c.size = sizeof p.c;
    p.c.own = &type;
    p.c.name = text_of(table.fields[i].name);
    p.c.type = text_of(type.name);
    p.c.kind = static_cast<std::int32_t>(type.kind);
    p.c.optional = type.optional ? 1 : 0;
    p.c.required = type.required ? 1 : 0;
    p.c.has_order = type.has_order ? 1 : 0;
    p.c.words = std::ssize(p.words);
    p.c.word = p.words.data();
    if (const Range* const range = table.range(i)) {
      p.c.has_range = 1;
      p.c.low = range->low;
      p.c.high = range->high;
    }
    p.c.parse = &parse;
    p.c.print = &print;
    p.c.number = &number;
    p.c.missing = &missing;
    own.parameter.push_back(&p.c);
  }
  for (const ParamAlias& other : table.aliases) {
    own.param_aliases.push_back(text_of(other.alias));
    own.param_aliases.push_back(text_of(other.name));
  }
  strop_operator& c = own.c;
  c.parameters = std::ssize(own.parameter);
  c.parameter = own.parameter.data();
  c.param_aliases = std::ssize(own.param_aliases) / 2;
  c.param_alias = own.param_aliases.data();
  c.object_size = static_cast<std::int64_t>(table.size);
  c.object_align = static_cast<std::int64_t>(table.align);
  c.checked = table.checked ? 1 : 0;
  c.construct = &construct;
  c.copy = &copy;
  c.destroy = &destroy;
  c.at = &at;
}

STROP_IMPL const strop_operator* export_composed(Exports& exports, const Entry& entry) {
  OwnOperator& own = exports.operators.emplace_back();
  own.name = cat("_backward_", entry.name);
  fill_parameters(own, *entry.params);
  strop_operator& c = own.c;
  c.size = sizeof c;
  c.own = &entry;
  c.name = c.snake = c.qualified = text_of(own.name);
  c.inputs = strop_open;
  c.outputs = c.visible = std::max(entry.inputs, 0);
  c.dtypes = any_dtype.bits;
  c.dense_form = 1;
  c.signature = &composed_signature;
  c.infer_shape = &composed_shape;
  c.infer_type = &composed_type;
  c.run = &run_composed;
  return &c;
}

STROP_IMPL const strop_operator* export_entry(Exports& exports, const Entry& entry) {
  OwnOperator& own = exports.operators.emplace_back();
  strop_operator& c = own.c;
  c.size = sizeof c;
  c.own = &entry;
  c.name = text_of(entry.name);
  c.snake = text_of(entry.snake);
  c.qualified = text_of(entry.qualified);
  c.file = text_of(entry.file);
  c.doc = text_of(entry.doc);
  for (const std::string_view alias : entry.aliases) own.aliases.push_back(text_of(alias));
  for (const Note& note : entry.notes) {
    own.notes.push_back(text_of(note.name));
    own.notes.push_back(text_of(note.text));
  }
  c.aliases = std::ssize(own.aliases);
  c.alias = own.aliases.data();
  c.notes = std::ssize(own.notes) / 2;
  c.note = own.notes.data();
  fill_parameters(own, *entry.params);
  c.min_inputs = entry.min_inputs;
  c.inputs = entry.inputs;
  c.outputs = entry.outputs;
  c.visible = entry.visible;
  c.dtypes = entry.dtypes.bits;
  c.same_shape = entry.same_shape ? 1 : 0;
  c.mutates = entry.mutates ? 1 : 0;
  c.accumulates = entry.accumulates ? 1 : 0;
  c.whole = entry.whole;
  c.found = entry.found;
  c.gives_real = entry.loops.i64_gives_f64 ? 1 : 0;
  c.skips_null = entry.skips_null ? 1 : 0;
  const Kernels& kernels = entry.cpu;
  c.sparse_forms = kernels.run_sparse[entry.order] != nullptr ? 1 : 0;
  c.dense_form = kernels.run[entry.order] != nullptr || entry.is_map() ? 1 : 0;
  for (const Share& share : entry.inplace) {
    own.shares.push_back(share.input);
    own.shares.push_back(share.output);
  }
  c.shares = std::ssize(own.shares) / 2;
  c.share = own.shares.data();
  c.signature = &signature;
  if (entry.infer_shape != nullptr) c.infer_shape = &infer_shape;
  if (entry.infer_type != nullptr) c.infer_type = &infer_type;
  if (entry.infer_storage != nullptr || entry.facts.storage != nullptr) c.infer_storage = &infer_storage;
  c.loop_f32 = entry.loops.f32;
  c.loop_f64 = entry.loops.f64;
  c.loop_i64 = entry.loops.i64;
  if (entry.facts.kept != nullptr) c.kept = &kept;
  if (entry.facts.zero != nullptr) c.zero = &zero;
  if (entry.facts.as_double != nullptr) c.integers_as_double = &integers_as_double;
  if (entry.facts.operations != nullptr) c.operations_of_element = &operations_of_element;
  if (kernels.run[entry.order] != nullptr || kernels.run_sparse[entry.order] != nullptr) c.run = &run;
  if (entry.takes != nullptr) c.takes = &takes;
  if (entry.resources != nullptr) c.resources = &resources;
  if (entry.operations != nullptr) c.operations = &operations;
  if (kernels.make_state != nullptr) {
    c.make_state = &make_state;
    c.free_state = &free_state;
  }
  const GradientRule& rule = entry.gradient;
  c.zero_gradient = rule.zero ? 1 : 0;
  c.gradient_heads = rule.heads;
  c.gradient_in = rule.in;
  c.gradient_out = rule.out;
  c.gradient_gives = rule.gives;
  if (rule.entry != nullptr)
    c.gradient = export_entry(exports, *rule.entry);
  else if (rule.compose != nullptr)
    c.gradient = export_composed(exports, entry);
  return &c;
}

}  // namespace exported

STROP_IMPL const strop_library* export_from(const void* anchor, const Slot* head) {
  // Libraries that share symbols share these as well.
  static ForkMutex& mutex = *new ForkMutex;
  static std::deque<exported::Exports>& all_exports = *new std::deque<exported::Exports>;
  const std::lock_guard lock(mutex);
  Dl_info own{}, other{};
  if (dladdr(anchor, &own) == 0) own = {};
  for (const exported::Exports& known : all_exports)
    if (known.base == own.dli_fbase) return &known.library;
  exported::Exports& exports = all_exports.emplace_back();
  exports.base = own.dli_fbase;
  std::vector<const Entry*> entries;
  for (const Slot* slot = head; slot != nullptr; slot = slot->next.load()) {
    const Entry* const entry = slot->entry.load();
    if (entry != nullptr && !entry->library && !entry->is_gradient() && entry->params != nullptr &&
        dladdr(entry, &other) != 0 && other.dli_fbase == own.dli_fbase)
      entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) { return a->name < b->name; });
  for (const Entry* const entry : entries) exports.list.push_back(exported::export_entry(exports, *entry));
  strop_library& library = exports.library;
  library.version = strop_layout_version;
  library.built_by = exported::text_of(__VERSION__);
  library.operators = std::ssize(exports.list);
  library.list = exports.list.data();
  library.size = sizeof library;
  return &library;
}

}  // namespace strop::inline v0::detail
