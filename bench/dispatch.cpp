// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a call costs beside its work: one-element operators, typed, into an array, by name, recorded, with backward.
/// Bounds: typed <= 150 ns, into <= 60, by name with a parameter <= 600, recorded <= 250, multiply + sum + backward <=
/// 2000.
#include "measure.hpp"

#include <strop/strop.hpp>

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

struct Row {
  const char* what;
  double bound;
  int contestant;
};

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  const auto x = strop::array({1}), y = strop::array({2}), v = strop::array({1}), w = strop::array({2});
  auto out = strop::zeros({1});
  v.attach_grad();
  w.attach_grad();
  bench::Contest contest;
  std::vector<Row> rows;
  const auto row = [&](const char* what, double bound, auto work) { rows.push_back({what, bound, contest.add(work)}); };
  row("one input", 150, [&] { shift(x, {.by = 2}); });
  row("two inputs", 150, [&] { times(x, y); });
  row("into an array", 60, [&] { times(x, y, strop::into(out)); });
  row("by name with a parameter", 600, [&] { strop::invoke("shift", {x}, {{"by", "2"}}); });
  row("recorded", 250, [&] {
    strop::record scope;
    times(v, w);
  });
  row("multiply + sum + backward", 2000, [&] {
    strop::record scope;
    strop::sum(times(v, w)).backward();
  });
  contest.run(6e7);
  for (const Row& r : rows) {
    if (bench::lines)
      bench::line(r.what, contest.best(r.contestant));
    else
      std::printf("%-34s %9.1f ns  (median %.1f, bound %.0f)\n", r.what, contest.best(r.contestant),
                  contest.median(r.contestant), r.bound);
  }
}
