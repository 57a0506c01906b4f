// SPDX-License-Identifier: Apache-2.0
/// \file
/// A foreign program with a binary operator; the parameters come from the command line's text.
// expect: [0.5, 0.5]
// expect: [0.25, 0.25]
// expect: refused
#include <fmt/format.h>

#include <exception>
#include <strop/strop.hpp>

struct Mix {
  float part = 0.5f;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs * part + rhs * (1 - part); }
};
inline constexpr strop::Op<Mix> mix;

static_assert(strop::BinaryOp<Mix>);
static_assert(strop::check::value(Mix{}, 2.0, 4.0) == 3.0);

int main() {
  auto x = strop::array({0, 1}), y = strop::array({1, 0});
  fmt::print("{}\n", strop::invoke("mix", {x, y}, {{"part", "0.5"}}));
  x.attach_grad();
  {
    strop::record scope;
    mix(x, y, {.part = 0.25f}).backward();
  }
  fmt::print("{}\n", x.grad());  // what is recorded in the program the runtime has to find, and the other way
  try {
    strop::invoke("mix", {x, y}, {{"prat", "0.5"}});
  } catch (const std::exception&) {
    fmt::print("refused\n");
  }
}
