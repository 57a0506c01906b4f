// SPDX-License-Identifier: Apache-2.0
/// \file
/// A program with functions of its own called exp and where, before and after the library's header.
// expect: exp of seven
// expect: where is it
// expect: 1 2.5
// expect: [1, 1]
struct Text {
  const char* text;
};
Text exp(Text of);

#include <fmt/format.h>

#include <cmath>
#include <strop/strop.hpp>

Text exp(Text of) { return of; }
Text where(Text of) { return of; }

struct Grow {
  float by = 1;
  constexpr auto forward(auto x) const { return exp(by * x); }
};
inline constexpr strop::Op<Grow> grow;

int main() {
  fmt::print("{}\n{}\n", exp(Text{"exp of seven"}).text, where(Text{"where is it"}).text);
  fmt::print("{} {}\n", strop::exp(0.0), exp(0.0) + 1.5);  // the library's, and the C library's
  fmt::print("{}\n", grow(strop::zeros({2})));
}
