// SPDX-License-Identifier: Apache-2.0
/// \file
/// The index of all operators, and calls by name.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/fork.hpp>
#include <strop/core/text.hpp>
#include <strop/op/registry.hpp>

#include <algorithm>
#include <mutex>

namespace strop::inline v0::detail {

/// All entries of the program by every name that finds them, made anew when an operator was added.
class Registry {
 public:
  static Registry& get() {
    static Registry registry;
    return registry;
  }

  const Entry* look_up(std::string_view name) {
    std::lock_guard lock(mutex_);
    refresh();
    if (name.starts_with("strop.")) {
      name.remove_prefix(6);
      for (const Entry* entry : entries_)
        if (entry->library && (entry->snake == name || entry->name == name ||
                               std::find(entry->aliases.begin(), entry->aliases.end(), name) != entry->aliases.end()))
          return entry;
      return nullptr;
    }
    for (const Slot* slot : twice_)
      if (finds(*slot->seen.load(), name) || finds(*slot->other.load(), name)) check_seen(*slot);
    const std::size_t at = position_of(name);
    if (at == names_.size() || names_[at].name != name) return nullptr;
    if (const Entry *one = names_[at].entry, *other = names_[at].other; other != nullptr) {
      const bool alike = origin(*one) == origin(*other);
      fail("strop: two operators are called '", name, "': ", origin(*one), alike ? fields_of(*one) : "", " and ",
           origin(*other), alike ? fields_of(*other) : "");
    }
    return names_[at].entry;
  }

  std::vector<const Entry*> entries() {
    std::lock_guard lock(mutex_);
    refresh();
    return entries_;
  }

 private:
  /// The type of an operator, and where it stands where that is not in its name.
  static std::string origin(const Entry& entry) {
    return entry.file.empty() ? std::string(entry.qualified) : cat(entry.qualified, " in ", entry.file);
  }
  /// " {float a, int b}": the parameters.
  static std::string fields_of(const Entry& entry) {
    std::string text;
    if (entry.params != nullptr)
      for (const Field& field : entry.params->fields)
        text += cat(text.empty() ? "" : ", ", field.type->name, ' ', field.name);
    return cat(" {", text, '}');
  }
  struct Named {
    std::string_view name;
    const Entry* entry;
    const Entry* other;  // a second type of the program under the same name
  };

  void refresh() {
    Slot* head = registry_head.load();
    const std::uint64_t withdrawn = registry_withdrawn.load();
    if (head == seen_ && withdrawn == withdrawn_) return;
    seen_ = head;
    withdrawn_ = withdrawn;
    names_.clear();
    entries_.clear();
    twice_.clear();
    for (Slot* slot = head; slot != nullptr; slot = slot->next.load()) {
      const Entry* entry = slot->entry.load();
      if (slot->other.load() != nullptr) twice_.push_back(slot);
      if (entry == nullptr) continue;  // taken back
      // The same type may come from several shared libraries; a type that one file alone can name is another in each,
      // and so is one of other parameters.
      bool known = false;
      for (const Entry* other : entries_)
        known = known || (entry->file.empty() && other->qualified == entry->qualified && other->name == entry->name &&
                          fields_of(*other) == fields_of(*entry));
      if (known) continue;
      entries_.push_back(entry);
      for (std::size_t i = entries_.size() - 1; i > 0 && entries_[i]->name < entries_[i - 1]->name; --i)
        std::swap(entries_[i], entries_[i - 1]);
      add(entry->name, entry);
      add(entry->snake, entry);
      for (std::string_view alias : entry->aliases) add(alias, entry);
      for (std::string_view shared : entry->template_names) add(shared, entry);
    }
  }

