// SPDX-License-Identifier: Apache-2.0
/// \file
/// Traced functions where calls are recorded: one step of the tape each, with the gradients of the function itself.
#include "operators.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/graph/trace.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

using namespace graph_tests;

namespace {

/// √x, whose derivative at 0 is infinite
struct Root {
  constexpr auto forward(auto x) const { return sqrt(x); }
};
inline constexpr Op<Root> root;
/// 1 where x is positive, else 0: it has no gradient but zero
struct TraceStep {
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] > 0 ? E(1) : E(0);
  }
  static constexpr bool zero_gradient = true;
};
inline constexpr Op<TraceStep> step;
/// The sign as a map, which fuses with others
struct TraceSign {
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return where(x > 0, 1, where(x < 0, -1, x)); }
};
inline constexpr Op<TraceSign> sign;
/// x times numbers that are drawn, which the gradient takes as well
struct TraceMask {
  static constexpr std::string_view outputs[] = {"output", "mask"};
  static constexpr int visible = 1;
  static constexpr Resources resources{.random = true};
  void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_out(1, s.in(0));
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y, View<E> drawn) const {
    const random::Stream stream = ctx.random();
    for (std::int64_t i = 0; i < x.size(); ++i) {
      drawn[i] = static_cast<E>(stream.uniform01d(i));
      y[i] = x[i] * drawn[i];
    }
  }
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E>> dy, Out<"mask", View<const E>> drawn, Grad<"data", View<E>> dx) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i] * drawn[i];
  }
};
inline constexpr Op<TraceMask> mask;

bool is_one_step(const NDArray& y) {
  return static_cast<bool>(static_cast<const detail::TapeNode*>(y.body().gradient_node.get())->function);
}

}  // namespace

TEST_CASE("a recorded call is one step of the tape, planned like a bound graph, as often as calls are pending") {
  const NDArray x = array<double>({0.5, 3}), w = array<double>({2, -1}), b = array<double>({1, 1});
  const auto g = [&](const NDArray& v) {
    return plus(times(quadratic(v, {.a = 1, .b = 1}), w), times(b, quadratic(v, {.c = 3})));
  };
  const auto f = trace_function(g);
  for (const NDArray& a : {x, w}) a.attach_grad();
  const auto gradients = [&](const auto& function, const NDArray& head) {
    NDArray y;
    {
      const record scope;
      y = function(function(function(x)));
    }
    y.backward(head);
    return std::array{y, x.grad().copy(), w.grad().copy(), b.grad().defined() ? b.grad().copy() : NDArray()};
  };
  for (const NDArray& head : {array<double>({1, 2}), array<double>({-3, 0.5})})
    for (int call = 0; call < 3; ++call) {
      const bool adds = call == 2 || b.grad().defined();  // another set of gradients
      if (adds) b.attach_grad(GradRequest::add);
      const auto expected = gradients(g, head);
      if (adds) b.attach_grad(GradRequest::add);
      const auto found = gradients(f, head);
      CHECK(same(found[0], expected[0]));
      for (std::size_t i = 1; i < found.size(); ++i)
        if (expected[i].defined()) CHECK(allclose(found[i], expected[i], 1e-14, 0));
    }
  const record scope;
  const NDArray y = f(x), z = f(x);
  CHECK(is_one_step(y));
  y.backward({}, true);
  const NDArray dx = x.grad().copy();
  y.backward({}, true);
  CHECK(same(x.grad(), dx));
  z.backward();
  CHECK(same(x.grad(), dx));
  CHECK(sentence([&] { z.backward(); }).find("was freed by an earlier backward") != std::string::npos);
  CHECK(same(y, z));
  y.backward();
  CHECK(same(x.grad(), dx));
  CHECK(f.graphs() == 1);
}

TEST_CASE("backward of a recorded call refuses arrays that were written since") {
  const NDArray x = array<double>({0.5, 3}), zero = array<double>({0, 0}), one = array<double>({1, 1});
  const NDArray b = one.copy();
  x.attach_grad();
  const auto f = trace_function([&](const NDArray& v) { return plus(times(v, v), b); });
  for (int call = 0; call < 3; ++call) {
    NDArray y;
    {
      const record scope;
      y = f(x);
    }
    plus(b, one, into(b));  // no gradient needs it
    y.backward();
    CHECK(same(x.grad(), array<double>({1, 6})));
    {
      const record scope;
      y = f(x);
    }
    plus(x, zero, into(x));
    const std::string why = sentence([&] { y.backward(); });
    CHECK(why.find(call == 0 ? "was overwritten" : "input 0 of a traced function (shape (2,)) was overwritten") !=
          std::string::npos);
  }
}

