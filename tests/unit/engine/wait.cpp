// SPDX-License-Identifier: Apache-2.0
/// \file
/// Waiting for variables and for everything, also inside operations.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "common.hpp"

using namespace engine_test;

TEST_CASE("wait waits for writers, wait_idle for readers as well") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  const auto v = engine.variable();
  Door door;
  std::atomic<bool> read = false;
  engine.push([] {}, {.writes = {v}});
  engine.push(
      [&] {
        door.pass();
        read = true;
      },
      {.reads = {v}});
  engine.wait(v);  // would never return if it waited for the reader
  CHECK_FALSE(read);
  CHECK_FALSE(v.idle());
  CHECK_FALSE(Engine::idle(v));
  std::thread opener([&] { door.open(); });
  engine.wait_idle(v);
  CHECK(read);
  CHECK(v.idle());
  opener.join();
}

TEST_CASE("what is pushed after a wait has begun is not waited for") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  const auto v = engine.variable();
  Door first, second;
  std::atomic<bool> waiting = false;
  engine.push([&] { first.pass(); }, {.writes = {v}});
  std::thread waiter([&] {
    waiting = true;
    engine.wait_idle(v);
  });
  while (!waiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // usually enough for the wait to have begun
  std::atomic<bool> blocked = true;
  engine.push(
      [&] {
        second.pass();
        blocked = false;
      },
      {.writes = {v}});
  first.open();
  // Where the wait began in time it returns now, else after the second: both are right, so only the end is asserted.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  second.open();
  waiter.join();
  engine.wait_all();
  CHECK_FALSE(blocked);
}

TEST_CASE("an operation may wait for others, even if it is alone with one thread") {
  Engine engine{{.threads = 1, .kind = Kind::threaded}};
  const auto a = engine.variable(), b = engine.variable();
  int x = 0;
  engine.push([&] {
    engine.push([&] { x = 1; }, {.writes = {b}});
    engine.push([&] { x += 10; }, {.reads = {b}, .writes = {a}});
    engine.wait(a);
    x *= 2;
  });
  engine.wait_all();
  CHECK(x == 22);
}

TEST_CASE("blocked operations lend their thread") {
  // one thread; every operation blocks until the next one, which is not in its reach, has run
  Engine engine{{.threads = 1, .kind = Kind::threaded}};
  constexpr int depth = 5;
  std::vector<Engine::Variable> v;
  for (int i = 0; i <= depth; ++i) v.push_back(engine.variable());
  Door door;
  std::atomic<int> ended = 0;
  engine.push_async([&](Engine::Done done) { std::thread([&, done] { door.pass(), done(); }).detach(); },
                    {.writes = {v[depth]}});
  for (int i = depth; i-- > 0;)
    engine.push(
        [&, i] {
          engine.wait(v[static_cast<std::size_t>(i) + 1]);
          ++ended;
        },
        {.writes = {v[static_cast<std::size_t>(i)]}});
  // this one can only run on a lent place
  std::atomic<bool> ran = false;
  engine.push([&] { ran = true; });
  while (!ran) std::this_thread::yield();
  CHECK(ended == 0);
  door.open();
  engine.wait_all();
  CHECK(ended == depth);
  for (int i = 0; i < 1000; ++i) engine.push([&] { ++ended; });
  engine.wait_all();
  CHECK(ended == depth + 1000);
}

TEST_CASE("a wait that can never end is refused") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    std::string said, said_all;
    engine.push([&] { said = sentence([&] { engine.wait(v); }); }, {.writes = {v}, .name = "self"});
    engine.push([&] { said_all = sentence([&] { engine.wait_all(); }); });
    engine.wait_all();
    CHECK(said == "wait: operation 'self' waits for a variable that it uses itself");
    CHECK(said_all == "wait_all: called inside an operation, which would wait for itself");
  }
}

TEST_CASE("reading a variable and waiting for it is fine when its writes are complete") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    int seen = 0;
    engine.push([&] { seen = 1; }, {.writes = {v}});
    engine.push([&] { engine.wait(v), ++seen; }, {.reads = {v}});
    engine.wait_all();
    CHECK(seen == 2);
  }
}

TEST_CASE("waits from several threads") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  const auto v = engine.variable();
  Door door;
  std::atomic<int> seen = 0;
  int value = 0;
  engine.push(
      [&] {
        door.pass();
        value = 42;
      },
      {.writes = {v}});
  std::vector<std::thread> group;
  for (int i = 0; i < 8; ++i)
    group.emplace_back([&, i] {
      i % 2 == 0 ? engine.wait(v) : engine.wait_all();
      if (value == 42) ++seen;
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  door.open();
  for (auto& one : group) one.join();
  CHECK(seen == 8);
}

TEST_CASE("a wait inside an operation of one engine lets its thread serve what another engine needs") {
  Engine one{{.threads = 1, .kind = Kind::threaded}}, two{{.threads = 1, .kind = Kind::threaded}};
  const auto a = one.variable(), b = two.variable();
  std::atomic<bool> began = false, inner = false;
  one.push(
      [&] {
        two.push(
            [&] {
              one.push([&] { inner = true; });
              began = true;
              while (!inner) std::this_thread::yield();
            },
            {.writes = {b}});
        while (!began) std::this_thread::yield();
        two.wait(b);
      },
      {.writes = {a}});
  while (!inner) std::this_thread::yield();
  one.wait_all();
  two.wait_all();
  CHECK(inner);
}
