// SPDX-License-Identifier: Apache-2.0
/// \file
/// Queues of devices, and the device and stream that a function asks for. No device is needed: streams are numbers.
#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common.hpp"

#include <strop/memory/gpu.hpp>

using namespace engine_test;
using strop::cpu;
using strop::gpu;

namespace {

/// A driver whose streams count what happens to them, for a scope.
struct FakeStreams {
  static inline std::atomic<int> made = 0, alive = 0, finished = 0;
  static inline std::atomic<bool> finish_fails = false;
  static inline const Door* door = nullptr;  // that waits for events stand at
  static constexpr strop::memory::GpuDriver driver{
      .make_stream = [](strop::Device device) -> void* {
        if (device.id == 3) throw std::runtime_error("there is no such device");
        ++alive;
        return new int(++made);
      },
      .destroy_stream =
          [](strop::Device, void* stream) noexcept {
            --alive;
            delete static_cast<int*>(stream);
          },
      .make_event = [](strop::Device) -> void* { return new int(0); },
      .destroy_event = [](strop::Device, void* event) noexcept { delete static_cast<int*>(event); },
      .record = [](strop::Device, void*, void*) {},
      .follow = [](strop::Device, void*, void*) {},
      .wait =
          [](strop::Device, void*) {
            if (door != nullptr) door->pass();
            ++finished;
            if (finish_fails) throw std::runtime_error("the kernel was bad");
          },
      .passed = [](strop::Device, void*) noexcept { return finish_fails.load(); }};  // as a device that has failed says
  FakeStreams() {
    made = alive = finished = 0;
    finish_fails = false;
    door = nullptr;
    strop::memory::set_gpu_driver(&driver);
  }
  ~FakeStreams() {
    strop::memory::set_gpu_driver(nullptr);
    CHECK(alive == 0);
  }
  FakeStreams(const FakeStreams&) = delete;
  FakeStreams& operator=(const FakeStreams&) = delete;
};

}  // namespace

TEST_CASE("a function that asks gets its device and a stream, which is finished before the operation is complete") {
  for (Kind kind : kinds) {
    const FakeStreams streams;
    {
      Engine engine{{.threads = 2, .kind = kind}};
      const auto v = engine.variable();
      int seen = 0;
      const auto ask = [&](const Engine::Context& context) {
        seen += context.device() == gpu(1) && context.stream() != nullptr && FakeStreams::finished == seen ? 1 : 100;
      };
      engine.push(ask, {.reads = {v}, .writes = {v}, .device = gpu(1)});
      engine.push(ask, {.reads = {v}, .writes = {v}, .device = gpu(1), .copies = true});
      engine.prepare(ask, {.reads = {v}, .writes = {v}, .device = gpu(1)}).push();
      engine.wait(v);
      engine.run(ask, {.reads = {v}, .writes = {v}, .device = gpu(1)});
      engine.wait(v);
      CHECK(seen == 4);
      CHECK(FakeStreams::finished == 4);
      engine.push(
          [&](const Engine::Context& context) {
            seen = context.device() == cpu() && context.stream() == nullptr ? 10 : 0;
          },
          {.writes = {v}, .device = cpu(2)});
      engine.wait(v);
      CHECK(seen == 10);
      engine.push([&] { seen = 11; }, {.writes = {v}, .device = gpu(1)});  // does not ask: no stream is waited for
      engine.wait(v);
      CHECK(seen == 11);
      CHECK(FakeStreams::finished == 4);
    }
    CHECK(FakeStreams::made == 2);  // one for work and one for copies, and no engine has others
    {
      Engine other{{.threads = 1, .kind = kind}};
      const auto v = other.variable();
      other.push([](const Engine::Context&) {}, {.writes = {v}, .device = gpu(1)});
      other.wait(v);
    }
    CHECK(FakeStreams::made == 2);
  }
}

TEST_CASE("an asynchronous function gets a stream as well, and says itself when its work is done") {
  for (Kind kind : kinds) {
    const FakeStreams streams;
    Engine engine{{.threads = 1, .kind = kind}};
    const auto v = engine.variable();
    Engine::Done later;
    std::atomic<bool> called = false;
    const auto function = [&](const Engine::Context& context, Engine::Done done) {
      if (context.stream() == nullptr) return;
      later = std::move(done);
      called = true;
    };
    engine.push_async(function, {.writes = {v}, .device = gpu(0)});
    const auto other = engine.variable();
    engine.push([] {}, {.writes = {other}, .device = gpu(0)});
    engine.wait(other);  // the simulated kind runs things in waits
    if (kind == Kind::simulated)
      while (!called) engine.push([] {}, {.writes = {other}}), engine.wait(other);
    while (!called) std::this_thread::yield();
    CHECK(!v.idle());
    later();
    later = {};
    engine.wait(v);
    called = false;
    engine.prepare(function, {.writes = {v}, .device = gpu(0)}).push();
    if (kind == Kind::simulated)
      while (!called) engine.push([] {}, {.writes = {other}}), engine.wait(other);
    while (!called) std::this_thread::yield();
    later();
    later = {};
    engine.wait_all();
    CHECK(FakeStreams::finished == 0);
  }
}

