// SPDX-License-Identifier: Apache-2.0
/// \file
/// Names and attributes that nodes get when they are made: counters and prefixes, per thread.
#pragma once
#include <strop/graph/node.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// How the thread names nodes at this moment.
struct Naming {
  std::string prefix;
  std::vector<std::pair<std::string, int>> counters;
};
struct NamingState {
  std::vector<Naming> scopes = std::vector<Naming>(1);
  NamedTexts attributes;
};
inline NamingState& naming() {
  thread_local NamingState state;
  return state;
}

/// The name of a new node: as given, or the operator's name in lower case and a number; the scope's prefix before it.
inline std::string node_name(const Entry& entry, std::string_view given) {
  Naming& scope = naming().scopes.back();
  if (!given.empty()) return cat(scope.prefix, given);
  std::string hint(entry.name);
  for (char& c : hint)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  for (auto& [known, next] : scope.counters)
    if (known == hint) return cat(scope.prefix, hint, next++);
  scope.counters.emplace_back(hint, 1);
  return cat(scope.prefix, hint, 0);
}

/// Attributes that other tools read are kept as `__key__`.
inline std::string attribute_key(std::string_view key) {
  for (std::string_view known : {"ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage"})
    if (key == known) return cat("__", key, "__");
  return std::string(key);
}

}  // namespace detail

/// While it lives, operators of this thread get this prefix before their names and count anew:
/// `strop::NameScope scope("stage1_");`. Variables keep the names that they are given.
class NameScope {
 public:
  explicit NameScope(std::string prefix = {}) { detail::naming().scopes.push_back({std::move(prefix), {}}); }
  ~NameScope() { detail::naming().scopes.pop_back(); }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
};

/// While it lives, nodes that this thread makes get these attributes: `strop::AttrScope scope{{"ctx_group", "stage1"}};`
class AttrScope {
 public:
  AttrScope(std::initializer_list<std::pair<std::string_view, std::string_view>> attributes) : before_(detail::naming().attributes) {
    for (const auto& [key, text] : attributes) detail::naming().attributes.emplace_back(detail::attribute_key(key), text);
  }
  ~AttrScope() { detail::naming().attributes = std::move(before_); }
  AttrScope(const AttrScope&) = delete;
  AttrScope& operator=(const AttrScope&) = delete;

 private:
  NamedTexts before_;
};

}  // namespace strop::inline v0
