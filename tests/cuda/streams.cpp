// SPDX-License-Identifier: Apache-2.0
/// \file
/// Streams of a GPU that the CPU plays: work runs as late as it may, or in orders that a seed decides, so that a wait
/// that is missing gives wrong numbers.
#include "checks.hpp"
#include "shim.hpp"

#include <strop/tensor/dlpack.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace {

using namespace strop;
using checks::numbers;
using checks::same;

NDArray next(const NDArray& x) { return checks::quadratic(x, {.b = 1, .c = 1}); }  // x + 1
void next(const NDArray& x, const Target& y) { checks::quadratic(x, {.b = 1, .c = 1}, y); }
memory::detail::GpuStream& current() { return memory::detail::current_stream(shim::device); }
/// What the device has not done yet.
std::uint64_t pending() {
  std::uint64_t pieces = 0;
  for (const shim::Stream* stream : shim::streams) pieces += stream->queued - stream->done;
  return pieces;
}

/// Memory of somebody else.
struct Owner {
  bool has_it_back = false;
  void* memory = memory::allocate(shim::device, 64);
  dlpack::DLManagedTensor tensor{};
  std::int64_t shape[1] = {4};
  Owner() {
    tensor.dl_tensor = {memory, {detail::dlpack_cuda, shim::device.id}, 1, detail::dlpack_type(f32), shape, nullptr, 0};
    tensor.manager_ctx = this;
    tensor.deleter = [](dlpack::DLManagedTensor* self) { static_cast<Owner*>(self->manager_ctx)->has_it_back = true; };
  }
  Owner(const Owner&) = delete;
  ~Owner() { memory::release(shim::device, memory, 64); }
};

}  // namespace

TEST_CASE("a stream scope is the thread's own, nests, and ends") {
  const shim::Device scope;
  void* const own = current().handle();
  {
    const stream_scope first(shim::device);
    CHECK(first.stream() == current().handle());
    CHECK(first.stream() != own);
    {
      const stream_scope second(shim::device);
      CHECK(second.stream() == current().handle());
      CHECK(second.stream() != first.stream());
      const stream_scope elsewhere(shim::second);
      CHECK(second.stream() == current().handle());  // a scope is of one device
      void* of_thread = nullptr;
      std::thread([&] { of_thread = current().handle(); }).join();
      CHECK(of_thread == own);
    }
    CHECK(first.stream() == current().handle());
  }
  CHECK(current().handle() == own);
  const std::size_t made = shim::streams.size();
  for (int i = 0; i < 10; ++i) const stream_scope again(shim::device);
  CHECK(shim::streams.size() == made);  // they are used again
}

TEST_CASE("a stream scope on a device that is not there is one sentence") {
  if (memory::gpu_driver.load() == nullptr)
    CHECK(checks::sentence([] { const stream_scope on(gpu(0)); }) ==
          "strop: gpu(0) was asked for, but this program has no GPU: no .cu file with strop is in it");
  CHECK(checks::sentence([] { const stream_scope on(gpu(40)); }).find("gpu(40) was asked for, but ") !=
        std::string::npos);
  const shim::Device scope;
  CHECK(checks::sentence([] { const stream_scope on(cpu()); }) ==
        "strop: a stream of cpu(0) was asked for, expected a GPU");
  CHECK(checks::sentence([] { const stream_scope on(gpu(64)); }).find("gpu(64) was asked for, but ") == 7);
}

TEST_CASE("wait waits for the array, and not for what was queued after it") {
  const shim::Device scope;
  const shim::Kernels<checks::Quadratic> kernels;
  const NDArray x = numbers({8}).to(shim::device), y = next(x), z = next(y);
  CHECK(pending() == 2);
  y.wait();
  CHECK(pending() == 1);
  CHECK(shim::counts.waits == 2);  // for the copy of x, and now
  y.wait();
  CHECK(shim::counts.waits == 2);  // it is known to have passed
  same(z, numbers({8}) + 2);
  CHECK(pending() == 0);
}

TEST_CASE("a wait for an array that 100 calls came after still ends with its elements") {
  const shim::Device scope;
  const shim::Kernels<checks::Quadratic> kernels;
  const NDArray x = numbers({8}).to(shim::device), y = next(x);
  NDArray z = y;
  for (int i = 0; i < 100; ++i) z = next(z);
  y.wait();
  CHECK(pending() > 0);  // it waits longer than for y, and not for all
  same(y, numbers({8}) + 1);
  same(z, numbers({8}) + 101);
}

