// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a shared library of operators is opened, checked, listed and taken back.
#pragma once
#include <strop/core/config.hpp>
#include <strop/library/load.hpp>
#include <strop/library/plugin.hpp>
#include <strop/op/registry.hpp>

#include <dlfcn.h>
#include <unistd.h>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

namespace strop::inline v0 {
namespace detail {

/// A library that was loaded once. It is never unloaded.
struct LoadedLibrary {
  std::string path;
  void* handle = nullptr;
  bool open = false;
  std::vector<std::unique_ptr<PluginOperator>> plugin;
  /// What is listed: plugin operators, and those that a library which shares its symbols with the program has put into
  /// the registry by itself.
  std::vector<std::pair<Slot*, const Entry*>> listed;
};

/// All libraries that were loaded. Opening and closing go one at a time.
class LoadedLibraries {
 public:
  static LoadedLibraries& get() {
    static LoadedLibraries& libraries = *new LoadedLibraries;
    return libraries;
  }

  LoadedLibrary& load(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const bool here = path.find('/') == std::string::npos && ::access(path.c_str(), F_OK) == 0;
    Slot* const before = registry_head.load();
    void* const handle = ::dlopen(here ? cat("./", path).c_str() : path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
      if (path.find('/') != std::string::npos && ::access(path.c_str(), F_OK) != 0)
        fail("load_library: '", path, "': there is no such file");
      const char* const why = ::dlerror();
      fail("load_library: '", path, "' cannot be loaded: ", why != nullptr ? why : "the system does not say why");
    }
    for (LoadedLibrary& known : libraries_)
      if (known.handle == handle) {
        if (!known.open) list(known);
        return known;
      }
    LoadedLibrary& made = libraries_.emplace_back();
    try {
      made.path = path;
      made.handle = handle;
      fill(made, before);
      list(made);
    } catch (...) {
      withdraw_all(made);
      rejected_.push_back(std::move(made));  // what it has put into the registry stays known, and is found no more
      libraries_.pop_back();
      throw;
    }
    return made;
  }

  void close(LoadedLibrary& library) {
    const std::lock_guard lock(mutex_);
    if (!library.open) return;
    withdraw_all(library);
    library.open = false;
  }
  bool is_open(const LoadedLibrary& library) {
    const std::lock_guard lock(mutex_);
    return library.open;
  }

 private:
  static void withdraw_all(LoadedLibrary& library) {
    for (const auto& [slot, entry] : library.listed)
      if (slot->listed.load()) withdraw(*slot);
  }

  /// Reads what the library hands over. `before` is the registry before it was opened.
  static void fill(LoadedLibrary& made, Slot* before) {
    const auto give = reinterpret_cast<const strop_library* (*)()>(::dlsym(made.handle, "strop_operators"));
    if (give == nullptr)
      fail("load_library: '", made.path,
           "' is no library of strop operators: it has no function strop_operators (see strop/library/export.hpp)");
    // What it has put into the registry by itself, where it shares the program's symbols.
    Dl_info own{}, other{};
    ::dladdr(reinterpret_cast<const void*>(give), &own);
    for (Slot* slot = registry_head.load(); slot != nullptr && slot != before; slot = slot->next.load())
      if (const Entry* const entry = slot->entry.load())
        if (::dladdr(entry, &other) != 0 && other.dli_fbase == own.dli_fbase) made.listed.emplace_back(slot, entry);
    const strop_library* const library = give();
    if (library == nullptr) fail("load_library: '", made.path, "' gives no operators: strop_operators() returns null");
    if (library->version != strop_layout_version)
      fail("load_library: '", made.path, "' speaks version ", library->version,
           " of the layout of operators, expected ", int{strop_layout_version});
    if (library->size < sizeof(strop_library)) refuse_size(made);
    for (std::int64_t i = 0; i < library->operators; ++i) {
      const strop_operator* const c = library->list[i];
      bool native = false;
      for (const auto& [slot, entry] : made.listed) native = native || entry == c->own;
      if (native) continue;
      for (const strop_operator* g = c; g != nullptr; g = g->gradient) check_operator(made, *g);
      made.plugin.push_back(plugin_operator(c));
      made.listed.emplace_back(&made.plugin.back()->slot, &made.plugin.back()->entry);
    }
    if (made.listed.empty()) fail("load_library: '", made.path, "' has no operator that this machine runs");
  }
  [[noreturn]] static void refuse_size(const LoadedLibrary& made) {
    fail("load_library: '", made.path, "' has structures that are smaller than those of version ",
         int{strop_layout_version});
  }
  static void check_operator(const LoadedLibrary& made, const strop_operator& c) {
    if (c.size < offsetof(strop_operator, integers_as_double)) refuse_size(made);  // what came later may be missing
    for (std::int64_t i = 0; i < c.parameters; ++i)
      if (c.parameter[i]->size < sizeof(strop_parameter)) refuse_size(made);
    if (c.object_align > 64)
      fail("load_library: '", made.path, "' has an operator ",
           std::string_view(c.snake.data, static_cast<std::size_t>(c.snake.size)), " whose parameters are aligned to ",
           c.object_align, " bytes, expected at most 64");
  }

  /// Puts the library's operators into the registry, unless the program has one of their names.
  static void list(LoadedLibrary& library) {
    for (const Entry* const other : all_operators()) {
      bool own = other->library;
      for (const auto& [slot, entry] : library.listed) own = own || entry == other;
      if (own) continue;
      for (const auto& [slot, entry] : library.listed) {
        check_name(library, *entry, entry->name, *other);
        check_name(library, *entry, entry->snake, *other);
        for (const std::string_view alias : entry->aliases) check_name(library, *entry, alias, *other);
      }
    }
    for (const auto& [slot, entry] : library.listed) {
      if (slot->listed.load())
        restore(*slot, *entry);
      else
        enrol(*slot, *entry);
    }
    library.open = true;
  }
  static void check_name(const LoadedLibrary& library, const Entry& entry, std::string_view name, const Entry& other) {
    bool taken = other.name == name || other.snake == name;
    for (const std::string_view alias : other.aliases) taken = taken || alias == name;
    if (taken)
      fail("load_library: '", library.path, "' has an operator '", name, "' (", entry.qualified,
           "), and so has the program (", other.qualified, "), expected a name of its own");
  }

  std::mutex mutex_;
  std::deque<LoadedLibrary> libraries_, rejected_;
};

}  // namespace detail

STROP_IMPL const std::string& Library::path() const { return loaded_->path; }
STROP_IMPL std::vector<std::string_view> Library::operators() const {
  std::vector<std::string_view> names;
  for (const auto& [slot, entry] : loaded_->listed) names.push_back(entry->name);
  return names;
}
STROP_IMPL bool Library::is_open() const { return detail::LoadedLibraries::get().is_open(*loaded_); }
STROP_IMPL void Library::close() const { detail::LoadedLibraries::get().close(*loaded_); }
STROP_IMPL Library load_library(const std::string& path) { return Library(detail::LoadedLibraries::get().load(path)); }

}  // namespace strop::inline v0

#include <strop/library/plugin_impl.hpp>
