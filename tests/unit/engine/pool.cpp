// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parallel loops: every index once, exceptions, nesting, limits, a host's own pool.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <strop/engine/engine.hpp>
#include <strop/engine/pool.hpp>
#include <thread>
#include <vector>

namespace {

/// Sets the number of threads for a test and puts the old one back.
struct Threads {
  int before = strop::num_threads();
  explicit Threads(int n) { strop::set_num_threads(n); }
  ~Threads() { strop::set_num_threads(before); }
};

void check_each_once(std::int64_t n, std::int64_t grain, int wakes = strop::detail::max_threads) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
  std::atomic<bool> aligned = true;
  strop::detail::parallel_for_waking(wakes, n, grain, [&](std::int64_t begin, std::int64_t end) {
    if (begin >= end || (grain > 0 && begin % grain != 0)) aligned = false;
    for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  CHECK(aligned);
  bool once = true;
  for (const auto& count : seen) once = once && count == 1;
  CHECK(once);
}

}  // namespace

TEST_CASE("a parallel loop covers every index once") {
  for (int threads : {1, 2, 3, 8}) {
    const Threads limit(threads);
    CAPTURE(threads);
    for (std::int64_t n : {0, 1, 2, 7, 64, 1000, 4097})
      for (std::int64_t grain : {1, 3, 16, 1024, 5000}) check_each_once(n, grain);
    check_each_once(100, 0);
  }
}

TEST_CASE("a loop that is not worth waking everybody covers every index once, whoever is awake") {
  for (int threads : {2, 3, 8}) {
    const Threads limit(threads);
    CAPTURE(threads);
    for (int wakes : {0, 1, 2})
      for (int round = 0; round < 200; ++round) {
        if (round % 50 == 49) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // helpers have fallen asleep
        if (round % 70 == 0) check_each_once(64, 1);                                      // or are awake
        check_each_once(64, 4, wakes);
      }
    CHECK_THROWS_AS(
        strop::detail::parallel_for_waking(0, 64, 1, [](std::int64_t, std::int64_t) { throw std::out_of_range("0"); }),
        std::out_of_range);
  }
}

TEST_CASE("a small loop is one call on the caller's thread") {
  const Threads limit(4);
  int calls = 0;
  strop::parallel_for(100, 100, [&](std::int64_t begin, std::int64_t end) {
    ++calls;
    CHECK(begin == 0);
    CHECK(end == 100);
  });
  CHECK(calls == 1);
  strop::parallel_for(0, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  strop::parallel_for(-5, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  CHECK(calls == 1);
}

TEST_CASE("one thread makes every loop serial") {
  const Threads limit(1);
  int calls = 0;
  strop::parallel_for(1'000'000, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  CHECK(calls == 1);
}

TEST_CASE("a loop uses several threads when all of them are needed") {
  const Threads limit(3);
  // every piece waits until three threads are in the loop: one alone would never end
  std::atomic<int> inside = 0;
  strop::parallel_for(3, 1, [&](std::int64_t begin, std::int64_t end) {
    inside += static_cast<int>(end - begin);
    while (inside < 3) std::this_thread::yield();
  });
  CHECK(inside == 3);
}

TEST_CASE("a loop inside a loop runs on its thread") {
  const Threads limit(4);
  std::atomic<int> inner_calls = 0, other_thread = 0;
  strop::parallel_for(16, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto own = std::this_thread::get_id();
      strop::parallel_for(1000, 1, [&](std::int64_t, std::int64_t) {
        ++inner_calls;
        if (std::this_thread::get_id() != own) ++other_thread;
      });
    }
  });
  CHECK(inner_calls == 16);
  CHECK(other_thread == 0);
}

TEST_CASE("an exception of a piece reaches the caller, and the pool works on") {
  const Threads limit(4);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> after = 0;
    CHECK_THROWS_AS(strop::parallel_for(1000, 1,
                                        [&](std::int64_t begin, std::int64_t end) {
                                          if (begin <= 500 && 500 < end) throw std::out_of_range("500");
                                          ++after;
                                        }),
                    std::out_of_range);
    check_each_once(100, 1);
  }
  CHECK_THROWS_AS(strop::parallel_for(10, 100, [](std::int64_t, std::int64_t) { throw 1; }), int);
}

TEST_CASE("loops of several threads at once") {
  const Threads limit(3);
  std::vector<std::thread> group;
  std::atomic<std::int64_t> total = 0;
  for (int t = 0; t < 4; ++t)
    group.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        strop::parallel_for(500, 7, [&](std::int64_t begin, std::int64_t end) { total += end - begin; });
    });
  for (auto& one : group) one.join();
  CHECK(total == 4 * 200 * 500);
}

