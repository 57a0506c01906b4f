// SPDX-License-Identifier: Apache-2.0
/// \file
/// Failures: where they go, who is told how often, what they say.
#include <doctest/doctest.h>

#include <atomic>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common.hpp"

using namespace engine_test;

namespace {

struct Own {
  int code;
};

/// Programs of these tests end with failures that were never raised: they are not for the terminal.
std::vector<std::string> logged;
[[maybe_unused]] const strop::LogSink to_terminal = strop::set_log_sink(+[](std::string_view) noexcept {});

}  // namespace

TEST_CASE("a failure that was never raised is in the log when the engine ends") {
  const auto unseen = [](auto work) {
    logged.clear();
    const strop::LogSink before =
        strop::set_log_sink(+[](std::string_view line) noexcept { logged.emplace_back(line); });
    {
      Engine engine{{.threads = 2}};
      work(engine);
    }
    strop::set_log_sink(before);
    return logged;
  };
  const auto fails = [] { throw std::runtime_error("no such file"); };
  CHECK(unseen([&](Engine& e) { e.push([] {}, {.writes = {e.variable()}}); }).empty());
  const auto one = unseen([&](Engine& e) { e.push(fails, {.writes = {e.variable()}, .name = "load"}); });
  REQUIRE(one.size() == 1);
  CHECK(one[0].find("a failure that was never raised: no such file [in operation 'load', pushed at ") == 0);
  const auto three = unseen([&](Engine& e) {
    for (int i = 0; i < 3; ++i) e.push(fails, {.writes = {e.variable()}});
  });
  REQUIRE(three.size() == 1);
  CHECK(three[0].find("no such file (and 2 more operations)") != std::string::npos);
  CHECK(unseen([&](Engine& e) { e.push([] { throw 3; }, {}); })[0].find("no std::exception") != std::string::npos);
  CHECK(unseen([&](Engine& e) {
          const auto v = e.variable();
          e.push(fails, {.writes = {v}});
          CHECK(sentence([&] { e.wait(v); }) == "no such file");
        }).empty());
  CHECK(unseen([&](Engine& e) {
          e.push(fails, {.writes = {e.variable()}});
          CHECK(sentence([&] { e.wait_all(); }) == "no such file");
        }).empty());
  CHECK(unseen([&](Engine& e) {  // waiting without being told is not being told
          const auto v = e.variable();
          e.push(fails, {.writes = {v}});
          e.settle(v);
        })
            .size() == 1);
}

TEST_CASE("a log may use the engine that writes into it") {
  static Engine other{{.threads = 1}};
  const strop::LogSink before = strop::set_log_sink(+[](std::string_view) noexcept {
    other.push([] { throw std::runtime_error("again"); }, {.writes = {other.variable()}});
    CHECK(sentence([] { other.wait_all(); }) == "again");
  });
  {
    Engine engine{{.threads = 1}};
    engine.push([] { throw std::runtime_error("no"); }, {.writes = {engine.variable()}});
  }
  strop::set_log_sink(before);
}

TEST_CASE("failures that nobody waits for do not pile up, and the oldest are told") {
  logged.clear();
  const strop::LogSink before = strop::set_log_sink(+[](std::string_view line) noexcept { logged.emplace_back(line); });
  {
    Engine engine{{.kind = Kind::naive}};
    const auto v = engine.variable();
    for (int i = 0; i < 5000; ++i) {
      engine.push([i] { throw std::runtime_error(std::to_string(i)); }, {.writes = {v}});
      if (i != 3) CHECK(sentence([&] { engine.wait(v); }) == std::to_string(i));
    }
    REQUIRE(logged.size() == 1);
    CHECK(logged[0] == "a failure that was never raised: 3");
    int left = 0;
    while (sentence([&] { engine.wait_all(); }) != "") ++left;
    CHECK(left == 4096);
  }
  CHECK(logged.size() == 1);
  strop::set_log_sink(before);
}

TEST_CASE("a failure is raised at every observation of every variable that it reached") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto a = engine.variable(), b = engine.variable(), c = engine.variable(), d = engine.variable(),
               other = engine.variable();
    int ran = 0;
    engine.push([] { throw std::runtime_error("first"); }, {.writes = {a, b}});
    engine.push([&] { ++ran; }, {.reads = {a}, .writes = {c}});
    engine.push([&] { ++ran; }, {.reads = {other, c}, .writes = {d}});
    engine.push([] {}, {.writes = {other}});
    for (int i = 0; i < 3; ++i)
      for (const auto& v : {a, b, c, d}) {
        CHECK(sentence([&] { engine.wait(v); }) == "first");
        CHECK(sentence([&] { engine.wait_idle(v); }) == "first");
        CHECK(v.failed());
        CHECK(v.failure() != nullptr);
      }
    engine.wait(other);
    CHECK_FALSE(other.failed());
    CHECK(other.failure() == nullptr);
    CHECK(ran == 0);
    // once, then silent; the variables stay failed
    CHECK(sentence([&] { engine.wait_all(); }) == "first");
    CHECK(sentence([&] { engine.wait_all(); }) == "");
    CHECK(sentence([&] { engine.wait(d); }) == "first");
  }
}

