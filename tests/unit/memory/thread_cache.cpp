// SPDX-License-Identifier: Apache-2.0
/// \file
/// Many threads, the end of threads, of processes and of the program.
#include <strop/memory/allocator.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "fake_device.hpp"

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace strop;

namespace {

/// A block whose bytes say who it is: the first and the last few thousand of them.
struct Guarded {
  unsigned char* data = nullptr;
  std::int64_t bytes = 0;
  std::uint32_t name = 0;

  template <class Visit>
  void visit(Visit each) const {
    constexpr std::int64_t guard = 4096;
    for (std::int64_t i = 0; i < bytes; ++i) {
      if (i == guard && bytes > 2 * guard) i = bytes - guard;
      each(data[i], static_cast<unsigned char>(name * 2654435761u + static_cast<std::uint32_t>(i) * 31u));
    }
  }
  void mark() const {
    visit([](unsigned char& byte, unsigned char sign) { byte = sign; });
  }
  bool intact() const {
    bool same = true;
    visit([&](unsigned char byte, unsigned char sign) { same = same && byte == sign; });
    return same;
  }
};

/// Frees small blocks when the thread's cache is already gone, and when the program's main thread has ended.
struct Late {
  std::vector<void*> blocks;
  bool at_exit = false;
  explicit Late(bool at_end) : at_exit(at_end) {}
  void fill() {
    for (int i = 0; i < 200; ++i) blocks.push_back(memory::allocate(cpu(), 48 + i));
    blocks.push_back(memory::allocate(cpu(), 1 << 20));
  }
  ~Late() {
    if (blocks.empty()) return;
    const auto before = memory::statistics(cpu()).live_blocks;
    for (int i = 0; i < 200; ++i) memory::release(cpu(), blocks[static_cast<std::size_t>(i)], 48 + i);
    memory::release(cpu(), blocks[200], 1 << 20);
    void* const again = memory::allocate(cpu(), 48);
    memory::release(cpu(), again, 48);
    if (at_exit && memory::statistics(cpu()).live_blocks != before - 201) {
      std::fputs("blocks released at exit were not taken back\n", stderr);
      std::abort();
    }
  }
};
Late at_exit(true);

}  // namespace

TEST_CASE("threads: random programs keep every block intact, also when another thread releases it") {
  constexpr int threads = 4, slots = 64, steps = 20000;
  const auto before = memory::statistics(cpu());
  struct Slot {
    std::mutex mutex;
    Guarded block;
  };
  std::array<Slot, slots> shared;
  std::atomic<int> damaged{0};
  const auto run = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::uint32_t name = seed << 24;
    for (int i = 0; i < steps; ++i) {
      Guarded fresh{nullptr, 0, ++name};
      const int magnitude = static_cast<int>(random() % 100);
      const std::int64_t top = magnitude < 70 ? 2048 : magnitude < 95 ? 40000 : magnitude < 99 ? 300000 : 3000000;
      fresh.bytes = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(top));
      fresh.data = static_cast<unsigned char*>(memory::allocate(cpu(), fresh.bytes));
      fresh.mark();
      Slot& slot = shared[random() % slots];
      {
        const std::lock_guard lock(slot.mutex);
        std::swap(slot.block, fresh);
      }
      if (fresh.data != nullptr) {
        if (!fresh.intact()) ++damaged;
        memory::release(cpu(), fresh.data, fresh.bytes);
      }
      if (i % 5000 == 4999) memory::release_cached(cpu());
      if (i % 1000 == 999 && memory::statistics(cpu()).peak_bytes <= 0) ++damaged;
    }
  };
  std::vector<std::thread> pool;
  for (unsigned t = 1; t <= threads; ++t) pool.emplace_back(run, t);
  for (std::thread& thread : pool) thread.join();
  for (Slot& slot : shared) {
    if (slot.block.data == nullptr) continue;
    CHECK(slot.block.intact());
    memory::release(cpu(), slot.block.data, slot.block.bytes);
  }
  CHECK(damaged == 0);
  const auto after = memory::statistics(cpu());
  CHECK(after.live_bytes == before.live_bytes);
  CHECK(after.live_blocks == before.live_blocks);
  CHECK(after.allocations - before.allocations == threads * steps);
}

TEST_CASE("threads: a device without thread caches, with a limit that is often reached") {
  const fake::Scope scope;
  memory::set_limit(fake::device, 400000);
  std::atomic<int> refused{0};
  const auto run = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<void*, std::int64_t>> mine;
    for (int i = 0; i < 3000; ++i) {
      const std::int64_t bytes = 1 + static_cast<std::int64_t>(random() % (i % 3 == 0 ? 200000u : 3000u));
      try {
        void* const data = memory::allocate(fake::device, bytes);
        std::memset(data, 1, static_cast<std::size_t>(bytes));
        mine.emplace_back(data, bytes);
      } catch (const Error&) {
        ++refused;
      }
      if (mine.size() > 3 || (!mine.empty() && random() % 3 == 0)) {
        memory::release(fake::device, mine.back().first, mine.back().second);
        mine.pop_back();
      }
    }
    for (auto [data, bytes] : mine) memory::release(fake::device, data, bytes);
  };
  std::thread other(run, 11u);
  run(12u);
  other.join();
  CHECK(refused > 0);
  CHECK(memory::statistics(fake::device).live_blocks == 0);
}

TEST_CASE("threads: what an ended thread had cached serves others, and its statistics stay") {
  const auto before = memory::statistics(cpu());
  void* kept = nullptr;
  std::thread([&] {
    void* blocks[40];
    for (void*& data : blocks) data = memory::allocate(cpu(), 30000);
    for (void* data : blocks) memory::release(cpu(), data, 30000);
    kept = memory::allocate(cpu(), 30000);
  }).join();
  auto now = memory::statistics(cpu());
  CHECK(now.live_blocks == before.live_blocks + 1);
  CHECK(now.allocations == before.allocations + 41);
  const auto calls = now.system_calls;
  std::vector<void*> blocks;
  for (int i = 0; i < 39; ++i) blocks.push_back(memory::allocate(cpu(), 30000));
  CHECK(memory::statistics(cpu()).system_calls == calls);
  for (void* data : blocks) memory::release(cpu(), data, 30000);
  memory::release(cpu(), kept, 30000);
  CHECK(memory::statistics(cpu()).live_blocks == before.live_blocks);
}

TEST_CASE("threads: objects of a thread may free after the thread's cache is gone") {
  const auto before = memory::statistics(cpu());
  std::thread([] {
    static thread_local Late late(false);  // made before the cache, so destroyed after it
    late.fill();
  }).join();
  CHECK(memory::statistics(cpu()).live_blocks == before.live_blocks);
  CHECK(memory::statistics(cpu()).live_bytes == before.live_bytes);
}

TEST_CASE("exit: a static object frees after main; the program then checks itself") {
  at_exit.fill();
  CHECK(at_exit.blocks.size() == 201);
}

#if defined(__unix__)
TEST_CASE("fork: the child allocates although other threads were allocating") {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) memory::release(cpu(), memory::allocate(cpu(), 100000), 100000);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool good = true;
      for (const std::int64_t bytes : {100, 5000, 100000}) {
        void* const data = memory::allocate(cpu(), bytes);
        good = good && data != nullptr;
        memory::release(cpu(), data, bytes);
      }
      ::_exit(good ? 0 : 1);
    }
    REQUIRE(child > 0);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  stop = true;
  busy.join();
}
#endif