TEST_CASE(
    "a recorded call leaves out no gradient that the function has, and computes none of what is known to be zero") {
  const NDArray x = array<double>({1, 2}), w = array<double>({6, 4}), none = array<double>({0, 4});
  x.attach_grad(GradRequest::null);
  for (const NDArray& a : {w, none}) a.attach_grad();
  const auto f = trace_function([&](const NDArray& v) { return times(times(v, v), w); });
  const auto r = trace_function([](const NDArray& v) { return times(root(v), v); });
  for (int call = 0; call < 3; ++call) {
    const record scope;
    CHECK(same(grad(f(x), {x})[0], array<double>({12, 16})));
    step(r(none)).backward();
    CHECK(same(none.grad(), array<double>({0, 0})));
  }
}

TEST_CASE("several results: gradients of those that have heads, whichever these are, and of nothing else") {
  const NDArray x = array<double>({0.5, 3}), w = array<double>({2, -1}), b = array<double>({1, 4});
  for (const NDArray& a : {x, w, b}) a.attach_grad(a.is(w) ? GradRequest::add : GradRequest::write);
  const auto g = [&](const NDArray& v) {
    const NDArray hidden = times(quadratic(v, {.a = 1, .b = 1}), w);
    return std::array{hidden, step(hidden), v, quadratic(times(hidden, b), {.a = 0.5f}), hidden};
  };
  const auto f = trace_function(g);
  using Results = std::array<NDArray, 5>;
  const NDArray head = array<double>({1, -2}), other = array<double>({3, 0.5});
  const std::function<void(const Results&)> uses[] = {
      [&](const Results& y) { y[0].backward(head); },
      [&](const Results& y) { y[3].backward(head); },
      [&](const Results& y) { backward({y[3], y[0], y[4]}, {head, other, other}); },
      [&](const Results& y) { y[1].backward(head); },
      [&](const Results& y) { plus(step(y[3]), y[0]).backward(head); },
      [&](const Results& y) { plus(times(y[3], y[2]), step(y[1])).backward(head); },
  };
  const auto gradients = [&](const auto& function, const auto& use) {
    for (const NDArray& a : {x, w, b}) quadratic(full({2}, 7, f64), {.b = 1}, into(a.grad()));
    Results y;
    {
      const record scope;
      y = function(x);
      use(y);
    }
    return std::array{y[0], y[3], x.grad().copy(), w.grad().copy(), b.grad().copy()};
  };
  int before = 0;
  for (const auto& use : uses)
    for (int call = 0; call < 3; ++call) {
      CAPTURE(before);
      ++before;
      const auto expected = gradients(g, use), found = gradients(f, use);
      for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        CHECK(same(found[i], expected[i]));
      }
    }
  CHECK(f.graphs() == 1);
  CHECK(f.graphs_by_calls() == 0);
  const record scope;
  const Results y = f(x);
  CHECK(is_one_step(y[0]));
  CHECK(y[2].is(x));
  CHECK(y[4].is(y[0]));
  const NDArray second = grad(grad(plus(y[3], y[0]), {x}, {.create_graph = true})[0], {x})[0];
  const Results z = g(x);
  CHECK(same(second, grad(grad(plus(z[3], z[0]), {x}, {.create_graph = true})[0], {x})[0]));
}

TEST_CASE("results of one fused map: each gradient goes to what its result was computed from, zeros as well") {
  const NDArray x = array<double>({0.5, 3}), w = array<double>({2, -1}), b = array<double>({1, 4});
  const auto g = [&](const NDArray& v) {
    const NDArray hidden = quadratic(v, {.a = 1});
    return std::array{hidden, times(hidden, w), sign(times(hidden, b))};
  };
  for (const unsigned which : {7U, 1U, 2U, 4U, 5U}) {
    const auto f = trace_function(g);
    const auto gradients = [&](const auto& function) {
      for (const NDArray& a : {x, w, b}) {
        a.attach_grad();
        std::fill_n(a.grad().view<double>().data(), 2, 7.0);  // which stay where no gradient comes
      }
      const record scope;
      const auto y = function(x);
      std::vector<NDArray> heads;
      for (std::size_t k = 0; k < y.size(); ++k)
        if ((which >> k & 1U) != 0) heads.push_back(y[k]);
      backward(heads);
      return std::array{x.grad().copy(), w.grad().copy(), b.grad().copy()};
    };
    const auto expected = gradients(g);
    for (int call = 0; call < 4; ++call) {  // bound for all heads, then for those that came
      const auto found = gradients(f);
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(same(found[i], expected[i]));
    }
    CHECK(f.graphs_by_calls() == 0);
  }
}

