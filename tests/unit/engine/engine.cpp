// SPDX-License-Identifier: Apache-2.0
/// \file
/// The guarantees of the engine, each for every kind that gives it.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common.hpp"

using namespace engine_test;

TEST_CASE("operations on one variable run in the order of their pushes") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 3, .kind = kind}};
    const auto v = engine.variable();
    std::vector<int> order;
    for (int i = 0; i < 1000; ++i) {
      if (i % 3 == 0)
        engine.push([&order, i] { order.push_back(i); }, {.writes = {v}});
      else
        engine.push([&order, i] { order.push_back(i); }, {.reads = {v}, .writes = {v}});
    }
    engine.wait(v);
    REQUIRE(order.size() == 1000);
    for (int i = 0; i < 1000; ++i) REQUIRE(order[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("readers run together, a writer waits for them, readers behind it wait for the writer") {
  Engine engine{{.threads = 3, .kind = Kind::threaded}};
  const auto v = engine.variable();
  std::atomic<int> reading = 0;
  std::atomic<bool> written = false, early = false, late_saw = true;
  for (int i = 0; i < 3; ++i)
    engine.push(
        [&] {
          ++reading;
          while (reading < 3) std::this_thread::yield();  // ends only if all three run at once
          if (written) early = true;
        },
        {.reads = {v}});
  engine.push([&] { written = true; }, {.writes = {v}});
  engine.push([&] { late_saw = late_saw && written; }, {.reads = {v}});
  engine.wait_all();
  CHECK(reading == 3);
  CHECK(written);
  CHECK_FALSE(early);
  CHECK(late_saw);
}

TEST_CASE("operations without a common variable do not wait for each other") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  Door door;
  const auto a = engine.variable(), b = engine.variable();
  int done = 0;
  engine.push([&] { door.pass(); }, {.writes = {a}});
  engine.push([&] { done = 1; }, {.writes = {b}});
  engine.wait(b);
  CHECK(done == 1);
  CHECK_FALSE(a.idle());
  door.open();
  engine.wait(a);
  CHECK(a.idle());
}

TEST_CASE("the naive engine runs at the call, on the caller's thread") {
  Engine engine{{.kind = Kind::naive}};
  const auto v = engine.variable();
  std::thread::id where;
  engine.push([&] { where = std::this_thread::get_id(); }, {.writes = {v}});
  CHECK(where == std::this_thread::get_id());
  CHECK(v.version() == 1);
}

TEST_CASE("the simulated engine runs when somebody waits") {
  Engine engine{{.kind = Kind::simulated}};
  const auto v = engine.variable();
  bool ran = false;
  engine.push([&] { ran = true; }, {.writes = {v}});
  CHECK_FALSE(ran);
  engine.wait(v);
  CHECK(ran);
}

TEST_CASE("a variable may be listed twice and in both lists") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto a = engine.variable(), b = engine.variable();
    int ran = 0;
    engine.push([&] { ++ran; }, {.reads = {a, a, a}, .writes = {b, b}});
    engine.push([&] { ++ran; }, {.reads = {a, b, a, b}, .writes = {b, a, b}});
    std::vector<Engine::Variable> many(40, a);  // sorted, where few are compared
    many.push_back(b);
    engine.push([&] { ++ran; }, {.reads = many, .writes = many});
    engine.push([&] { ++ran; }, {.reads = many});
    engine.wait_all();
    CHECK(ran == 4);
    CHECK(a.version() == 2);
    CHECK(b.version() == 3);
  }
}

TEST_CASE("lists may be any contiguous container") {
  Engine engine{{.kind = Kind::threaded}};
  std::vector<Engine::Variable> many;
  for (int i = 0; i < 100; ++i) many.push_back(engine.variable());
  int ran = 0;
  engine.push([&] { ++ran; }, {.writes = many});
  const Engine::Variable pair[] = {many[3], many[4]};
  engine.push([&] { ++ran; }, {.reads = many, .writes = std::span(pair)});
  const Engine::Uses kept{.reads = {many[3]}, .writes = {many[5]}};
  engine.push([&] { ++ran; }, kept);
  const Engine::Uses copied = kept;
  engine.push([&] { ++ran; }, copied);
  engine.wait_all();
  CHECK(ran == 4);
  CHECK(many[3].version() == 2);
  CHECK(many[5].version() == 3);
  CHECK(many[99].version() == 1);
}

