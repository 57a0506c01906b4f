// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scopes of names and attributes for the nodes that a thread makes.
#pragma once
#include <strop/graph/node.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0 {

/// While it lives, operators of this thread get this prefix before their names and count anew:
/// `strop::NameScope scope("stage1_");`. Variables keep the names that they are given.
class NameScope {
 public:
  [[nodiscard("it is in force while it lives: give it a name")]] explicit NameScope(std::string prefix = {});
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
};

/// While it lives, nodes that this thread makes get these attributes: `strop::AttrScope scope{{"ctx_group",
/// "stage1"}};`
class AttrScope {
 public:
  [[nodiscard("it is in force while it lives: give it a name")]] AttrScope(
      std::initializer_list<std::pair<std::string_view, std::string_view>> attributes);
  ~AttrScope();
  AttrScope(const AttrScope&) = delete;
  AttrScope& operator=(const AttrScope&) = delete;

 private:
  NamedTexts before_;
};

}  // namespace strop::inline v0