TEST_CASE("arrays go from stream to stream: reads follow writes, writes follow both") {
  const shim::Kernels<checks::Quadratic> kernels;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const shim::Device scope(seed);
    const NDArray x = numbers({8}), there = x.to(shim::device), y = next(there);
    NDArray z, twice;
    shim::counts = {};
    {
      const stream_scope on(shim::device);
      z = next(y);           // reads what the device's stream writes
      (void)next(z);         // a temporary whose memory goes round on this stream
      next(there, into(y));  // overwrites what was read here
    }
    twice = next(z);  // reads what the scope's stream writes
    {
      const stream_scope on(shim::device);
      next(twice, into(there));  // overwrites what two other streams have read
      next(twice, add_to(y));
    }
    CHECK(shim::counts.waits == 0);  // the host has waited for nothing
    same(z, x + 2);
    same(twice, x + 3);
    same(there, x + 4);
    same(y, x + 1 + (x + 4));
  }
}

TEST_CASE("memory that another stream still uses is not handed out again") {
  const shim::Kernels<checks::Quadratic> kernels;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const shim::Device scope(seed);
    const NDArray x = numbers({64});
    NDArray y;
    {
      std::optional<NDArray> there = x.to(shim::device);
      const stream_scope on(shim::device);
      y = next(*there);
      there.reset();  // while the scope's stream reads it
    }
    std::vector<NDArray> others;
    for (int i = 0; i < 4; ++i) others.push_back(full({64}, i, shim::device));
    // and the other way round: made on a scope's stream, still used on the device's
    std::optional<NDArray> z;
    {
      const stream_scope on(shim::device);
      z = next(y);
    }
    const NDArray last = next(*z);
    z.reset();
    {
      const stream_scope on(shim::device);
      for (int i = 0; i < 4; ++i) others.push_back(next(y));
    }
    same(y, x + 1);
    same(last, x + 3);
    for (int i = 0; i < 4; ++i) same(others[static_cast<std::size_t>(i)], full({64}, i));
  }
}

TEST_CASE("a wait that is missing gives wrong numbers here") {
  const shim::Kernels<checks::Quadratic> kernels;
  const NDArray x = numbers({64});
  for (const bool planted : {false, true}) {
    const shim::Device scope;
    const NDArray there = x.to(shim::device), y = next(there);
    const stream_scope on(shim::device);
    shim::faults.follows_nobody = planted;
    CHECK(allclose(next(y), x + 2) == !planted);
  }
  for (const bool planted : {false, true}) {
    const shim::Device scope;
    std::optional<NDArray> there = x.to(shim::device);
    NDArray y;
    {
      const stream_scope on(shim::device);
      y = next(*there);
    }
    shim::faults.passes_at_once = planted;
    there.reset();
    const NDArray other = full({64}, 9, shim::device);
    CHECK(allclose(y, x + 1) == !planted);
  }
}

TEST_CASE("blocks of a scope's stream go round there, and back to the pool when it ends") {
  const shim::Device scope;
  const shim::Kernels<checks::Quadratic> kernels;
  const NDArray x = numbers({64}).to(shim::device);
  {
    const stream_scope on(shim::device);
    NDArray y = next(next(x));
    const auto before = memory::statistics(shim::device);
    for (int i = 0; i < 20; ++i) y = next(y);
    CHECK(memory::statistics(shim::device).allocations == before.allocations);
    same(y, numbers({64}) + 22);
  }
  memory::release_cached(shim::device);
  CHECK(memory::statistics(shim::device).live_blocks == 1);
}

TEST_CASE("before a device is out of memory, what waits for its streams is given back") {
  const shim::Device scope;
  const shim::Kernels<checks::Quadratic> kernels;
  memory::set_limit(shim::device, 3 << 20);
  {
    const NDArray x = zeros({1 << 18}, shim::device);
    {
      const stream_scope on(shim::device);
      (void)next(x);
      (void)checks::quadratic(x, {.a = 2});
    }
    const NDArray y = zeros({1 << 18}, shim::device), z = zeros({1 << 18}, shim::device);  // 3 MiB are live
    same(y, zeros({1 << 18}));
  }
  memory::set_limit(shim::device, memory::no_limit);
}

TEST_CASE("an owner has foreign memory back once no kernel reads it") {
  for (const bool on_scope : {false, true}) {
    const shim::Device scope;
    const shim::Kernels<checks::Quadratic> kernels;
    Owner owner;
    {
      const NDArray ones = full({4}, 1, shim::device);
      NDArray y, z;
      {
        const NDArray x = from_dlpack(&owner.tensor);
        next(ones, into(x));
        std::optional<stream_scope> on;
        if (on_scope) on.emplace(shim::device);
        y = next(x);
      }
      CHECK(!owner.has_it_back);  // y is still to be computed
      z = next(ones);
      CHECK(!owner.has_it_back);
      y.wait();
      CHECK(owner.has_it_back);
      same(y, full({4}, 3));
    }
    memory::release_cached(shim::device);
  }
}

