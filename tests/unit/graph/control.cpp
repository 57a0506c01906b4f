// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops and branches: as nodes of graphs against the same functions run on arrays, and what is refused.
#include <strop/autograd/backward.hpp>
#include <strop/graph/control.hpp>
#include <strop/graph/gradient.hpp>
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/dropout.hpp>
#include <strop/tensor/random.hpp>

#include "operators.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace graph_tests;

namespace {

using Arrays = std::vector<NDArray>;
using Symbols = std::vector<Symbol>;

/// The sum of all elements, shape (1); named as MXNet's, which its files have.
struct CtTotal {
  static constexpr std::string_view name = "sum";
  void infer_shape(Shapes& s) const { s.set_out(0, {1}); }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E, 1> y) const {
    y[0] = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) y[0] += x[i];
  }
  template <Real E>
  void grad_use_none(Cpu&, View<const E, 1> dy, View<E> dx) const {
    for (std::int64_t i = 0; i < dx.size(); ++i) dx[i] = dy[0];
  }
};
constexpr Op<CtTotal> total_of;

NDArray made(const Shape& shape, double seed, Dtype type = f64) {
  const NDArray a(shape, f64);
  const auto view = a.view<double>();
  for (std::int64_t i = 0; i < a.size(); ++i) view[i] = std::sin(seed + 1.7 * static_cast<double>(i));
  return a.to(type);
}

/// Forward and gradients of a function on arrays and of its graph, with the same head gradients. `f` takes and returns
/// a list of either. `in_files`: its graph is not too deep for them.
template <class F>
void compare(const F& f, const NamedArrays& args, double scale = 1, bool in_files = true) {
  Arrays in;
  Symbols variables;
  for (const auto& [name, a] : args) {
    in.push_back(a.copy());
    in.back().attach_grad();
    variables.push_back(var(name));
  }
  Arrays expected, heads;
  {
    record scope;
    expected = f(in);
    NDArray total;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      heads.push_back(made(expected[k].shape(), scale * static_cast<double>(k + 1), expected[k].dtype()));
      const NDArray part = times(expected[k], heads[k]).reshape({-1});
      total = k == 0 ? total_of(part) : total + total_of(part);
    }
    total.backward();
  }
  const Symbol net = group(std::span<const Symbol>(f(variables)));
  NamedArrays grads;
  for (const auto& [name, a] : args) grads.emplace_back(name, zeros(a.shape(), a.dtype()));
  auto run = net.bind(cpu(), args, grads);
  for (int time = 0; time < 2; ++time) {  // the second time on what the first has left
    const Arrays found = run.forward(true);
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) CHECK(same(found[k], expected[k]));
    run.backward(heads);
    for (std::size_t i = 0; i < args.size(); ++i) {
      CAPTURE(args[i].first);
      CHECK(same(run.grad(args[i].first), in[i].grad()));
    }
  }
  auto predict = net.bind(cpu(), args);
  const Arrays found = predict.forward();
  for (std::size_t k = 0; k < found.size(); ++k) CHECK(same(found[k], expected[k]));
  if (!in_files) return;
  const Symbol again = Symbol::from_json(net.to_json());
  CHECK(again.to_json() == net.to_json());
  const Arrays read = again.bind(cpu(), args).forward();
  for (std::size_t k = 0; k < read.size(); ++k) CHECK(same(read[k], expected[k]));
}

/// A cell that reads w and b from outside.
template <class X>
auto cell(const X& w, const X& b) {
  return [w, b](const X& x, const X& h) {
    const X y = quadratic(plus(dense_layer(h, w, b, {.num_hidden = 3}), x), {.a = 0.1f, .b = 0.5f, .c = 0.2f});
    return std::pair(y, y);
  };
}

/// sin(x) as an output, an argument that only the loop has.
Symbol no_gradient_loop() {
  return foreach([](const Symbol& x, const Symbol& s) { return std::pair(even(x), plus(s, even(x))); }, var("x"),
                 var("s"))
      .first;
}

}  // namespace

