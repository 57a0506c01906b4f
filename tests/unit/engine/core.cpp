// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random programs on every kind of engine, against a serial interpreter; several pushing threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common.hpp"
#include "random_program.hpp"

using namespace engine_test;

namespace {

/// A thread that calls Dones, as a disk or a network would.
class Completer {
 public:
  Completer() : thread_([this] { loop(); }) {}
  ~Completer() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  void complete(Engine::Done done, std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      queue_.emplace_back(std::move(done), std::move(error));
    }
    changed_.notify_one();
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stop_ || !queue_.empty(); });
      if (queue_.empty()) return;
      auto [done, error] = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      done(error);
      done = {};
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Engine::Done, std::exception_ptr>> queue_;
  bool stop_ = false;
  std::thread thread_;
};

std::vector<Engine::Variable> pick(const std::vector<Engine::Variable>& from, const std::vector<std::size_t>& which) {
  std::vector<Engine::Variable> out;
  for (std::size_t i : which) out.push_back(from[i]);
  return out;
}

/// Pushes one step in the way that it asks for. `body` does its work and may throw.
template <class Body>
void push_step(Engine& engine, Completer& completer, const std::vector<Engine::Variable>& vars, const Step& step,
               Body body) {
  const auto reads = pick(vars, step.reads), writes = pick(vars, step.writes);
  const Engine::Uses uses{.reads = reads,
                          .writes = writes,
                          .name = "step",
                          .priority = step.priority,
                          .device = step.device > 0 ? strop::gpu(0) : strop::cpu(),
                          .copies = step.device == 2};
  switch (step.how) {
    case How::push:
      engine.push(body, uses);
      break;
    case How::run:
      engine.run(body, uses);
      break;
    case How::async_inside:
      engine.push_async(
          [body](const Engine::Done& done) mutable {
            body();  // an exception comes instead of done
            done();
          },
          uses);
      break;
    case How::async_other:
      engine.push_async(
          [body, &completer](Engine::Done done) mutable {
            std::exception_ptr error;
            try {
              body();
            } catch (...) {
              error = std::current_exception();
            }
            completer.complete(std::move(done), std::move(error));
          },
          uses);
      break;
    case How::prepared: {
      auto prepared = engine.prepare(body, uses);
      prepared.push();
      break;
    }
  }
}

/// Which failure a wait raises; none: nothing.
constexpr std::size_t none = ~std::size_t{0};
template <class F>
std::size_t failure_of(F&& wait) {
  try {
    wait();
  } catch (const Failed& failed) {
    return failed.id;
  }
  return none;
}

/// Threads of devices cost time to start: few programs have them.
bool uses_devices(std::uint64_t seed) { return seed % 6 == 5; }

/// One program from one thread: everything that can be observed must be what the interpreter says.
bool same_as_serial(Kind kind, std::uint64_t seed, std::size_t n, std::size_t failing) {
  Random random(seed);
  const std::size_t variables = 1 + random.below(random.once_in(10) ? 200 : 12);
  const auto steps = random_steps(random, variables, n, failing, uses_devices(seed));
  Interpreter serial(variables);
  std::vector<std::uint64_t> values(variables);
  std::vector<char> ran(n);
  bool same = true;
  Completer completer;
  Engine engine{{.threads = 1 + static_cast<int>(random.below(4)), .kind = kind, .seed = seed}};
  std::vector<Engine::Variable> vars;
  for (std::size_t i = 0; i < variables; ++i) vars.push_back(engine.variable());
  const auto observe = [&](std::size_t v) {
    const bool all = random.once_in(2);
    const std::size_t id = failure_of([&] { all ? engine.wait_idle(vars[v]) : engine.wait(vars[v]); });
    same = same && (serial.failures[v].empty() ? id == none && values[v] == serial.values[v]
                                               : serial.failures[v].count(id) == 1);
    same = same && vars[v].version() == serial.versions[v] && vars[v].failed() == (id != none);
    if (all) same = same && vars[v].idle();
  };
  std::optional<Engine::Bulk> bulk;
  for (const Step& step : steps) {
    if (random.once_in(20)) bulk.reset();
    if (random.once_in(20)) bulk.reset(), bulk.emplace(engine, 1 + random.below(20));
    push_step(engine, completer, vars, step, [&step, &values, &ran] {
      ran[step.id] = 1;
      if (step.fails) throw Failed{step.id};
      apply(step, values);
    });
    serial.step(step);
    if (random.once_in(30)) observe(random.below(variables));
  }
  bulk.reset();
  std::vector<std::size_t> raised;
  for (;;) {
    const std::size_t id = failure_of([&] { engine.wait_all(); });
    if (id == none) break;
    raised.push_back(id);
  }
  std::sort(raised.begin(), raised.end());
  same = same && raised == serial.failed;
  for (std::size_t v = 0; v < variables; ++v) {
    observe(v);
    same = same && vars[v].idle();
  }
  for (std::size_t i = 0; i < n; ++i) same = same && (ran[i] != 0) == serial.ran[i];
  return same;
}

}  // namespace

