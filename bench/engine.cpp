// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a push costs: nanoseconds per operation, pushed and run.
///
/// The bound that stands beside a figure is the one to stay under. Operations do one addition, so that nearly all that
/// is measured is the engine. A repetition takes about a millisecond; the best one is what a machine with nothing else
/// to do would show, the median what this one does. Usage: engine [threads]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <strop/engine/engine.hpp>
#include <thread>
#include <vector>

namespace {

using strop::Engine;
using Clock = std::chrono::steady_clock;
constexpr std::int64_t n = 4000;

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

void report(const char* what, const char* bound, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("%-50s %10.1f %10.1f   %s\n", what, times[times.size() / 2], times.front(), bound);
}

/// Times `body`, which does n operations.
void program(const char* what, const char* bound, const std::function<void()>& body) {
  std::vector<double> times;
  for (int i = 0; i < 301; ++i) {
    const auto start = Clock::now();
    body();
    times.push_back(nanoseconds_since(start) / static_cast<double>(n));
  }
  report(what, bound, std::move(times));
}

/// A small generator: the programs are the same in every run.
struct Random {
  std::uint64_t state = 1;
  std::size_t below(std::size_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state >> 33) % limit;
  }
};

/// Keeps this thread busy until the others sleep.
void let_fall_asleep() {
  const auto calm = Clock::now();
  while (nanoseconds_since(calm) < 100'000) {
  }
}

/// What it takes to notify a thread that sleeps for 100 us at a time: what a push to sleeping workers cannot be below.
std::vector<double> notify_sleeper() {
  std::atomic<unsigned> bell = 0;
  std::atomic<bool> over = false;
  std::thread sleeper([&] {
    for (unsigned seen = bell.load(); !over; seen = bell.load()) bell.wait(seen);
  });
  std::vector<double> times;
  for (int i = 0; i < 501; ++i) {
    let_fall_asleep();
    const auto start = Clock::now();
    ++bell;
    bell.notify_one();
    times.push_back(nanoseconds_since(start));
  }
  over = true;
  ++bell;
  bell.notify_one();
  sleeper.join();
  return times;
}

std::vector<Engine::Variable> variables(Engine& engine, std::size_t count) {
  std::vector<Engine::Variable> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(engine.variable());
  return made;
}

struct alignas(64) Cell {
  std::int64_t value = 0;
};

