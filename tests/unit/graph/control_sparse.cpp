// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops and branches of sparse arrays.
#include <strop/graph/control.hpp>
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/dot.hpp>

#include "operators.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using namespace graph_tests;

TEST_CASE("sparse arrays that a body reads from outside reach it as they are; entries and states are dense copies") {
  const NDArray x = array({{1, 0}, {0, 2}, {3, 1}}), s = array({1, -1}), w = array({{0, 2}, {1, 0}});
  const Symbol weight = var("w"), data = var("x");
  const auto looped = foreach(
      [&](const Symbol& one, const Symbol& state) {
        const Symbol next = dot(weight, state) + one;
        return std::pair(next * 2, next);
      },
      data, var("s"));
  const Symbol loop = group({looped.first, looped.second});
  const Symbol branch = cond(var("p"), [&] { return dot(weight, data); }, [&] { return dot(weight, data * 3); });
  const auto gradients = [&](const Symbol& net, const NamedArrays& others, const NDArray& weights,
                             const NDArray& buffer) {
    NamedArrays args = others;
    args.emplace_back("w", weights);
    auto run = net.bind(cpu(), args, {{"w", buffer}});
    run.forward(true);
    std::vector<NDArray> heads;
    for (const NDArray& y : run.outputs()) heads.push_back(quadratic(y, {.b = 0.5f, .c = 1}));
    run.backward(heads);
    return run.outputs();
  };
  const Fallback before = set_fallback(Fallback::error);
  const auto agree = [&](const Symbol& net, const NamedArrays& others) {
    const NDArray dw = zeros({2, 2}), expected = zeros({2, 2}), on_places = zeros({2, 2}, csr);
    const std::vector<NDArray> y = gradients(net, others, w, expected);
    for (const NDArray& buffer : {dw, on_places}) {
      const std::vector<NDArray> z = gradients(net, others, w.to(csr), buffer);
      for (std::size_t k = 0; k < y.size(); ++k) CHECK(same(y[k], z[k]));
    }
    CHECK(same(dw, expected));
    CHECK(same(on_places, expected * array({{0, 1}, {1, 0}})));
  };
  agree(loop, {{"x", x}, {"s", s}});
  for (const float p : {0.0f, 1.0f}) agree(branch, {{"x", array({{1, 2}, {3, 4}})}, {"p", array({p})}});
  // A result that is sparse becomes dense where it is collected, which is a fallback.
  const Symbol doubled = cond(var("p"), [&] { return weight * 2; }, [&] { return weight; });
  auto run = doubled.bind(cpu(), {{"w", w.to(csr)}, {"p", ones({1})}});
  CHECK(sentence([&] { run.forward(); }).find("what a loop or a branch gives is dense") != std::string::npos);
  set_fallback(Fallback::silent);
  CHECK(same(run.forward()[0], w * 2));
  run.arg("p").view<float>()[0] = 0;
  CHECK(same(run.forward()[0], w));
  auto entries = looped.first.bind(cpu(), {{"x", x.to(csr)}, {"s", s}, {"w", w}});
  auto whole = looped.first.bind(cpu(), {{"x", x}, {"s", s}, {"w", w}});
  CHECK(same(entries.forward()[0], whole.forward()[0]));
  set_fallback(before);
}
