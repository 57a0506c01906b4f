// SPDX-License-Identifier: Apache-2.0
/// \file
/// Graphs that several benchmarks run.
#pragma once
#include <strop/strop.hpp>

#include <cstdlib>
#include <optional>
#include <string>

namespace bench {

/// A chain of maps of one element that are not fused: what a node takes apart from what it computes.
inline strop::Executor chain_of_elements(int nodes) {
  strop::Symbol chain = strop::var("data");
  for (int i = 0; i < nodes; ++i) chain = strop::square(chain);
  const char* const given = std::getenv("STROP_FUSE");
  const auto before = given != nullptr ? std::optional<std::string>(given) : std::nullopt;
  ::setenv("STROP_FUSE", "0", 1);
  strop::Executor run = chain.bind(strop::cpu(), {{"data", strop::ones({1})}});
  before ? ::setenv("STROP_FUSE", before->c_str(), 1) : ::unsetenv("STROP_FUSE");
  return run;
}

}  // namespace bench
