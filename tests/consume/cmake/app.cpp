// SPDX-License-Identifier: Apache-2.0
/// \file
/// A foreign program whose operator states its own gradient, checked by the library's tools for users.
// expect: [1, 4]
// expect: true
#include <fmt/format.h>

#include <strop/strop.hpp>

struct Square {
  constexpr auto forward(auto x) const { return x * x; }
  constexpr auto grad_use_in(auto dy, auto x) const { return dy * 2 * x; }
};
inline constexpr strop::Op<Square> square_of_ours;

static_assert(strop::HasGradUseIn<Square>);

int main() {
  auto x = strop::array({1, 2});
  fmt::print("{}\n", square_of_ours(x));
  fmt::print("{}\n", static_cast<bool>(strop::check_gradient(square_of_ours, {x})));
}
