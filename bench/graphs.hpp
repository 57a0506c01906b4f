// SPDX-License-Identifier: Apache-2.0
/// \file
/// Graphs that several benchmarks run, and what they cost.
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

/// Operations of the layers with weights, as multiples of the size of a result: of all, or of those that a plan of
/// training computes again for backward.
inline double operations(const strop::Symbol& net, const strop::NamedShapes& shapes,
                         const strop::MemoryPlan* again = nullptr) {
  const auto found = net.infer_shape(shapes), inner = net.get_internals().infer_shape(shapes);
  double sum = 0;
  for (const std::string& name : net.list_arguments()) {
    if (!name.ends_with("_weight")) continue;
    const std::string node = name.substr(0, name.size() - 7);
    bool counts = again == nullptr;
    if (again != nullptr)
      for (const auto& value : again->values()) counts = counts || value.node == node + "_mirror";
    if (counts)
      sum += static_cast<double>(inner[node + "_output"].size()) * static_cast<double>(found[name].size()) /
             static_cast<double>(found[name][0]);
  }
  return sum;
}

}  // namespace bench
