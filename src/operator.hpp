// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators by the names that a command line gives.
#pragma once
#include "command.hpp"

#include <strop/strop.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace strop::command {

/// The operator of that name, or WrongCall with the names nearest to it.
inline const Entry& operator_called(const std::string& name) {
  if (const Entry* entry = detail::look_up(name)) return *entry;
  std::vector<std::string_view> names;
  for (const Entry* entry : detail::all_operators())
    if (!entry->is_gradient()) names.push_back(entry->snake);
  throw WrongCall(
      cat("no operator '", name, "'; nearest: ", detail::list_nearest(name, names, 5), "; `strop ops` lists all"));
}

/// The parameters of a call, or WrongCall with what is wrong with them.
inline detail::Ref<detail::ParamBox> params_of(const Entry& entry, AttributeSpan words = {}) {
  try {
    return detail::parse_params(entry, words);
  } catch (const Error& error) {
    throw WrongCall(error.what());
  }
}

}  // namespace strop::command
