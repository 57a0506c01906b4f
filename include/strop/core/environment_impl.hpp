// SPDX-License-Identifier: Apache-2.0
/// \file
/// The check of all variables of the environment.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/environment.hpp>

#include <algorithm>

namespace strop::inline v0::detail {

STROP_IMPL void check_environment() {
  for (const Known& variable : known_variables) {
    const Setting setting = environment({variable.name, variable.old_name});
    if (!setting) continue;
    std::int64_t count = 0;
    bool flag = false, right = false;
    switch (variable.kind) {
      case Known::count:
        right = parse_integer(setting.value, count) && count >= 1;
        break;
      case Known::flag:
        right = parse_bool(setting.value, flag);
        break;
      case Known::word:
        right = std::find(variable.words.begin(), variable.words.end(), setting.value) != variable.words.end();
        break;
    }
    if (!right) setting.refuse(variable.expected);
  }
}

}  // namespace strop::inline v0::detail
