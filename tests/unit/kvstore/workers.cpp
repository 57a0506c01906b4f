// SPDX-License-Identifier: Apache-2.0
/// \file
/// A distributed store whose workers are threads: what tests/kvstore runs as processes.
#include <doctest/doctest.h>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>
#include "kvstore/worker_programs.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace strop;

namespace {

/// Messages between threads, each kept until it is received.
class Room {
 public:
  static constexpr int channels = 3;  // a transport and those apart from it
  explicit Room(int count) : workers(count), boxes(static_cast<std::size_t>(channels * count * count)) {}
  std::deque<std::vector<std::byte>>& box(int channel, int from, int to) {
    return boxes[static_cast<std::size_t>((channel * workers + from) * workers + to)];
  }
  const int workers;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::deque<std::vector<std::byte>>> boxes;
  std::string left;  // who waits is told so
  int garbled = -1;  // the worker whose requests no owner understands
  std::atomic<std::int64_t> sent{0};
};

class InProcess final : public Transport {
 public:
  InProcess(Room& room, int rank, int channel = 0) : room_(room), rank_(rank), channel_(channel) {}
  int rank() const override { return rank_; }
  int size() const override { return room_.workers; }
  void exchange(detail::Span<const Message> sends, detail::Span<const Message> receives,
                std::string_view what) override {
    std::unique_lock lock(room_.mutex);
    for (const Message& m : sends) {
      auto& sent = room_.box(channel_, rank_, m.worker).emplace_back(m.data, m.data + m.size);
      if (channel_ == 1 && rank_ == room_.garbled) sent[0] ^= std::byte{1};
      room_.sent += m.size;
    }
    room_.changed.notify_all();
    for (const Message& m : receives) {
      auto& box = room_.box(channel_, m.worker, rank_);
      room_.changed.wait(lock, [&] { return !box.empty() || !room_.left.empty(); });
      if (box.empty()) fail(room_.left, " at ", what);
      const std::vector<std::byte> got = std::move(box.front());
      box.pop_front();
      if (static_cast<std::int64_t>(got.size()) > m.size) fail("a message is too long at ", what);
      if (!got.empty()) std::memcpy(m.data, got.data(), got.size());
      if (m.received != nullptr) *m.received = static_cast<std::int64_t>(got.size());
    }
  }
  detail::Ref<Transport> apart() override {
    return detail::Ref<Transport>(new InProcess(room_, rank_, channel_ + ++apart_));
  }
  void give_up(const std::string& why) override {
    const std::lock_guard lock(room_.mutex);
    if (room_.left.empty()) room_.left = why;
    room_.changed.notify_all();
  }
  int receive_any(detail::List<std::byte>& message, const std::atomic<bool>& stop) override {
    std::unique_lock lock(room_.mutex);
    while (!stop) {
      for (int k = 0; k < room_.workers; ++k) {
        auto& box = room_.box(channel_, k, rank_);
        if (box.empty()) continue;
        const std::vector<std::byte> got = std::move(box.front());
        box.pop_front();
        message.resize(got.size());
        if (!got.empty()) std::memcpy(message.data(), got.data(), got.size());
        return k;
      }
      room_.changed.wait_for(lock, std::chrono::milliseconds(1));
    }
    return -1;
  }

 private:
  Room& room_;
  int rank_, channel_, apart_ = 0;
};

/// What each worker's program throws; empty where it throws nothing.
template <class F>
std::vector<std::string> run_workers(int workers, F program, std::int64_t* sent = nullptr,
                                     const char* type = "dist_sync", int garbled = -1) {
  Room room(workers);
  room.garbled = garbled;
  std::vector<std::string> said(static_cast<std::size_t>(workers));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < workers; ++rank)
    threads.emplace_back([&, rank] {
      said[static_cast<std::size_t>(rank)] = testing::sentence([&] {
        KVStore kv = KVStore::create(type, detail::Ref<Transport>(new InProcess(room, rank)));
        program(kv);
      });
      if (said[static_cast<std::size_t>(rank)].empty()) return;
      const std::lock_guard lock(room.mutex);
      if (room.left.empty()) room.left = "somebody left";
      room.changed.notify_all();
    });
  for (std::thread& t : threads) t.join();
  if (sent != nullptr) *sent = room.sent;
  return said;
}
void check_fine(const std::vector<std::string>& said) {
  for (const std::string& text : said) CHECK(text == "");
}

}  // namespace