TEST_CASE("foreach: a recurrent cell, its gradient through outputs, last state and what it reads from outside") {
  const NamedArrays args = {
      {"x", made({5, 2, 3}, 1)}, {"h", made({2, 3}, 2)}, {"w", made({3, 3}, 3)}, {"b", made({3}, 4)}};
  compare(
      [](const auto& in) {
        using X = typename std::decay_t<decltype(in)>::value_type;
        const X w = quadratic(in[2], {.a = 0.3f, .b = 1});  // computed outside of the body
        const auto [outs, last] = foreach(cell(w, in[3]), times(in[0], in[0]), in[1]);
        return std::vector<X>{quadratic(outs, {.b = 2}), last};
      },
      args);
}

namespace {

/// Something differentiable through `depth` loops of one step each, every one in the body of the one before.
template <class X>
X nested(const X& x, const X& s, int depth) {
  if (depth == 0) return quadratic(times(s, x), {.a = 0.1f, .b = 1, .c = 0.1f});
  const auto body = [&](const X& one, const X& state) {
    const X inner = nested(x, plus(state, one), depth - 1);
    return std::pair(inner, inner);
  };
  return foreach(body, x, s).second;
}

}  // namespace

TEST_CASE("loops in loops: inference takes as long as they are many") {
  const NamedArrays args = {{"x", made({1, 3}, 1)}, {"s", made({1, 3}, 2)}};
  compare([](const auto& in) { return std::vector{nested(in[0], in[1], 40)}; }, args, 1, false);
  compare([](const auto& in) { return std::vector{nested(in[0], in[1], 12)}; }, args);
}

TEST_CASE("integers in a body have the gradients that they have outside of it") {
  compare(
      [](const auto& in) {
        using X = typename std::decay_t<decltype(in)>::value_type;
        const auto body = [](const X& x, const X& s) {
          const X whole = cast(x, {.dtype = i32});
          const X y = cast(elemwise_mul(whole, whole), {.dtype = f64});
          return std::pair(y, plus(s, y));
        };
        const auto [outs, last] = foreach(body, in[0], in[1]);
        return std::vector<X>{outs, last};
      },
      {{"x", array<double>({{1.5, 2}, {-3, 4.5}})}, {"s", array<double>({1, 2})}});
}

TEST_CASE("a loss head in a body that gives integers has the gradient that it has outside of it") {
  const NDArray a = array<double>({0.5, 3}), label = array<double>({1, 1});
  const auto branch = [](const auto& x, const auto& l) {
    const auto whole = [&] { return cast(loss(x, l), {.dtype = i32}); };
    return cond(total_of(x) > 0, whole, whole);
  };
  a.attach_grad();
  {
    const record scope;
    branch(a, label).backward();
  }
  const NDArray found = zeros({2}, f64);
  auto run = branch(var("x"), var("l")).bind(cpu(), {{"x", a}, {"l", label}}, {{"x", found}});
  run.forward(true);
  run.backward(ones({2}, i32));
  CHECK(same(a.grad(), array<double>({-0.5, 2})));
  CHECK(same(found, a.grad()));
}