  static bool finds(const TypeSeen& type, std::string_view name) {
    return type.name == name || type.snake == name ||
           type.aliases.find(cat('\n', name, '\n')) != std::string_view::npos;
  }
  /// How far a name that finds an operator is its own.
  static int claim(const Entry& entry, std::string_view name) {
    if (entry.name == name) return 2;
    return std::find(entry.aliases.begin(), entry.aliases.end(), name) != entry.aliases.end() ? 1 : 0;
  }
  /// Where the name stands, or would.
  std::size_t position_of(std::string_view name) const {
    std::size_t low = 0, high = names_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (names_[middle].name < name)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  void add(std::string_view name, const Entry* entry) {
    const std::size_t at = position_of(name);
    if (at < names_.size() && names_[at].name == name) {
      Named& named = names_[at];
      if (named.entry == entry) return;
      if (named.entry->library == entry->library) {
        // An operator's own name goes before another's aliases, and these before names that follow from names.
        const int there = claim(*named.entry, name), comes = claim(*entry, name);
        if (comes < there) return;
        if (comes > there)
          named = {name, entry, nullptr};
        else
          named.other = entry;
      } else if (named.entry->library)
        named = {name, entry, nullptr};  // the program's own comes first
      return;
    }
    names_.push_back({name, entry, nullptr});
    for (std::size_t i = names_.size() - 1; i > at; --i) std::swap(names_[i], names_[i - 1]);
  }

  ForkMutex mutex_;
  Slot* seen_ = nullptr;
  std::uint64_t withdrawn_ = 0;
  std::vector<Named> names_;
  std::vector<const Entry*> entries_;
  std::vector<const Slot*> twice_;  // of two types
};

STROP_IMPL void check_seen(const Slot& slot) {
  const TypeSeen* const other = slot.other.load();
  if (other == nullptr) return;
  const TypeSeen& first = *slot.seen.load();
  const auto where = [](const TypeSeen& type) {
    return cat('{', type.fields, "} of ", type.size, " bytes in ", type.file.substr(type.file.rfind('/') + 1));
  };
  fail("strop: two structs are called ", first.name, ", and the linker takes them for one: ", where(first), " and ",
       where(*other), "; give one another name, or a namespace of its own");
}

STROP_IMPL const Entry* look_up(std::string_view name) { return Registry::get().look_up(name); }
STROP_IMPL std::vector<const Entry*> all_operators() { return Registry::get().entries(); }

STROP_IMPL std::string nearest_operators(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry* entry : Registry::get().entries())
    if (!entry->is_gradient()) names.push_back(entry->snake);
  return list_nearest(name, names, 5);
}

STROP_IMPL const Entry& find_operator(std::string_view name) {
  if (const Entry* entry = Registry::get().look_up(name)) return *entry;
  fail("strop: no operator '", name, "' in this program; nearest: ", nearest_operators(name),
       ". Operators of the library join when they are called, or all together with #include <strop/ops/all.hpp>");
}

STROP_IMPL Ref<ParamBox> parse_params(const Entry& entry, AttributeSpan attributes) {
  Ref<ParamBox> box(new ParamBox(entry.params));
  for (const auto& pair : attributes) {
    const auto& [key, text] = pair;
    if (entry.params == nullptr) fail(entry.snake, ": no parameter '", key, "'; it takes none");
    const std::optional<std::size_t> field = entry.params->find(key);
    for (const auto* other = attributes.data(); other != &pair; ++other)
      if (other->first == key || (field && entry.params->find(other->first) == field))
        fail(entry.snake, ": parameter '", field ? entry.params->fields[*field].name : key, "' is given twice, as '",
             other->second, "' and as '", text, "'");
    set_param(entry.snake, *entry.params, box->get(), key, text);
  }
  if (entry.params != nullptr && entry.params->checked) check_params(entry.snake, *entry.params, box->get());
  return box;
}

STROP_IMPL void refuse_unlinked(std::string_view name) {
  fail(name,
       ": STROP_OPERATORS_COMPILED leaves it to the library of all operators, which is not linked or, before main, not "
       "set up yet");
}

STROP_IMPL std::pair<int, int> count_outputs(const Entry& entry, const void* op, int inputs) {
  if (entry.is_map()) return {entry.outputs, entry.visible};
  const Signature s = signature_of(entry, op, inputs);
  return {static_cast<int>(s.outputs.size()), s.visible};
}

STROP_IMPL std::vector<NDArray> invoke_entry(const Entry& entry, std::span<const NDArray> in, AttributeSpan attributes,
                                             Site site) {
  const Ref<ParamBox> params = parse_params(entry, attributes);
  std::vector<const NDArray*> inputs;
  for (const NDArray& a : in) inputs.push_back(&a);
  const auto [outputs, visible] = count_outputs(entry, params->get(), static_cast<int>(in.size()));
  std::vector<NDArray> out(unsigned_size(outputs));
  dispatch(entry, params->get(), inputs, out, {}, site);
  out.resize(unsigned_size(visible));
  return out;
}

}  // namespace strop::inline v0::detail
