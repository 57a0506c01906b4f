// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators without a name, made of functions: eager, recorded, in graphs, on every storage.
#include "operators.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/op/fallback.hpp>
#include <strop/op/map.hpp>
#include <strop/ops/cast.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

using namespace graph_tests;

TEST_CASE("a function is computed element by element, and broadcasts") {
  const NDArray a = array({{1.0f, 2.0f}, {3.0f, -4.0f}}), b = array({0.5f, -1.0f});
  const NDArray y = strop::map([](auto x, auto w) { return x * tanh(w); }, a, b);
  REQUIRE(y.shape() == Shape{2, 2});
  const std::vector<float> got = y.to_vector<float>();
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(got[i] == doctest::Approx(a.to_vector<float>()[i] * std::tanh(b.to_vector<float>()[i % 2])));
  CHECK(same(strop::map([](auto x) { return 2 * x + 1; }, array<double>({1, 2})), array<double>({3, 5})));
  CHECK(
      same(strop::map([](auto a1, auto a2, auto a3, auto a4, auto a5, auto a6) { return a1 + a2 + a3 + a4 + a5 + a6; },
                      b, b, b, b, b, b),
           array({3.0f, -6.0f})));
}

TEST_CASE("several results are several arrays") {
  const std::vector<NDArray> y =
      strop::map([](auto x, auto z) { return std::make_tuple(x + z, x - z); }, array({3, 1}), array({1, 2}));
  REQUIRE(y.size() == 2);
  CHECK(same(y[0], array({4, 3})));
  CHECK(same(y[1], array({2, -1})));
}

TEST_CASE("gradients follow from the function, to order 3") {
  NDArray x = array<double>({0.5, -1.5});
  x.attach_grad();
  NDArray third;
  {
    const record scope;
    const NDArray y = strop::map([](auto v) { return v * v * v * v; }, x);
    const NDArray first = grad(y, {x}, {.create_graph = true})[0];
    const NDArray second = grad(first, {x}, {.create_graph = true})[0];
    third = grad(second, {x})[0];
  }
  CHECK(same(third, array<double>({12, -36})));
}

TEST_CASE("what is captured belongs to the call and to its record") {
  NDArray x = array({1.0f, 2.0f});
  x.attach_grad();
  NDArray y;
  {
    const record scope;
    const float k = 3;
    const auto held = std::make_shared<double>(2);  // not trivially copied
    y = strop::map([k, held](auto v) { return k * v * v + *held; }, x);
  }
  CHECK(same(y, array({5.0f, 14.0f})));
  y.backward();
  CHECK(same(x.grad(), array({6.0f, 12.0f})));
  const float factor = 4;
  CHECK(same(strop::map([&factor](auto v) { return factor * v; }, x), array({4.0f, 8.0f})));
}

TEST_CASE("sparse arrays stay sparse where zeros map to zero") {
  const NDArray dense_x = array({{0.0f, 2.0f}, {0.0f, -1.0f}});
  const NDArray x = dense_x.to(csr);
  const NDArray kept = strop::map([](auto v) { return v * exp(v); }, x);
  CHECK(kept.storage() == csr);
  CHECK(allclose(kept, strop::map([](auto v) { return v * exp(v); }, dense_x)));
  const Fallback before = set_fallback(Fallback::silent);
  const NDArray filled = strop::map([](auto v) { return v + 1; }, x);
  set_fallback(before);
  CHECK(filled.storage() == dense);
  CHECK(same(filled, array({{1.0f, 3.0f}, {1.0f, 0.0f}})));
  const float zero = 0, one = 1;  // the values that are captured decide
  CHECK(strop::map([zero](auto v) { return v + zero; }, x).storage() == csr);
  CHECK(strop::map([one](auto v) { return v * one; }, dense_x.to(row_sparse)).storage() == row_sparse);
}

TEST_CASE("on symbols it is a node, which no file can hold") {
  const NameScope fresh;
  const Symbol a = var("a"), b = var("b");
  const double k = 2;
  const Symbol net = strop::map([k](auto x, auto y) { return k * x * y; }, a, b);
  CHECK(net.name() == "map0");
  CHECK(net.list_arguments() == Names{"a", "b"});
  const NDArray ga = zeros({2}), gb = zeros({2});
  auto run = net.bind(cpu(), {{"a", array({1.0f, 2.0f})}, {"b", array({3.0f, 5.0f})}}, {{"a", ga}, {"b", gb}});
  CHECK(same(run.forward(true)[0], array({6.0f, 20.0f})));
  run.backward(array({1.0f, 1.0f}));
  CHECK(same(ga, array({6.0f, 10.0f})));
  CHECK(same(gb, array({2.0f, 4.0f})));
  CHECK(
      sentence([&] { (void)net.to_json(); }) ==
      "to_json: node 'map0' is a function without a name, by which no file could find it; give it a struct and an Op");
  CHECK(detail::look_up("map") == nullptr);
}

TEST_CASE("what does not fit is refused by the sentences of every map") {
  CHECK(sentence([] {
          (void)strop::map([](auto x, auto y) { return x + y; }, array({1, 2}), array({1, 2, 3}));
        }).starts_with("map: "));
  CHECK(sentence([] { (void)strop::map([](auto x) { return x; }, NDArray()); }).starts_with("map: "));
  CHECK(sentence([] {
          (void)strop::map([](auto x, auto y) { return x + y; }, array({1}), array<double>({1}));
        }).starts_with("map: "));
}
