// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bulks: many operations pushed as one behave as the single ones.
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common.hpp"

using namespace engine_test;

TEST_CASE("a bulk goes when it is full, when its thread looks, and when it ends") {
  for (Kind kind : {Kind::threaded, Kind::simulated}) {
    Engine engine{{.threads = 1, .kind = kind}};
    const auto v = engine.variable(), w = engine.variable();
    std::atomic<int> ran = 0;
    const auto push = [&] { engine.push([&] { ++ran; }, {.reads = {v}, .writes = {v}}); };
    std::optional<Engine::Bulk> bulk;
    bulk.emplace(engine, 4);
    for (int i = 0; i < 3; ++i) push();
    CHECK(v.version() == 0);
    CHECK(ran == 0);
    engine.wait(v);
    CHECK(ran == 3);
    CHECK(v.version() == 3);
    push();
    CHECK(!w.failed());
    engine.wait(w);  // of another variable: it goes all the same
    engine.wait_all();
    CHECK(ran == 4);
    for (int i = 0; i < 6; ++i) push();  // four go, two stay
    bulk.reset();
    engine.wait(v);
    CHECK(ran == 10);
    CHECK(v.version() == 10);
  }
}

TEST_CASE("looking whether a variable is idle sends a bulk off") {
  Engine engine{{.kind = Kind::simulated}};
  const auto v = engine.variable();
  const Engine::Bulk bulk(engine);
  CHECK(v.idle());
  engine.push([] {}, {.writes = {v}});
  CHECK(!v.idle());
  engine.wait(v);
  CHECK(v.idle());
}

TEST_CASE("a failure inside a bulk goes where that of the single operation goes") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto a = engine.variable(), b = engine.variable(), c = engine.variable(), d = engine.variable();
    int ran = 0;
    {
      const Engine::Bulk bulk(engine, 100);
      engine.push([&] { ran += 1; }, {.writes = {a}, .name = "first"});
      engine.push([&] { throw std::runtime_error("broken"); }, {.reads = {a}, .writes = {b}, .name = "second"});
      engine.push([&] { ran += 100; }, {.reads = {b}, .writes = {c}, .name = "inherits"});
      engine.push([&] { ran += 10; }, {.reads = {a}, .writes = {d}, .name = "unrelated"});
      engine.push([&] { ran += 1000; }, {.reads = {c}, .writes = {c}, .name = "updates"});
      engine.push([&] { ran += 10000; }, {.writes = {b}, .name = "heals"});
    }
    CHECK(sentence([&] { engine.wait(c); }).find("broken [in operation 'second'") == 0);
    engine.wait(a);
    engine.wait(b);
    engine.wait(d);
    CHECK(ran == 10011);
    CHECK(sentence([&] { engine.wait_all(); }) != "");
    engine.wait_all();
    CHECK(c.version() == 2);
    {
      const Engine::Bulk bulk(engine);
      engine.push([&] { ran = 1; }, {.reads = {c}, .writes = {a}});  // what failed before the bulk counts in it
      engine.push([&] { ran = 2; }, {.writes = {c}});
      engine.push([&] { ran += 5; }, {.reads = {c}, .writes = {d}});
    }
    CHECK(sentence([&] { engine.wait(a); }).find("broken") == 0);
    engine.wait(d);
    CHECK(ran == 7);
  }
}

TEST_CASE("what cannot be in a bulk keeps its place behind it") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    std::string order;
    {
      const Engine::Bulk bulk(engine, 100);
      const Engine::Uses update{.reads = {v}, .writes = {v}};
      engine.push([&] { order += 'a'; }, update);
      engine.push_async(
          [&](const Engine::Done& done) {
            order += 'b';
            done();
          },
          update);
      engine.push([&] { order += 'c'; }, update);
      engine.push([&] { order += 'd'; }, {.reads = {v}, .writes = {v}, .priority = 3});
      engine.push([&] { order += 'e'; }, {.reads = {v}, .writes = {v}, .priority = 3});
      engine.push([&] { order += 'f'; }, {.reads = {v}, .writes = {v}, .device = strop::gpu(0)});
      engine.run([&] { order += 'g'; }, update);
      const auto step = engine.prepare([&] { order += 'h'; }, update);
      step.push();
      Engine other{{.kind = Kind::naive}};
      other.push([&] {});
      {
        const Engine::Bulk inner(engine, 2);
        engine.push([&] { order += 'i'; }, update);
        engine.push([&] { order += 'j'; }, update);
        engine.push([&] { order += 'k'; }, update);
      }
      step.push();
    }
    engine.wait(v);
    CHECK(order == "abcdefghijkh");
  }
}

TEST_CASE("a variable may be let go of while a bulk has it") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    int ran = 0;
    {
      const Engine::Bulk bulk(engine);
      for (int i = 0; i < 40; ++i) {
        const auto mine = engine.variable();
        const auto other = engine.variable();
        engine.push([&] { ++ran; }, {.writes = {mine, other}});
        engine.push([&] { ++ran; }, {.reads = {other}, .writes = {mine}});
      }
    }
    engine.wait_all();
    CHECK(ran == 80);
  }
}

#ifndef STROP_TEST_TSAN
TEST_CASE("a fork sends a bulk off, and its work is done once") {
  Engine engine{{.threads = 1, .kind = Kind::threaded}};
  const auto v = engine.variable();
  int ran = 0;
  const Engine::Bulk bulk(engine);
  engine.push([&] { ++ran; }, {.reads = {v}, .writes = {v}});
  CHECK(in_child([&] {
          engine.push([&] { ++ran; }, {.reads = {v}, .writes = {v}});
          engine.wait(v);
          return ran == 2 ? 0 : 1;
        }) == 0);
  engine.wait(v);
  CHECK(ran == 1);
}
#endif
