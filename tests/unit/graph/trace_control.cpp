// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops and branches within traced functions: nodes, which take at each call as many steps as its values say.
#include "operators.hpp"

#include <strop/autograd/backward.hpp>
#include <strop/autograd/tape.hpp>
#include <strop/graph/control.hpp>
#include <strop/graph/mirror.hpp>
#include <strop/graph/trace.hpp>
#include <strop/memory/random.hpp>
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/reduce.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

using namespace graph_tests;

namespace {

/// Numbers that are drawn, of the shape of x
struct FlowDraw {
  static constexpr bool zero_gradient = true;
  static constexpr Resources resources{.random = true};
  template <Real E>
  void forward(Cpu& ctx, View<const E> x, View<E> y) const {
    const random::Stream stream = ctx.random();
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = static_cast<E>(stream.uniform01d(i));
  }
};
inline constexpr Op<FlowDraw> draw;

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

/// Counts graphs as they are planned, while it lives in place of the check that all tests make.
class PlansSeen {
 public:
  PlansSeen() : before_(detail::planned_graphs.exchange([](const detail::BoundGraph&) { ++seen_; })) {}
  PlansSeen(const PlansSeen&) = delete;
  PlansSeen& operator=(const PlansSeen&) = delete;
  ~PlansSeen() { detail::planned_graphs = before_; }
  int during(const auto& work) const {
    seen_ = 0;
    work();
    return seen_;
  }

 private:
  static inline std::atomic<int> seen_;
  void (*before_)(const detail::BoundGraph&);
};

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
  /// The function runs at each call, and the loop or the branch in it.
  const auto left = [&](const auto& g) {
    const auto f = trace_function(g);
    for (int n = 0; n < 2; ++n) CHECK(same(f(x), g(x)));
    CHECK(f.graphs() == 0);
    CHECK(f.without_graph() == 1);
    CHECK(same(quadratic(x, {.b = 1}), x));
  };
  left([&](const NDArray& v) {
    const record scope;
    return cond(sum(v) > 0, [&] { return paused(v); }, [&] { return v; });
  });
  left([](const NDArray& v) {
    return cond(sum(v) > 0, [&] { return v * v.slice(0, 1).item<double>(); }, [&] { return v; });
  });
  left([](const NDArray& v) {
    return while_loop([](const NDArray& s) { return sum(s) < 9; },
                      [](const NDArray& s) {
                        const NDArray twice = cond(
                            s.slice(0, 1) > 3, [&] { return s * 3; },
                            [&] { return s * (1 + s.slice(1, 2).item<double>() / 2); });
                        return std::pair(twice, twice);
                      },
                      v, 5)
        .second;
  });
  CHECK(refused([](const NDArray& v) {
          return cond(sum(v) > 0, [&] { return plus(v, array<double>({1, 2, 3})); }, [&] { return v; });
        }).find("trace_control.cpp:") != std::string::npos);
}

TEST_CASE("a loop or a branch of a traced function has gradients of every order that its calls have") {
  const NDArray x = array<double>({3, 1}), w = array<double>({0.5, 0.8});
  for (const NDArray& a : {x, w}) a.attach_grad();
  const auto orders = [&](const auto& function) {
    const record scope;
    std::vector<NDArray> seen{function(x)};
    NDArray order = seen[0];
    for (int n = 0; n < 3; ++n) {
      std::vector<NDArray> next = grad(order, {x, w}, {.create_graph = true});
      seen.insert(seen.end(), next.begin(), next.end());
      order = plus(times(next[0], next[0]), next[1]);
    }
    return seen;
  };
  const auto compare_orders = [&](const auto& g) {
    const auto f = trace_function(g);
    const std::vector<NDArray> expected = orders(g);
    for (int call = 0; call < 3; ++call) {  // traced, then bound, then bound for the heads that have come
      const std::vector<NDArray> found = orders(f);
      for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        CHECK(same(found[i], expected[i]));
      }
    }
    CHECK(f.graphs_by_calls() == 0);
  };
  const auto halve = [&](const NDArray& v) {
    return while_loop([](const NDArray& s) { return sum(s) > 1; },
                      [&](const NDArray& s) {
                        const NDArray next = times(times(s, s), times(w, w)) * 0.25;
                        return std::pair(times(next, w), next);
                      },
                      v, 4);
  };
  compare_orders(
      [](const NDArray& v) { return cond(sum(v) > 0, [&] { return times(v, times(v, v)); }, [&] { return v; }); });
  compare_orders([&](const NDArray& v) { return times(halve(v).second, v); });
  compare_orders([&](const NDArray& v) { return sum(halve(v).first); });
  compare_orders([&](const NDArray& v) {  // the last step leaves the state, which is an input, as it is
    const auto body = [&](const NDArray& s) {
      const auto inner = [&] { return times(halve(s).second, s); };
      return std::pair(std::vector<NDArray>{}, cond(sum(s) > 2, inner, [&] { return s; }));
    };
    return times(while_loop([](const NDArray& s) { return sum(s) > 0; }, body, v, 3).second, w);
  });
}

