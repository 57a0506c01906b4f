// SPDX-License-Identifier: Apache-2.0
/// \file
/// Asynchronous operations: complete when their Done says so, from wherever.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common.hpp"

using namespace engine_test;

TEST_CASE("an asynchronous operation is complete when done is called") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable(), w = engine.variable();
    Engine::Done kept;
    std::atomic<bool> began = false;
    int x = 0;
    engine.push_async(
        [&](Engine::Done done) {
          kept = std::move(done);
          began = true;
        },
        {.writes = {v}});
    engine.push([&] { x = 1; }, {.reads = {v}, .writes = {w}});
    std::thread other([&] {
      while (!began) std::this_thread::yield();
      CHECK(x == 0);
      kept();
    });
    engine.wait(w);
    CHECK(x == 1);
    other.join();
    kept();  // a second call does nothing
    kept = {};
    engine.wait_all();
  }
}

TEST_CASE("done may be called inside the function, before it returns, by copies, in any order") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    const auto token = std::make_shared<int>(0);
    engine.push_async(
        [token](const Engine::Done& done) {
          const Engine::Done copy = done;
          copy();
          done();
          ++*token;  // the function is alive until it returns
        },
        {.writes = {v}});
    engine.wait(v);
    engine.push_async([token](Engine::Done done) { std::thread([done = std::move(done)] { done(); }).detach(); },
                      {.writes = {v}});
    engine.wait(v);
    engine.push_async([](const std::function<void(std::exception_ptr)>& done) { done(nullptr); }, {.writes = {v}});
    engine.wait(v);
    CHECK(v.version() == 3);
    engine.wait_all();
  }
}

TEST_CASE("done with an exception is a failure") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    engine.push_async(
        [](Engine::Done done) {
          std::thread([done] { done(std::make_exception_ptr(std::runtime_error("disk"))); }).detach();
        },
        {.writes = {v}, .name = "read"});
    for (int i = 0; i < 2; ++i) CHECK(sentence([&] { engine.wait(v); }).find("disk [in operation 'read'") == 0);
    CHECK(sentence([&] { engine.wait_all(); }).find("disk") == 0);
    engine.wait_all();
  }
}

TEST_CASE("an exception of the function itself is a failure, before and after done") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    engine.push_async([](Engine::Done) { throw std::runtime_error("before"); }, {.writes = {v}});
    CHECK(sentence([&] { engine.wait(v); }) == "before");
    CHECK(sentence([&] { engine.wait_all(); }) == "before");
    // with a copy of Done still alive elsewhere
    Engine::Done kept;
    engine.push_async(
        [&](Engine::Done done) {
          kept = done;
          throw std::runtime_error("kept");
        },
        {.writes = {v}});
    CHECK(sentence([&] { engine.wait(v); }) == "kept");
    kept();
    CHECK(sentence([&] { engine.wait(v); }) == "kept");
    CHECK(sentence([&] { engine.wait_all(); }) == "kept");
    kept = {};
    // complete already: the variable is fine, but the exception is not lost
    std::atomic<bool> thrower_left = false;
    struct Flag {
      std::atomic<bool>& flag;
      ~Flag() { flag = true; }
    };
    engine.push_async(
        [&](const Engine::Done& done) {
          done();
          const Flag flag{thrower_left};
          throw std::runtime_error("after");
        },
        {.writes = {v}});
    engine.wait(v);
    std::string late;
    while (late.empty()) late = sentence([&] { engine.wait_all(); });
    CHECK(late == "after");
    CHECK(thrower_left);
  }
}

TEST_CASE("letting go of Done is a failure, not a wait without end") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    engine.push_async([](Engine::Done) {}, {.writes = {v}, .name = "forgetful"});
    CHECK(sentence([&] { engine.wait(v); })
              .find("an asynchronous operation let go of its Done without calling it [in "
                    "operation 'forgetful'") == 0);
    CHECK(sentence([&] { engine.wait_all(); }).find("let go") != std::string::npos);
  }
}

TEST_CASE("an asynchronous operation that inherits a failure does not run") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable(), w = engine.variable();
    bool ran = false;
    engine.push([] { throw 1; }, {.writes = {v}});
    engine.push_async(
        [&](const Engine::Done& done) {
          ran = true;
          done();
        },
        {.reads = {v}, .writes = {w}});
    CHECK_THROWS_AS(engine.wait(w), int);
    CHECK_FALSE(ran);
  }
}

TEST_CASE("wait_all and the destructor wait for done") {
  for (Kind kind : kinds) {
    std::atomic<bool> finished = false, finished_late = false;
    {
      Engine engine{{.threads = 1, .kind = kind}};
      const auto later = [](std::atomic<bool>& flag) {
        return [&flag](Engine::Done done) {
          std::thread([&flag, done = std::move(done)] {
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
            flag = true;
            done();
          }).detach();
        };
      };
      engine.push_async(later(finished));
      engine.wait_all();
      CHECK(finished);
      engine.push_async(later(finished_late));
    }
    CHECK(finished_late);
  }
}

TEST_CASE("a Done may outlive its engine once it has been called") {
  Engine::Done kept;
  {
    Engine engine{{.kind = Kind::threaded}};
    engine.push_async([&](const Engine::Done& done) {
      kept = done;
      done();
    });
  }
  kept();
  kept = {};
}

TEST_CASE("many completions from many threads") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    constexpr int n = 300;
    std::atomic<int> pending = 0;
    std::vector<std::thread> group;
    int value = 0;
    for (int i = 0; i < n; ++i)
      engine.push_async(
          [&](Engine::Done done) {
            ++value;
            ++pending;
            std::thread([&pending, done = std::move(done)] {
              --pending;
              done();
            }).detach();
          },
          {.reads = {v}, .writes = {v}});
    engine.wait_all();
    CHECK(value == n);
    CHECK(pending == 0);
    CHECK(v.version() == n);
  }
}
