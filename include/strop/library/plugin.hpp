// SPDX-License-Identifier: Apache-2.0
/// \file
/// An operator of a shared library as the program has it: an entry made at run time, whose functions call into the
/// library.
#pragma once
#include <strop/library/layout.h>
#include <strop/op/entry.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace strop::inline v0::detail {

/// Gradients of gradients that are kept apart, the operator itself being the first.
inline constexpr int plugin_orders = 5;

/// A type of a parameter that the library parses and prints.
struct PluginType : ValueType {
  const strop_parameter* c;
  std::vector<std::string_view> list;  // of words
};

struct PluginOperator;
/// The parameters of a plugin operator. In front of an object stands which operator it is of, because an entry's
/// functions are given the object alone.
struct PluginTable : ParamTable {
  const strop_operator* c;
  const PluginOperator* root;
};

/// An entry that knows what it was made of.
struct PluginEntry : Entry {
  const strop_operator* c = nullptr;
};

/// The operator, or its gradient of some order. Never taken down: calls on their way, tapes and graphs refer to it.
struct PluginOperator {
  PluginEntry entry;
  const PluginOperator* orders[plugin_orders] = {};  // of the operator: itself and its gradients
  PluginTable table;
  std::deque<PluginType> types;
  std::vector<Field> fields;
  std::vector<Range> ranges;
  std::vector<ParamAlias> param_aliases;
  std::vector<std::string_view> aliases;
  std::vector<Note> notes;
  std::vector<Share> shares;
  Slot slot;
  std::unique_ptr<PluginOperator> gradient;
};

/// An operator of the program for one of a library.
std::unique_ptr<PluginOperator> plugin_operator(const strop_operator* c);

}  // namespace strop::inline v0::detail
