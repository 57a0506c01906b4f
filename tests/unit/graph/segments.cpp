// SPDX-License-Identifier: Apache-2.0
/// \file
/// How steps of a graph go to the engine: chains as one operation, branches side by side.
#include <strop/autograd/tape.hpp>
#include <strop/engine/engine.hpp>
#include <strop/engine/trace.hpp>

#include "operators.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <thread>

using namespace graph_tests;

namespace {

/// How many operations the engine gets.
template <class F>
std::int64_t operations_of(F work) {
  const std::string path = "/tmp/strop-plan-" + std::to_string(getpid()) + ".json";
  {
    Trace trace(path);  // while it is taken, every call goes to the engine
    work();
    trace.finish();
  }
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::remove(path.c_str());
  const std::string key = "\"operations\": ";
  const std::size_t at = text.find(key);
  REQUIRE(at != std::string::npos);
  return std::stoll(text.substr(at + key.size()));
}

/// x, once two of its kind run at the same time; −1 where that does not come about
struct SegMeet {
  static inline std::atomic<int> there{0};
  template <Real E>
  void forward(Cpu&, View<const E, 1> x, View<E, 1> y) const {
    ++there;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (there < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = there < 2 ? E(-1) : x[i];
  }
};
constexpr Op<SegMeet> meeting;
/// x, or a failure
struct SegFail {
  static inline std::atomic<bool> now{false};
  template <Real E>
  void forward(Cpu&, View<const E, 1> x, View<E, 1> y) const {
    if (now) throw Error("it fails");
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
};
constexpr Op<SegFail> failing;

/// x, and in prediction a number that is drawn
struct SegSampler {
  Resources resources(std::span<const Shape>) const { return {.random = !is_training()}; }
  void forward(Cpu& ctx, View<const float> x, View<float> y) const {
    float u[1] = {0};
    if (!is_training()) ctx.random().fill_uniform(u, 1);
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + u[0];
  }
};
constexpr Op<SegSampler> sampler;

/// Every call goes to the engine while it lives.
class Handed {
 public:
  Handed() { set_asynchronous(true, 0); }
  Handed(const Handed&) = delete;
  Handed& operator=(const Handed&) = delete;
  ~Handed() {
    set_asynchronous(true, std::getenv("STROP_TEST_ASYNCHRONOUS") != nullptr ? 0 : strop::detail::large_call);
  }
};

}  // namespace

TEST_CASE("a chain goes to the engine as one operation, branches and what joins them apart") {
  const Fuse as_written("0");
  const NDArray x = array({1, 2, 3}), dx = zeros({3});
  const auto turned_often = [](const Symbol& s, int count) {
    Symbol end = s;
    for (int i = 0; i < count; ++i) end = turned(end);
    return end;
  };
  auto chain_run = turned_often(var("x"), 21).bind(cpu(), {{"x", x}}, {{"x", dx}});
  const auto forward = [](Executor& run) {
    run.forward(true);
    run.outputs()[0].wait();
  };
  CHECK(operations_of([&] { forward(chain_run); }) == 1);
  CHECK(same(chain_run.outputs()[0], array({3, 2, 1})));
  const NDArray head = array({5, 6, 7});
  // The first step reads the head gradient, which is another array at each call, and so goes by itself.
  CHECK(operations_of([&] {
          chain_run.backward(head);
          dx.wait();
        }) == 2);
  CHECK(same(dx, array({7, 6, 5})));

  const Symbol stem = turned(var("x")),
               net = plus(turned_often(stem, 3), times(turned_often(stem, 4), turned_often(stem, 2)));
  auto branches = net.bind(cpu(), {{"x", x}});
  // The stem, three branches, and the product and the sum, each of which waits for a branch besides.
  CHECK(operations_of([&] { forward(branches); }) == 6);
  for (int i = 0; i < 3; ++i) {
    forward(branches);
    CHECK(same(branches.outputs()[0], array({10, 6, 4})));
  }
}

TEST_CASE("branches of a graph run side by side") {
  if (Engine::global().threads() < 2 || Engine::global().kind() == EngineKind::naive) return;
  const Fuse as_written("0");
  const NDArray x = array({1, 2, 3});
  const Symbol stem = turned(var("x"));
  // Outputs are arrays of their own: no branch computes where another one has.
  auto run = group({meeting(stem), meeting(turned(stem))}).bind(cpu(), {{"x", x}});
  for (int i = 0; i < 3; ++i) {
    SegMeet::there = 0;
    {
      const Handed over;
      run.forward();
    }
    CHECK(same(run.outputs()[0], array({3, 2, 1})));
    CHECK(same(run.outputs()[1], x));
  }
}

TEST_CASE(
    "branches that lie in the same bytes wait for each other, but where bind is asked to keep them side by side") {
  const Fuse as_written("0");
  const NDArray x = array({1, 2, 3});
  const Symbol stem = turned(var("x"));
  const auto branch = [&] { return turned(meeting(turned(stem))); };
  const Symbol net = plus(branch(), branch());
  CHECK(net.simple_bind(cpu(), {{"x", {3}}}, GradRequest::null).plan().bytes() == 3 * 64);
  auto run = net.simple_bind(cpu(), {{"x", {3}}}, GradRequest::null, {}, {.side_by_side = true});
  CHECK(run.plan().bytes() == run.plan().unshared());
  run.plan().check();
  CHECK(run.reshape({{"x", {4}}}).plan().bytes() == run.plan().bytes());
  if (Engine::global().threads() < 2 || Engine::global().kind() == EngineKind::naive) return;
  for (int i = 0; i < 3; ++i) {
    SegMeet::there = 0;
    {
      const Handed over;
      run.forward(false, {{"x", x}});
    }
    CHECK(same(run.outputs()[0], array({6, 4, 2})));
  }
}

TEST_CASE("runs that overlap keep their order, in training and prediction, and a failure names its node and heals") {
  const Fuse as_written("0");
  const Handed over;
  const NDArray x = zeros({64}), dx = zeros({64}), ones_ = ones({64});
  const auto layer = [](const Symbol& s, const std::string& name) { return turned(squash(failing(s, {}, name))); };
  auto run = layer(layer(times(var("x"), var("w")), "first"), "second").bind(cpu(), {{"x", x}, {"w", ones_}});
  auto trained = squash(turned(times(squash(turned(var("x"))), var("w"))))
                     .bind(cpu(), {{"x", x}, {"w", ones_}}, {{"x", dx}}, GradRequest::add);
  double expected = 0;
  for (int i = 0; i < 30; ++i) {  // nothing waits for anything in between
    const float value = 0.01f * static_cast<float>(i);
    quadratic(ones_, {.c = value}, into(x));
    run.forward(i % 2 == 0);
    trained.forward(true);
    trained.backward(ones_);
    const double y = std::tanh(value), z = std::tanh(y);
    expected += (1 - y * y) * (1 - z * z);
  }
  for (const double one : dx.to_vector<double>()) CHECK(one == doctest::Approx(expected).epsilon(1e-5));
  CHECK(run.outputs()[0].to_vector<double>()[5] == doctest::Approx(std::tanh(std::tanh(0.29))).epsilon(1e-5));
  SegFail::now = true;
  run.forward();
  CHECK(sentence([&] { run.outputs()[0].wait(); }).find("Error in node first: it fails") != std::string::npos);
  while (!sentence([] { Engine::global().wait_all(); }).empty()) {  // it is told once
  }
  SegFail::now = false;
  CHECK(run.forward()[0].to_vector<double>()[5] == doctest::Approx(std::tanh(std::tanh(0.29))).epsilon(1e-5));
}

TEST_CASE("what draws numbers in prediction alone is run where they are drawn") {
  const Handed handed;
  const NDArray x = ones({1 << 20});
  Executor run = sampler(sampler(var("x"))).bind(cpu(), {{"x", x}});
  CHECK(run.forward(true)[0].view<float>()[5] == 1);
  CHECK(run.forward(false)[0].view<float>()[5] > 1);
}