TEST_CASE("foreach: several data, states and outputs; states that swap, stay and are not used") {
  const NamedArrays args = {{"x", made({4, 3}, 1)}, {"y", made({4, 3}, 2)}, {"a", made({3}, 3)},
                            {"b", made({3}, 4)},    {"c", made({3}, 5)},    {"k", made({1}, 6)}};
  const auto f = [](const auto& in) {
    using X = typename std::decay_t<decltype(in)>::value_type;
    using List = std::vector<X>;
    const auto body = [&in](const List& x, const List& s) {
      const X y = times(plus(x[0], s[0]), in[5]);
      return std::pair(List{y, times(x[1], x[0]), s[1]}, List{s[1], plus(y, s[1]), s[2]});
    };
    const auto [outs, last] = foreach(body, List{in[0], in[1]}, List{in[2], in[3], in[4]});
    return List{outs[0], outs[1], outs[2], last[0], last[1], last[2]};
  };
  compare(f, args);
  SUBCASE("without outputs, without states") {
    compare(
        [](const auto& in) {
          using X = typename std::decay_t<decltype(in)>::value_type;
          using List = std::vector<X>;
          const auto sums = foreach([](const X& x, const X& s) { return std::pair(List{}, plus(x, s)); }, in[0], in[1]);
          const auto products =
              foreach([&](const X& x, const List&) { return std::pair(times(x, in[1]), List{}); }, in[0], List{});
          return List{sums.second, products.first};
        },
        {{"x", made({4, 3}, 1)}, {"s", made({3}, 2)}});
  }
  SUBCASE("a state that the body does not read, and one that nothing depends on") {
    const Symbol x = var("x"), s = var("s"), t = var("t");
    const auto [outs, last] = foreach(
        [](const Symbol& one, const Symbols& st) { return std::pair(one * st[1], Symbols{one * 2, st[1] + 1}); }, x,
        Symbols{s, t}, "loop");
    const NDArray data = array({{1, 2}, {3, 4}}), zero = zeros({2}), gx = zeros({2, 2}), gs = full({2}, 9),
                  gt = zeros({2});
    auto run =
        group({outs, last[0]}).bind(cpu(), {{"x", data}, {"s", zero}, {"t", zero}}, {{"x", gx}, {"s", gs}, {"t", gt}});
    CHECK(same(run.forward(true)[0], array({{0, 0}, {3, 4}})));
    CHECK(same(run.outputs()[1], array({6, 8})));
    run.backward({ones({2, 2}), ones({2})});
    CHECK(same(gx, array({{0, 0}, {3, 3}})));
    CHECK(same(gs, zeros({2})));
    CHECK(same(gt, array({4, 6})));
    CHECK(outs.attr("in_data_locs") == "[0]");
    CHECK(outs.attr("in_state_locs") == "[-1, 1]");
    CHECK(sentence([&] { (void)outs.to_json(); }) ==
          "to_json: node 'loop': state0 is not used in the body, which files cannot say; use it there, or leave it "
          "out");
  }
}

TEST_CASE("foreach: vectors, no entries, numbers of entries that follow from elsewhere, other types") {
  const auto body = [](const auto& x, const auto& s) { return std::pair(x * 2 + s, x + s); };
  const auto [outs, last] = foreach(body, var("x"), var("s"));
  const Symbol net = group({outs, last});
  // As MXNet 1.9.1 gives them: an entry of a vector has one element.
  auto run = net.bind(cpu(), {{"x", arange(0, 4)}, {"s", zeros({1})}});
  CHECK(same(run.forward()[0], array({{0}, {2}, {5}, {9}})));
  CHECK(same(run.outputs()[1], array({6})));
  CHECK(same(foreach(body, arange(0, 4), zeros({1})).first, run.outputs()[0]));
  CHECK(net.infer_shape({{"x", {6, 2, 3}}})["s"] == Shape{2, 3});
  CHECK(net.infer_shape({{"x", {6, 2, 3}}}).outputs[0] == Shape{6, 2, 3});
  CHECK(net.infer_shape_partial({{"s", {2, 3}}}).args[0] == Shape{-1, 2, 3});
  CHECK(net.infer_type({{"x", f64}}).outputs[1] == f64);
  const NDArray gs = zeros({2});
  auto none = net.bind(cpu(), {{"x", NDArray({0, 2})}, {"s", array({3, 4})}}, {{"s", gs}});
  CHECK(none.forward(true)[0].shape() == Shape{0, 2});
  CHECK(same(none.outputs()[1], array({3, 4})));
  none.backward({NDArray({0, 2}), array({5, 6})});
  CHECK(same(gs, array({5, 6})));
  CHECK_FALSE(foreach(body, NDArray({0, 2}), array({3, 4})).first.defined());
  // Counters are integers, and have no gradient.
  const auto counted =
      foreach([](const Symbol& x, const Symbols& s) { return std::pair(x * s[0], Symbols{s[0] * x, s[1] + 1}); },
              var("x"), Symbols{var("s"), var("n")});
  const NDArray gx = zeros({3, 1});
  auto counts =
      group({counted.first, counted.second[1]})
          .bind(cpu(), {{"x", array({{2}, {3}, {4}})}, {"s", ones({1})}, {"n", zeros({1}, i64)}}, {{"x", gx}});
  CHECK(same(counts.forward(true)[0], array({{2}, {6}, {24}})));
  CHECK(counts.outputs()[1].item<int>() == 3);
  CHECK(counts.outputs()[1].dtype() == i64);
  counts.backward({ones({3, 1}), zeros({1}, i64)});
  CHECK(same(gx, array({{16}, {10}, {6}})));
}