TEST_CASE("pushing what cannot be pushed says why, and pushes nothing") {
  for (Kind kind : kinds) {
    Engine engine{{.kind = kind}}, other{{.kind = kind}};
    const auto v = engine.variable(), foreign = other.variable();
    int ran = 0;
    CHECK(sentence([&] { engine.push([&] { ++ran; }, {.reads = {v, Engine::Variable()}, .name = "f"}); }) ==
          "push of operation 'f': variable 1 of reads is empty");
    CHECK(sentence([&] { engine.push([&] { ++ran; }, {.writes = {foreign}, .name = "f"}); }) ==
          "push of operation 'f': variable 0 of writes belongs to another engine");
    CHECK(sentence([&] { engine.prepare([&] { ++ran; }, {.writes = {foreign}}); }) ==
          "push of operation '': variable 0 of writes belongs to another engine");
    CHECK(sentence([&] { engine.wait(Engine::Variable()); }) == "wait: the variable is empty");
    CHECK(sentence([&] { engine.wait(foreign); }) == "wait: the variable belongs to another engine");
    engine.wait_all();
    CHECK(ran == 0);
    CHECK(v.idle());
  }
}

TEST_CASE("versions count completed writes") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    CHECK(v.version() == 0);
    for (int i = 0; i < 5; ++i) engine.push([] {}, {.writes = {v}});
    engine.push([] {}, {.reads = {v}});
    engine.push([] {}, {.reads = {v}, .writes = {v}});
    engine.wait(v);
    CHECK(v.version() == 6);
  }
}

TEST_CASE("an operation may push") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    std::vector<int> order;
    engine.push(
        [&] {
          order.push_back(0);
          // it uses what this operation writes: after it, also where the engine is naive
          engine.push([&] { order.push_back(2); }, {.reads = {v}, .writes = {v}});
          order.push_back(1);
        },
        {.writes = {v}});
    engine.wait_all();
    CHECK(order == std::vector{0, 1, 2});
  }
}

TEST_CASE("functions are destroyed before the wait returns, also if they did not run") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable(), w = engine.variable();
    const auto token = std::make_shared<int>(1);
    engine.push([token] {}, {.writes = {v}});
    engine.wait(v);
    CHECK(token.use_count() == 1);
    engine.push([] { throw 1; }, {.writes = {v}});
    engine.push([token] { *token = 5; }, {.reads = {v}, .writes = {w}});
    CHECK_THROWS_AS(engine.wait(w), int);
    CHECK(token.use_count() == 1);
    CHECK(*token == 1);
  }
}

TEST_CASE("functions may be large, move-only, aligned and throw when copied") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    struct Large {
      char bytes[5000] = {};
    } large;
    large.bytes[4999] = 7;
    int seen = 0;
    engine.push([large, &seen] { seen += large.bytes[4999]; }, {.writes = {v}, .name = std::string(300, 'n')});
    engine.push([p = std::make_unique<int>(3), &seen] { seen += *p; }, {.reads = {v}, .writes = {v}});
    struct alignas(64) Aligned {
      int value = 11;
    } aligned;
    bool is_aligned = false;
    engine.push(
        [aligned, &seen, &is_aligned] {
          seen += aligned.value;
          is_aligned = reinterpret_cast<std::uintptr_t>(&aligned) % 64 == 0;
        },
        {.reads = {v}, .writes = {v}});
    engine.wait(v);
    CHECK(seen == 21);
    CHECK(is_aligned);
    struct Throws {
      Throws() = default;
      Throws(const Throws&) { throw std::runtime_error("no copy"); }
      void operator()() const {}
    };
    const Throws throws;
    if (kind != Kind::naive) {  // which does not copy
      CHECK(sentence([&] { engine.push(throws, {.writes = {v}}); }) == "no copy");
      CHECK(v.idle());
    }
  }
}

TEST_CASE("a variable lives as long as something uses it") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    std::atomic<int> ran = 0;
    for (int i = 0; i < 200; ++i) {
      auto v = engine.variable();
      engine.push([&] { ++ran; }, {.writes = {v}});
      engine.push([&] { ++ran; }, {.reads = {v}});
      if (i % 2 == 0) engine.push([v, &ran] { ++ran; });
    }
    engine.wait_all();
    CHECK(ran == 500);
  }
}

TEST_CASE("a variable may outlive its engine") {
  Engine::Variable v;
  CHECK_FALSE(v);
  CHECK(v.idle());
  CHECK(v.version() == 0);
  {
    Engine engine{{.kind = Kind::threaded}};
    v = engine.variable();
    engine.push([] { throw 5; }, {.writes = {v}});
  }
  CHECK(v);
  CHECK(v.idle());
  CHECK(v.version() == 1);
  CHECK(v.failed());
  const auto copy = v;
  CHECK(copy == v);
}

