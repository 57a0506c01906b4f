// SPDX-License-Identifier: Apache-2.0
/// \file
/// The life of the threads: start at first use, sleep and wake, fork, the end of the process, a system without threads.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <strop/engine/pool.hpp>
#include <system_error>
#include <thread>
#include <vector>

#include "common.hpp"

using namespace engine_test;

namespace {

int threads_of_this_process() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
  return -1;
}

}  // namespace

TEST_CASE("no thread starts before it is needed, and no more than may run") {
  const int before = threads_of_this_process();
  Engine engine{{.threads = 3, .kind = Kind::threaded}};
  const auto v = engine.variable();
  engine.wait(v);
  engine.wait_all();
  engine.run([] {}, {.writes = {v}});
  CHECK(threads_of_this_process() == before);
  for (int i = 0; i < 1000; ++i) engine.push([] {});
  engine.wait_all();
  CHECK(threads_of_this_process() <= before + 3);
}

TEST_CASE("no more operations than threads run at once") {
  for (int threads : {1, 2, 4}) {
    Engine engine{{.threads = threads, .kind = Kind::threaded}};
    std::atomic<int> inside = 0, most = 0, ran = 0;
    for (int i = 0; i < 50; ++i)
      engine.push([&] {
        const int now = ++inside;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        --inside;
        ++ran;
      });
    while (ran < 50) std::this_thread::yield();  // a waiter would help
    CHECK(most <= threads);
    engine.wait_all();
  }
}

TEST_CASE("all threads work when there is work for all") {
  Engine engine{{.threads = 4, .kind = Kind::threaded}};
  for (int round = 0; round < 50; ++round) {
    // each ends only when all four are running; now and then everybody has fallen asleep before
    std::atomic<int> inside = 0, ended = 0;
    if (round % 10 == 9) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (int i = 0; i < 4; ++i)
      engine.push([&] {
        ++inside;
        while (inside < 4) std::this_thread::yield();
        ++ended;
      });
    while (ended < 4) std::this_thread::yield();
    engine.wait_all();
  }
  CHECK(true);
}

TEST_CASE("work that becomes ready when everybody sleeps is found") {
  Engine engine{{.threads = 3, .kind = Kind::threaded}};
  const auto v = engine.variable();
  std::atomic<int> ran = 0;
  for (int round = 0; round < 300; ++round) {
    const int before = ran;
    engine.push([&] { ++ran; }, {.reads = {v}, .writes = {v}});
    engine.push([&] { ++ran; }, {.reads = {v}});
    engine.push([&] { ++ran; }, {.reads = {v}});
    while (ran < before + 3) std::this_thread::yield();  // no help from this thread
    // from always awake to always asleep
    if (round % 3 == 1) std::this_thread::sleep_for(std::chrono::microseconds(round));
  }
  CHECK(ran == 900);
}

#ifndef STROP_TEST_TSAN

TEST_CASE("the child of a fork finds the engine whole and idle, and the parent's work is done once") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  const auto v = engine.variable();
  int x = 0;
  std::atomic<int> ran = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 200; ++i) engine.push([&] { ++x, ++ran; }, {.reads = {v}, .writes = {v}});
    const int expected = (round + 1) * 200;
    const int status = in_child([&] {
      if (ran != expected || !v.idle()) return 1;
      const int threads = threads_of_this_process();
      for (int i = 0; i < 100; ++i) engine.push([&] { ++x; }, {.reads = {v}, .writes = {v}});
      engine.wait(v);
      if (x != expected + 100) return 2;
      std::atomic<int> both = 0;
      for (int i = 0; i < 2; ++i)
        engine.push([&] {
          ++both;
          while (both < 2) std::this_thread::yield();  // needs both threads
        });
      while (both < 2) std::this_thread::yield();
      engine.wait_all();
      if (threads != 1) return 3;
      std::int64_t sum = 0;
      strop::parallel_for(10, 100, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
      {
        Engine another{{.threads = 1, .kind = Kind::threaded}};
        another.push([&] { ++sum; });
      }
      return sum == 11 ? 0 : 4;
    });
    CHECK(status == 0);
    engine.wait(v);
    CHECK(x == expected);
  }
}

