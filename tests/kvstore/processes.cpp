// SPDX-License-Identifier: Apache-2.0
/// \file
/// A worker of a distributed store under mpirun; tests/tools/kvstore.py starts several. The first argument says what it
/// does; what goes well ends with a line of worker 0.
#include <strop/strop.hpp>
#include "kvstore/worker_programs.hpp"

#include <signal.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace strop;

namespace {

std::int64_t now() { return detail::nanoseconds(); }

/// Workers of which one sends requests that no owner understands.
class Garbled final : public Transport {
 public:
  Garbled(detail::Ref<Transport> inner, bool garbles) : inner_(std::move(inner)), garbles_(garbles) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  void exchange(detail::Span<const Message> sends, detail::Span<const Message> receives,
                std::string_view what) override {
    if (garbles_ && !sends.empty()) *sends[0].data ^= std::byte{1};
    inner_->exchange(sends, receives, what);
  }
  detail::Ref<Transport> apart() override {  // the first one is for requests
    const bool garbles = aparts_++ == 0 && rank() == size() - 1;
    return detail::Ref<Transport>(new Garbled(inner_->apart(), garbles));
  }
  int receive_any(detail::List<std::byte>& message, const std::atomic<bool>& stop) override {
    return inner_->receive_any(message, stop);
  }
  void give_up(const std::string& why) override { inner_->give_up(why); }