TEST_CASE("overwriting heals, updating inherits") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto a = engine.variable(), b = engine.variable();
    int ran = 0;
    engine.push([] { throw Own{1}; }, {.writes = {a}});
    engine.push([&] { ++ran; }, {.reads = {a}, .writes = {a}});  // not run
    CHECK_THROWS_AS(engine.wait(a), Own);
    CHECK(ran == 0);
    CHECK(a.version() == 2);
    engine.push([&] { ++ran; }, {.reads = {a}, .writes = {b}});  // not run
    engine.push([&] { ++ran; }, {.writes = {a}});
    engine.wait(a);
    CHECK_FALSE(a.failed());
    CHECK(ran == 1);
    CHECK_THROWS_AS(engine.wait(b), Own);  // poisoned before
    engine.push([&] { ++ran; }, {.reads = {a}, .writes = {b}});
    engine.wait(b);
    CHECK(ran == 2);
    // an overwriting operation that fails leaves the new failure
    engine.push([] { throw 7; }, {.writes = {b}});
    engine.push([] { throw Own{2}; }, {.writes = {b}});
    try {
      engine.wait(b);
      FAIL("no failure");
    } catch (const Own& own) {
      CHECK(own.code == 2);
    }
  }
}

TEST_CASE("a write of one variable that reads a failed one inherits; one failure stops nothing unrelated") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    std::vector<Engine::Variable> v;
    for (int i = 0; i < 20; ++i) v.push_back(engine.variable());
    std::atomic<int> ran = 0;
    for (std::size_t i = 0; i < 20; ++i)
      engine.push(
          [&ran, i] {
            if (i == 7) throw std::runtime_error("seven");
            ++ran;
          },
          {.writes = {v[i]}});
    for (std::size_t i = 0; i < 20; ++i) {
      const auto& to = v[(i + 1) % 20];
      engine.push([&ran] { ++ran; }, {.reads = {v[i], to}, .writes = {to}});
    }
    CHECK(sentence([&] { engine.wait_all(); }) == "seven");
    // 6 -> 7 finds the failure there; 7 -> 8 -> ... -> 19 -> 0 carry it on; 0 -> 1 was before that
    CHECK(ran == 19 + 6);
    for (std::size_t i = 0; i < 20; ++i) CHECK(v[i].failed() == (i == 0 || i >= 7));
  }
}

TEST_CASE("two independent failures stay apart") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto a = engine.variable(), b = engine.variable(), c = engine.variable();
    engine.push([] { throw std::runtime_error("of a"); }, {.writes = {a}});
    engine.push([] { throw std::runtime_error("of b"); }, {.writes = {b}});
    engine.push([] {}, {.reads = {a, b}, .writes = {b, c}});
    CHECK(sentence([&] { engine.wait(a); }) == "of a");
    CHECK(sentence([&] { engine.wait(b); }) == "of b");  // its own, not the one that was found first
    CHECK(sentence([&] { engine.wait(c); }) != "");
    std::string all;
    for (int i = 0; i < 3; ++i) all += sentence([&] { engine.wait_all(); }) + ";";
    CHECK((all == "of a;of b;;" || all == "of b;of a;;"));
  }
}

TEST_CASE("a failure without variables, and a healed one, is raised by wait_all") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    engine.push([] { throw std::runtime_error("nowhere"); });
    CHECK(sentence([&] { engine.wait_all(); }) == "nowhere");
    engine.push([] { throw std::runtime_error("healed"); }, {.writes = {v}});
    engine.push([] {}, {.writes = {v}});
    engine.wait(v);
    CHECK(sentence([&] { engine.wait_all(); }) == "healed");
    engine.wait_all();
  }
}

TEST_CASE("only writes carry failures: a failed reader leaves what it read alone") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    engine.push([] {}, {.writes = {v}});
    engine.push([] { throw 3; }, {.reads = {v}});
    engine.wait_idle(v);
    CHECK_THROWS_AS(engine.wait_all(), int);
    engine.wait(v);
  }
}