TEST_CASE("workers have, bit for bit, what one process makes of all their pushes") {
  for (const int workers : {1, 2, 3, 4})
    for (const bool update : {false, true}) {
      CAPTURE(workers);
      CAPTURE(update);
      check_fine(run_workers(workers, [&](KVStore& kv) {
        CHECK(kv.num_workers() == workers);
        testing::run_random_program(kv, 7, 25, update);
      }));
    }
}

TEST_CASE("the same with every call handed to the engine") {
  set_asynchronous(true, 0);
  check_fine(run_workers(3, [&](KVStore& kv) { testing::run_random_program(kv, 8, 30, true); }));
  set_asynchronous(true);
}

TEST_CASE("an optimizer on every worker has the same states") {
  check_fine(run_workers(2, [](KVStore& kv) {
    kv.init("w", ones({300'000}));
    kv.set_optimizer(optim::Sgd{.learning_rate = 0.5, .momentum = 0.5});
    for (int i = 0; i < 3; ++i) kv.push("w", full({300'000}, kv.rank() + 1));
    const NDArray out = zeros({300'000});
    kv.pull("w", out);
    // v: −1.5, −2.25, −2.625
    CHECK(out.to_vector<float>() == std::vector<float>(300'000, 1 - 1.5F - 2.25F - 2.625F));
  }));
}

TEST_CASE("several arrays of a worker are added before the workers'") {
  check_fine(run_workers(2, [](KVStore& kv) {
    kv.init("w", zeros({2}));
    kv.push("w", {full({2}, kv.rank()), full({2}, 10)});
    const NDArray out = zeros({2});
    kv.pull("w", out);
    CHECK(out.to_vector<float>() == std::vector<float>{21, 21});
  }));
}

TEST_CASE("compressed pushes take two bits an element, and are added") {
  std::int64_t sent = 0;
  check_fine(run_workers(
      2,
      [](KVStore& kv) {
        kv.set_gradient_compression({.threshold = 1});
        kv.init("w", zeros({160'000}));
        kv.push("w", full({160'000}, kv.rank() == 0 ? 1.5 : -1.5));
        kv.push("w", full({160'000}, 0.5));  // with what was left: 1 of worker 0
        const NDArray out = zeros({160'000});
        kv.pull("w", out);
        CHECK(out.to_vector<float>() == std::vector<float>(160'000, 1));
      },
      &sent));
  CHECK(sent < 160'000 * 4 + 2 * 2 * (40'000 + 1000));  // init, and two pushes of two workers
}

TEST_CASE("sparse pushes send the rows that are stored") {
  std::int64_t sent = 0;
  check_fine(run_workers(
      2,
      [](KVStore& kv) {
        kv.init("t", zeros({100'000, 16}, row_sparse));
        kv.push("t", row_sparse_array(ones({10, 16}), arange(0, 1000, 100, i64), {100'000, 16}));
        const NDArray out = zeros({100'000, 16}, row_sparse);
        kv.row_sparse_pull("t", out, array({100, 101}));
        CHECK(out.data().to_vector<float>()[0] == 2);
        CHECK(out.data().to_vector<float>()[16] == 0);
      },
      &sent));
  CHECK(sent < 2 * (10 * (16 * 4 + 8) + 500));
}

TEST_CASE("workers that do not make the same calls are told so, all of them") {
  const auto all_say = [](const std::vector<std::string>& said, std::string_view part) {
    for (const std::string& text : said) {
      CAPTURE(text);
      CHECK(text.find(part) != std::string::npos);
    }
  };
  all_say(run_workers(3,
                      [](KVStore& kv) {
                        kv.init({"a", "b"}, {zeros({2}), zeros({2})});
                        kv.push(kv.rank() == 1 ? "a" : "b", zeros({2}));
                      }),
          "is at another call than worker");
  all_say(run_workers(2, [](KVStore& kv) { kv.init("a", zeros({2 + kv.rank()})); }), "has another shape or type");
  all_say(run_workers(2, [](KVStore& kv) { kv.rank() == 0 ? kv.barrier() : kv.init("a", zeros({2})); }),
          "all workers make the same calls in the same order");
}

TEST_CASE("what worker 0 cannot write or read is refused on all workers, which go on") {
  for (const std::string& text : run_workers(2, [](KVStore& kv) {
         kv.init("a", zeros({2}));
         kv.set_optimizer(optim::Sgd{});
         CHECK(testing::sentence([&] { kv.save_states("no/such/folder/a.states"); }) ==
               "KVStore::save_states(\"no/such/folder/a.states\"): No such file or directory");
         CHECK(testing::sentence([&] { kv.load_states("no/such/folder/a.states"); }) ==
               "strop: load(\"no/such/folder/a.states\"): No such file or directory");
         kv.barrier();
       }))
    CHECK(text == "");
}

TEST_CASE("after a worker has left nothing hangs") {
  const auto said = run_workers(2, [](KVStore& kv) {
    kv.init("a", zeros({300'000}));
    if (kv.rank() == 1) fail("I leave");
    const NDArray out = zeros({300'000});
    for (int i = 0; i < 3; ++i) kv.push("a", ones({300'000}));
    kv.pull("a", out);
    out.wait();
  });
  CHECK(said[0].find("somebody left at push of 'a'") != std::string::npos);
  CHECK(said[1] == "I leave");
}

namespace {
template <class F>
std::vector<std::string> run_async(int workers, F program) {
  return run_workers(workers, program, nullptr, "dist_async");
}
}  // namespace

TEST_CASE("in dist_async every push is applied once, whoever owns the key") {
  for (const int workers : {1, 2, 3}) {
    CAPTURE(workers);
    check_fine(run_async(workers, [](KVStore& kv) { testing::run_counted_pushes(kv, 20); }));
  }
}

TEST_CASE("the same with every call handed to the engine, and dist_async") {
  set_asynchronous(true, 0);
  check_fine(run_async(3, [](KVStore& kv) { testing::run_counted_pushes(kv, 10); }));
  set_asynchronous(true);
}

TEST_CASE("dist_async compresses pushes, and keeps what is left out with the sender") {
  check_fine(run_async(2, [](KVStore& kv) {
    kv.set_gradient_compression({.threshold = 1});
    kv.init("w", zeros({10'003}));
    kv.set_updater([](const std::string&, const NDArray& g, NDArray& w) { w = w + g; });
    kv.push("w", full({10'003}, kv.rank() == 0 ? 1.5 : -1.5));
    kv.push("w", full({10'003}, 0.5));
    kv.barrier();
    const NDArray out = zeros({10'003});
    kv.pull("w", out);
    CHECK(out.to_vector<float>() == std::vector<float>(10'003, 1));
  }));
}

TEST_CASE("dist_async needs an updater, and its exception reaches the worker that pushed") {
  const std::vector<std::string> ends = run_async(2, [](KVStore& kv) {
    kv.init("w", zeros({2}));
    CHECK(testing::sentence([&] { kv.push("w", ones({2})); }) ==
          "KVStore::push: a dist_async store has no updater, and without one the last push of any worker would be what "
          "is stored; set_optimizer or set_updater comes first");
    kv.set_updater([](const std::string&, const NDArray& g, NDArray& w) {
      if (g.to_vector<float>()[0] < 0) fail("no negative ones");
      w = w + g;
    });
    kv.push("w", ones({2}));
    kv.barrier();
    const NDArray out = zeros({2});
    kv.pull("w", out);
    CHECK(out.to_vector<float>() == std::vector<float>{2, 2});
    kv.barrier();
    if (kv.rank() == 0) {
      const std::string said = testing::sentence([&] { kv.push("w", full({2}, -1)); });
      CHECK(said.find("no negative ones") != std::string::npos);
      CHECK(testing::sentence([&] { kv.pull("w", out); }) == said);
      fail("the end");
    }
    CHECK(testing::sentence([&] { kv.barrier(); }).find("somebody left at barrier") != std::string::npos);
  });
  CHECK(ends == std::vector<std::string>{"the end", ""});
}

TEST_CASE("an owner that fails to answer tells those who wait for it, and itself") {
  const std::vector<std::string> ends = run_workers(
      2,
      [](KVStore& kv) {
        int k = 0;
        while (detail::owner_of_key(cat("key", k), 2) != 0) ++k;
        kv.init(cat("key", k), zeros({2}));
        kv.set_updater([](const std::string&, const NDArray& g, NDArray& w) { w = w + g; });
        if (kv.rank() == 1) kv.push(cat("key", k), ones({2}));
        kv.barrier();
      },
      nullptr, "dist_async", 1);
  for (const std::string& text : ends) {
    CAPTURE(text);
    CHECK(text.find("worker 0 got a request of worker 1 that another version of strop sends") != std::string::npos);
  }
}

TEST_CASE("an updater of dist_async that throws what is no exception of std is named, on any owner") {
  for (const int pusher : {0, 1}) {  // one of them owns the key
    const std::vector<std::string> ends = run_async(2, [&](KVStore& kv) {
      kv.init("a", zeros({2}));
      kv.set_updater([](const std::string&, const NDArray&, NDArray&) { throw 7; });
      if (kv.rank() == pusher) kv.push("a", ones({2}));
      CHECK(testing::sentence([&] { kv.barrier(); }) == "somebody left at barrier");
    });
    const std::string& said = ends[static_cast<std::size_t>(pusher)];
    CAPTURE(said);
    CHECK(said.find("KVStore: the updater threw for 'a' what is no std::exception") != std::string::npos);
    CHECK(ends[static_cast<std::size_t>(1 - pusher)] == "");
  }
}

TEST_CASE("a push that fails last is logged where no call has told of it") {
  static std::string logged;
  const LogSink before = set_log_sink([](std::string_view message) noexcept { logged += message; });
  set_asynchronous(true, 0);
  for (const bool told : {false, true}) {
    logged.clear();
    check_fine(run_async(1, [&](KVStore& kv) {
      kv.init("w", zeros({2}));
      kv.set_updater([](const std::string&, const NDArray&, NDArray&) { fail("the last one"); });
      kv.push("w", ones({2}));
      if (told) CHECK(testing::sentence([&] { kv.barrier(); }).find("the last one") != std::string::npos);
    }));
    CHECK((logged.find("the last one") == std::string::npos) == told);
  }
  set_asynchronous(true);
  set_log_sink(before);
}

TEST_CASE("states of dist_async that one worker cannot give are refused on all, which go on") {
  struct Keeps final : detail::StoreUpdater {
    explicit Keeps(bool says) : says_(says) {}
    void update(const std::string&, const NDArray&, NDArray&) override {}
    std::string states() const override {
      if (!says_) fail("mine are lost");
      return "mine";
    }
    std::string merged(detail::Span<const std::string> all) const override { fail(all.size(), " cannot be joined"); }
    bool says_;
  };
  for (const bool both : {false, true})
    check_fine(run_async(2, [&](KVStore& kv) {
      kv.init("w", zeros({2}));
      kv.set_updater(detail::Ref<detail::StoreUpdater>(new Keeps(both || kv.rank() == 0)));
      const std::string said = testing::sentence([&] { kv.save_states("never.states"); });
      CHECK(said == (both ? "2 cannot be joined" : "mine are lost"));
      kv.barrier();
    }));
}