 private:
  const detail::Ref<Transport> inner_;
  const bool garbles_;
  int aparts_ = 0;
};

/// The owner waits for a worker that waits for its answer, which never comes.
void garbled() {
  KVStore kv = KVStore::create("dist_async", detail::Ref<Transport>(new Garbled(detail::mpi_transport(), false)));
  int k = 0;
  while (detail::owner_of_key(cat("key", k), kv.num_workers()) != 0) ++k;
  kv.init(cat("key", k), zeros({2}));
  kv.set_updater([](const std::string&, const NDArray& g, NDArray& w) { w = w + g; });
  if (kv.rank() == kv.num_workers() - 1) {
    ::usleep(300'000);  // the others wait by then
    kv.push(cat("key", k), ones({2}));
  }
  kv.barrier();
}

/// Programs of all kinds, bit for bit those of one process.
void random_programs() {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    KVStore kv = KVStore::create("dist_sync");
    testing::run_random_program(kv, seed, 30, seed % 2 == 0);
  }
}

void compressed(KVStore& kv) {
  const int workers = kv.num_workers();
  kv.set_gradient_compression({.threshold = 0.5});
  kv.init("w", zeros({100'003}));
  kv.push("w", full({100'003}, 0.5 * (kv.rank() + 1)));
  const NDArray out = zeros({100'003});
  kv.pull("w", out);
  if (!allclose(out, full({100'003}, 0.5 * workers))) fail("compressed: the first push is wrong");
  kv.push("w", zeros({100'003}));  // what all but the first left out
  kv.pull("w", out);
  if (!allclose(out, full({100'003}, 0.5 * (workers - 1)))) fail("compressed: what was left out is wrong");
}

/// An optimizer whose states worker 0 writes and all read.
void states(KVStore& kv, const std::string& path) {
  const auto train = [&](bool first) {
    KVStore own = KVStore::create("dist_device_sync");
    own.init(0, ones({7}));
    own.set_optimizer(optim::Sgd{.learning_rate = 0.5, .momentum = 0.5});
    if (!first) own.load_states(path);
    own.push(0, full({7}, first ? 1 : 0));
    if (first) own.save_states(path);
    const NDArray out = zeros({7});
    own.pull(0, out);
    return out;
  };
  const double step = 0.5 * kv.num_workers();
  if (!allclose(train(true), full({7}, 1 - step))) fail("states: the first step is wrong");
  if (!allclose(train(false), full({7}, 1 - step / 2))) fail("states: the momentum was not read");
  if (kv.rank() == 0) std::remove(path.c_str());
}

/// Keys of several owners, whose states one file has, for any number of workers.
void async_states(const std::string& path, bool first) {
  KVStore kv = KVStore::create("dist_async");
  std::vector<std::string> keys;
  for (int k = 0; k < 8; ++k) keys.push_back(cat("key", k));
  for (const std::string& key : keys) kv.init(key, ones({5}));
  kv.set_optimizer(optim::Sgd{.learning_rate = 0.5, .momentum = 0.5});
  if (!first) kv.load_states(path);
  if (kv.rank() == 0)
    for (const std::string& key : keys) kv.push(key, full({5}, first ? 1 : 0));
  kv.barrier();
  for (const std::string& key : keys) {
    const NDArray out = zeros({5});
    kv.pull(key, out);
    if (!allclose(out, full({5}, first ? 0.5 : 0.75))) fail("async_states: '", key, "' is wrong");
  }
  if (first) kv.save_states(path);
  kv.barrier();
}

/// The time of a round of small and of large pushes, for whoever reads the log.
void timed(KVStore& kv) {
  for (const std::int64_t n : {std::int64_t{256}, std::int64_t{1} << 20}) {
    const Key key(n);
    KVStore own = KVStore::create("dist_sync");
    own.init(key, zeros({n}));
    const NDArray g = ones({n}), out = zeros({n});
    std::int64_t best = INT64_MAX;
    for (int i = 0; i < 20; ++i) {
      own.barrier();
      const std::int64_t begin = now();
      own.pushpull(key, g, out);
      out.wait();
      best = std::min(best, now() - begin);
    }
    if (kv.rank() == 0)
      std::printf("%lld bytes: %lld us\n", static_cast<long long>(n) * 4, static_cast<long long>(best / 1000));
  }
}

void push_steps(KVStore& kv, int steps) {
  const NDArray out = zeros({300'000});
  for (int i = 0; i < steps; ++i) {
    kv.push("w", ones({300'000}));
    kv.pull("w", out);
    out.wait();
  }
}

int run(std::string what, const std::string& path) {
  const bool async = what.starts_with("async ");
  KVStore kv = KVStore::create(async ? "dist_async" : "dist_sync");
  const bool last = kv.rank() == kv.num_workers() - 1;
  if (async) what = what.substr(6);
  if (what != "fine") kv.init("w", zeros({300'000}));
  if (async) kv.set_updater([](const std::string&, const NDArray& g, NDArray& w) { w = w + g; });
  if (what == "fine" && async) {
    KVStore own = KVStore::create("dist_async");
    testing::run_counted_pushes(own, 40);
  } else if (what == "fine") {
    random_programs();
    compressed(kv);
    states(kv, path);
    timed(kv);
  } else if (what == "saves" || what == "loads") {
    async_states(path, what == "saves");
  } else if (what == "killed") {
    push_steps(kv, 5);
    if (last) ::raise(SIGKILL);
    push_steps(kv, 1'000'000);
  } else if (what == "leaves") {  // with status 0, and the others still push
    if (last) return 0;
    push_steps(kv, 1'000'000);
  } else if (what == "first") {  // one goes on alone
    if (kv.rank() != 0) return 0;
    push_steps(kv, 1'000'000);
  } else if (what == "throws") {
    if (last) fail("this worker has had enough");
    push_steps(kv, 1'000'000);
  } else if (what == "garbled") {
    garbled();
  } else if (what == "odd") {
    kv.set_updater([](const std::string&, const NDArray&, NDArray&) { throw 7; });
    push_steps(kv, 1);
  } else if (what == "differs") {
    kv.init({"a", "b"}, {zeros({3}), zeros({3})});
    kv.push(last ? "b" : "a", ones({3}));
  } else {
    fail("processes: '", what, "' is no program");
  }
  kv.barrier();
  if (kv.rank() == 0) std::printf("%s: %d workers are done\n", what.c_str(), kv.num_workers());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "fine", argc > 2 ? argv[2] : "kvstore.states");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
