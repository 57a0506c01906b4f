// SPDX-License-Identifier: Apache-2.0
/// \file
/// Forks: what they wait for, who is held back meanwhile, and that both processes go on.
#include "common.hpp"

#include <strop/core/fork.hpp>
#include <strop/engine/pool.hpp>
#include <strop/memory/allocator.hpp>
#include <strop/memory/random.hpp>

#include <chrono>
#include <set>

#ifndef STROP_TEST_TSAN

using namespace engine_test;
namespace detail = strop::detail;

namespace {

/// Whether engine, loops, memory and random numbers work here.
bool works(Engine& engine) {
  const auto v = engine.variable();
  std::atomic<std::int64_t> sum = 0;
  for (int i = 0; i < 20; ++i)
    engine.push(
        [&] {
          strop::parallel_for(1 << 16, 64, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
          strop::memory::release(strop::cpu(), strop::memory::allocate(strop::cpu(), 4096), 4096);
          strop::random::next();
        },
        {.reads = {v}, .writes = {v}});
  engine.wait(v);
  engine.wait_all();
  return sum == 20 << 16;
}

}  // namespace

TEST_CASE("forks while other threads push, loop, allocate and draw") {
  for (const Kind kind : {Kind::threaded, Kind::naive}) {
    Engine engine{{.threads = 2, .kind = kind}};
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        while (!stop) works(engine);
      });
    int good = 0;
    for (int round = 0; round < 40; ++round) good += in_child([&] { return works(engine) ? 0 : 1; }) == 0 ? 1 : 0;
    stop = true;
    for (std::thread& one : threads) one.join();
    CHECK(good == 40);
    CHECK(works(engine));
  }
}

TEST_CASE("a fork waits for sections, and what is pushed inside of one passes it") {
  Engine engine{{.threads = 1, .kind = Kind::threaded}};
  const auto v = engine.variable();
  std::atomic<bool> inside = false, forked = false;
  detail::ForkMutex mutex, second;
  std::atomic<bool> early = false;
  std::thread other([&] {
    const std::lock_guard lock(mutex);
    inside = true;
    while (detail::forking == 0) std::this_thread::yield();
    engine.push([] {}, {.writes = {v}});
    const std::lock_guard nested(second);
    engine.wait(v);
    early = forked.load();
  });
  while (!inside) std::this_thread::yield();
  CHECK(in_child([&] {
          const std::lock_guard lock(mutex);
          return works(engine) ? 0 : 1;
        }) == 0);
  forked = true;
  other.join();
  CHECK(!early);
}

TEST_CASE("a fork lets go on whom the pending work waits for") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  const auto v = engine.variable(), w = engine.variable();
  Door door;
  engine.push([&] { door.pass(); }, {.writes = {v}});
  std::thread other([&] {
    while (detail::forking == 0) std::this_thread::yield();
    engine.push([] {}, {.writes = {w}});  // is held back
    door.open();
  });
  CHECK(in_child([&] { return works(engine) ? 0 : 1; }) == 0);
  other.join();
  CHECK(works(engine));
}

TEST_CASE("threads fork at the same time") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        const pid_t pid = fork();
        if (pid == 0) {
          alarm(60);
          _exit(works(engine) ? 0 : 1);
        }
        int status = 1;
        waitpid(pid, &status, 0);
        good += status == 0 ? 1 : 0;
        works(engine);
      }
    });
  for (std::thread& one : threads) one.join();
  CHECK(good == 30);
}

TEST_CASE("an operation that forks goes on in both processes") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  int status = -1;
  engine.push([&] {
    Engine another{{.threads = 1, .kind = Kind::threaded}};
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(60);
      _exit(works(another) ? 0 : 1);
    }
    waitpid(pid, &status, 0);
  });
  engine.wait_all();
  CHECK(status == 0);
}

TEST_CASE("children draw numbers of their own, the same in every run") {
  const auto children = [] {
    std::vector<std::uint32_t> drawn;
    strop::random::seed(11);
    for (int child = 0; child < 4; ++child) {
      int ends[2];
      REQUIRE(pipe(ends) == 0);
      CHECK(in_child([&] {
              // and a child of the child
              const pid_t pid = fork();
              const std::uint32_t bits = strop::random::next().bits(0);
              const bool written = write(ends[1], &bits, sizeof bits) == sizeof bits;
              if (pid == 0) _exit(written ? 0 : 1);
              int status = 1;
              waitpid(pid, &status, 0);
              return written && status == 0 ? 0 : 1;
            }) == 0);
      for (int i = 0; i < 2; ++i) {
        std::uint32_t bits = 0;
        REQUIRE(read(ends[0], &bits, sizeof bits) == sizeof bits);
        drawn.push_back(bits);
      }
      close(ends[0]);
      close(ends[1]);
    }
    drawn.push_back(strop::random::next().bits(0));
    return std::set<std::uint32_t>(drawn.begin(), drawn.end());
  };
  CHECK(children().size() == 9);
  const auto seeded = [] {
    strop::random::seed(5);
    return strop::random::next();
  };
  const auto here = seeded();
  CHECK(in_child([&] { return seeded() == here ? 0 : 1; }) == 0);
  strop::random::seed(0);
}

