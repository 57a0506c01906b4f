// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a call costs beside its work: one-element operators, typed, into an array, by name, recorded, with backward.
/// Bounds: typed <= 150 ns, into <= 60, by name with a parameter <= 600, recorded <= 250, multiply + sum + backward <=
/// 2000.
#include <strop/strop.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

struct Shift {
  float by = 1;
  constexpr auto forward(auto x) const { return x + by; }
};
constexpr strop::Op<Shift> shift;
struct Times {
  constexpr auto forward(auto x, auto y) const { return x * y; }
};
constexpr strop::Op<Times> times;

void report(const char* what, double bound, const auto& work) {
  std::vector<double> rounds;
  for (int round = 0; round < 41; ++round) {
    constexpr int calls = 2000;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) work();
    rounds.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
                     calls);
  }
  std::sort(rounds.begin(), rounds.end());
  std::printf("%-34s %9.1f ns  (median %.1f, bound %.0f)\n", what, rounds.front(), rounds[rounds.size() / 2], bound);
}

}  // namespace

int main() {
  const auto x = strop::array({1}), y = strop::array({2});
  auto out = strop::zeros({1});
  report("typed, one input", 150, [&] { shift(x, {.by = 2}); });
  report("typed, two inputs", 150, [&] { times(x, y); });
  report("into an array", 60, [&] { times(x, y, strop::into(out)); });
  report("by name with a parameter", 600, [&] { strop::invoke("shift", {x}, {{"by", "2"}}); });
  x.attach_grad();
  y.attach_grad();
  report("recorded", 250, [&] {
    strop::record scope;
    times(x, y);
  });
  report("multiply + sum + backward", 2000, [&] {
    strop::record scope;
    strop::sum(times(x, y)).backward();
  });
}
