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
  int checks = 0;
  std::vector<std::string> failures;
  for (const Entry* e : entries) {
    for (const verify::Row& row : verify::rows_of(*e)) {
      try {
        verify::Findings found = verify::check_row(row);
        checks += found.checks;
        for (std::string& failure : found.failures) failures.push_back(cat(failure, " {", row.params, '}'));
      } catch (const std::exception& error) {
        failures.push_back(cat(e->snake, " {", row.params, "}: ", error.what()));
      }
    }
    progress.step();
  }
  progress.finish(cat(std::ssize(entries) - gradients, " operators, ", gradients, " gradients, ", checks, " checks, ",
                      failures.size(), " failed"));
  for (const std::string& failure : failures) std::printf("  %s\n", failure.c_str());
  return failures.empty() ? 0 : 1;
}

}  // namespace strop::command