TEST_CASE("parallel loops work in the child of a fork") {
  strop::set_num_threads(3);
  std::atomic<std::int64_t> sum = 0;
  const auto loop = [&] {
    sum = 0;
    std::atomic<int> inside = 0;
    strop::parallel_for(3, 1, [&](std::int64_t begin, std::int64_t end) {
      inside += static_cast<int>(end - begin);
      while (inside < 3) std::this_thread::yield();
      sum += end - begin;
    });
    return sum == 3;
  };
  CHECK(loop());
  for (int round = 0; round < 5; ++round) {
    CHECK(in_child([&] { return loop() ? 0 : 1; }) == 0);
    CHECK(loop());
  }
  strop::set_num_threads(strop::detail::available_processors());
}

namespace {

/// Uses the global engine from a destructor that runs after the engine's own end.
struct Late {
  bool armed = false;
  Engine::Variable variable;
  ~Late() {
    if (!armed) return;
    int x = 0;
    Engine::global().push([&] { x = 1; }, {.reads = {variable}, .writes = {variable}});
    Engine::global().wait(variable);
    std::int64_t n = 0;
    strop::parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t end) { n += end - begin; });
    if (x != 1 || n != 1000) _exit(9);
  }
} late;  // before the first use of the global engine, so destroyed after it

}  // namespace

TEST_CASE("at the end of the process the global engine finishes its work, and serves later destructors") {
  const int status = in_child([] {
    static std::atomic<int> ran = 0;
    static Engine& engine = Engine::global();
    late.armed = true;
    late.variable = engine.variable();
    struct Check {
      ~Check() {
        if (ran != 50) _exit(8);
      }
    };
    for (int i = 0; i < 50; ++i)
      engine.push(
          [] {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            ++ran;
          },
          {.reads = {late.variable}, .writes = {late.variable}});
    strop::parallel_for(1000, 1, [](std::int64_t, std::int64_t) {});
    std::exit(0);
    return 1;
  });
  CHECK(status == 0);
}

TEST_CASE("exit inside an operation of the global engine ends the process") {
  CHECK(in_child([] {
          Engine::global().push([] { std::exit(3); });
          for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
          return 1;
        }) == 3);
}

#ifndef STROP_TEST_ASAN

TEST_CASE("where the system has no thread left the pusher does the work") {
  CHECK(in_child([] {
          // room for no thread's stack, and nothing left of the stacks that the C library keeps
          struct rlimit limit{};
          std::ifstream statm("/proc/self/statm");
          unsigned long pages = 0;
          statm >> pages;
          limit.rlim_cur = limit.rlim_max = pages * 4096 + (4u << 20);
          if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
          for (int refused = 0; refused < 3;) try {
              for (;;) std::thread([] { pause(); }).detach();
            } catch (const std::system_error&) {
              ++refused;  // a thread that is starting may hold memory for a moment
              std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
          const int threads = threads_of_this_process();
          Engine engine{{.threads = 2, .kind = Kind::threaded}};
          const auto v = engine.variable();
          int x = 0;
          for (int i = 0; i < 100; ++i) {
            engine.push([&] { ++x; }, {.reads = {v}, .writes = {v}});
            engine.push([&] { ++x; }, {.reads = {v}});
          }
          engine.wait_idle(v);
          engine.wait_all();
          if (threads_of_this_process() != threads) return 2;
          strop::set_num_threads(4);
          std::int64_t n = 0;
          strop::parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t end) { n += end - begin; });
          return x == 200 && n == 1000 ? 0 : 3;
        }) == 0);
}

TEST_CASE("a push for which there is no memory throws and leaves nothing behind") {
  for (Kind kind : {Kind::threaded, Kind::simulated}) {
    Engine engine{{.threads = 2, .kind = kind}};
    const auto v = engine.variable();
    int ran = 0;
    const std::string_view enormous("x", std::size_t{1} << 46);  // never read: there is no room for a copy
    CHECK_THROWS_AS(engine.push([&] { ++ran; }, {.writes = {v}, .name = enormous}), std::bad_alloc);
    CHECK(v.idle());
    engine.push([&] { ++ran; }, {.writes = {v}});
    engine.wait_all();
    CHECK(ran == 1);
  }
}

#endif
#endif
