// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a call costs beside its work: one-element operators, typed, into an array, by name, recorded, with backward; a
/// small call that broadcasts; a bound chain, by node. Last, the gradient of an array of 2^17 floats that four products
/// use, against the same products and sums written by hand: at most 1.1 times.
#include "measure.hpp"

#include <array>
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
struct Plus {
  constexpr auto forward(auto x, auto y) const { return x + y; }
};
constexpr strop::Op<Plus> plus;

struct Row {
  const char* what;
  double bound;
  int contestant;
  double parts = 1;
};

void print(const Row& r, const bench::Contest& contest) {
  if (bench::lines)
    bench::line(r.what, contest.best(r.contestant) / r.parts);
  else
    std::printf("%-34s %9.1f ns  (median %.1f, bound %.0f)\n", r.what, contest.best(r.contestant) / r.parts,
                contest.median(r.contestant) / r.parts, r.bound);
}

void fan_out() {
  constexpr int uses = 4;
  const strop::Shape shape{1 << 17};
  const strop::NDArray x = strop::random::uniform(shape);
  x.attach_grad();
  std::array<strop::NDArray, uses> weights, heads, products;
  for (strop::NDArray& w : weights) w = strop::random::uniform(shape);
  for (strop::NDArray& g : heads) g = strop::random::uniform(shape);
  {
    strop::record scope;
    for (std::size_t i = 0; i < uses; ++i) products[i] = times(x, weights[i]);
  }
  strop::NDArray total;
  bench::Contest contest;
  const int ours = contest.add([&] {
    strop::backward(products, heads, true);
    x.grad().wait();
  });
  const int by_hand = contest.add([&] {
    total = times(heads[0], weights[0]);
    for (std::size_t i = 1; i < uses; ++i) total = plus(total, times(heads[i], weights[i]));
    total.wait();
  });
  contest.run(4e8, 1e6);
  std::printf("%-34s %9.1f us  (by hand %.1f: %.2fx, bound 1.10x)\n", "fan-out of 4 at 2^17, backward",
              contest.best(ours) / 1e3, contest.best(by_hand) / 1e3, contest.best(ours) / contest.best(by_hand));
}

}  // namespace

int main(int argc, char** argv) {
  bench::start(argc, argv);
  const auto x = strop::array({1}), y = strop::array({2}), v = strop::array({1}), w = strop::array({2});
  const auto matrix = strop::array({{1, 2, 3}, {4, 5, 6}}), row_vector = strop::array({1, 2, 3});
  auto out = strop::zeros({1});
  v.attach_grad();
  w.attach_grad();
  constexpr int nodes = 64;
  strop::Symbol chain = strop::var("data");
  for (int i = 0; i < nodes; ++i) chain = shift(chain, {.by = 1});
  auto bound_chain = chain.bind(strop::cpu(), {{"data", x}});
  bench::Contest contest;
  std::vector<Row> rows;
  const auto row = [&](const char* what, double bound, auto work) { rows.push_back({what, bound, contest.add(work)}); };
  row("one input", 65, [&] { (void)shift(x, {.by = 2}); });
  row("two inputs", 65, [&] { (void)times(x, y); });
  row("into an array", 55, [&] { times(x, y, strop::into(out)); });
  row("by name with a parameter", 180, [&] { strop::invoke("shift", {x}, {{"by", "2"}}); });
  row("recorded", 180, [&] {
    strop::record scope;
    (void)times(v, w);
  });
  row("multiply + sum + backward", 1200, [&] {
    strop::record scope;
    strop::sum(times(v, w)).backward();
  });
  row("broadcast of (2, 3) and (3)", 120, [&] { (void)times(matrix, row_vector); });
  row("a node of a bound chain", 30, [&] { bound_chain.forward(); });
  rows.back().parts = nodes;
  contest.run(6e7);
  for (const Row& r : rows) print(r, contest);
  if (!bench::lines) fan_out();
}
