// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gradients of graphs are graphs.
#include "operators.hpp"

#include <doctest/doctest.h>

using namespace graph_tests;

namespace {
NDArray value(const Symbol& symbol, const NamedArrays& args) { return symbol.bind(cpu(), args).forward()[0].copy(); }
}  // namespace

TEST_CASE("derived gradients to order 3 and one sentence beyond") {
  const Symbol x = var("x");
  const NDArray at = array({1, 2, -3});
  Symbol y = times(times(x, x), x, {}, "cube");  // x³
  Symbol g = gradients(y, {x})[0];
  CHECK(same(value(y, {{"x", at}}), array({1, 8, -27})));
  CHECK(same(value(g, {{"x", at}}), array({3, 12, 27})));
  g = gradients(g, {x})[0];
  CHECK(same(value(g, {{"x", at}}), array({6, 12, -18})));
  g = gradients(g, {x})[0];
  CHECK(same(value(g, {{"x", at}}), array({6, 6, 6})));
  Symbol q = quadratic(x, {.a = 1}, "q");
  for (int order = 0; order < 3; ++order) q = gradients(q, {x})[0];
  CHECK(same(value(q, {{"x", at}}), array({0, 0, 0})));
  CHECK(
      sentence([&] {
        gradients(q, {x});
      }).find("has no gradient of this order (derived gradients exist to order 3), which the gradient of 'x' needs") !=
      std::string::npos);
}

TEST_CASE("contributions are summed, however many") {
  const Symbol x = var("x");
  for (int k = 1; k <= 11; ++k) {
    Symbol sum = quadratic(x, {.b = 1});
    float slope = 1;
    for (int i = 2; i <= k; ++i)
      sum = plus(sum, quadratic(x, {.b = static_cast<float>(i)})), slope += static_cast<float>(i);
    CHECK(same(value(gradients(sum, {x})[0], {{"x", array({1, 5})}}), full({2}, slope)));
  }
}

TEST_CASE("what gradients are made of is found by name, as a saved graph names it") {
  const Symbol x = var("x");
  const NDArray at = array({1, 5});
  for (const int parts : {2, 3, 4}) {
    Symbol sum = quadratic(x, {.b = 1});
    for (int i = 2; i <= parts; ++i) sum = plus(sum, quadratic(x, {.b = 1}));
    const Symbol g = gradients(sum, {x})[0];
    const strop::Entry& made = *g.outputs()[0].node->entry;
    CHECK(made.name == cat("_grad_sum", parts));
    CHECK(strop::detail::look_up(made.name) == &made);
    CHECK(made.library);
    const std::vector<NDArray> in(static_cast<std::size_t>(parts), at);
    CHECK(same(strop::invoke(made.name, std::span<const NDArray>(in)), array({parts, 5 * parts})));
  }
  CHECK(same(strop::invoke("_grad_zeros", {at}), array({0, 0})));
  CHECK(same(strop::invoke("_grad_ones", {at}), array({1, 1})));
}

TEST_CASE("sums of contributions can be differentiated again") {
  const Symbol x = var("x"), h = var("h");
  const Symbol y = plus(times(x, x), plus(quadratic(x, {.a = 3}), quadratic(x, {.a = 0.5f})));
  const Symbol once = gradients(y, {x}, {h})[0];
  CHECK(same(value(once, {{"x", array({2})}, {"h", array({1})}}), array({18})));
  CHECK(same(value(gradients(once, {x})[0], {{"x", array({2})}, {"h", array({1})}}), array({9})));
  CHECK(same(value(gradients(once, {h})[0], {{"x", array({2})}, {"h", array({1})}}), array({18})));
}

TEST_CASE("broadcast inputs get sums of their shape, also where the gradient keeps nothing") {
  const Symbol a = var("a"), b = var("b");
  const NDArray x = array({{1, 2, 3}, {4, 5, 6}}), y = array({10, 20, 30});
  const std::vector<Symbol> g = gradients(times(a, b), {a, b});
  CHECK(same(value(g[0], {{"a", x}, {"b", y}}), array({{10, 20, 30}, {10, 20, 30}})));
  CHECK(same(value(g[1], {{"a", x}, {"b", y}}), array({5, 7, 9})));
  const Symbol linear = gradients(plus(a, b), {b})[0];
  CHECK(same(group({linear, a, b}).bind(cpu(), {{"a", x}, {"b", y}}).forward()[0], array({2, 2, 2})));
}