TEST_CASE("random programs do what a serial interpreter does") {
  const std::size_t programs = 60 * scale();
  for (Kind kind : {Kind::threaded, Kind::naive, Kind::simulated})
    for (std::size_t seed = 0; seed < programs; ++seed) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(kind));
      REQUIRE(same_as_serial(kind, seed, 400, seed % 2 == 0 ? 12 : 0));
    }
}

TEST_CASE("as many operations of random programs as STROP_TEST_OPERATIONS says") {
  // under the thread sanitizer ten million is what a release is tested with: docs/engine.md says how
  const char* const text = std::getenv("STROP_TEST_OPERATIONS");
  const long long wanted = text == nullptr ? 2000 : std::atoll(text);
  for (long long done = 0; done < wanted;) {
    const auto seed = static_cast<std::uint64_t>(1'000'000 + done);
    CAPTURE(seed);
    REQUIRE(same_as_serial(Kind::threaded, seed, 1000, seed % 4000 == 0 ? 12 : 0));
    done += 1000;
  }
}

namespace {

/// What one step that ran saw and did, in terms of the writes that each variable had had.
struct Seen {
  std::size_t thread = 0, place = 0;  // its pusher and its place there
  const Step* step = nullptr;
  std::vector<std::pair<std::size_t, std::size_t>> at;  // variable, writes before this one
  std::vector<std::uint64_t> values;                    // what it read, in the order of step->reads
  bool ran = false;
};

/// Several threads push over common variables. What ran must be explained by one serial order, in which the pushes of
/// every thread that share a variable keep their order. Each thread also has variables of its own, where failures
/// stay, so that who must not run is known.
bool serialisable(Kind kind, std::uint64_t seed, std::size_t pushers, std::size_t n) {
  Random random(seed);
  const std::size_t shared = 1 + random.below(8), own = 3;
  const std::size_t variables = shared + pushers * own;
  std::vector<std::uint64_t> values(variables);
  std::vector<std::size_t> writes(variables);  // how many each variable has had; guarded by the engine
  std::vector<std::vector<Step>> programs(pushers);
  std::vector<std::vector<Seen>> seen(pushers, std::vector<Seen>(n));
  for (std::size_t t = 0; t < pushers; ++t) {
    programs[t] = random_steps(random, shared, n, 0, false);
    for (Step& step : programs[t]) {
      step.id = t * n + step.id;
      if (random.once_in(2)) continue;
      // reads what is common, writes what is its thread's
      const std::size_t base = shared + t * own;
      step.writes = {base + random.below(own)};
      if (random.once_in(2)) step.reads.push_back(base + random.below(own));
      step.fails = random.once_in(15);
    }
  }
  bool same = true;
  {
    Completer completer;
    Engine engine{{.threads = 1 + static_cast<int>(random.below(3)), .kind = kind, .seed = seed}};
    std::vector<Engine::Variable> vars;
    for (std::size_t i = 0; i < variables; ++i) vars.push_back(engine.variable());
    std::atomic<bool> go = false;
    std::vector<std::thread> group;
    for (std::size_t t = 0; t < pushers; ++t)
      group.emplace_back([&, t] {
        while (!go) std::this_thread::yield();
        Random mine(seed * 31 + t);
        for (std::size_t i = 0; i < n; ++i) {
          const Step& step = programs[t][i];
          Seen& note = seen[t][i];
          note.thread = t;
          note.place = i;
          note.step = &step;
          push_step(engine, completer, vars, step, [&step, &note, &values, &writes] {
            note.ran = true;
            for (std::size_t r : step.reads) {
              note.at.emplace_back(r, writes[r]);
              note.values.push_back(values[r]);
            }
            for (std::size_t w : step.writes) note.at.emplace_back(w, writes[w]);
            if (step.fails) throw Failed{step.id};
            apply(step, values);
            std::vector<std::size_t> once = step.writes;
            std::sort(once.begin(), once.end());
            once.erase(std::unique(once.begin(), once.end()), once.end());
            for (std::size_t w : once) ++writes[w];
          });
          if (mine.once_in(40)) failure_of([&] { engine.wait(vars[mine.below(shared)]); });
        }
      });
    go = true;
    for (auto& one : group) one.join();
    while (failure_of([&] { engine.wait_all(); }) != none) {
    }
    // a thread's own variables: the failures are those of its program alone
    for (std::size_t t = 0; t < pushers; ++t) {
      Interpreter alone(variables);
      for (std::size_t i = 0; i < n; ++i) {
        alone.step(programs[t][i]);
        same = same && alone.ran[i] == seen[t][i].ran;
      }
      for (std::size_t k = 0; k < own; ++k) {
        const std::size_t v = shared + t * own + k;
        same = same && vars[v].failed() == !alone.failures[v].empty();
      }
    }
  }
  // One serial order: take, again and again, a step whose variables have had exactly the writes that it saw.
  std::vector<std::uint64_t> replayed(variables);
  std::vector<std::size_t> had(variables);
  std::vector<std::size_t> at(pushers);
  std::vector<const Seen*> left;
  for (const auto& one : seen)
    for (const Seen& note : one)
      if (note.ran) left.push_back(&note);
  while (!left.empty()) {
    std::vector<const Seen*> later;
    // readers first: a write makes the state that they saw go away
    for (const bool writers : {false, true}) {
      std::vector<const Seen*>& from = writers ? later : left;
      std::vector<const Seen*> rest;
      bool wrote = false;
      for (const Seen* note : from) {
        const bool writes_some = !note->step->writes.empty() && !note->step->fails;
        bool now = writers ? !wrote : !writes_some;
        for (const auto& [v, count] : note->at) now = now && had[v] == count;
        if (writers && now) {
          // no reader may be left behind that saw what this one overwrites
          for (const Seen* other : from)
            for (const auto& [v, count] : other->at)
              if (other != note && Step::has(note->step->writes, v) && had[v] == count &&
                  (other->step->writes.empty() || other->step->fails || !Step::has(other->step->writes, v)))
                now = false;
        }
        if (!now) {
          rest.push_back(note);
          continue;
        }
        for (std::size_t k = 0; k < note->step->reads.size(); ++k)
          same = same && replayed[note->step->reads[k]] == note->values[k];
        if (note->step->fails) continue;
        apply(*note->step, replayed);
        std::vector<std::size_t> once = note->step->writes;
        std::sort(once.begin(), once.end());
        once.erase(std::unique(once.begin(), once.end()), once.end());
        for (std::size_t w : once) ++had[w];
        wrote = wrote || writes_some;
      }
      if (writers && !wrote) return false;  // no serial order explains the rest
      later = std::move(rest);
      if (!writers && later.empty()) break;
    }
    left = std::move(later);
  }
  // the order of one thread's pushes: of two that share a variable and do not both only read it
  for (const auto& one : seen)
    for (std::size_t j = 0; j < one.size(); ++j)
      for (std::size_t i = j > 40 ? j - 40 : 0; i < j; ++i) {
        if (!one[i].ran || !one[j].ran) continue;
        for (const auto& [v, count] : one[i].at)
          for (const auto& [w, later_count] : one[j].at) {
            if (v != w) continue;
            const bool first_writes = Step::has(one[i].step->writes, v) && !one[i].step->fails;
            same = same && (first_writes ? later_count > count : later_count >= count);
          }
      }
  return same && replayed == values;
}

}  // namespace