TEST_CASE("the function object is used, not copied") {
  struct Body {
    std::atomic<std::int64_t> sum = 0;
    Body() = default;
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;
    void operator()(std::int64_t begin, std::int64_t end) { sum += end - begin; }
  };
  const Threads limit(2);
  Body body;
  strop::parallel_for(1000, 10, body);
  CHECK(body.sum == 1000);
}

TEST_CASE("the number of threads is checked") {
  const Threads keep(strop::num_threads());
  CHECK_THROWS_WITH_AS(strop::set_num_threads(0), "set_num_threads: expected at least 1 thread, got 0", strop::Error);
  strop::set_num_threads(1'000'000);
  CHECK(strop::num_threads() == 256);
  CHECK(strop::detail::available_processors() >= 1);
}

TEST_CASE("numbers of threads come from the environment") {
  setenv("STROP_TEST_THREADS", "6,2", 1);
  CHECK(strop::detail::positive_from_environment("STROP_TEST_THREADS") == 6);
  setenv("STROP_TEST_THREADS", "none", 1);
  CHECK(strop::detail::positive_from_environment("STROP_TEST_THREADS") == 0);
  setenv("STROP_TEST_THREADS", "-3", 1);
  CHECK(strop::detail::positive_from_environment("STROP_TEST_THREADS") == 0);
  setenv("STROP_TEST_THREADS", "99999999999999999999", 1);
  CHECK(strop::detail::positive_from_environment("STROP_TEST_THREADS") == 256);
  unsetenv("STROP_TEST_THREADS");
  CHECK(strop::detail::positive_from_environment("STROP_TEST_THREADS") == 0);
}

namespace {

std::atomic<int> hosted_loops = 0;

/// A host's pool that uses two threads of its own per loop.
void host(std::int64_t n, std::int64_t grain, strop::LoopBody body, void* context) {
  ++hosted_loops;
  CHECK(grain >= 1);
  const std::int64_t half = n / 2;
  std::thread other([=] { body(context, 0, half); });
  body(context, half, n);
  other.join();
}

}  // namespace

TEST_CASE("the host's pool takes the loops over") {
  const Threads limit(2);
  strop::set_parallel(host);
  hosted_loops = 0;
  check_each_once(1000, 1);
  CHECK(hosted_loops == 1);
  // nested: serial in the host's threads as well
  std::atomic<int> inner = 0;
  strop::parallel_for(10, 1, [&](std::int64_t, std::int64_t) {
    strop::parallel_for(1000, 1, [&](std::int64_t, std::int64_t) { ++inner; });
  });
  CHECK(hosted_loops == 2);
  CHECK(inner == 2);
  // the host never sees an exception
  CHECK_THROWS_AS(strop::parallel_for(100, 1, [](std::int64_t, std::int64_t) { throw std::runtime_error("piece"); }),
                  std::runtime_error);
  strop::set_parallel(nullptr);
  check_each_once(1000, 1);
  CHECK(hosted_loops == 3);
}

TEST_CASE("a loop inside an operation takes only threads that have nothing to do") {
  const Threads limit(2);
  strop::Engine engine{{.threads = 2, .kind = strop::Engine::Kind::threaded}};
  // both workers are in an operation: there is no third thread for their loops
  std::atomic<int> inside = 0;
  std::mutex mutex;
  std::set<std::thread::id> seen[2];
  for (int k = 0; k < 2; ++k)
    engine.push([&, k] {
      ++inside;
      while (inside < 2) std::this_thread::yield();
      strop::parallel_for(1000, 1, [&](std::int64_t, std::int64_t) {
        const std::lock_guard lock(mutex);
        seen[k].insert(std::this_thread::get_id());
      });
      ++inside;
      while (inside < 4) std::this_thread::yield();
    });
  while (inside < 4) std::this_thread::yield();  // no help from this thread
  engine.wait_all();
  CHECK(seen[0].size() == 1);
  CHECK(seen[1].size() == 1);
}

TEST_CASE("a loop inside the only operation gets the idle threads") {
  const Threads limit(2);
  strop::Engine engine{{.threads = 2, .kind = strop::Engine::Kind::threaded}};
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> inside = 0;
    std::atomic<bool> ended = false;
    engine.push([&] {
      // ends only with two threads
      strop::parallel_for(2, 1, [&](std::int64_t begin, std::int64_t end) {
        inside += static_cast<int>(end - begin);
        while (inside < 2) std::this_thread::yield();
      });
      ended = true;
    });
    while (!ended) std::this_thread::yield();
    engine.wait_all();
  }
  CHECK(true);
}
