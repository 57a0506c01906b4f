// SPDX-License-Identifier: Apache-2.0
/// \file
/// A file that defines an operator; another one calls it, a third one brings the runtime.
// expect: [0.5, 1, 1.5]
// expect: [0.5, 0.5, 0.5]
// expect: true
#include <fmt/format.h>

#include "operator.hpp"

strop::Array other(const strop::Array& x);
bool eigen_agrees();

int main() {
  auto x = strop::array({1, 2, 3});
  x.attach_grad();
  {
    strop::record scope;
    strop::sum(half(x)).backward();
  }
  fmt::print("{}\n{}\n{}\n", other(x), x.grad(), eigen_agrees());
}