TEST_CASE("a turn is taken again by its thread, and waited for by others") {
  detail::TurnLock turn;
  int depth = 0, most = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 1000; ++round) {
        const std::lock_guard outer(turn);
        const std::lock_guard inner(turn);
        ++depth;
        most = depth > most ? depth : most;
        --depth;
      }
    });
  for (std::thread& one : threads) one.join();
  CHECK(most == 1);
}

TEST_CASE("an operation forks while another thread waits to fork") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  std::atomic<bool> begun = false;
  int status = -1;
  engine.push([&] {
    begun = true;
    while (detail::forking == 0) std::this_thread::yield();  // the main thread waits for this operation
    status = in_child([] { return 7; });
  });
  while (!begun) std::this_thread::yield();
  CHECK(in_child([&] { return works(engine) ? 0 : 1; }) == 0);
  engine.wait_all();
  CHECK(status == 7);
}

TEST_CASE("a section forks while another thread waits to fork") {
  std::atomic<bool> begun = false;
  std::atomic<int> status = -1;
  std::thread other([&] {
    const detail::ForkSection section;
    begun = true;
    while (detail::forking == 0) std::this_thread::yield();
    status = in_child([] { return 7; });
  });
  while (!begun) std::this_thread::yield();
  CHECK(in_child([] { return 0; }) == 0);
  other.join();
  CHECK(status == 7);
}

TEST_CASE("a fork waits for the loop of another thread") {
  for (const bool hosted : {false, true}) {
    strop::set_num_threads(3);
    if (hosted)
      strop::set_parallel([](std::int64_t n, std::int64_t, strop::LoopBody body, void* context) {
        std::thread([=] { body(context, 0, n); }).join();
      });
    Engine engine{{.threads = 1, .kind = Kind::threaded}};
    std::atomic<bool> begun = false, forked = false, early = false;
    std::thread other([&] {
      strop::parallel_for(2, 1, [&](std::int64_t, std::int64_t) {
        if (begun.exchange(true)) return;
        while (detail::forking == 0 && !forked) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        early = forked.load();
        engine.push([] {});  // is not held back
      });
    });
    while (!begun) std::this_thread::yield();
    CHECK(in_child([&] { return works(engine) ? 0 : 1; }) == 0);
    forked = true;
    other.join();
    CHECK(!early);
    strop::set_parallel(nullptr);
    strop::set_num_threads(detail::available_processors());
  }
}

TEST_CASE("a push that a fork holds back leaves the child even") {
  Engine engine{{.threads = 1, .kind = Kind::threaded}};
  const auto v = engine.variable();
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      while (!stop) engine.push([] {}, {.writes = {v}});
    });
  int good = 0;
  for (int round = 0; round < 40; ++round)
    good += in_child([&] {
              alarm(10);
              engine.wait_all();
              return 0;
            }) == 0
                ? 1
                : 0;
  stop = true;
  for (std::thread& one : threads) one.join();
  CHECK(good == 40);
}

#ifdef STROP_TEST_ASAN
constexpr bool leaks_are_told = true;  // by a child that ends with its last thread
#else
constexpr bool leaks_are_told = false;
#endif
TEST_CASE("the child of a loop's body comes back from the loop, and loops again") {
  strop::set_num_threads(3);
  for (int round = 0; round < 20; ++round) {
    const pid_t parent = getpid();
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<std::int64_t> sum = 0;
    std::atomic<int> children = 0, good = 0;
    bool told = false;
    try {
      strop::parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) {
        sum += end - begin;
        const bool mine = std::this_thread::get_id() == caller;
        if (getpid() != parent || (begin != 0 && begin != 40) || (!mine && leaks_are_told)) return;
        std::fflush(nullptr);
        const pid_t pid = fork();
        if (pid == 0) {
          alarm(60);
          return;  // a helper ends with its pieces, and its process with it
        }
        int status = 1;
        waitpid(pid, &status, 0);
        ++children;
        good += WIFEXITED(status) && WEXITSTATUS(status) == (mine ? 3 : 0) ? 1 : 0;
      });
    } catch (const strop::Error& error) {
      told = std::string(error.what()).starts_with("parallel_for: this process was forked inside the loop");
    }
    if (getpid() != parent) {
      const bool whole = sum == 64;
      std::atomic<std::int64_t> again = 0;
      strop::parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) { again += end - begin; });
      _exit((whole || told) && again == 64 ? 3 : 4);
    }
    CHECK(good == children);
    CHECK(sum == 64);
    CHECK(!told);
  }
  strop::set_num_threads(detail::available_processors());
}

#endif
