// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a call that is refused says.
#pragma once
#include <exception>
#include <string>

namespace testing {

/// The text of what `call` throws; empty where it throws nothing.
template <class Call>
std::string sentence(Call&& call) {
  try {
    call();
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

}  // namespace testing