TEST_CASE("heads weight the outputs; of several outputs any may be used") {
  const Symbol a = var("a"), b = var("b"), h = var("h");
  const Symbol pair = both(a, b);
  const NamedArrays at = {{"a", array({1, 2})}, {"b", array({3, 4})}};
  CHECK(same(group({gradients(pair[1], {b})[0], a, b}).bind(cpu(), at).forward()[0], array({-1, -1})));
  CHECK(same(group({gradients(pair, {a})[0], a, b}).bind(cpu(), at).forward()[0], array({2, 2})));
  NamedArrays more = at;
  more.emplace_back("h", array({5, 7}));
  CHECK(same(group({gradients(pair[0], {a}, {h})[0], a, b}).bind(cpu(), more).forward()[0], array({5, 7})));
  CHECK(sentence([&] { gradients(pair, {a}, {h}); }) == "gradients: 1 head gradients for 2 outputs");
  CHECK(sentence([&] { gradients(a, {pair}); }) ==
        "gradients: gradients are with respect to single outputs; this symbol has 2");
}

TEST_CASE("what nothing leads to gets zeros; blocked ways are zero") {
  const Symbol x = var("x"), y = var("y");
  CHECK(same(value(gradients(quadratic(x), {y})[0], {{"y", array({4, 5})}}), array({0, 0})));
  CHECK(same(value(gradients(block(x), {x})[0], {{"x", array({4, 5})}}), array({0, 0})));
  CHECK(same(value(gradients(plus(block(x), quadratic(x, {.b = 2})), {x})[0], {{"x", array({4, 5})}}), array({2, 2})));
}

TEST_CASE("with respect to a value in the middle") {
  const Symbol x = var("x"), middle = quadratic(x, {.a = 1});
  CHECK(same(value(gradients(times(middle, middle), {middle})[0], {{"x", array({3})}}), array({18})));
}

TEST_CASE("gradients that are written with operators") {
  const Symbol x = var("x"), h = var("h");
  const Symbol g = gradients(reversed(x, {}, "r"), {x}, {h})[0];
  CHECK(same(value(g, {{"h", array({1, 2, 3})}}), array({3, 2, 1})));
  CHECK(g.name().starts_with("r_backward_"));
  const Symbol again = gradients(g, {h})[0];
  CHECK(same(group({again, h}).bind(cpu(), {{"h", array({1, 2, 3})}}).forward()[0], array({1, 1, 1})));
}

TEST_CASE("an operator without gradient is named, with what needed it, only when something is needed through it") {
  const Symbol x = var("x"), y = var("y");
  CHECK(sentence([&] { gradients(even(quadratic(x), {}, "e"), {x}); }) ==
        "Error in node e: GtEven has no gradient, which the gradient of 'x' needs");
  CHECK(same(
      value(gradients(plus(even(x), quadratic(y, {.b = 3})), {y})[0], {{"x", array({4, 5})}, {"y", array({1, 1})}}),
      array({3, 3})));
}

TEST_CASE("making gradients leaves the program's names alone") {
  const NameScope fresh;
  const Symbol x = var("x");
  (void)gradients(times(reversed(x), x), {x});
  CHECK(reversed(x).name() == "gtreverse1");
  CHECK(times(x, x).name() == "gttimes1");
}

TEST_CASE("the gradient of a gradient that an operator states is refused by its name") {
  const Symbol data = var("data"), fc = dense_layer(data, {.num_hidden = 2, .no_bias = true}, "fc");
  const Symbol first = gradients(fc, {data})[0];
  CHECK(same(value(first, {{"data", array({{1, 2}})}, {"fc_weight", array({{1, 2}, {3, 4}})}}), array({{4, 6}})));
  CHECK(sentence([&] { gradients(first, {var("fc_weight")}); }).empty());  // another variable: it does not depend on it
  const Symbol weight = first.get_internals()["fc_weight"];
  CHECK(sentence([&] { gradients(first, {weight}); }) ==
        "Error in node fc_backward: _backward_FullyConnected has no gradient: the operator states its gradient, and no "
        "gradient of that, which the gradient of 'fc_weight' needs");
}
