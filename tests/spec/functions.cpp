// SPDX-License-Identifier: Apache-2.0
/// \file
/// The vector functions beside the C library's: right also where the program lets clang reorder sums, as the stage
/// machines compiles it.
// expect: true true true true true
#include <fmt/format.h>

#include <cmath>
#include <strop/strop.hpp>
#include <vector>

int main() {
  std::vector<float> points;
  for (int i = 1; i <= 4000; ++i) points.push_back(static_cast<float>(i) / 100);
  const strop::Array x = strop::from_pointer(points.data(), {4000}, [](void*) {});
  const auto right = [&](const strop::Array& y, double (*f)(double)) {
    const std::vector<float> got = y.to_vector<float>();
    bool all = true;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double want = f(static_cast<double>(points[i]));
      all = all && std::fabs(static_cast<double>(got[i]) - want) <= 1e-6 * std::fmax(1.0, std::fabs(want));
    }
    return all;
  };
  const strop::Array p = strop::softmax(x);
  fmt::print("{} {} {} {} {}\n", right(strop::exp(x), std::exp), right(strop::sin(x), std::sin),
             right(strop::cos(x), std::cos), right(strop::log(x), std::log),
             strop::allclose(strop::sum(p), strop::array({1.0})));
  return right(strop::exp(x), std::exp) && right(strop::sin(x), std::sin) && right(strop::cos(x), std::cos) &&
                 right(strop::log(x), std::log)
             ? 0
             : 1;
}
