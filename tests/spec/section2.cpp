// SPDX-License-Identifier: Apache-2.0
// The program of the design's second section, as it stands there.
// expect: csr(2, 2) {(0, 1): 3, (1, 0): 8}
// expect: true
// expect: [2, 4]
// expect: [1, 4]
// expect-stderr: strop: quadratic(a=1, b=2, c=3): dense fallback for (csr) -> (dense): the result is not zero where
#include <strop/strop.hpp>

/// f(x) = a·x² + b·x + c, element by element.
struct Quadratic {
  float a = 0, b = 0, c = 0;  // parameters: names, types and defaults come by reflection
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
inline constexpr strop::Op<Quadratic> quadratic;  // names the callable, and so registers the operator

static_assert(strop::UnaryOp<Quadratic>);  // compile-time-checked unit tests
static_assert(strop::check::value(Quadratic{1, 2, 3}, 2.0) == 11.0);
static_assert(strop::check::gradient(Quadratic{1, 2, 3}, 2.0) == 6.0);  // derived, never written
static_assert(strop::check::storage(Quadratic{1, 2, 0}, strop::csr) == strop::csr);
static_assert(strop::check::storage(Quadratic{1, 2, 3}, strop::csr) == strop::dense);

int main() {
  auto x = strop::array({{0, 1}, {2, 0}}).to(strop::csr);
  auto y = quadratic(x, {.a = 1, .b = 2});                 // CSR in, CSR out: f(0) == 0 with these parameters
  auto z = quadratic(x, {.a = 1, .b = 2, .c = 3});         // dense out, one visible fallback line
  auto w = strop::invoke("quadratic", {x}, {{"a", "1"}});  // found by name, parameters as text
  fmt::print("{}\n{}\n", y, strop::allclose(z, strop::array({{3, 6}, {11, 3}})));

  auto v = strop::array({1.0f, 2.0f});
  v.attach_grad();
  {
    strop::record scope;
    strop::sum(quadratic(v, {.a = 1})).backward();
  }
  fmt::print("{}\n", v.grad());  // [2, 4]

  auto net = quadratic(strop::var("data"), {.a = 1});  // the same name builds a graph
  auto run = net.bind(strop::cpu(), {{"data", v}});
  fmt::print("{}\n", run.forward()[0]);
}
