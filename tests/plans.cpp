// SPDX-License-Identifier: Apache-2.0
/// \file
/// Linked into the programs that test operators: the memory plan of every graph that any of them makes is checked, also
/// of the graphs that nobody sees: bodies of loops and branches, and what traced functions leave behind. So is what
/// each pass makes of a graph.
#include <strop/core/error.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/graph/plan.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

/// A failure of the test, and no Error, which the test might expect or an operation of the engine keep to itself.
void check_plan(const strop::detail::BoundGraph& graph) {
  const strop::MemoryPlan plan = strop::detail::plan_of(graph);
  CHECK(plan.bound() <= plan.bytes());
  CHECK(plan.bytes() <= plan.unshared());
  try {
    plan.check();
  } catch (const strop::Error& error) {
    FAIL_CHECK(std::string(error.what()));
  }
}

void tell_illegal(const std::string& sentence) { FAIL_CHECK(sentence); }

[[maybe_unused]] const bool watched =
    (strop::detail::planned_graphs = &check_plan, strop::detail::illegal_graphs = &tell_illegal, true);

}  // namespace