TEST_CASE("a loop without a step gives zeros, and its state in an array of its own, recorded as well") {
  const NDArray x = array<double>({-3, 1});
  x.attach_grad();
  const auto f = trace_function([](const NDArray& v) {
    const auto body = [](const NDArray& s) { return std::pair(times(s, s), times(s, s)); };
    const auto [steps, last] = while_loop([](const NDArray& s) { return sum(s) > 0; }, body, v, 2);
    return std::pair(plus(sum(steps), times(last, v)), last);
  });
  for (int call = 0; call < 3; ++call) {
    const record scope;
    const auto [y, last] = f(x);
    CHECK(same(y, array<double>({9, 1})));
    CHECK(!last.is(x));
    const NDArray first = grad(y, {x}, {.create_graph = true})[0];
    CHECK(same(first, array<double>({-6, 2})));
    CHECK(same(grad(first, {x})[0], array<double>({2, 2})));
  }
}

TEST_CASE("steps of a loop draw the same numbers in a call that traces, in a replay and for a gradient of a gradient") {
  const NDArray x = array<double>({3, 2}), ones = array<double>({1, 1});
  x.attach_grad();
  const auto f = trace_function([&](const NDArray& v) {
    const auto body = [&](const NDArray& s) {
      return std::pair(std::vector<NDArray>{}, times(plus(times(draw(ones), draw(ones)), draw(ones)), s));
    };
    return times(while_loop([](const NDArray& s) { return sum(s) > 0; }, body, v, 3).second, v);
  });
  std::vector<NDArray> results;
  for (int call = 0; call < 3; ++call) {
    random::seed(7);
    const record scope;
    const NDArray y = f(x), first = grad(y, {x}, {.create_graph = true})[0];
    const NDArray second = grad(first, {x})[0];
    results.push_back(y.copy());
    CHECK(same(y, results[0]));
    CHECK(same(first, y * 2.0 / array<double>({3, 2})));
    CHECK(same(second, y * 2.0 / array<double>({9, 4})));
  }
}

TEST_CASE("what a recorded loop or branch gives shares no memory with its inputs, nor with another result") {
  for (int view = 0; view < 2; ++view) {
    const NDArray m = array<double>({{1, 2}, {3, 4}});
    m.attach_grad();
    const auto f = trace_function([&](const NDArray& a, const NDArray& p) {
      return cond(
          p,
          [&] {
            const NDArray y = view != 0 ? a[0] : times(a, a);
            return std::vector<NDArray>{y, y};
          },
          [&] {
            const NDArray y = view != 0 ? a[1] : a;
            return std::vector<NDArray>{y, y};
          });
    });
    for (const double way : {1.0, 0.0})
      for (int call = 0; call < 3; ++call) {
        const record scope;
        const std::vector<NDArray> y = f(m, array<double>({way}));
        const NDArray expected = y[0].copy();
        y[1] += 10;
        CHECK(same(y[0], expected));
        CHECK(same(m, array<double>({{1, 2}, {3, 4}})));
      }
  }
}

TEST_CASE("a recorded branch that reads no input has zero gradients") {
  const NDArray x = array<double>({1, 2}), c = array<double>({5, 6}), no = array<double>({0});
  const auto branch = trace_function([&](const NDArray& a, const NDArray& p) {
    return cond(p, [&] { return times(a, a); }, [&] { return times(c, c); });
  });
  const auto loop = trace_function([&](const NDArray& a, const NDArray& p) {
    const auto body = [&](const NDArray& s) { return std::pair(times(s, s), times(s, s)); };
    return while_loop([&](const NDArray&) { return p; }, body, a, 2).first;
  });
  const auto check = [&](const auto& f) {
    x.attach_grad();
    for (int call = 0; call < 3; ++call) {
      {
        const record scope;
        times(x, x).backward();
      }
      CHECK(same(x.grad(), array<double>({2, 4})));
      {
        const record scope;
        f(x, no).backward();
      }
      CHECK(same(x.grad(), array<double>({0, 0})));
      const record scope;
      const NDArray y = f(x, no);
      CHECK(same(grad(sum(y), {x}, {.create_graph = true})[0], array<double>({0, 0})));
    }
  };
  check(branch);
  check(loop);
}

TEST_CASE("tests see the plan of every graph: of executors, loops, branches and traced functions, and dry ones") {
  const PlansSeen plans;
  const auto both_ways = [](const auto& v) {
    const auto steps = while_loop([](const auto& s) { return sum(s) > 9; },
                                  [](const auto& s) { return std::pair(s, times(s, s * 0.5)); }, v, 3);
    const auto& last = steps.second;
    return cond(sum(v) > 0, [&] { return squash(last); }, [&] { return last + v; });
  };
  const NamedShapes shapes = {{"x", {2}}};
  const Symbol net = both_ways(var("x"));
  CHECK(plans.during([&] { (void)detail::dry_plan(net, shapes, true); }) == 1);
  auto run = net.simple_bind(cpu(), shapes);
  CHECK(plans.during([&] { (void)net.simple_bind(cpu(), shapes); }) == 1);
  const NDArray x = array({6, 4}), head = ones({2});
  const auto step = [&] {
    run.forward(true, {{"x", x}})[0].wait();
    run.backward(head);
    run.grad("x").wait();
  };
  CHECK(plans.during(step) == 5);  // the condition of the loop, its body, and the branch; the gradients of these two
  CHECK(plans.during(step) == 0);
  const auto traced = trace_function([&](const NDArray& v) { return both_ways(v); });
  CHECK(plans.during([&] {
    for (int i = 0; i < 2; ++i) traced(x).wait();
  }) == 4);  // the function, and forward's
  x.attach_grad();
  CHECK(plans.during([&] {
    for (int i = 0; i < 2; ++i) {
      const record scope;
      traced(x).backward();
      x.grad().wait();
    }
  }) == 6);  // with the gradients
}
