// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops and branches within traced functions: nodes, which take at each call as many steps as its values say.
#include "operators.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/graph/control.hpp>
#include <strop/graph/trace.hpp>
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/reduce.hpp>

#include <doctest/doctest.h>

#include <array>
#include <utility>
#include <vector>

using namespace graph_tests;

namespace {

/// Results and gradients of x and w, of a traced function against the function itself, recorded and not.
template <class G>
void compare(const G& g, const std::vector<NDArray>& arguments, const NDArray& w, const NDArray& state) {
  const auto f = trace_function(g);
  const auto run = [&](const auto& function, const NDArray& x) {
    quadratic(array<double>({4}), {.b = 1}, into(state));
    std::vector<NDArray> seen{function(x), state.copy()};
    const record scope;
    seen.push_back(function(x));
    seen.back().backward(array<double>({1, -2}));
    for (const NDArray& a : {x.grad(), w.grad(), state}) seen.push_back(a.copy());
    return seen;
  };
  for (int time = 0; time < 2; ++time)
    for (const NDArray& x : arguments) {
      for (const NDArray& a : {x, w}) a.attach_grad();
      const std::vector<NDArray> expected = run(g, x), found = run(f, x);
      for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        CHECK(same(found[i], expected[i]));
      }
    }
  CHECK(f.graphs() == 2);
  CHECK(f.graphs_by_calls() == 0);
}

}  // namespace

TEST_CASE("while_loop and cond in a traced function take the steps and the branch of each call") {
  const NDArray w = array<double>({0.5, 0.8}), mean = array<double>({4});
  const std::vector<NDArray> arguments{array<double>({3, 1}), array<double>({30, 1}), array<double>({0.9, 0.3}),
                                       array<double>({2, 1.5})};
  const auto halve = [&](const NDArray& v) {
    return while_loop([](const NDArray& s) { return sum(s) > 1; },
                      [&](const NDArray& s) {
                        const NDArray next = times(center(s, mean), w) + s * 0.25;
                        return std::pair(squash(next), next);
                      },
                      quadratic(v, {.b = 1}), 6);
  };
  compare([&](const NDArray& v) { return plus(halve(v).second, v); }, arguments, w, mean);
  compare(
      [&](const NDArray& v) {
        return cond(sum(v) > 4, [&] { return times(center(v, mean), w); }, [&] { return plus(v, w); });
      },
      arguments, w, mean);
  const std::vector<NDArray> some(arguments.begin(), arguments.begin() + 2);  // with one step at least
  compare(
      [&](const NDArray& v) {
        const auto [steps, last] = halve(v);
        const NDArray scale = cond(sum(last) > 0.5, [&] { return sum(steps); }, [&] { return sum(times(last, w)); });
        return times(plus(last, v), scale);
      },
      some, w, mean);
}

TEST_CASE("a loop in a branch in a loop") {
  const NDArray w = array<double>({0.5, 0.8}), mean = array<double>({4});
  compare(
      [&](const NDArray& v) {
        const auto body = [&](const NDArray& s) {
          const auto inner = [&] {
            return while_loop([](const NDArray& t) { return sum(t) > 9; },
                              [&](const NDArray& t) { return std::pair(t, times(t, w)); }, s, 3)
                .second;
          };
          const NDArray next = cond(sum(s) > 4, inner, [&] { return s - 1; });
          return std::pair(std::vector<NDArray>{}, next);
        };
        return while_loop([](const NDArray& s) { return sum(s) > 0; }, body, v, 5).second;
      },
      {array<double>({3, 1}), array<double>({30, 1}), array<double>({-1, -1})}, w, mean);
}

TEST_CASE("what a loop or a branch cannot do in a traced function") {
  const NDArray x = array<double>({1, 2});
  const auto refused = [&](const auto& g) {
    const auto f = trace_function(g);
    const std::string said = sentence([&] { f(x); });
    CHECK(f.graphs() == 0);
    CHECK(same(quadratic(x, {.b = 1}), x));
    return said;
  };
  CHECK(refused([](const NDArray& v) {
          return cond(v, [&] { return v; }, [&] { return v; });
        }).find("the condition has shape (2,), expected one element") != std::string::npos);
  CHECK(refused([](const NDArray& v) {
          return while_loop([](const NDArray& s) { return sum(s) > 9; },
                            [](const NDArray& s) { return std::pair(s, s.slice(0, 1)); }, v, 3)
              .second;
        }).find("a state keeps its shape") != std::string::npos);
  const auto paused = [](const NDArray& v) {
    const strop::pause scope;
    return times(v, v);
  };
  CHECK(refused([&](const NDArray& v) {
          const record scope;
          return cond(sum(v) > 0, [&] { return paused(v); }, [&] { return v; });
        }).find("computes in one mode") != std::string::npos);
  CHECK(refused([](const NDArray& v) {
          return cond(sum(v) > 0, [&] { return v * v.slice(0, 1).item<double>(); }, [&] { return v; });
        }).starts_with("trace_function: item() cannot be traced: "));
  CHECK(refused([](const NDArray& v) {
          return cond(sum(v) > 0, [&] { return plus(v, array<double>({1, 2, 3})); }, [&] { return v; });
        }).find("trace_control.cpp:") != std::string::npos);
}

TEST_CASE(
    "a loop or a branch of a traced function has gradients of order 1, which may be recorded; others are refused") {
  const NDArray x = array<double>({1, 2});
  x.attach_grad();
  const auto g = [](const NDArray& v) {
    return cond(sum(v) > 0, [&] { return times(v, times(v, v)); }, [&] { return v; });
  };
  const auto f = trace_function(g);
  for (int call = 0; call < 3; ++call) {
    const record scope;
    const NDArray first = grad(f(x), {x}, {.create_graph = true})[0];
    CHECK(same(first, array<double>({3, 12})));
    CHECK(sentence([&] { grad(first, {x}); }) ==
          "backward: _backward__cond has no gradient: the operator states its gradient, and no gradient of that");
    CHECK(same(grad(grad(g(x), {x}, {.create_graph = true})[0], {x})[0], array<double>({6, 12})));
  }
}
