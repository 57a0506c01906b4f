// SPDX-License-Identifier: Apache-2.0
/// \file
/// A foreign program: one operator of its own, in arrays, by name, differentiated, on CSR and in a graph.
// expect: 7 5
// expect: [9, 11]
// expect: csr
// expect: [7, 5]
#include <fmt/format.h>

#include <strop/strop.hpp>

namespace foreign {

struct Bend {
  float lift = 0;
  constexpr auto forward(auto x) const { return x * x + x * 5 + lift; }
};
inline constexpr strop::Op<Bend> bend;

static_assert(strop::UnaryOp<Bend>);
static_assert(strop::check::gradient(Bend{}, 2.0) == 9.0);

}  // namespace foreign

int main() {
  auto x = strop::array({2, 3});
  auto y = foreign::bend(x, {.lift = -7});
  auto named = strop::invoke("bend", {x}, {{"lift", "-19"}});
  fmt::print("{} {}\n", y[0].item<float>(), named[1].item<float>());

  x.attach_grad();
  {
    strop::record scope;
    strop::sum(foreign::bend(x)).backward();
  }
  fmt::print("{}\n", x.grad());

  auto sparse = foreign::bend(strop::array({{0, 1}, {0, 0}}).to(strop::csr));
  fmt::print("{}\n", sparse.storage() == strop::csr ? "csr" : "not csr");

  auto run = foreign::bend(strop::var("data"), {.lift = -7}).bind(strop::cpu(), {{"data", strop::array({2, 1.5})}});
  auto out = run.forward()[0];
  fmt::print("[{}, {}]\n", out[0].item<float>(), out[1].item<float>() + 2.25f);
}
