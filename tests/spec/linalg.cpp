// SPDX-License-Identifier: Apache-2.0
// A header-only program that calls linear algebra without Eigen, which strop.hpp does not read.
// expect: _linalg_potrf computes with Eigen: include <strop/linalg.hpp>, or link the compiled runtime
// expect: [[22]]
// emits-nothing-of: Eigen::
#include <strop/strop.hpp>

int main() {
  try {
    (void)strop::linalg_potrf(strop::array({{4, 2}, {2, 5}}));
  } catch (const strop::Error& error) {
    std::printf("%s\n", error.what());
  }
  fmt::print("{}\n",
             strop::linalg_gemm2(strop::array({{1, 2}}), strop::array({{3, 4}}), {.transpose_b = true, .alpha = 2}));
}
