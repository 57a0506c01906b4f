// SPDX-License-Identifier: Apache-2.0
// The program of the design's second section, as it stands there.
// expect: csr(2, 2) {(0, 1): 3, (1, 0): 8}
// expect: true
// expect: [2, 4]
// expect: [1, 4]
#include <strop/strop.hpp>

/// f(x) = a·x² + b·x + c, element by element.
struct Quadratic {
  float a = 0, b = 0, c = 0;  // parameters: names, types and defaults come by reflection
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
