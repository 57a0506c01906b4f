// SPDX-License-Identifier: Apache-2.0
/// \file
/// Kinds of engine by option and by environment; every interleaving of small programs on the simulated kind.
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "common.hpp"
#include "random_program.hpp"

using namespace engine_test;

TEST_CASE("the environment chooses the kind where the program does not") {
  unsetenv("STROP_ENGINE_TYPE");
  unsetenv("MXNET_ENGINE_TYPE");
  CHECK(Engine().kind() == Kind::threaded);
  CHECK(Engine({.kind = Kind::naive}).kind() == Kind::naive);
  for (const auto& [value, kind] : {std::pair{"naive", Kind::naive},
                                    {"threaded", Kind::threaded},
                                    {"", Kind::threaded},
                                    {"NaiveEngine", Kind::naive},
                                    {"ThreadedEnginePerDevice", Kind::threaded}}) {
    const Environment set("STROP_ENGINE_TYPE", value);
    CHECK(Engine().kind() == kind);
    CHECK(Engine({.kind = Kind::simulated}).kind() == Kind::simulated);
  }
  {
    const Environment old_name("MXNET_ENGINE_TYPE", "NaiveEngine");
    CHECK(Engine().kind() == Kind::naive);
    const Environment new_name("STROP_ENGINE_TYPE", "threaded");
    CHECK(Engine().kind() == Kind::threaded);
  }
  const Environment wrong("STROP_ENGINE_TYPE", "fast");
  CHECK_THROWS_WITH_AS(Engine(), "STROP_ENGINE_TYPE: expected threaded or naive, got 'fast'", strop::Error);
}

TEST_CASE("the number of threads is an option, then the environment, then that of the loops") {
  CHECK(Engine({.threads = 3}).threads() == 3);
  CHECK(Engine({.threads = 100000}).threads() == 256);
  CHECK_THROWS_WITH_AS(Engine({.threads = -1}), "Engine: expected at least 1 thread, got -1", strop::Error);
  {
    const Environment old_name("MXNET_CPU_WORKER_NTHREADS", "7");
    CHECK(Engine().threads() == 7);
    const Environment new_name("STROP_CPU_WORKER_NTHREADS", "5");
    CHECK(Engine().threads() == 5);
    CHECK(Engine({.threads = 3}).threads() == 3);
  }
  for (const char* const name : {"STROP_CPU_WORKER_NTHREADS", "MXNET_GPU_COPY_NTHREADS", "STROP_GPU_WORKER_NTHREADS"})
    for (const char* const wrong : {"many", "0", "-2", "3 or 4", "2.5"}) {
      const Environment set(name, wrong);
      CHECK_THROWS_WITH_AS(Engine(),
                           strop::cat(name, ": expected a whole number of 1 or more, got '", wrong, "'").c_str(),
                           strop::Error);
    }
  CHECK(Engine().threads() == strop::num_threads());
}

namespace {

/// Follows a path of choices and remembers how many there were at each: `next` moves to the following path.
struct Path {
  std::vector<std::size_t> chosen, of;
  std::size_t depth = 0;

