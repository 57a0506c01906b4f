// SPDX-License-Identifier: Apache-2.0
/// \file
/// Prepared operations behave as pushed ones.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common.hpp"

using namespace engine_test;

TEST_CASE("a step is pushed often and keeps its place in the order") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto a = engine.variable(), b = engine.variable();
    long x = 0, y = 0;
    const auto grow = engine.prepare([&] { ++x; }, {.reads = {a, a}, .writes = {a}});
    const auto take = engine.prepare([&] { y += x; }, {.reads = {a, b}, .writes = {b}, .name = "take"});
    for (int i = 0; i < 500; ++i) {
      grow.push();
      take.push();
    }
    engine.wait(b);
    CHECK(x == 500);
    CHECK(y == 500 * 501 / 2);
  }
}

TEST_CASE("a step, its variables and its name live until its pushes are complete") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto token = std::make_shared<int>(0);
    {
      auto v = engine.variable();
      auto step = engine.prepare(
          [token] {
            if (++*token == 10) throw std::runtime_error("tenth");
          },
          {.reads = {v}, .writes = {v}, .name = std::string("a name that is long enough to need memory of its own")});
      auto copy = step;
      step = copy;
      for (int i = 0; i < 12; ++i) copy.push();
    }
    std::string said;
    try {
      engine.wait_all();
    } catch (const std::runtime_error& e) {
      said = e.what();
    }
    CHECK(said.find("tenth [in operation 'a name that is long enough") == 0);
    CHECK(*token == 10);
    CHECK(token.use_count() == 1);
  }
}

TEST_CASE("a step may be asynchronous") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    int x = 0;
    const auto step = engine.prepare(
        [&x](Engine::Done done) {
          ++x;
          std::thread([done = std::move(done)] { done(); }).detach();
        },
        {.reads = {v}, .writes = {v}});
    for (int i = 0; i < 50; ++i) step.push();
    engine.wait(v);
    CHECK(x == 50);
    CHECK(v.version() == 50);
    engine.wait_all();
  }
}

TEST_CASE("steps with many variables, and pushed from several threads") {
  for (Kind kind : {Kind::threaded, Kind::naive}) {
    Engine engine{{.threads = 2, .kind = kind}};
    std::vector<Engine::Variable> many;
    for (int i = 0; i < 30; ++i) many.push_back(engine.variable());
    int x = 0;
    const auto step = engine.prepare([&] { ++x; }, {.reads = many, .writes = {many[29], many[0]}});
    std::vector<std::thread> group;
    for (int t = 0; t < 4; ++t)
      group.emplace_back([&] {
        for (int i = 0; i < 100; ++i) step.push();
      });
    for (auto& one : group) one.join();
    engine.wait_all();
    CHECK(x == 400);
    CHECK(many[0].version() == 400);
    CHECK(many[1].version() == 0);
  }
}