TEST_CASE("run: at once where nothing is pending, in its turn otherwise") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  const auto a = engine.variable(), b = engine.variable();
  const auto own = std::this_thread::get_id();
  std::thread::id where;
  engine.run([&] { where = std::this_thread::get_id(); }, {.reads = {a}, .writes = {b}});
  CHECK(where == own);
  CHECK(b.version() == 1);
  Door door;
  int order = 0;
  engine.push(
      [&] {
        door.pass();
        order = 1;
      },
      {.writes = {a}});
  bool after = false;
  engine.run([&] { after = order == 1; }, {.reads = {a}, .writes = {b}});
  CHECK_FALSE(after);
  door.open();
  engine.wait(b);
  CHECK(after);
  // failures stay with the variables here as well
  engine.run([] { throw std::runtime_error("at once"); }, {.writes = {a}});
  engine.run([&] { after = false; }, {.reads = {a}, .writes = {b}});
  CHECK(sentence([&] { engine.wait(b); }) == "at once");
  CHECK(after);
  // and what waits behind an operation that runs at once is started by it
  std::atomic<bool> behind = false, pushed = false;
  std::thread pusher;
  engine.run(
      [&] {
        pusher = std::thread([&] {
          engine.push([&] { behind = true; }, {.writes = {b}});
          pushed = true;
        });
        while (!pushed) std::this_thread::yield();
        CHECK_FALSE(behind);
      },
      {.writes = {b}});
  pusher.join();
  engine.wait(b);
  CHECK(behind);
}

TEST_CASE("a release at once where nothing is pending, else after the last use") {
  // how an array lets go of foreign memory
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  int released = 0;
  auto v = engine.variable();
  engine.run([&] { ++released; }, {.writes = {v}});
  CHECK(released == 1);
  Door door;
  engine.push(
      [&] {
        door.pass();
        throw 1;
      },
      {.writes = {v}});
  engine.run([&] { ++released; }, {.writes = {v}});
  v = {};
  CHECK(released == 1);
  door.open();
  CHECK_THROWS_AS(engine.wait_all(), int);
  CHECK(released == 2);
}

TEST_CASE("priorities are a hint among ready operations") {
  Engine engine{{.threads = 1, .kind = Kind::threaded}};
  Door door;
  std::atomic<bool> started = false;
  engine.push([&] {
    started = true;
    door.pass();
  });
  while (!started) std::this_thread::yield();
  std::vector<int> order;  // only one thread: no lock
  const auto v = engine.variable();
  for (int priority : {0, -5, 3, 1000, -1000, 0, 3, 9}) {
    engine.push([&order, priority] { order.push_back(priority); }, {.priority = priority});
  }
  engine.push([] {}, {.writes = {v}, .priority = -2'000'000'000});
  door.open();
  while (!v.idle()) std::this_thread::yield();  // wait would run the last one at once
  engine.wait_all();
  CHECK(order == std::vector{1000, 9, 3, 3, 0, 0, -5, -1000});
}

TEST_CASE("several engines at once") {
  Engine one{{.threads = 2, .kind = Kind::threaded}}, two{{.threads = 1, .kind = Kind::threaded}};
  const auto a = one.variable(), b = two.variable();
  std::atomic<int> ran = 0;
  for (int i = 0; i < 100; ++i) {
    one.push([&] { two.push([&] { ++ran; }, {.writes = {b}}); }, {.writes = {a}});
  }
  one.wait_all();
  two.wait_all();
  CHECK(ran == 100);
}

TEST_CASE("the destructor waits, and throws nothing") {
  for (Kind kind : kinds) {
    std::atomic<int> ran = 0;
    {
      Engine engine{{.threads = 2, .kind = kind}};
      const auto v = engine.variable();
      for (int i = 0; i < 100; ++i) engine.push([&] { ++ran; }, {.reads = {v}, .writes = {v}});
      engine.push([] { throw std::runtime_error("unseen"); }, {.writes = {v}});
      engine.push_async([&](Engine::Done done) {
        std::thread([&ran, done] {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          ++ran;
          done();
        }).detach();
      });
    }
    CHECK(ran == 101);
  }
}

TEST_CASE("the global engine works") {
  Engine& engine = Engine::global();
  CHECK(&engine == &Engine::global());
  CHECK(engine.threads() >= 1);
  const auto v = engine.variable();
  int x = 0;
  engine.push([&] { x = 1; }, {.writes = {v}});
  engine.wait(v);
  CHECK(x == 1);
}

TEST_CASE("DESIGN: the spellings") {
  struct Disk {
    void read(int& buffer, Engine::Done done) {
      std::thread([&buffer, done] {
        buffer = 5;
        done();
      }).detach();
    }
  } disk;
  int buffer = 0, total = 0, updates = 0;
  strop::Engine engine{{.threads = 2}};
  auto a = engine.variable(), b = engine.variable();
  engine.push([&] { buffer = 3; }, {.writes = {a}, .name = "load"});
  engine.push([&] { total = buffer; }, {.reads = {a}, .writes = {b}});
  engine.wait(b);
  CHECK(total == 3);
  engine.push_async([&](strop::Engine::Done done) { disk.read(buffer, done); }, {.writes = {a}});
  auto step = engine.prepare([&] { total += buffer, ++updates; }, {.reads = {a}, .writes = {b}});
  step.push();
  step.push();
  engine.wait(b);
  engine.wait_all();
  CHECK(total == 13);
  CHECK(updates == 2);
}