TEST_CASE("results that have no call in common, or a loss head among them, have histories of their own") {
  const NDArray x = array<double>({0.5, 3}), w = array<double>({2, -1}), b = array<double>({1, 4});
  for (const NDArray& a : {x, w, b}) a.attach_grad();
  const auto apart = trace_function([&](const NDArray& v) { return std::pair(times(v, v), times(w, w)); });
  const auto heads = trace_function([&](const NDArray& v) {
    const NDArray hidden = times(v, w);
    return std::pair(quadratic(hidden, {.b = 1}), loss(times(hidden, b), x));
  });
  for (int call = 0; call < 3; ++call) {
    const record scope;
    const auto [square, other] = apart(x);
    square.backward();
    other.backward();
    CHECK(same(x.grad(), array<double>({1, 6})));
    CHECK(same(w.grad(), array<double>({4, -2})));
    quadratic(array<double>({7, 7}), {.b = 1}, into(b.grad()));
    heads(x).first.backward();
    CHECK(same(b.grad(), array<double>({7, 7})));
  }
  CHECK(apart.graphs_by_calls() + heads.graphs_by_calls() == 2);
}

TEST_CASE("a function that returns a loss head, or has one within") {
  const NDArray x = array<double>({0.5, 3}), label = array<double>({1, 1}), w = array<double>({2, -1});
  for (const NDArray& a : {x, w}) a.attach_grad();
  const auto head = trace_function([&](const NDArray& v) { return loss(times(v, w), label); });
  const auto within = trace_function([&](const NDArray& v) { return step(loss(times(v, w), label)); });
  for (int call = 0; call < 3; ++call)
    for (const auto* f : {&head}) {
      NDArray y;
      {
        const record scope;
        y = (*f)(x);
        CHECK(is_one_step(y) == (call > 0));
        y.backward();
      }
      CHECK(same(x.grad(), array<double>({0, 4})));
      CHECK(same(w.grad(), array<double>({0, -12})));
      {
        const record scope;
        step(within(x)).backward();
      }
      CHECK(same(x.grad(), array<double>({0, 4})));
      {
        const record scope;  // visited, though nothing comes to it
        step(head(quadratic(x, {.b = 1}))).backward();
      }
      CHECK(same(x.grad(), array<double>({0, 4})));
    }
  CHECK(head.graphs_by_calls() + within.graphs_by_calls() == 0);
}

TEST_CASE("views are nodes: their gradients are zero around them, and go through none that has no history") {
  const NDArray x = array<double>({{0.5, 3, 1}, {2, -1, 4}}), w = array<double>({2, -1}), label = array<double>({1, 1});
  for (const NDArray& a : {x, w}) a.attach_grad();
  const auto g = [&](const NDArray& v) {
    const NDArray flat = quadratic(v, {.a = 1, .b = 1}).reshape({-1}), row = v[1].slice(0, 2);
    const NDArray apart = quadratic(loss(times(w, w), label), {.b = 2}).detach();
    return plus(times(times(flat.slice(1, 3), w), row.reshape({2, 1}).reshape({-1})),
                plus(times(flat.slice(4, 6).copy(), apart), times(v.reshape({3, 2})[0], w[1])));
  };
  const auto f = trace_function(g);
  const auto gradients = [&](const auto& function) {
    NDArray y;
    {
      const record scope;
      y = function(x);
      y.backward(array<double>({1, -3}));
    }
    return std::array{y, x.grad().copy(), w.grad().copy()};
  };
  const auto expected = gradients(g);
  for (int call = 0; call < 3; ++call) {
    const auto found = gradients(f);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(same(found[i], expected[i]));
  }
  CHECK(f.graphs_by_calls() == 0);
  const record scope;
  const auto second = [&](const auto& function) {
    return grad(grad(function(x), {x}, {.create_graph = true})[0], {x})[0];
  };
  CHECK(is_one_step(f(x)));
  CHECK(same(second(f), second(g)));
  const auto nested = trace_function([&](const NDArray& v) { return quadratic(f(v).reshape({2, 1}), {.a = 1}); });
  for (int call = 0; call < 3; ++call) {
    nested(x).backward();
    const NDArray found = x.grad().copy();
    quadratic(g(x), {.a = 1}).backward();
    CHECK(same(found, x.grad()));
  }
  CHECK(nested.graphs_by_calls() == 0);
}

