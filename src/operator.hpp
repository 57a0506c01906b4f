// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators by the names that a command line gives.
#pragma once
#include "command.hpp"

#include <strop/core/printable.hpp>
#include <strop/strop.hpp>
#include <strop/verify.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace strop::command {

/// The operator of that name, or WrongCall with the names nearest to it.
inline const Entry& operator_called(const std::string& name) {
  if (const Entry* entry = detail::look_up(name)) return *entry;
  throw WrongCall(cat("no operator '", detail::printable(name, 100), "'; nearest: ", detail::nearest_operators(name),
                      "; `", program(), " ops` lists all"));
}

/// What `command` works on: the operator of that name, or without a name all for which rows say how they are called.
inline std::vector<const Entry*> operators_to(std::string_view command, const std::string& name) {
  std::vector<const Entry*> entries = detail::all_operators();
  if (!name.empty()) entries = {&operator_called(name)};
  if (!name.empty() && verify::rows_of(*entries[0]).empty())
    fail(command, ": ", entries[0]->snake, " has no row that says on what to run it, and is no map, which needs none");
  std::erase_if(entries, [](const Entry* e) { return verify::rows_of(*e).empty(); });
  return entries;
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
