// SPDX-License-Identifier: Apache-2.0
/// \file
/// An engine on the host's own pool.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common.hpp"

using namespace engine_test;

namespace {

/// A pool as a host may have one.
class Pool {
 public:
  static inline thread_local bool inside = false;
  std::atomic<int> spawned = 0, refuse = 0, at_once = 0, most = 0;

  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { loop(); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  static bool spawn(void* context, void (*task)(void*), void* argument) {
    Pool& own = *static_cast<Pool*>(context);
    if (own.refuse > 0 && --own.refuse >= 0) return false;
    ++own.spawned;
    {
      const std::lock_guard lock(own.mutex_);
      own.queue_.emplace_back(task, argument);
    }
    own.changed_.notify_one();
    return true;
  }

 private:
  void loop() {
    inside = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stop_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const auto [task, argument] = queue_.front();
      queue_.pop_front();
      lock.unlock();
      if (++at_once > most) most = at_once.load();
      task(argument);
      --at_once;
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<void (*)(void*), void*>> queue_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("an engine runs on the host's threads alone") {
  Pool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran = 0, elsewhere = 0;
    const auto here = std::this_thread::get_id();
    int x = 0;
    {
      Engine engine{{.threads = 2, .kind = Kind::threaded, .spawn = Pool::spawn, .spawn_context = &pool}};
      const auto v = engine.variable();
      for (int i = 0; i < 200; ++i) {
        const auto body = [&] {
          ++ran;
          if (!Pool::inside && std::this_thread::get_id() != here) ++elsewhere;
        };
        engine.push(body);
        engine.push([&, body] { body(), ++x; }, {.reads = {v}, .writes = {v}});
        if (i % 60 == 0) engine.wait(v);
        if (i == 150) std::this_thread::sleep_for(std::chrono::microseconds(200));  // its tasks end, others come
      }
    }
    CHECK(ran == 400);
    CHECK(elsewhere == 0);
  }
  CHECK(pool.spawned > 0);
  CHECK(pool.most <= 2);
}

TEST_CASE("operations on the host's threads may wait: another task takes their place") {
  Pool pool(4);
  Engine engine{{.threads = 1, .kind = Kind::threaded, .spawn = Pool::spawn, .spawn_context = &pool}};
  const auto v = engine.variable(), w = engine.variable();
  int x = 0;
  std::atomic<bool> called = false;
  Engine::Done kept;
  engine.push(
      [&] {
        // the thread that waits can call this function, and cannot complete the operation
        engine.push_async(
            [&](Engine::Done done) {
              kept = std::move(done);
              called = true;
            },
            {.writes = {v}});
        engine.push([&] {
          while (!called) std::this_thread::yield();
          x = 1;
          std::exchange(kept, {})();
        });
        engine.wait(v);
        x *= 3;
      },
      {.writes = {w}});
  engine.wait(w);
  CHECK(x == 3);
  engine.wait_all();
}

TEST_CASE("a host's pool that is full is no reason to stop") {
  Pool pool(1);
  Engine engine{{.threads = 2, .kind = Kind::threaded, .spawn = Pool::spawn, .spawn_context = &pool}};
  const auto v = engine.variable();
  int x = 0;
  for (int i = 0; i < 100; ++i) {
    pool.refuse = i % 3;
    engine.push([&] { ++x; }, {.reads = {v}, .writes = {v}});
  }
  pool.refuse = 1'000'000;
  for (int i = 0; i < 100; ++i) engine.push([&] { ++x; }, {.reads = {v}, .writes = {v}});
  engine.wait_all();
  CHECK(x == 200);
}