TEST_CASE("while_loop: as many steps as the condition wants, filled up with zeros") {
  const auto f = [](const auto& in) {
    using X = typename std::decay_t<decltype(in)>::value_type;
    using List = std::vector<X>;
    const auto [outs, last] =
        while_loop([&](const List& s) { return total_of(s[0]) < total_of(in[2]); },
                   [&](const List& s) { return std::pair(times(s[0], in[1]), List{s[0] + s[1], s[1] * 1.5}); },
                   List{in[0], quadratic(in[3], {.b = 2})}, 6);
    return List{outs, last[0], last[1]};
  };
  for (const double end : {-100.0, 4.0, 100.0}) {
    NamedArrays args = {{"a", array<double>({0.5, 1})},
                        {"w", made({2}, 1)},
                        {"end", array<double>({end})},
                        {"b", array<double>({0.25, 0.5})}};
    CAPTURE(end);
    if (end > 0) {
      compare(f, args);
      continue;
    }
    Symbols variables;
    for (const auto& one : args) variables.push_back(var(one.first));
    const NDArray ga = zeros({2}, f64), gw = full({2}, 3, f64);
    auto run = group(std::span<const Symbol>(f(variables))).bind(cpu(), args, {{"a", ga}, {"w", gw}});
    CHECK(same(run.forward(true)[0], zeros({6, 2}, f64)));
    CHECK(same(run.outputs()[1], array<double>({0.5, 1})));
    run.backward({ones({6, 2}, f64), array<double>({2, 3}), zeros({2}, f64)});
    CHECK(same(ga, array<double>({2, 3})));
    CHECK(same(gw, zeros({2}, f64)));
  }
  CHECK_FALSE(
      while_loop([](const NDArray& s) { return s < 0; }, [](const NDArray& s) { return std::pair(s, s); }, ones({1}), 3)
          .first.defined());
}

TEST_CASE("cond: the branch that is taken computes, and is differentiated") {
  const auto f = [](const auto& in) {
    using X = typename std::decay_t<decltype(in)>::value_type;
    using List = std::vector<X>;
    const X w = in[1] * 2;
    const List out = cond(
        total_of(in[0]) < 1, [&] { return List{times(in[0], w), in[1]}; },
        [&] { return List{w * 3, plus(in[0], in[2])}; });
    const X other = cond(total_of(in[0]) > 0, [&] { return in[2] * in[2]; }, [&] { return in[0]; });
    return List{out[0], out[1], other};
  };
  for (const double x : {-2.0, 0.5, 3.0})
    compare(f, {{"a", array<double>({x, 0.25})}, {"b", made({2}, 1)}, {"c", made({2}, 2)}});
}