TEST_CASE("copies between two devices wait on no host") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const shim::Device scope(seed);
    const shim::Kernels<checks::Quadratic> kernels;
    const NDArray x = numbers({32});
    std::optional<NDArray> here = x.to(shim::device);
    shim::counts = {};
    std::optional<NDArray> made = next(*here);
    const NDArray there = made->to(shim::second);
    made.reset();
    const NDArray other = checks::quadratic(*here, {.a = 1}), back = next(there).to(shim::device);
    CHECK(shim::counts.waits == 0);
    same(there, x + 1);
    same(back, x + 2);
    same(other, x * x);
  }
}

TEST_CASE("gradients, copies, halves and sums in a scope are those outside of it") {
  const shim::Kernels<checks::Quadratic> quadratics;
  const shim::Kernels<checks::SoftHinge> soft_hinge;
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    const shim::Device scope(seed);
    const NDArray x = numbers({6, 4}), w = numbers({4}, f32, 7);
    const NDArray there = x.to(shim::device), weight = w.to(shim::device);
    for (const NDArray& a : {x, w, there, weight}) a.attach_grad();
    const auto step = [](const NDArray& a, const NDArray& b) {
      NDArray y;
      {
        const record scope_of_record;
        y = checks::soft_hinge(checks::quadratic(a.slice(1, 5), {.a = 1}), b);
        y = checks::soft_hinge(y, b);  // contributions meet
      }
      y.backward();
      return y;
    };
    const NDArray want = step(x, w);
    NDArray got, half, copy;
    {
      const stream_scope on(shim::device);
      got = step(there, weight);
      half = checks::quadratic(there.copy().to(cpu()).to(f16).to(shim::device), {.a = 1});
      copy = got.copy();
    }
    same(copy, want);
    same(got, want);
    same(there.grad(), x.grad());
    same(weight.grad(), w.grad());
    same(half, checks::quadratic(x.to(f16), {.a = 1}));
  }
}

TEST_CASE("a bound graph runs on any stream, and its arena with it") {
  const shim::Kernels<checks::Quadratic> kernels;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const shim::Device scope(seed);
    const NDArray x = numbers({32}), there = x.to(shim::device);
    Symbol graph = var("data");
    for (int i = 0; i < 5; ++i) graph = checks::quadratic(graph, {.b = 1, .c = 1});
    auto run = graph.bind(shim::device, {{"data", there}});
    const NDArray first = run.forward()[0].copy();
    next(there, into(there));
    NDArray second;
    {
      const stream_scope on(shim::device);
      second = run.forward()[0].copy();
    }
    next(there, into(there));
    const NDArray third = run.forward()[0].copy();
    same(third, x + 7);
    same(second, x + 6);
    same(first, x + 5);
  }
}

TEST_CASE("threads with streams of their own share what they read") {
  for (std::uint32_t seed = 1; seed < 4; ++seed) {
    const shim::Device scope(seed);
    const shim::Kernels<checks::Quadratic> kernels;
    const NDArray x = numbers({16}), there = next(x.to(shim::device));
    std::vector<NDArray> results(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < results.size(); ++t)
      threads.emplace_back([&, t] {
        const stream_scope on(shim::device);
        NDArray y = there;
        for (std::size_t i = 0; i < 5 + t; ++i) y = next(y);
        results[t] = y;
      });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < results.size(); ++t) same(results[t], x + (6.0 + static_cast<double>(t)));
  }
}

TEST_CASE("an operation of the engine works on the device's stream, and is complete when that is") {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    const shim::Device scope(seed);
    const shim::Kernels<checks::Quadratic> kernels;
    const NDArray x = numbers({16}), there = x.to(shim::device), y = zeros({16}, shim::device);
    void* const own = current().handle();
    std::atomic<int> on_own = 0, on_copies = 0;
    for (const bool copies : {false, true, false})
      Engine::global().push(
          [&](const Engine::Context& context) {
            (context.stream() == own ? on_own : on_copies) += context.stream() == current().handle() ? 1 : 100;
            next(there, add_to(y));
          },
          {.reads = {there.variable(), y.variable()},
           .writes = {y.variable()},
           .device = shim::device,
           .copies = copies});
    {
      const stream_scope on(shim::device);
      same(next(y), (x + 1) * 3 + 1);
    }
    CHECK(on_own == 2);
    CHECK(on_copies == 1);
    Engine::global().wait_all();
  }
}
