// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop check`: operators against what their entries claim.
#include "command.hpp"
#include "operator.hpp"
#include "progress.hpp"

#include <strop/strop.hpp>

#include <algorithm>
#include <cstdio>

namespace strop::command {

int check(const std::string& name) {
  const std::vector<const Entry*> entries = operators_to("check", name);
  const auto gradients = std::count_if(entries.begin(), entries.end(), [](const Entry* e) { return e->is_gradient(); });
  Progress progress("check", std::ssize(entries));
  verify::Findings found;
  for (const Entry* e : entries) {
    found.add(verify::check(*e));
    progress.step();
  }
  progress.finish(cat(std::ssize(entries) - gradients, " operators, ", gradients, " gradients, ", found.checks,
                      " checks, ", found.failures.size(), " failed"));
  for (const std::string& failure : found.failures) std::printf("  %s\n", failure.c_str());
  return found ? 0 : 1;
}

}  // namespace strop::command