TEST_CASE("loops and branches in one another, and a node beside them that fuses") {
  compare(
      [](const auto& in) {
        using X = typename std::decay_t<decltype(in)>::value_type;
        using List = std::vector<X>;
        const auto rows = [&](const X& row, const X& total) {
          const auto cells = [&](const X& x, const X& s) {
            const X next =
                cond(total_of(x) > 0, [&] { return plus(s, times(x, in[2])); }, [&] { return times(s, in[2]); });
            return std::pair(next, next);
          };
          const auto [values, last] = foreach(cells, row, total);
          const auto halved = while_loop([](const X& s) { return total_of(times(s, s)) > 1; },
                                         [](const X& s) { return std::pair(List{}, s * 0.5); }, last, 3);
          return std::pair(values, halved.second);
        };
        const auto [all, last] = foreach(rows, in[0] * 2 + 1, in[1]);
        return List{all * 3, last};
      },
      {{"x", made({3, 4}, 1)}, {"s", made({1}, 2)}, {"w", array<double>({0.75})}});
}

TEST_CASE("bodies that draw random numbers: the gradient sees what forward has drawn") {
  const auto body = [](const Symbol& x, const Symbol& s) {
    const Symbol y = dropout(x, {.p = 0.5f});
    return std::pair(y, s + dropout(y * 3, {.p = 0.25f}));
  };
  const auto [outs, last] = foreach(body, var("x"), var("s"));
  const NDArray x = full({6, 32}, 2), gx = zeros({6, 32}), gs = zeros({32});
  auto run = group({outs, last}).bind(cpu(), {{"x", x}, {"s", zeros({32})}}, {{"x", gx}, {"s", gs}});
  std::vector<float> before;
  for (int time = 0; time < 2; ++time) {
    random::seed(std::uint64_t(time));
    run.forward(true);
    const auto kept = run.outputs()[0].to_vector<float>();
    CHECK(kept != before);
    std::vector<float> first(kept.begin(), kept.begin() + 32), second(kept.begin() + 32, kept.begin() + 64);
    CHECK(first != second);
    before = kept;
    const NDArray total = run.outputs()[1].copy();
    // All of it is linear in x: the sum of x · dx is that of the results.
    run.backward({zeros({6, 32}), ones({32})});
    CHECK(allclose(total_of(times(x, gx)), total_of(total)));
    CHECK(same(gs, ones({32})));
    random::seed(std::uint64_t(time));
    run.forward(true);
    run.backward({ones({6, 32}), zeros({32})});
    CHECK(same(times(x, gx), run.outputs()[0]));
    CHECK(run.outputs()[0].to_vector<float>() == kept);
  }
}

TEST_CASE("bodies that write a state: it goes from step to step, and backward does not write it again") {
  const NDArray x = made({4, 3}, 1, f32), w = array({1.5f, -1.0f, 2.0f});
  const auto expected = [&](const NDArray& state, const NDArray& gx) {
    x.attach_grad();
    NDArray s = zeros({3});
    {
      record scope;
      for (int i = 0; i < 4; ++i) s = plus(times(s, w), center(x[i], state));
      s.backward(w);
    }
    gx.view<float>();
    plus(x.grad(), 0 * x, into(gx));
    return s;
  };
  const NDArray state = full({1}, 0.25), gx = zeros({4, 3});
  const NDArray sums = expected(state, gx);
  const Symbol moving = var("moving"), weight = var("w");
  const auto last =
      foreach([&](const Symbol& one,
                  const Symbol& s) { return std::pair(Symbols{}, plus(times(s, weight), center(one, moving))); },
              var("x"), var("s"));
  CHECK(last.second.list_auxiliary_states() == Names{"moving"});
  const NDArray mine = full({1}, 0.25), found = zeros({4, 3});
  auto run = last.second.bind(cpu(), {{"x", x.detach()}, {"s", zeros({3})}, {"w", w}}, {{"x", found}},
                              GradRequest::write, {{"moving", mine}});
  CHECK(same(run.forward(true)[0], sums.detach()));
  CHECK(same(mine, state));
  run.backward(w);
  CHECK(same(found, gx));
  CHECK(same(mine, state));
}

