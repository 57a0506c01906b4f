// SPDX-License-Identifier: Apache-2.0
/// \file
/// Traced functions where calls are recorded: one step of the tape each, with the gradients of the function itself.
#include "operators.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/graph/trace.hpp>

#include <doctest/doctest.h>

#include <array>
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

bool is_one_step(const NDArray& y) {
  return static_cast<bool>(static_cast<const detail::TapeNode*>(y.body().lineage.get())->function);
}

}  // namespace

TEST_CASE("a recorded call is one step of the tape, planned like a bound graph, as often as calls are on their way") {
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
    return std::array{y, x.grad().copy(), w.grad().copy(), b.grad() ? b.grad().copy() : NDArray()};
  };
  for (const NDArray& head : {array<double>({1, 2}), array<double>({-3, 0.5})})
    for (int call = 0; call < 3; ++call) {
      const bool adds = call == 2 || b.grad();  // another set of gradients
      if (adds) b.attach_grad(GradRequest::add);
      const auto expected = gradients(g, head);
      if (adds) b.attach_grad(GradRequest::add);
      const auto found = gradients(f, head);
      CHECK(same(found[0], expected[0]));
      for (std::size_t i = 1; i < found.size(); ++i)
        if (expected[i]) CHECK(allclose(found[i], expected[i], 1e-14, 0));
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
