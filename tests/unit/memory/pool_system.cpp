// SPDX-License-Identifier: Apache-2.0
/// \file
/// What happens when memory runs out or comes from elsewhere: limits, refusals, injected failures, backends.
#include <strop/memory/allocator.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fake_device.hpp"

using namespace strop;
using fake::device;
using fake::sentence;

namespace {

std::int64_t bad_addresses = 0;
void* acquire_badly(Device, std::int64_t bytes) {
  return static_cast<char*>(std::aligned_alloc(64, static_cast<std::size_t>(bytes) + 64)) + 8;
}
void give_back_badly(Device, void* data, std::int64_t) noexcept {
  ++bad_addresses;
  std::free(static_cast<char*>(data) - 8);
}
[[noreturn]] void* acquire_and_throw(Device, std::int64_t) { fail("the driver is gone"); }
void give_back_nothing(Device, void*, std::int64_t) noexcept {}

/// A working set of many classes. Returns false when memory ran out; everything is released in either case.
bool work(Device where) {
  struct Block {
    Device where;
    void* data = nullptr;
    std::int64_t bytes = 0;
    Block(Device d, std::int64_t n) : where(d), data(memory::allocate(d, n)), bytes(n) {}
    Block(Block&& other) noexcept : where(other.where), data(std::exchange(other.data, nullptr)), bytes(other.bytes) {}
    ~Block() { memory::release(where, data, bytes); }
  };
  try {
    std::vector<Block> blocks;
    for (const std::int64_t bytes : {1, 64, 100, 1000, 5000, 5000, 40000, 300000, 3000000}) {
      blocks.emplace_back(where, bytes);
      std::memset(blocks.back().data, 0x5A, static_cast<std::size_t>(bytes));
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("limit: the sentence names what was asked, what is live and cached, and the limit") {
  const fake::Scope scope;
  memory::set_limit(device, 1000000);
  void* const live = memory::allocate(device, 600000);  // a block of 655360
  CHECK(sentence([] { memory::allocate(device, 500000); }) ==
        "memory::allocate: gpu(3) is out of memory for 500000 bytes: 655360 bytes are live, 0 cached, and the limit is "
        "1000000 bytes");
  void* const fits = memory::allocate(device, 300000);
  memory::release(device, fits, 300000);
  memory::release(device, live, 600000);
}

TEST_CASE("limit: what is cached is given back before a request is refused") {
  const fake::Scope scope;
  memory::set_limit(device, 1000000);
  memory::release(device, memory::allocate(device, 600000), 600000);
  CHECK(memory::statistics(device).cached_bytes == 655360);
  void* const other = memory::allocate(device, 900000);
  CHECK(other != nullptr);
  CHECK(memory::statistics(device).cached_bytes == 0);
  memory::release(device, other, 900000);
}

TEST_CASE("limit: the last bytes below it can be had, without a span when none fits") {
  const fake::Scope scope;
  memory::set_limit(device, 64 * 10);
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(memory::allocate(device, 64));
  CHECK_THROWS_AS(memory::allocate(device, 64), Error);
  for (void* data : blocks) memory::release(device, data, 64);
}

TEST_CASE("limit: a lower one than what is held refuses growth only; a negative one is refused") {
  const fake::Scope scope;
  void* const live = memory::allocate(device, 600000);
  memory::set_limit(device, 0);
  CHECK_THROWS_AS(memory::allocate(device, 100), Error);
  memory::set_limit(device, memory::no_limit);
  memory::release(device, memory::allocate(device, 100), 100);
  memory::release(device, live, 600000);
  CHECK(sentence([] { memory::set_limit(device, -1); }) ==
        "memory::set_limit: a limit of -1 bytes for gpu(3), expected at least 0");
}

TEST_CASE("out of memory: the device is asked again after everything cached went back to it") {
  const fake::Scope scope;
  fake::capacity = 1000000;
  memory::release(device, memory::allocate(device, 600000), 600000);
  void* const other = memory::allocate(device, 900000);  // fails while the first is cached
  CHECK(fake::regions == 1);
  CHECK(sentence([] { memory::allocate(device, 200000); }) ==
        "memory::allocate: gpu(3) is out of memory for 200000 bytes: 917504 bytes are live, 0 cached, and no limit is "
        "set");
  memory::release(device, other, 900000);
}

TEST_CASE("injection: at every request to the system, an error and nothing lost") {
  for (const bool pooled : {true, false}) {
    for (const Device where : {device, cpu()}) {
      const fake::Scope scope;
      memory::set_pooling(where, pooled);
      memory::release_cached(where);
      const auto before = memory::statistics(where);
      int failures = 0;
      for (std::int64_t n = 1;; ++n) {
        memory::inject_failures(n);
        const bool finished = work(where);
        memory::inject_failures(0);
        const auto after = memory::statistics(where);
        CHECK(after.live_bytes == before.live_bytes);
        CHECK(after.live_blocks == before.live_blocks);
        memory::release_cached(where);
        if (finished) break;
        ++failures;
      }
      CHECK(failures >= 6);
      CHECK(work(where));
      memory::set_pooling(where, true);
      memory::release_cached(where);
    }
  }
}

TEST_CASE("injection: one refusal is mended by the second try") {
  const fake::Scope scope;
  for (std::int64_t n = 1; n < 12; ++n) {
    memory::inject_failures(n, 1);
    CHECK(work(device));
    memory::inject_failures(0);
    memory::release_cached(device);
  }
}

TEST_CASE("backend: a device without one says so in a sentence") {
  const memory::Backend before = memory::set_backend(DeviceKind::gpu, {});
  const auto held = memory::statistics(gpu(63));
  CHECK(
      sentence([] { memory::allocate(gpu(63), 100000); }) ==
      "memory::allocate: gpu(63) was asked for 106496 bytes, but there is no GPU in this program (no memory backend is "
      "set for this kind of device)");
  CHECK(memory::statistics(gpu(63)).live_bytes == held.live_bytes);
  CHECK(memory::statistics(gpu(63)).cached_bytes == held.cached_bytes);
  memory::set_backend(DeviceKind::gpu, before);
}

TEST_CASE("backend: only whole ones, only for kinds that exist") {
  CHECK(sentence([] { memory::set_backend(fake::kind, {fake::acquire, nullptr}); }) ==
        "memory::set_backend: a backend needs both acquire and give_back, or neither");
  CHECK(sentence([] { memory::set_backend(DeviceKind{8}, {fake::acquire, fake::give_back}); }) ==
        "memory::set_backend: there is no kind of device 8");
}

TEST_CASE("backend: blocks go back to the one that made them") {
  const fake::Scope scope;
  const memory::Backend system = memory::set_backend(DeviceKind::cpu, {fake::acquire, fake::give_back});
  CHECK((system.acquire != nullptr));
  void* const from_host = memory::allocate(cpu(), 123456);
  CHECK(fake::regions == 1);
  const memory::Backend host = memory::set_backend(DeviceKind::cpu, {});
  CHECK((host.acquire == &fake::acquire));
  void* const from_system = memory::allocate(cpu(), 123456);
  CHECK(fake::regions == 1);
  memory::release(cpu(), from_system, 123456);
  memory::release(cpu(), from_host, 123456);
  memory::release_cached(cpu());
  CHECK(fake::regions == 0);
  memory::set_backend(DeviceKind::cpu, system);
}

TEST_CASE("backend: its exceptions pass, its misaligned addresses are refused") {
  const fake::Scope scope;
  memory::set_backend(fake::kind, {acquire_and_throw, give_back_nothing});
  CHECK(sentence([] { memory::allocate(device, 10); }) == "the driver is gone");
  memory::set_backend(fake::kind, {acquire_badly, give_back_badly});
  CHECK(sentence([] { memory::allocate(device, 10); }) ==
        "memory::allocate: the memory backend of gpu(3) returned an address that is not a multiple of 64");
  CHECK(bad_addresses == 1);
  CHECK(memory::statistics(device).live_bytes == 0);
}

TEST_CASE("pinned memory is a device of its own") {
  CHECK(sentence([] { memory::allocate(memory::pinned(2), 64 * 1024); }) ==
        "memory::allocate: pinned(2) was asked for 65536 bytes, but there is no GPU in this program (no memory backend "
        "is "
        "set for this kind of device)");
  const memory::Backend before = memory::set_backend(memory::pinned().kind, {fake::acquire, fake::give_back});
  void* const data = memory::allocate(memory::pinned(2), 64 * 1024);
  CHECK(memory::statistics(memory::pinned(2)).live_blocks == 1);
  CHECK(memory::statistics(memory::pinned(0)).live_blocks == 0);
  memory::release(memory::pinned(2), data, 64 * 1024);
  memory::set_backend(memory::pinned().kind, before);
  CHECK(fake::regions == 0);
}

#if defined(__unix__)
TEST_CASE("environment: MXNet's name for a pool that keeps nothing is understood") {
  const memory::Backend before = memory::set_backend(memory::pinned().kind, {fake::acquire, fake::give_back});
  for (const char* const name : {"STROP_CPU_PINNED_MEM_POOL_TYPE", "MXNET_CPU_PINNED_MEM_POOL_TYPE"}) {
    const Device fresh = memory::pinned(name[0] == 'S' ? 40 : 41);  // it is read when a device is first used
    ::setenv(name, "Unpooled", 1);
    memory::release(fresh, memory::allocate(fresh, 100), 100);
    ::unsetenv(name);
    CHECK(memory::statistics(fresh).allocations == 1);
    CHECK(memory::statistics(fresh).system_calls == 2);
    CHECK(fake::regions == 0);
  }
  ::setenv("STROP_CPU_PINNED_MEM_POOL_TYPE", "unpooled", 1);
  CHECK_THROWS_WITH_AS(
      memory::allocate(memory::pinned(42), 100),
      "STROP_CPU_PINNED_MEM_POOL_TYPE: expected Naive, Round (blocks are kept, alike) or Unpooled, got "
      "'unpooled'",
      Error);
  ::unsetenv("STROP_CPU_PINNED_MEM_POOL_TYPE");
  memory::release(memory::pinned(42), memory::allocate(memory::pinned(42), 100), 100);  // it is asked for again
  ::setenv("STROP_ISA", "i8086", 1);
  CHECK_THROWS_WITH_AS(memory::allocate(memory::pinned(43), 100),
                       "STROP_ISA: expected scalar, x86-64, x86-64-v2, x86-64-v3 or x86-64-v4, got 'i8086'", Error);
  ::unsetenv("STROP_ISA");
  memory::set_backend(memory::pinned().kind, before);
}
#endif