  static std::size_t choose(void* context, std::size_t ready) {
    Path& path = *static_cast<Path*>(context);
    if (path.depth == path.chosen.size()) {
      path.chosen.push_back(0);
      path.of.push_back(ready);
    }
    return path.chosen[path.depth++];
  }
  bool next() {
    depth = 0;
    while (!chosen.empty() && ++chosen.back() == of.back()) {
      chosen.pop_back();
      of.pop_back();
    }
    return !chosen.empty();
  }
};

/// Runs a program in every order that the engine may choose; returns the orders that were seen.
std::set<std::string> every_order(const std::vector<Step>& steps, std::size_t variables, bool& same) {
  Interpreter serial(variables);
  for (const Step& step : steps) serial.step(step);
  std::set<std::string> orders;
  Path path;
  do {
    std::string order;
    std::vector<std::uint64_t> values(variables);
    Engine engine{{.kind = Kind::simulated, .choose = Path::choose, .choose_context = &path}};
    std::vector<Engine::Variable> vars;
    for (std::size_t i = 0; i < variables; ++i) vars.push_back(engine.variable());
    for (const Step& step : steps) {
      std::vector<Engine::Variable> reads, writes;
      for (std::size_t r : step.reads) reads.push_back(vars[r]);
      for (std::size_t w : step.writes) writes.push_back(vars[w]);
      engine.push(
          [&step, &values, &order] {
            order += static_cast<char>('a' + step.id);
            if (step.fails) throw Failed{step.id};
            apply(step, values);
          },
          {.reads = reads, .writes = writes});
    }
    std::size_t raised = 0;
    for (bool more = true; more;) {
      more = false;
      try {
        engine.wait_all();
      } catch (const Failed&) {
        more = true;
        ++raised;
      }
    }
    same = same && raised == serial.failed.size();
    for (std::size_t v = 0; v < variables; ++v) {
      const bool failed = vars[v].failed();
      same = same && failed == !serial.failures[v].empty() && (failed || values[v] == serial.values[v]) &&
             vars[v].version() == serial.versions[v];
    }
    orders.insert(order);
  } while (path.next());
  return orders;
}

Step step(std::size_t id, std::vector<std::size_t> reads, std::vector<std::size_t> writes) {
  Step made;
  made.id = id;
  made.reads = std::move(reads);
  made.writes = std::move(writes);
  return made;
}

}  // namespace

TEST_CASE("the simulated engine can go through every order, and only through those that the uses allow") {
  using Orders = std::set<std::string>;
  bool same = true;
  CHECK(every_order({step(0, {}, {}), step(1, {}, {}), step(2, {}, {})}, 1, same) ==
        Orders{"abc", "acb", "bac", "bca", "cab", "cba"});
  CHECK(every_order({step(0, {}, {0}), step(1, {0}, {0}), step(2, {}, {0})}, 1, same) == Orders{"abc"});
  CHECK(every_order({step(0, {}, {0}), step(1, {0}, {}), step(2, {0}, {}), step(3, {}, {0})}, 1, same) ==
        Orders{"abcd", "acbd"});
  CHECK(every_order({step(0, {}, {0}), step(1, {0}, {1}), step(2, {0}, {2}), step(3, {1, 2}, {3})}, 4, same) ==
        Orders{"abcd", "acbd"});
  CHECK(every_order({step(0, {}, {0}), step(1, {}, {1}), step(2, {}, {0, 1})}, 2, same) == Orders{"abc", "bac"});
  CHECK(same);
}

TEST_CASE("every interleaving of small random programs does what a serial interpreter does") {
  std::size_t orders = 0;
  for (std::size_t seed = 0; seed < 300 * scale(); ++seed) {
    Random random(seed);
    const std::size_t variables = 1 + random.below(4);
    auto steps = random_steps(random, variables, 2 + random.below(5), 6);
    bool same = true;
    orders += every_order(steps, variables, same).size();
    CAPTURE(seed);
    REQUIRE(same);
  }
  CHECK(orders > 600);  // there was something to choose
}

TEST_CASE("a seed decides the order") {
  const auto order = [](std::uint64_t seed) {
    Engine engine{{.kind = Kind::simulated, .seed = seed}};
    std::string seen;
    for (char c = 'a'; c < 'k'; ++c) engine.push([&seen, c] { seen += c; });
    engine.wait_all();
    return seen;
  };
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(order(seed) == order(seed));
    CHECK(order(seed).size() == 10);
    orders.insert(order(seed));
  }
  CHECK(orders.size() > 15);
}

TEST_CASE("a wait on the simulated engine ends as soon as it may") {
  // operation 2 first, always: the wait for v needs it alone
  Engine engine{{.kind = Kind::simulated, .choose = [](void*, std::size_t ready) { return ready - 1; }}};
  const auto v = engine.variable();
  int others = 0, own = 0;
  engine.push([&] { ++others; });
  engine.push([&] { ++others; });
  engine.push([&] { ++own; }, {.writes = {v}});
  engine.wait(v);
  CHECK(own == 1);
  CHECK(others == 0);
  engine.wait_all();
  CHECK(others == 2);
}