TEST_CASE("pushes of several threads have one serial order") {
  const std::size_t programs = 25 * scale();
  for (Kind kind : {Kind::threaded, Kind::naive})
    for (std::size_t seed = 0; seed < programs; ++seed) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(kind));
      REQUIRE(serialisable(kind, seed, 2 + seed % 3, 120));
    }
}

TEST_CASE("interleaved pushes over the same variables never wait for each other for ever") {
  for (Kind kind : {Kind::threaded, Kind::naive}) {
    Engine engine{{.threads = 2, .kind = kind}};
    std::vector<Engine::Variable> v;
    for (int i = 0; i < 6; ++i) v.push_back(engine.variable());
    long count = 0;  // guarded by v[0]
    std::vector<std::thread> group;
    for (std::size_t t = 0; t < 4; ++t)
      group.emplace_back([&, t] {
        for (std::size_t i = 0; i < 2000; ++i) {
          // the same variables in another order in every thread
          std::vector<Engine::Variable> mine;
          for (std::size_t k = 0; k < 6; ++k) mine.push_back(v[(k * (t % 2 == 0 ? 1 : 5) + t + i) % 6]);
          engine.push([&count] { ++count; }, {.writes = mine});
        }
      });
    for (auto& one : group) one.join();
    engine.wait_all();
    CHECK(count == 8000);
    for (const auto& one : v) CHECK(one.version() == 8000);
  }
}

TEST_CASE("threads push, wait and let go of variables at the same time") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  const auto common = engine.variable();
  std::atomic<long> ran = 0;
  std::vector<std::thread> group;
  for (int t = 0; t < 4; ++t)
    group.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        auto mine = engine.variable();
        engine.push([&ran] { ++ran; }, {.reads = {common}, .writes = {mine}});
        if (i % 7 == 0) engine.push([&ran] { ++ran; }, {.reads = {mine}, .writes = {common}});
        if (i % 11 == 0) engine.wait(mine);
        if (i % 50 == 0) engine.wait_all();
      }
    });
  for (auto& one : group) one.join();
  engine.wait_all();
  CHECK(ran == 4 * (500 + 72));
}