TEST_CASE("gradients are added, wanted of some, and kept in memory that only training takes") {
  const Symbol x = var("x"), h = var("h"), w = var("w"), b = var("b");
  const auto [outs, last] = foreach(cell(w, b), x, h, "loop");
  const Symbol net = outs * 2;
  const NamedArrays args = {{"x", made({5, 2, 3}, 1, f32)},
                            {"h", made({2, 3}, 2, f32)},
                            {"w", made({3, 3}, 3, f32)},
                            {"b", made({3}, 4, f32)}};
  const NDArray gw = ones({3, 3}), all = zeros({3, 3}), gh = zeros({2, 3});
  auto some = net.bind(cpu(), args, {{"w", gw}}, GradRequest::add);
  auto every = net.bind(cpu(), args, {{"w", all}, {"h", gh}});
  for (Executor* run : {&some, &every}) {
    run->forward(true);
    run->backward(ones({5, 2, 3}));
  }
  CHECK(same(gw, all + 1));
  // Prediction has the outputs of the loop alone, and they lie where the states do.
  const MemoryPlan plan = net.bind(cpu(), args).plan();
  CHECK(plan.values().size() == 2);
  CHECK(plan.bound() == 128);
  // A second order is refused.
  const std::vector<Symbol> first = gradients(net, {w});
  CHECK(sentence([&] { (void)gradients(first[0], {w}); }) ==
        "Error in node loop_backward: _backward__foreach has no gradient: the operator states its gradient, and no "
        "gradient of that, which the gradient of 'w' needs; call the loop or branch on arrays, where its steps are "
        "recorded one by one and have gradients of every order");
}

TEST_CASE("plans count the arenas of bodies once they are bound, and of bodies in bodies") {
  const Symbol w = var("w");
  const auto inner = [&](const Symbol& x, const Symbol& s) {
    const Symbol product = dense_layer(quadratic(x, {.a = 1}), w, {.num_hidden = 16, .no_bias = true});
    const Symbol next = quadratic(product, {.b = 2}) + s;
    return std::pair(next, next);
  };
  const auto [outs, last] = foreach(inner, var("x"), var("s"));
  auto run = last.simple_bind(cpu(), {{"x", {4, 3, 16}}, {"s", {3, 16}}});
  CHECK(run.plan().bodies() == 0);
  CHECK(to_text(run.plan()).find("bodies") == std::string::npos);
  (void)run.forward()[0].to_vector<float>();
  const std::int64_t predicting = run.plan().bodies();
  CHECK(predicting > 0);
  CHECK(predicting % 64 == 0);
  CHECK(to_text(run.plan()).find(cat("bodies of loops and branches ", predicting, " bytes beside it\n")) !=
        std::string::npos);
  run.forward(true);
  run.backward(ones({3, 16}));
  (void)run.grad("x").to_vector<float>();
  CHECK(run.plan().bodies() > predicting);  // another body, with its gradient
  const std::int64_t all = run.plan().bodies();
  CHECK(last.simple_bind(cpu(), {{"x", {4, 3, 16}}, {"s", {3, 16}}}).plan().bodies() == all);  // they serve it, too
  const auto outer = foreach(
      [&](const Symbol& x, const Symbol& s) {
        const Symbol next = foreach(inner, x, s).second;
        return std::pair(next, next);
      },
      var("x"), var("s"));
  auto nested = outer.second.simple_bind(cpu(), {{"x", {2, 4, 3, 16}}, {"s", {3, 16}}}, GradRequest::null);
  (void)nested.forward()[0].to_vector<float>();
  CHECK(nested.plan().bodies() >= predicting);
}

