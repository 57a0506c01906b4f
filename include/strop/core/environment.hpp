// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the environment says. Every variable of ours is read here, so that a wrong value of any is the same sentence.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/text.hpp>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// A variable and its value; empty where it is not set.
struct Setting {
  std::string name, value;
  explicit operator bool() const { return !value.empty(); }
  [[noreturn]] void refuse(std::string_view expected) const {
    fail(name, ": expected ", expected, ", got '", value, "'");
  }
};

/// The first of the variables that is set; one that is empty counts as not set.
inline Setting environment(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    Setting setting{std::string(name), {}};
    if (const char* const value = std::getenv(setting.name.c_str()); value != nullptr) setting.value = value;
    if (setting) return setting;
  }
  return {};
}

/// A whole number of 1 or more, cut at `most`; 0 where it is not set.
inline int environment_count(std::initializer_list<std::string_view> names, int most) {
  const Setting setting = environment(names);
  if (!setting) return 0;
  std::int64_t count = 0;
  if (!parse_integer(setting.value, count) || count < 1) setting.refuse("a whole number of 1 or more");
  return count < most ? static_cast<int>(count) : most;
}

/// True or false; `standard` where it is not set.
inline bool environment_flag(std::initializer_list<std::string_view> names, bool standard) {
  const Setting setting = environment(names);
  bool flag = standard;
  if (setting && !parse_bool(setting.value, flag)) setting.refuse("0 or 1");
  return flag;
}

/// Throws Error where STROP_ISA names no level: that is found when operators join the registry, before main, and said
/// when memory is first asked for.
void check_level_setting();

}  // namespace strop::inline v0::detail