TEST_CASE("no thread that runs functions waits for what they leave on a stream") {
  const FakeStreams streams;
  Door door;
  FakeStreams::door = &door;
  Engine engine{{.threads = 1, .kind = Kind::threaded, .device_threads = 1}};
  const auto a = engine.variable(), b = engine.variable();
  std::atomic<int> called = 0;
  for (const auto& v : {a, b})
    engine.push([&](const Engine::Context&) { ++called; }, {.writes = {v}, .device = gpu(0)});
  engine.push([&] { ++called; }, {.reads = {a}, .writes = {b}});
  while (called < 2) std::this_thread::yield();
  CHECK(FakeStreams::finished == 0);
  CHECK(!a.idle());
  door.open();
  engine.wait(b);
  CHECK(called == 3);
  CHECK(FakeStreams::finished >= 1);
}

TEST_CASE("what goes wrong with a stream is a failure of the operation") {
  for (Kind kind : kinds) {
    const FakeStreams streams;
    Engine engine{{.threads = 1, .kind = kind}};
    const auto a = engine.variable(), b = engine.variable();
    engine.push([](const Engine::Context&) {}, {.writes = {a}, .name = "nowhere", .device = gpu(3)});
    CHECK(sentence([&] { engine.wait(a); }).find("there is no such device [in operation 'nowhere'") == 0);
    FakeStreams::finish_fails = true;
    engine.push([](const Engine::Context&) {}, {.writes = {b}, .device = gpu(0)});
    CHECK(sentence([&] { engine.wait(b); }) == "the kernel was bad");
    // the function's own exception comes first
    engine.push([](const Engine::Context&) { throw std::runtime_error("own"); }, {.writes = {b}, .device = gpu(0)});
    CHECK(sentence([&] { engine.wait(b); }) == "own");
    CHECK(FakeStreams::finished == 2);  // and what it has left is waited for all the same
  }
}

TEST_CASE("what a function holds goes before its operation is complete") {
  for (Kind kind : kinds) {
    const FakeStreams streams;
    Engine engine{{.threads = 1, .kind = kind}};
    const auto v = engine.variable();
    for (const auto device : {cpu(), gpu(0)}) {
      auto held = std::make_shared<int>(0);
      const std::weak_ptr<int> seen = held;
      engine.push([held = std::move(held)](const Engine::Context&) {}, {.writes = {v}, .device = device});
      engine.wait(v);
      CHECK(seen.expired());
    }
  }
}

TEST_CASE("a prepared function that asks for a stream is complete when a naive engine's push returns") {
  const FakeStreams streams;
  Engine engine{{.kind = Kind::naive}};
  const auto v = engine.variable();
  const auto step = engine.prepare([](const Engine::Context&) {}, {.writes = {v}, .device = gpu(0)});
  for (int round = 1; round < 3; ++round) {
    step.push();
    CHECK(v.idle());
    CHECK(FakeStreams::finished == round);
  }
}

TEST_CASE("a failure of a stream is told at every wait, whoever asked before whether it is done") {
  const FakeStreams streams;
  auto& stream = strop::memory::detail::compute_stream(gpu(0));
  const auto mark = stream.mark();
  CHECK(!stream.passed(mark));
  FakeStreams::finish_fails = true;
  CHECK(stream.passed(mark));
  for (int again = 0; again < 2; ++again) CHECK(sentence([&] { stream.wait(mark); }) == "the kernel was bad");
}

TEST_CASE("memory of which two streams write parts at a time goes back when both are done") {
  const FakeStreams streams;
  namespace gpus = strop::memory::detail;
  auto &work = gpus::compute_stream(gpu(0)), &copies = gpus::copy_stream(gpu(0));
  char memory[128] = {};
  bool gone = false;
  auto* const whole = gpus::GpuBlock::around(
      gpu(0), memory, [](void* is_gone, void*) noexcept { *static_cast<bool*>(is_gone) = true; }, &gone, nullptr);
  gpus::GpuBlock* parts[2] = {};
  for (int k = 0; k < 2; ++k)
    parts[k] = gpus::GpuBlock::around(gpu(0), memory + 64 * k, [](void*, void*) noexcept {}, nullptr, whole);
  parts[0]->order_write(copies);
  parts[1]->order_write(work);
  parts[0]->used(copies, copies.mark(), true);
  parts[1]->used(work, work.mark(), true);
  for (auto* const part : parts) part->release();
  work.settle();
  whole->release();
  CHECK(!gone);
  copies.settle();
  gpus::gpu_devices[0].collect();
  CHECK(gone);
}

