// SPDX-License-Identifier: Apache-2.0
/// \file
/// Looking operators up by name, and calling them with parameters as text.
#pragma once
#include <strop/core/text.hpp>
#include <strop/op/dispatch.hpp>

#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// Parameters as text: `{{"a", "1"}, {"axis", "(0, 1)"}}`.
using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;
using AttributeSpan = std::span<const std::pair<std::string_view, std::string_view>>;

namespace detail {

/// All entries of the program by every name that finds them, made anew when an operator was added.
class Registry {
 public:
  static Registry& get() {
    static Registry registry;
    return registry;
  }

  /// The operator of that name, or null. `strop.tanh` is the library's tanh also where the program has one of its own.
  /// Throws Error when two types of the program have the name.
  const Entry* look_up(std::string_view name) {
    std::lock_guard lock(mutex_);
    refresh();
    if (name.starts_with("strop.")) {
      name.remove_prefix(6);
      for (const Entry* entry : entries_)
        if (entry->library && (entry->snake == name || entry->name == name)) return entry;
      return nullptr;
    }
    const std::size_t at = position_of(name);
    if (at == names_.size() || names_[at].name != name) return nullptr;
    if (names_[at].other != nullptr)
      fail("strop: two operators are called '", name, "': ", names_[at].entry->qualified, " and ", names_[at].other->qualified);
    return names_[at].entry;
  }

  /// Every operator once, sorted by its name.
  std::vector<const Entry*> entries() {
    std::lock_guard lock(mutex_);
    refresh();
    return entries_;
  }

 private:
  struct Named {
    std::string_view name;
    const Entry* entry;
    const Entry* other;  // a second type of the program under the same name
  };

  void refresh() {
    Slot* head = registry_head.load();
    if (head == seen_) return;
    seen_ = head;
    names_.clear();
    entries_.clear();
    for (Slot* slot = head; slot != nullptr; slot = slot->next.load()) {
      const Entry* entry = slot->entry.load();
      bool known = false;  // the same type may come from several shared libraries
      for (const Entry* other : entries_) known = known || (other->qualified == entry->qualified && other->name == entry->name);
      if (known) continue;
      entries_.push_back(entry);
      for (std::size_t i = entries_.size() - 1; i > 0 && entries_[i]->name < entries_[i - 1]->name; --i) std::swap(entries_[i], entries_[i - 1]);
      add(entry->name, entry);
      add(entry->snake, entry);
      for (std::string_view alias : entry->aliases) add(alias, entry);
    }
  }

  /// Where the name stands, or would.
  std::size_t position_of(std::string_view name) const {
    std::size_t low = 0, high = names_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (names_[middle].name < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  void add(std::string_view name, const Entry* entry) {
    const std::size_t at = position_of(name);
    if (at < names_.size() && names_[at].name == name) {
      Named& named = names_[at];
      if (named.entry == entry) return;
      if (named.entry->library == entry->library) named.other = entry;
      else if (named.entry->library) named = {name, entry, nullptr};  // the program's own comes first
      return;
    }
    names_.push_back({name, entry, nullptr});
    for (std::size_t i = names_.size() - 1; i > at; --i) std::swap(names_[i], names_[i - 1]);
  }

  std::mutex mutex_;
  Slot* seen_ = nullptr;
  std::vector<Named> names_;
  std::vector<const Entry*> entries_;
};

/// The operator of that name. Throws Error with the nearest names when there is none.
inline const Entry& find_operator(std::string_view name) {
  if (const Entry* entry = Registry::get().look_up(name)) return *entry;
  std::vector<std::string_view> names;
  for (const Entry* entry : Registry::get().entries()) names.push_back(entry->snake);
  fail("strop: no operator '", name, "' in this program; nearest: ", list_nearest(name, names, 5),
       ". Operators of the library join when their callable is used, or all together with #include <strop/ops/all.hpp>");
}

/// An object that holds an operator's parameters, of a type known only at run time.
class ParamBox : public Counted, public memory::Recycled<ParamBox> {
 public:
  explicit ParamBox(const ParamTable* table) : table_(table) {
    make_room();
    if (table_ != nullptr) table_->construct(data_);
  }
  ParamBox(const ParamTable* table, const void* from) : table_(table) {
    make_room();
    if (table_ != nullptr) table_->copy(data_, from);
  }
  ParamBox(const ParamBox&) = delete;
  ParamBox& operator=(const ParamBox&) = delete;
  ~ParamBox() {
    if (table_ != nullptr) table_->destroy(data_);
    if (data_ != near_) ::operator delete(data_, std::align_val_t{64});
  }
  void* get() { return data_; }
  const void* get() const { return data_; }

 private:
  void make_room() {
    data_ = near_;
    if (table_ != nullptr && (table_->size > sizeof near_ || table_->align > 16)) data_ = ::operator new(table_->size, std::align_val_t{64});
  }
  const ParamTable* table_;
  void* data_;
  alignas(16) std::byte near_[64];
};

inline Ref<ParamBox> parse_params(const Entry& entry, AttributeSpan attributes) {
  Ref<ParamBox> box(new ParamBox(entry.params));
  for (const auto& [key, text] : attributes) {
    if (entry.params == nullptr) fail(entry.snake, ": no parameter '", key, "'; it takes none");
    set_param(entry.snake, *entry.params, box->get(), key, text);
  }
  if (entry.params != nullptr && entry.params->checked) check_params(entry.snake, *entry.params, box->get());
  return box;
}

/// How many outputs a call makes and how many of them are seen.
inline std::pair<int, int> count_outputs(const Entry& entry, const void* op, int inputs) {
  if (entry.is_map() || entry.signature == nullptr) return {entry.outputs, entry.visible};
  Signature s;
  entry.signature(op, inputs, s);
  return {static_cast<int>(s.outputs.size()), s.visible};
}

inline std::vector<NDArray> invoke_entry(const Entry& entry, std::span<const NDArray> in, AttributeSpan attributes, Site site) {
  const Ref<ParamBox> params = parse_params(entry, attributes);
  std::vector<const NDArray*> inputs;
  for (const NDArray& a : in) inputs.push_back(&a);
  const auto [outputs, visible] = count_outputs(entry, params->get(), static_cast<int>(in.size()));
  std::vector<NDArray> out(static_cast<std::size_t>(outputs));
  dispatch(entry, params->get(), inputs, out, {}, site);
  out.resize(static_cast<std::size_t>(visible));
  return out;
}

}  // namespace detail

/// Runs the operator called `name` and returns all its visible outputs.
inline std::vector<NDArray> invoke_all(std::string_view name, std::initializer_list<NDArray> in, Attributes params = {}, detail::Site site = detail::Site::here()) {
  return detail::invoke_entry(detail::find_operator(name), {in.begin(), in.size()}, {params.begin(), params.size()}, site);
}
inline std::vector<NDArray> invoke_all(std::string_view name, std::span<const NDArray> in, AttributeSpan params, detail::Site site = detail::Site::here()) {
  return detail::invoke_entry(detail::find_operator(name), in, params, site);
}

/// Runs the operator called `name`, its parameters as text, and returns its first visible output. Throws Error for an
/// unknown operator or parameter, naming the nearest ones.
inline NDArray invoke(std::string_view name, std::initializer_list<NDArray> in, Attributes params = {}, detail::Site site = detail::Site::here()) {
  return invoke_all(name, in, params, site).front();
}
inline NDArray invoke(std::string_view name, std::span<const NDArray> in, AttributeSpan params, detail::Site site = detail::Site::here()) {
  return invoke_all(name, in, params, site).front();
}

}  // namespace strop::inline v0