TEST_CASE("numbers are drawn and states written once for each call, whatever backward computes again") {
  const NDArray x = array<double>({0.5, 3}), w = array<double>({2, -1}), mean = array<double>({4});
  for (const NDArray& a : {x, w}) a.attach_grad();
  const auto g = [&](const NDArray& v) {
    const NDArray noisy = mask(times(v, w));
    return std::array{quadratic(mask(center(noisy, mean)), {.a = 1, .b = 1}), squash(noisy)};
  };
  const auto f = trace_function(g);
  const NDArray head = array<double>({1, -2});
  std::vector<NDArray> seen;
  const auto see = [&] {
    for (const NDArray& a : {x.grad(), w.grad(), mean}) seen.push_back(a.copy());
  };
  const auto run = [&](const auto& function) {
    seen.clear();
    random::seed(3);
    quadratic(array<double>({4}), {.b = 1}, into(mean));
    for (int call = 0; call < 5; ++call) {
      const record scope;
      const auto y = function(x);
      seen.insert(seen.end(), y.begin(), y.end());
      if (call == 4) {  // other heads than before, and then as before
        y[1].backward(head, true);
        see();
        plus(function(x)[0], y[0]).backward(head);
      } else if (call == 3) {
        seen.push_back(grad(plus(y[0], y[1]), {x}, {.create_graph = true})[0]);
        see();
        plus(function(x)[0], y[1]).backward(head);
      } else {
        const NDArray sum = plus(y[0], y[1]);
        sum.backward(head, true);
        see();
        sum.backward(head);
      }
      see();
    }
    return seen;
  };
  const std::vector<NDArray> expected = run(g), found = run(f);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(same(found[i], expected[i]));
  }
  CHECK(f.graphs() == 1);
  CHECK(f.graphs_by_calls() == 0);
}

TEST_CASE("a state that is an argument as well is written and read in the order of the calls") {
  const NDArray state = array<double>({4}), other = array<double>({1}), w = array<double>({3});
  w.attach_grad();
  const auto g = [&](const NDArray& v) {
    const NDArray first = times(v, w);
    return plus(center(array<double>({2, 6}), state), plus(first, v));
  };
  const auto f = trace_function(g);
  for (const NDArray& v : {other, state, other, state}) {
    const double before = state.item<double>();
    const record scope;
    NDArray y = g(v);
    const NDArray after = state.copy();
    quadratic(array<double>({before}), {.b = 1}, into(state));
    const NDArray found = f(v);
    CHECK(same(found, y));
    CHECK(same(state, after));
    if (v.is(state)) {  // which the gradient reads, and was written since
      CHECK(sentence([&] { y.backward(); }).find("was overwritten") != std::string::npos);
      CHECK(sentence([&] { found.backward(); }).find("was overwritten") != std::string::npos);
      continue;
    }
    y.backward();
    const NDArray dw = w.grad().copy();
    found.backward();
    CHECK(same(w.grad(), dw));
  }
}

TEST_CASE("what a function has captured is freed, also where it is written with what the function has computed") {
  std::weak_ptr<int> alive;
  {
    const auto owner = std::make_shared<int>(0);
    alive = owner;
    const NDArray state = array<double>({1, 1}), x = array<double>({1, 2});
    double weights[] = {1, 2};
    const NDArray w = from_pointer(weights, {2}, [owner](void*) {});
    w.attach_grad();
    const auto f = trace_function([=](const NDArray& v) { return plus(times(v, w), state); });
    for (int call = 0; call < 3; ++call) {
      const record scope;
      quadratic(f(x), {.b = 0.5f}, into(state));
    }
  }
  CHECK(alive.expired());
}

TEST_CASE("a long history of recorded calls is taken down step by step") {
  const NDArray x = array<double>({0.5, 3});
  x.attach_grad();
  const auto f = trace_function([](const NDArray& v) { return quadratic(v, {.b = 1}); });
  const record scope;
  NDArray y = x;
  for (int i = 0; i < 20000; ++i) y = f(y);
  CHECK(same(y, x));
}

TEST_CASE("threads record calls of one function side by side") {
  const auto f = trace_function([](const NDArray& v) { return times(quadratic(v, {.a = 1}), v); });
  std::array<bool, 3> right{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      bool all = true;
      for (int i = 1; i < 100; ++i) {
        const auto v = static_cast<double>(i) + static_cast<double>(t) * 100;
        const NDArray x = array<double>({v});
        x.attach_grad();
        const record scope;
        f(x).backward();
        all = all && x.grad().item<double>() == 3 * v * v;
      }
      right[t] = all;
    });
  for (std::thread& thread : threads) thread.join();
  for (const bool one : right) CHECK(one);
}
