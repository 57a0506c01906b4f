// SPDX-License-Identifier: Apache-2.0
/// \file
/// One thread's view of the allocator: alignment, reuse, statistics, release.
#include <strop/memory/allocator.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "fake_device.hpp"

using namespace strop;

namespace {

const std::int64_t sizes[] = {
    1,    2,     63,    64,    65,      100,     1000,          1024,          1025,    4095,          4096,
    4097, 32768, 32769, 65536, 1000000, 1 << 20, (1 << 20) + 1, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20};

bool is_aligned(const void* data, std::int64_t to) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(to) == 0;
}

}  // namespace

TEST_CASE("allocator: blocks are aligned and wholly writable") {
  for (const std::int64_t size : sizes) {
    CAPTURE(size);
    void* const data = memory::allocate(cpu(), size);
    REQUIRE(data != nullptr);
    CHECK(is_aligned(data, 64));
    if (memory::detail::class_bytes(memory::detail::class_of(size)) >= 2 << 20) CHECK(is_aligned(data, 2 << 20));
    std::memset(data, 0xAB, static_cast<std::size_t>(size));
    memory::release(cpu(), data, size);
  }
}

TEST_CASE("allocator: nothing for 0 bytes, and nothing to release") {
  const auto before = memory::statistics(cpu());
  CHECK(memory::allocate(cpu(), 0) == nullptr);
  CHECK(memory::allocate(gpu(), 0) == nullptr);
  memory::release(cpu(), nullptr, 0);
  memory::release(cpu(), nullptr, 100);
  memory::release(cpu(), nullptr, 1 << 20);
  memory::release(gpu(), nullptr, 0);
  const auto after = memory::statistics(cpu());
  CHECK(after.live_blocks == before.live_blocks);
  CHECK(after.allocations == before.allocations);
}

TEST_CASE("allocator: a negative size and one beyond every machine are refused in a sentence") {
  CHECK(fake::sentence([] { memory::allocate(cpu(), -5); }) ==
        "memory::allocate: a block of -5 bytes was asked for, expected at least 0");
  CHECK(fake::sentence([] { memory::allocate(cpu(), INT64_MAX); }) ==
        "memory::allocate: cpu(0) is out of memory for 9223372036854775807 bytes: a block has at most 281474976710656 "
        "bytes");
  CHECK(fake::sentence([] { memory::allocate(Device{DeviceKind{9}, 0}, 8); }) ==
        "memory: there is no device of kind 9 with number 0: kinds are 1 to 7, numbers 0 to 63");
  CHECK(fake::sentence([] { memory::allocate(gpu(64), 8); }) ==
        "memory: there is no device of kind 2 with number 64: kinds are 1 to 7, numbers 0 to 63");
}

TEST_CASE("allocator: a released block is the next one of its size") {
  for (const std::int64_t size : sizes) {
    CAPTURE(size);
    void* const first = memory::allocate(cpu(), size);
    memory::release(cpu(), first, size);
    void* const second = memory::allocate(cpu(), size);
    CHECK(first == second);
    memory::release(cpu(), second, size);
  }
}

TEST_CASE("allocator: live blocks never overlap") {
  std::vector<std::pair<char*, std::int64_t>> blocks;
  for (int round = 0; round < 20; ++round)
    for (const std::int64_t size : sizes) blocks.emplace_back(static_cast<char*>(memory::allocate(cpu(), size)), size);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      REQUIRE((blocks[i].first + blocks[i].second <= blocks[j].first ||
               blocks[j].first + blocks[j].second <= blocks[i].first));
  for (auto [data, size] : blocks) memory::release(cpu(), data, size);
}

TEST_CASE("allocator: all CPU numbers are one pool") {
  void* const data = memory::allocate(cpu(0), 100000);
  const auto live = memory::statistics(cpu(1)).live_bytes;
  CHECK(live == memory::statistics(cpu(0)).live_bytes);
  memory::release(cpu(3), data, 100000);
  CHECK(memory::statistics(cpu(0)).live_bytes < live);
}

