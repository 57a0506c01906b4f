// SPDX-License-Identifier: Apache-2.0
// The same with Eigen.
// expect: [[2, 0], [1, 2]]
// expect: [16]
#include <strop/linalg.hpp>
#include <strop/strop.hpp>

int main() {
  fmt::print("{}\n{}\n", strop::linalg_potrf(strop::array({{4, 2}, {2, 5}})),
             strop::linalg_det(strop::array({{4, 2}, {2, 5}})));
}