TEST_CASE("memory of a device of an unknown number goes back to its owner") {
  bool gone = false;
  auto* const block = strop::memory::detail::GpuBlock::around(
      gpu(100), nullptr, [](void* is_gone, void*) noexcept { *static_cast<bool*>(is_gone) = true; }, &gone, nullptr);
  block->release();
  CHECK(gone);
}

TEST_CASE("every device has threads of its own, and others for copies") {
  Engine engine{{.threads = 1, .kind = Kind::threaded, .device_threads = 2, .copy_threads = 1}};
  Door door;
  std::atomic<int> inside = 0;
  const auto block = [&] {
    ++inside;
    door.pass();
  };
  engine.push(block);
  engine.push(block, {.device = gpu(0)});
  engine.push(block, {.device = gpu(0)});
  engine.push(block, {.device = gpu(0), .copies = true});
  engine.push(block, {.device = gpu(1)});
  while (inside < 5) std::this_thread::yield();  // all at once, whatever the number of processors
  const auto v = engine.variable();
  engine.push([&] { ++inside; }, {.writes = {v}, .device = gpu(0)});
  engine.push([&] { ++inside; }, {.writes = {v}, .device = gpu(0), .copies = true});
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(inside == 5);
  door.open();
  engine.wait_all();
  CHECK(inside == 7);
}

TEST_CASE("who waits does not do a device's work, and work goes from queue to queue") {
  Engine engine{{.threads = 2, .kind = Kind::threaded}};
  const auto v = engine.variable(), w = engine.variable();
  const auto here = std::this_thread::get_id();
  bool elsewhere = true;
  std::vector<int> order;
  for (int i = 0; i < 300; ++i) {
    const auto device = i % 3 == 0 ? cpu() : gpu(i % 3);
    engine.push(
        [&, i] {
          order.push_back(i);
          if (i % 3 != 0 && std::this_thread::get_id() == here) elsewhere = false;
        },
        {.reads = {v}, .writes = {v}, .device = device});
    if (i % 50 == 0) engine.wait(v);
  }
  engine.push([&] { order.push_back(300); }, {.reads = {v}, .writes = {w}});
  engine.wait(w);
  CHECK(elsewhere);
  REQUIRE(order.size() == 301);
  for (int i = 0; i <= 300; ++i) REQUIRE(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("a device that cannot be is refused, and nothing is pushed") {
  Engine engine;
  const auto v = engine.variable();
  const char* const refused = "push: expected a device below gpu(16), got gpu(16)";
  CHECK(sentence([&] { engine.push([] {}, {.writes = {v}, .device = gpu(16)}); }) == refused);
  CHECK(sentence([&] { engine.run([] {}, {.writes = {v}, .device = gpu(16)}); }) == refused);
  CHECK(sentence([&] { engine.prepare([] {}, {.writes = {v}, .device = gpu(16)}); }) == refused);
  CHECK(v.idle());
  engine.push([] {}, {.writes = {v}, .device = gpu(15), .copies = true});
  engine.wait_all();
}

TEST_CASE("the numbers of threads of devices come from options, then the environment") {
  const Environment old_name("MXNET_GPU_WORKER_NTHREADS", "1");
  Engine engine{{.kind = Kind::threaded}};
  std::atomic<int> inside = 0, most = 0;
  for (int i = 0; i < 20; ++i)
    engine.push(
        [&] {
          if (++inside > most) most = inside.load();
          std::this_thread::yield();
          --inside;
        },
        {.device = gpu(0)});
  engine.wait_all();
  CHECK(most == 1);
  CHECK(sentence([] { Engine{{.device_threads = -1}}; }) == "Engine: expected at least 1 thread, got -1");
}

#ifndef STROP_TEST_TSAN
TEST_CASE("queues of devices, and who waits for their streams, start anew in the child of a fork") {
  const FakeStreams streams;
  Engine engine{{.threads = 1, .kind = Kind::threaded}};
  const auto v = engine.variable();
  int x = 0;
  const auto grow = [&](const Engine::Context& context) { x += context.stream() != nullptr ? 1 : 100; };
  for (int round = 1; round < 5; ++round) {
    engine.push(grow, {.reads = {v}, .writes = {v}, .device = gpu(0)});
    CHECK(in_child([&] {
            const int before = FakeStreams::made;
            engine.push(grow, {.reads = {v}, .writes = {v}, .device = gpu(0)});
            engine.wait(v);
            return x == round + 1 && FakeStreams::made == before ? 0 : 1;
          }) == 0);
    engine.wait(v);
    CHECK(x == round);
  }
  CHECK(FakeStreams::made == 1);
}
#endif