TEST_CASE("allocator: statistics count blocks, their bytes and the calls of the backend") {
  const fake::Scope scope;
  const auto before = memory::statistics(fake::device);
  void* const a = memory::allocate(fake::device, 100000);  // a block of 106496 bytes
  void* const b = memory::allocate(fake::device, 100);     // 128 of a span of 65536
  auto now = memory::statistics(fake::device);
  CHECK(now.live_bytes == 106496 + 128);
  CHECK(now.cached_bytes == 65536 - 128);
  CHECK(now.live_blocks == 2);
  CHECK(now.allocations - before.allocations == 2);
  CHECK(now.system_calls - before.system_calls == 2);
  CHECK(fake::bytes == now.live_bytes + now.cached_bytes);

  memory::release(fake::device, a, 100000);
  now = memory::statistics(fake::device);
  CHECK(now.live_bytes == 128);
  CHECK(now.cached_bytes == 65536 - 128 + 106496);
  CHECK(now.peak_bytes >= 106496 + 128);
  CHECK(now.live_blocks == 1);

  memory::reset_peak(fake::device);
  CHECK(memory::statistics(fake::device).peak_bytes == 128);

  memory::release_cached(fake::device);  // the span is in use, the large block is not
  now = memory::statistics(fake::device);
  CHECK(now.cached_bytes == 65536 - 128);
  CHECK(fake::regions == 1);

  memory::release(fake::device, b, 100);
  memory::release_cached(fake::device);
  CHECK(fake::regions == 0);
  CHECK(memory::statistics(fake::device).cached_bytes == 0);
}

TEST_CASE("allocator: on the CPU too, across the thread's cache") {
  const auto before = memory::statistics(cpu());
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(memory::allocate(cpu(), 200));  // 256 bytes each
  auto now = memory::statistics(cpu());
  CHECK(now.live_bytes - before.live_bytes == 256 * 1000);
  CHECK(now.live_blocks - before.live_blocks == 1000);
  CHECK(now.allocations - before.allocations == 1000);
  CHECK(now.peak_bytes >= now.live_bytes);
  for (void* data : blocks) memory::release(cpu(), data, 200);
  now = memory::statistics(cpu());
  CHECK(now.live_bytes == before.live_bytes);
  CHECK(now.live_blocks == before.live_blocks);
  CHECK(now.peak_bytes >= before.live_bytes + 256 * 1000);
}

TEST_CASE("allocator: the peak of one thread is exact, also between visits of the pool") {
  memory::reset_peak(cpu());
  const auto before = memory::statistics(cpu());
  void* blocks[5];
  for (void*& data : blocks) data = memory::allocate(cpu(), 1024);
  for (void* data : blocks) memory::release(cpu(), data, 1024);
  CHECK(memory::statistics(cpu()).peak_bytes == before.live_bytes + 5 * 1024);
}

TEST_CASE("allocator: a steady loop asks the system for nothing") {
  const auto step = [] {
    std::vector<std::pair<void*, std::int64_t>> blocks;
    for (int i = 0; i < 5; ++i)
      for (const std::int64_t size : sizes) blocks.emplace_back(memory::allocate(cpu(), size), size);
    for (auto [data, size] : blocks) memory::release(cpu(), data, size);
  };
  step();
  const auto calls = memory::statistics(cpu()).system_calls;
  for (int i = 0; i < 50; ++i) step();
  CHECK(memory::statistics(cpu()).system_calls == calls);
}

TEST_CASE("allocator: release_cached empties the calling thread's cache as well") {
  const fake::Scope scope;
  const memory::Backend before = memory::set_backend(DeviceKind::cpu, {fake::acquire, fake::give_back});
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(memory::allocate(cpu(), 1000));
  CHECK(fake::regions > 0);
  for (void* data : blocks) memory::release(cpu(), data, 1000);
  memory::release_cached(cpu());
  CHECK(fake::regions == 0);
  memory::set_backend(DeviceKind::cpu, before);
}

TEST_CASE("allocator: without pooling every block is the system's own") {
  const fake::Scope scope;
  void* const pooled = memory::allocate(fake::device, 100);
  memory::set_pooling(fake::device, false);
  const auto before = memory::statistics(fake::device);
  void* const span_mate = memory::allocate(fake::device, 100);  // what the span still has is used up first
  memory::release(fake::device, span_mate, 100);
  CHECK(memory::statistics(fake::device).system_calls == before.system_calls);
  for (const std::int64_t size : {300, 100000}) {
    const auto calls = memory::statistics(fake::device).system_calls;
    void* const data = memory::allocate(fake::device, size);
    memory::release(fake::device, data, size);
    CHECK(memory::statistics(fake::device).system_calls == calls + 2);
  }
  CHECK(fake::regions == 1);
  memory::release(fake::device, pooled, 100);
}
