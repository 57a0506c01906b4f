// SPDX-License-Identifier: Apache-2.0
/// \file
/// Linked into the programs that test operators: with STROP_TEST_ASYNCHRONOUS set, each of their calls on dense arrays,
/// however small, is handed to the engine, and nothing else may change.
#include <strop/tensor/variable.hpp>

#include <cstdlib>

namespace {
[[maybe_unused]] const bool asynchronous = [] {
  const bool on = std::getenv("STROP_TEST_ASYNCHRONOUS") != nullptr;
  if (on) strop::set_asynchronous(true, 0);
  return on;
}();
}  // namespace
