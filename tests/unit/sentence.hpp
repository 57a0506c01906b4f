// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a call that is refused says.
#pragma once
#include <exception>
#include <string>

namespace testing {

/// The text of what `call` throws; empty where it throws nothing. Without the place that is in it where the call waited
/// for its turn: what is done at once says the same.
template <class Call>
std::string sentence(Call&& call) {
  try {
    call();
  } catch (const std::exception& e) {
    const std::string text = e.what();
    return text.substr(0, text.find(" [pushed at "));
  }
  return {};
}

}  // namespace testing