TEST_CASE("what is refused") {
  const Symbol x = var("x"), s = var("s");
  CHECK(sentence([&] {
          foreach([](const Symbol& one, const Symbols& st) { return std::pair(one, Symbols{st[0]}); }, x,
                  Symbols{s, s});
        }) == "foreach: the body returns 1 state, expected 2 as it is given");
  CHECK(sentence([&] {
          foreach([](const NDArray& one, const Arrays&) { return std::pair(one, Arrays{}); }, ones({2, 2}),
                  Arrays{ones({2})});
        }) == "foreach: the body returns 0 states, expected 1 as it is given");
  CHECK(sentence([&] { foreach([](const Symbols&, const Symbol& st) { return std::pair(st, st); }, Symbols{}, s); }) ==
        "foreach: there is no data to go along");
  const auto grows = foreach(
      [](const Symbol& one, const Symbol& st) { return std::pair(one, chain({one, st}, {}, "both")); }, x, s, "loop");
  CHECK(sentence([&] { (void)grows.first.infer_shape({{"x", {3, 2}}, {"s", {2}}}); }) ==
        "Error in node loop: _foreach: input 'state' enters the body with shape (2,) and leaves it with (4,); a state "
        "keeps "
        "its shape");
  const auto changes = foreach(
      [](const Symbol& one, const Symbol& st) { return std::pair(one, cast(st, {.dtype = f64})); }, x, s, "loop");
  CHECK(sentence([&] { (void)changes.first.infer_type({{"s", f32}}); }) ==
        "Error in node loop: _foreach: input 'state' enters the body as float32 and leaves it as float64; a state "
        "keeps its "
        "type");
  const auto sums = foreach([](const Symbols& one, const Symbol& st) { return std::pair(one[0] + one[1], st); },
                            Symbols{x, var("y")}, s, "loop");
  CHECK(sentence([&] { (void)sums.first.infer_shape({{"x", {3, 2}}, {"y", {4, 2}}}); }) ==
        "Error in node loop: _foreach: input 'data1' has 4 entries, and input 'data0' has 3");
  CHECK(sentence([&] {
          while_loop([](const Symbol& st) { return st; }, [](const Symbol& st) { return std::pair(st, st); }, s, 0);
        }) == "while_loop: max_iterations is 0, expected at least 1");
  const auto wide = while_loop([](const Symbol& st) { return st < 1; },
                               [](const Symbol& st) { return std::pair(st, st + 1); }, s, 2, "loop");
  CHECK(sentence([&] { (void)wide.first.infer_shape({{"s", {2}}}); }) ==
        "Error in node loop: _while_loop: the condition has shape (2,), expected one element");
  CHECK(sentence([&] {
          while_loop([](const NDArray& st) { return st < 1; }, [](const NDArray& st) { return std::pair(st, st + 1); },
                     ones({2}), 2);
        }) == "while_loop: the condition has shape (2,), expected one element");
  CHECK(sentence([&] { cond(x, [&] { return Symbols{s}; }, [&] { return Symbols{s, s}; }); }) ==
        "cond: one branch has 1 outputs and the other 2");
  const Symbol differs = cond(x, [&] { return s; }, [&] { return chain({s, s}); }, "branch");
  CHECK(sentence([&] { (void)differs.infer_shape({{"s", {2}}, {"x", {1}}}); }) ==
        "Error in node branch: _cond: output 0 has shape (2,) where the condition holds and (4,) where it does not");
  Symbol leaked;
  foreach([&](const Symbol& one, const Symbol& st) { return std::pair(leaked = one + st, st); }, x, s);
  CHECK(sentence([&] {
          foreach([&](const Symbol& one, const Symbol& st) { return std::pair(one + leaked, st); }, x, s);
        }).find("which was made in the body of another loop or branch") != std::string::npos);
  auto run = no_gradient_loop().simple_bind(cpu(), {{"x", {2, 2}}, {"s", {2}}});
  run.forward(true);
  CHECK(sentence([&] {
          run.backward(ones({2, 2}));
          run.grad("x").wait();
        }).find("GtEven has no gradient, which the gradient of 'x-0' needs") != std::string::npos);
  while (!sentence([] { Engine::global().wait_all(); }).empty()) {  // other gradients fail with it where calls go there
  }
}