TEST_CASE("the sentence names the operation, the type stays") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    engine.push([] { throw std::out_of_range("row 9 of 3"); }, {.writes = {v}, .name = std::string("take")});
    for (int i = 0; i < 2; ++i) {
      try {
        engine.wait(v);
        FAIL("no failure");
      } catch (const std::out_of_range& e) {
        const std::string text = e.what();
        CHECK(text.find("row 9 of 3 [in operation 'take', pushed at ") == 0);
        CHECK(text.find("failure.cpp:") != std::string::npos);
        const auto* operation = dynamic_cast<const strop::FailedOperation*>(&e);
        REQUIRE(operation != nullptr);
        CHECK(operation->operation() == "take");
        CHECK(operation->where().line() > 100);
      }
    }
    // every type of the standard library that is made of a sentence, and ours
    const auto named = [&]<class E>(E error) {
      engine.push([error] { throw error; }, {.writes = {v}, .name = "op"});
      try {
        engine.wait(v);
        FAIL("no failure");
      } catch (const E& e) {
        CHECK(std::string(e.what()).find("x [in operation 'op'") == 0);
      }
    };
    named(strop::Error("x"));
    named(std::runtime_error("x"));
    named(std::range_error("x"));
    named(std::overflow_error("x"));
    named(std::underflow_error("x"));
    named(std::logic_error("x"));
    named(std::invalid_argument("x"));
    named(std::domain_error("x"));
    named(std::length_error("x"));
    named(std::out_of_range("x"));
    // any other type is as it was thrown
    engine.push([] { throw Own{4}; }, {.writes = {v}, .name = "op"});
    CHECK_THROWS_AS(engine.wait(v), Own);
    engine.push([] { throw std::bad_alloc(); }, {.writes = {v}, .name = "op"});
    CHECK_THROWS_AS(engine.wait(v), std::bad_alloc);
    struct Derived : std::runtime_error {
      using std::runtime_error::runtime_error;
    };
    engine.push([] { throw Derived("derived"); }, {.writes = {v}, .name = "op"});
    CHECK_THROWS_AS(engine.wait(v), Derived);
    // a sentence that says the name already gets the place alone, one of an operation without a name is left alone
    engine.push([] { throw strop::Error("op: bad shape"); }, {.writes = {v}, .name = "op"});
    try {
      engine.wait(v);
      FAIL("no failure");
    } catch (const strop::Error& e) {
      CHECK(std::string_view(e.what()).starts_with("op: bad shape [pushed at "));
    }
    engine.push([] { throw strop::Error("plain"); }, {.writes = {v}});
    CHECK(sentence([&] { engine.wait(v); }) == "plain");
    while (sentence([&] {
             try {
               engine.wait_all();
             } catch (const std::exception&) {
               throw;
             } catch (...) {
               throw std::runtime_error("other");
             }
           }) != "") {
    }
  }
}

TEST_CASE("an operation that passes a failure on keeps the first name") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  const auto a = engine.variable(), b = engine.variable();
  engine.push([] { throw std::runtime_error("bad"); }, {.writes = {a}, .name = "inner"});
  engine.push([&] { engine.wait(a); }, {.writes = {b}, .name = "outer"});
  const std::string text = sentence([&] { engine.wait(b); });
  CHECK(text.find("bad [in operation 'inner'") == 0);
  CHECK(text.find("outer") == std::string::npos);
}

TEST_CASE("fail: variables can be given a failure without running anything") {
  for (Kind kind : kinds) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto a = engine.variable(), b = engine.variable();
    std::string order;
    engine.push([&] { order += "w"; }, {.writes = {a}});
    engine.fail(std::make_exception_ptr(std::runtime_error("given")), {.writes = {a, b}, .name = "giver"});
    CHECK(sentence([&] { engine.wait(b); }).find("given [in operation 'giver'") == 0);
    CHECK(order == "w");
    CHECK_THROWS_AS(std::rethrow_exception(a.failure()), std::runtime_error);
    engine.push([] {}, {.writes = {a}});
    engine.wait(a);
  }
}

TEST_CASE("with no memory left a failure is a bad_alloc that wait_all raises once") {
  strop::detail::FailureState* const state = strop::detail::FailureState::out_of_memory();
  CHECK(state == strop::detail::FailureState::out_of_memory());
  CHECK_THROWS_AS(state->raise(), std::bad_alloc);
  state->drop();
  state->drop();
  CHECK_THROWS_AS(state->raise(), std::bad_alloc);
}

TEST_CASE("failures are raised from many threads at once") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  const auto v = engine.variable();
  engine.push([] { throw std::runtime_error("shared"); }, {.writes = {v}, .name = "op"});
  std::vector<std::thread> group;
  std::atomic<int> seen = 0;
  for (int t = 0; t < 4; ++t)
    group.emplace_back([&] {
      for (int i = 0; i < 50; ++i) seen += sentence([&] { engine.wait(v); }).find("shared [in") == 0 ? 1 : 0;
    });
  for (auto& one : group) one.join();
  CHECK(seen == 200);
}

TEST_CASE("a function whose destructor throws fails, whether it ran or not") {
  struct Throws {
    bool armed = true;
    explicit Throws(int) {}
    Throws(Throws&& other) noexcept : armed(std::exchange(other.armed, false)) {}
    ~Throws() noexcept(false) {
      if (armed) throw std::runtime_error("destructor");
    }
    void operator()() const {}
    void operator()(const Engine::Done& done) const { done(); }
  };
  for (Kind kind : {Kind::threaded, Kind::simulated}) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable(), w = engine.variable();
    engine.push(Throws(1), {.writes = {v}});
    CHECK(sentence([&] { engine.wait(v); }) == "destructor");
    engine.push(Throws(1), {.reads = {v}, .writes = {w}});
    CHECK(sentence([&] { engine.wait(w); }) == "destructor");
    engine.push_async(Throws(1), {.writes = {v}});
    int raised = 0;
    while (sentence([&] { engine.wait_all(); }) == "destructor") ++raised;
    CHECK(raised >= 2);  // the third may come after the wait: the function is destroyed behind its done
  }
}
