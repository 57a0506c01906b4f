// SPDX-License-Identifier: Apache-2.0
/// \file
/// A foreign project tests its operators with the library's suite: all of them, and one on rows of its own.
// expect: all that the program defines: passed
// expect: lean on its own row: passed
#include "operators.hpp"

#include <fmt/format.h>
#include <strop/testing.hpp>
#include <strop/verify.hpp>

int main() {
  const auto all = strop::verify::check_operators();
  fmt::print("all that the program defines: {}\n", all ? "passed" : fmt::format("{}", all));

  strop::random::seed(1);
  const auto x = strop::testing::random_array(strop::testing::random_shape(2, 6), strop::csr, {.density = 0.5});
  const auto row = strop::verify::check(lean, {{"", "slope=0.5", {strop::verify::sample(x)}, {.gradient = false}}});
  fmt::print("lean on its own row: {}\n", row ? "passed" : fmt::format("{}", row));
}