/// What every kind of engine runs.
void programs(Engine& engine, const char* independent, const char* dependent) {
  const auto v = variables(engine, 64);
  std::vector<Cell> cells(64);
  Cell* const c = cells.data();

  program("independent, no variables", independent, [&] {
    for (std::int64_t i = 0; i < n; ++i) engine.push([c] { ++c[0].value; });
    engine.wait_all();
  });
  program("independent, each writes one of 64", dependent, [&] {
    for (std::size_t i = 0; i < n; ++i) engine.push([c, k = i % 64] { ++c[k].value; }, {.writes = {v[i % 64]}});
    engine.wait_all();
  });
  program("chain: each updates the same variable", dependent, [&] {
    for (std::int64_t i = 0; i < n; ++i) engine.push([c] { ++c[0].value; }, {.reads = {v[0]}, .writes = {v[0]}});
    engine.wait_all();
  });
  program("diamonds: one writer, two readers, one joins", dependent, [&] {
    for (std::int64_t i = 0; i < n / 4; ++i) {
      engine.push([c] { ++c[0].value; }, {.writes = {v[0]}});
      engine.push([c] { c[1].value = c[0].value; }, {.reads = {v[0]}, .writes = {v[1]}});
      engine.push([c] { c[2].value = c[0].value; }, {.reads = {v[0]}, .writes = {v[2]}});
      engine.push([c] { c[3].value = c[1].value + c[2].value; }, {.reads = {v[1], v[2]}, .writes = {v[3]}});
    }
    engine.wait_all();
  });
  program("2 reads + 1 write over 64", dependent, [&] {
    Random pick;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::size_t r = pick.below(64), s = pick.below(64), w = pick.below(64);
      engine.push([=] { c[w].value = c[r].value + c[s].value; }, {.reads = {v[r], v[s]}, .writes = {v[w]}});
    }
    engine.wait_all();
  });
  program("2 reads + 1 write, named", dependent, [&] {
    Random pick;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::size_t r = pick.below(64), s = pick.below(64), w = pick.below(64);
      engine.push([=] { c[w].value = c[r].value + c[s].value; },
                  {.reads = {v[r], v[s]}, .writes = {v[w]}, .name = "add"});
    }
    engine.wait_all();
  });
  std::vector<Engine::Step> steps;
  Random pick;
  for (int i = 0; i < 1000; ++i) {
    const std::size_t r = pick.below(64), s = pick.below(64), w = pick.below(64);
    steps.push_back(engine.prepare([=] { c[w].value = c[r].value + c[s].value; },
                                   {.reads = {v[r], v[s]}, .writes = {v[w]}, .name = "add"}));
  }
  program("2 reads + 1 write, prepared", dependent, [&] {
    for (std::size_t i = 0; i < n; ++i) steps[i % 1000].push();
    engine.wait_all();
  });
  program("2 reads + 1 write, in bulks of 15", dependent, [&] {
    Random same;
    {
      const Engine::Bulk bulk(engine, 15);
      for (std::int64_t i = 0; i < n; ++i) {
        const std::size_t r = same.below(64), s = same.below(64), w = same.below(64);
        engine.push([=] { c[w].value = c[r].value + c[s].value; }, {.reads = {v[r], v[s]}, .writes = {v[w]}});
      }
    }
    engine.wait_all();
  });
  program("independent, no variables, in bulks of 15", independent, [&] {
    {
      const Engine::Bulk bulk(engine, 15);
      for (std::int64_t i = 0; i < n; ++i) engine.push([c] { ++c[0].value; });
    }
    engine.wait_all();
  });
  program("push and wait for the variable", "<= 2500", [&] {
    for (std::int64_t i = 0; i < n; ++i) {
      engine.push([c] { ++c[0].value; }, {.writes = {v[0]}});
      engine.wait(v[0]);
    }
  });
  std::vector<double> apart;
  for (int i = 0; i < 501; ++i) {
    let_fall_asleep();
    const auto start = Clock::now();
    engine.push([c] { ++c[0].value; }, {.writes = {v[0]}});
    engine.wait(v[0]);
    apart.push_back(nanoseconds_since(start));
  }
  report("the same, 100 us apart (threads asleep)", "<= 2500", std::move(apart));
  report("  what the system takes to notify a sleeping thread", "", notify_sleeper());
  program("run at once: nothing pending, 2 reads + 1 write", "<= 50", [&] {
    for (std::int64_t i = 0; i < n; ++i)
      engine.run([c] { c[2].value = c[0].value + c[1].value; }, {.reads = {v[0], v[1]}, .writes = {v[2]}});
  });
  program("a variable made and let go of", "", [&] {
    for (std::int64_t i = 0; i < n; ++i) engine.variable();
  });
}

/// Several pushing threads, each over 16 variables of its own.
void pushers(Engine& engine) {
  for (int threads : {1, 2, 4, 8}) {
    char what[64];
    std::snprintf(what, sizeof what, "2 reads + 1 write, %d pushing thread%s", threads, threads > 1 ? "s" : "");
    std::vector<double> times;
    for (int repetition = 0; repetition < 31; ++repetition) {
      const auto start = Clock::now();
      std::vector<std::thread> group;
      for (int t = 0; t < threads; ++t)
        group.emplace_back([&engine, t, threads] {
          const auto v = variables(engine, 16);
          Random pick{static_cast<std::uint64_t>(t) + 1};
          for (std::int64_t i = 0; i < 10 * n / threads; ++i)
            engine.push([] {}, {.reads = {v[pick.below(16)], v[pick.below(16)]}, .writes = {v[pick.below(16)]}});
        });
      for (auto& one : group) one.join();
      engine.wait_all();
      times.push_back(nanoseconds_since(start) / static_cast<double>(10 * n));
    }
    report(what, "<= 400", std::move(times));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 0;
  std::printf("%-50s %10s %10s   %s\n", "threaded engine, ns an operation", "median", "best", "bound");
  {
    Engine engine{{.threads = threads, .kind = Engine::Kind::threaded}};
    programs(engine, "<= 120", "<= 400");
    pushers(engine);
  }
  std::printf("%-50s %10s %10s   %s\n", "naive engine", "median", "best", "bound");
  Engine engine{{.kind = Engine::Kind::naive}};
  programs(engine, "<= 50", "<= 50");
}
