// SPDX-License-Identifier: Apache-2.0
// The words of kernels mean what they mean on a device, and each fault that is planted is found, in every order.
#include <unit/sentence.hpp>

#include <strop/cuda/block.hpp>
#include <strop/cuda/emulate.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace strop::cuda;

constexpr Emulation orders[] = {
    {}, {.order = Order::descending}, {.order = Order::seeded, .seed = 1}, {.order = Order::seeded, .seed = 2}};

/// What is said of a kernel in each order; "" where every order runs through.
template <class Kernel>
std::vector<std::string> said(const Kernel& kernel) {
  std::vector<std::string> sentences;
  for (const Emulation& how : orders) sentences.push_back(testing::sentence([&] { emulate(kernel, how); }));
  return sentences;
}
template <class Kernel>
void finds(const Kernel& kernel, const std::string& part) {
  for (const std::string& sentence : said(kernel)) {
    CAPTURE(sentence);
    CHECK(sentence.find(part) != std::string::npos);
    CHECK(sentence.find("strop: kernel ") == 0);
    CHECK(sentence.find(": block ") != std::string::npos);
    CHECK(sentence.find(", thread ") != std::string::npos);
  }
}
template <class Kernel>
void runs(const Kernel& kernel) {
  CHECK(said(kernel) == std::vector<std::string>(4));
}

/// What a kernel may get wrong.
enum class Fault { none, no_barrier, off_by_one, absent_lane, half_barrier, unwritten, wrong_request };

/// y[b] (+)= Σ of block b's stretch of x: shuffles within warps, shared memory between them.
template <Fault Planted = Fault::none>
struct BlockSums {
  static constexpr int threads = 128;
  struct Memory {
    Shared<float, threads / 32> parts;
  };
  Global<const float> x;
  Global<float> y;
  bool add = false;

  std::int64_t blocks() const { return (x.size() + threads - 1) / threads; }
  constexpr void operator()(auto& block, auto& memory) const {
    const std::int64_t i = block.index() * threads + block.thread();
    const std::int64_t end = Planted == Fault::off_by_one ? x.size() + 1 : x.size();
    float sum = i < end ? x[i] : 0.0F;
    if (Planted == Fault::absent_lane && block.thread() == 37) return;
    for (int by = 16; by > 0; by /= 2) sum += block.shuffle_down(sum, by);
    if (block.lane() == 0 && !(Planted == Fault::unwritten && block.warp() == 2)) memory.parts[block.warp()] = sum;
    if (Planted == Fault::half_barrier && block.warp() == 3) return;
    if (Planted != Fault::no_barrier) block.sync();
    if (block.thread() != 0) return;
    float total = 0;
    for (int w = 0; w < threads / 32; ++w) total += memory.parts[w];
    if (add && Planted != Fault::wrong_request)
      y[block.index()] += total;
    else
      y[block.index()] = total;
  }
};

struct Numbers {
  std::vector<float> x, y;
  explicit Numbers(std::int64_t n)
      : x(static_cast<std::size_t>(n)), y(static_cast<std::size_t>((n + 127) / 128), 1000.0F) {
    std::iota(x.begin(), x.end(), 1.0F);
  }
  template <Fault Planted = Fault::none>
  BlockSums<Planted> kernel(bool add = false) {
    return {{x.data(), static_cast<std::int64_t>(x.size())}, {y.data(), static_cast<std::int64_t>(y.size())}, add};
  }
  std::vector<float> expected(bool add) const {
    std::vector<float> sums(y.size(), add ? 1000.0F : 0.0F);
    for (std::size_t i = 0; i < x.size(); ++i) sums[i / 128] += x[i];
    return sums;
  }
};

/// Recurses without an end.
struct Endless {
  static constexpr int threads = 32;
  struct Memory {};
  std::int64_t blocks() const { return 1; }
  static int deeper(volatile int* above) {  // NOLINT(misc-no-recursion)
    volatile int some[64] = {*above + 1};
    return some[0] < 0 ? 0 : deeper(some) + some[63];
  }
  constexpr void operator()(auto& block, auto&) const {
    volatile int start = block.thread();
    deeper(&start);
  }
};

}  // namespace

TEST_CASE("a thread whose stack is too small ends the program, and writes nothing over another's") {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // and not what doctest has it do
    emulate(Endless{});
    ::_exit(0);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status != 0);
}

TEST_CASE("a kernel gives the same in every order of its threads and blocks") {
  for (const std::int64_t n : {0, 1, 31, 127, 128, 129, 641})
    for (const bool add : {false, true})
      for (const Emulation& how : orders) {
        Numbers numbers(n);
        emulate(numbers.kernel(add), how);
        CHECK(numbers.y == numbers.expected(add));
      }
}

TEST_CASE("a barrier that was taken away is found") {
  Numbers numbers(300);
  for (const std::string& sentence : said(numbers.kernel<Fault::no_barrier>())) {
    CAPTURE(sentence);  // which comes first, the read or the write, is a matter of the order
    CHECK((sentence.find("without a barrier between them") != std::string::npos ||
           sentence.find("which nobody wrote") != std::string::npos));
  }
  CHECK(said(numbers.kernel<Fault::no_barrier>())[1] ==
        "strop: kernel BlockSums: block 2, thread 0 reads element 1 of a shared array of 4, which thread 32 writes "
        "without a "
        "barrier between them");
}
TEST_CASE("an index that is off by one is found") {
  Numbers numbers(300);
  finds(numbers.kernel<Fault::off_by_one>(), "is outside of a global array: element 300 of 300");
}
TEST_CASE("a lane that is absent is found, and a barrier that only a part of the block reaches") {
  Numbers numbers(300);
  finds(numbers.kernel<Fault::absent_lane>(), "for lane 5, which takes no part: thread 37 has ended");
  finds(numbers.kernel<Fault::half_barrier>(), "does not reach: it has ended");
}
TEST_CASE("shared memory that nobody wrote is found") {
  Numbers numbers(300);
  finds(numbers.kernel<Fault::unwritten>(), "thread 0 reads element 2 of a shared array of 4, which nobody wrote");
}
TEST_CASE("a request that a kernel does not heed is found by its numbers") {
  Numbers numbers(300);
  emulate(numbers.kernel<Fault::wrong_request>(true));
  CHECK(numbers.y != numbers.expected(true));
}

namespace {

struct Nothing {};

/// Writes what each word gave, for each lane.
struct Words {
  static constexpr int threads = 64;
  struct Memory {};
  Global<double> down, exclusive, first, few;
  Global<std::uint32_t> odd;
  std::int64_t blocks() const { return 1; }
  constexpr void operator()(auto& block, auto&) const {
    const int t = block.thread();
    const double v = 1.5 * t;
    down[t] = block.shuffle_down(v, 3);
    exclusive[t] = block.shuffle_xor(v, 5);
    first[t] = block.broadcast(v, 7);
    odd[t] = block.ballot(t % 2 == 1);
    few[t] = -1;
    constexpr std::uint32_t mask = 0x11;  // lanes 0 and 4
    if (block.lane() % 4 == 0 && block.lane() < 8) few[t] = block.shuffle_xor(v, 4, mask);
  }
};

template <class T>
struct Atomics {
  static constexpr int threads = 96;
  struct Memory {
    Shared<T, 3> all;
  };
  Global<T> y;  // sum, largest, smallest, tickets of all blocks; the same of shared memory of block 0
  std::int64_t blocks() const { return 2; }
  constexpr void operator()(auto& block, auto& memory) const {
    const T v = static_cast<T>(block.thread() - 40);
    block.atomic_add(y[0], v);
    block.atomic_max(y[1], v);
    block.atomic_min(y[2], v);
    for (T seen = 0;;) {  // adds one
      const T was = block.atomic_cas(y[3], seen, static_cast<T>(seen + 1));
      if (was == seen) break;
      seen = was;
    }
    if (block.thread() < 3) memory.all[block.thread()] = 0;
    block.sync();
    block.atomic_add(memory.all[0], v);
    block.atomic_max(memory.all[1], v);
    block.atomic_min(memory.all[2], v);
    block.sync();
    if (block.index() == 0 && block.thread() < 3) y[4 + block.thread()] = memory.all[block.thread()];
  }
};

template <class T>
void atomics() {
  for (const Emulation& how : orders) {
    std::vector<T> y(7, T(0));
    emulate(Atomics<T>{{y.data(), 7}}, how);
    CHECK(y == std::vector<T>{T(1440), T(55), T(-40), T(192), T(720), T(55), T(-40)});
  }
}

/// Reverses x through shared memory, by packs that are copied while the threads go on, in two groups.
template <int Pending, bool Commits = true>
struct Reverse {
  static constexpr int threads = 32;
  struct Memory {
    Shared<float, 256> x;
  };
  Global<const float> x;
  Global<float> y;
  std::int64_t blocks() const { return 1; }
  constexpr void operator()(auto& block, auto& memory) const {
    for (int half = 0; half < 2; ++half) {
      const int at = 128 * half + 4 * block.thread();
      block.copy_async(memory.x, at, x, at);
      if (Commits) block.commit_copies();
    }
    block.template wait_copies<Pending>();
    block.sync();
    for (int i = block.thread(); i < 256; i += threads) y[i] = memory.x[255 - i];
  }
};

/// Moves packs from element `from` on.
struct Packs {
  static constexpr int threads = 32;
  struct Memory {
    Shared<std::int64_t, 64> whole;
  };
  Global<const std::int64_t> x;
  Global<std::int64_t> y;
  std::int64_t from = 0;
  std::int64_t blocks() const { return 1; }
  constexpr void operator()(auto& block, auto& memory) const {
    const int at = 2 * block.thread();
    memory.whole.store(at, x.load(from + at));
    block.sync();
    y.store(at, memory.whole.load(62 - at));
  }
};

struct Extremes {
  static constexpr int threads = 32;
  struct Memory {};
  Global<const float> x;
  Global<float> y;
  std::int64_t blocks() const { return 1; }
  constexpr void operator()(auto& block, auto&) const {
    block.atomic_max(y[0], x[block.thread()]);
    block.atomic_min(y[1], x[block.thread()]);
  }
};
struct Leaves {
  static constexpr int threads = 32;
  struct Memory {
    Shared<float, 128> x;
  };
  Global<const float> x;
  std::int64_t blocks() const { return 1; }
  constexpr void operator()(auto& block, auto& memory) const {
    block.copy_async(memory.x, 4 * block.thread(), x, 4 * block.thread());
    block.commit_copies();
  }
};

}  // namespace

TEST_CASE("shuffles and ballots are those of a warp of 32") {
  for (const Emulation& how : orders) {
    std::vector<double> down(64), exclusive(64), first(64), few(64);
    std::vector<std::uint32_t> odd(64);
    emulate(Words{{down.data(), 64}, {exclusive.data(), 64}, {first.data(), 64}, {few.data(), 64}, {odd.data(), 64}},
            how);
    for (int t = 0; t < 64; ++t) {
      const std::size_t i = static_cast<std::size_t>(t);
      const int lane = t % 32;
      CHECK(down[i] == 1.5 * (lane + 3 < 32 ? t + 3 : t));
      CHECK(exclusive[i] == 1.5 * (t ^ 5));
      CHECK(first[i] == 1.5 * (t / 32 * 32 + 7));
      CHECK(odd[i] == 0xaaaaaaaaU);
      CHECK(few[i] == (lane == 0 || lane == 4 ? 1.5 * (t ^ 4) : -1));
    }
  }
}
TEST_CASE("atomic operations take every thread into account") {
  atomics<std::int32_t>();
  atomics<std::int64_t>();
  atomics<float>();
  atomics<double>();
}
TEST_CASE("of the largest and the smallest NaN is the result") {
  std::vector<float> x(32, 1.0F), y(2, 0.0F);
  x[11] = std::numeric_limits<float>::quiet_NaN();
  for (const Emulation& how : orders) {
    y = {0, 0};
    emulate(Extremes{{x.data(), 32}, {y.data(), 2}}, how);
    CHECK(std::isnan(y[0]));
    CHECK(std::isnan(y[1]));
  }
}
TEST_CASE("asynchronous copies are there when they were waited for, and not before") {
  alignas(16) float x[256], y[256];
  std::iota(x, x + 256, 0.0F);
  for (const Emulation& how : orders) {
    emulate(Reverse<0>{{x, 256}, {y, 256}}, how);
    for (int i = 0; i < 256; ++i) REQUIRE(y[i] == x[255 - i]);
  }
  finds(Reverse<1>{{x, 256}, {y, 256}}, "which nobody wrote");
  finds(Reverse<0, false>{{x, 256}, {y, 256}}, "which nobody wrote");

  finds(Leaves{{x, 256}}, "ends while 1 asynchronous copy of its own is under way");
}
TEST_CASE("packs begin at a multiple of 16 bytes and end inside") {
  alignas(16) std::int64_t x[66], y[64];
  std::iota(x, x + 66, std::int64_t{0});
  emulate(Packs{{x, 66}, {y, 64}, 2});
  for (int t = 0; t < 32; ++t) CHECK((y[2 * t] == x[2 + 62 - 2 * t] && y[2 * t + 1] == x[2 + 63 - 2 * t]));
  finds(Packs{{x, 66}, {y, 64}, 1}, "moves a pack of a global array that does not begin at a multiple of 16 bytes");
  finds(Packs{{x + 1, 65}, {y, 64}, 0}, "does not begin at a multiple of 16 bytes");
  finds(Packs{{x, 62}, {y, 64}, 0}, "is outside of a global array: elements 62 to 63 of 62");
  finds(Packs{{x, 66}, {y, 64}, 4}, "is outside of a global array: elements 66 to 67 of 66");
}

namespace {

/// Two accesses to shared memory with something, or nothing, between them.
enum class Between { nothing, block, warp };
enum class How { writes, reads, adds };
template <How First, How Second, Between What, int Apart>
struct Pair {
  static constexpr int threads = 64;
  struct Memory {
    Shared<int, 64> x;
  };
  Global<int> y;
  std::int64_t blocks() const { return 1; }
  constexpr void access(auto& block, auto& memory, How how, int i) const {
    if (how == How::writes) memory.x[i] = block.thread();
    if (how == How::reads) y[block.thread()] = memory.x[i];
    if (how == How::adds) block.atomic_add(memory.x[i], 1);
  }
  constexpr void operator()(auto& block, auto& memory) const {
    memory.x[block.thread()] = block.thread();
    block.sync();
    access(block, memory, First, block.thread());
    if (What == Between::block) block.sync();
    if (What == Between::warp) block.sync_warp();
    access(block, memory, Second, block.thread() ^ Apart);
  }
};
template <How First, How Second, Between What, int Apart>
bool conflicts() {
  std::vector<int> y(64);
  const auto sentences = said(Pair<First, Second, What, Apart>{{y.data(), 64}});
  bool all = true, any = false;
  for (const std::string& sentence : sentences) {
    const bool conflict = sentence.find("without a barrier between them") != std::string::npos;
    CHECK((conflict || sentence.empty()));
    all = all && conflict;
    any = any || conflict;
  }
  CHECK(all == any);  // whatever the order
  return all;
}

}  // namespace

TEST_CASE("two threads conflict where one of them writes and no barrier of theirs is between") {
  // in one warp
  CHECK(conflicts<How::writes, How::reads, Between::nothing, 1>());
  CHECK(conflicts<How::reads, How::writes, Between::nothing, 1>());
  CHECK(conflicts<How::writes, How::writes, Between::nothing, 1>());
  CHECK(conflicts<How::adds, How::reads, Between::nothing, 1>());
  CHECK(conflicts<How::writes, How::adds, Between::nothing, 1>());
  CHECK(!conflicts<How::reads, How::reads, Between::nothing, 1>());
  CHECK(!conflicts<How::adds, How::adds, Between::nothing, 1>());
  CHECK(!conflicts<How::writes, How::writes, Between::nothing, 0>());
  CHECK(!conflicts<How::writes, How::reads, Between::warp, 1>());
  CHECK(!conflicts<How::reads, How::writes, Between::warp, 1>());
  CHECK(!conflicts<How::writes, How::reads, Between::block, 1>());
  // in two
  CHECK(conflicts<How::writes, How::reads, Between::nothing, 32>());
  CHECK(conflicts<How::writes, How::reads, Between::warp, 32>());
  CHECK(conflicts<How::reads, How::writes, Between::warp, 32>());
  CHECK(conflicts<How::adds, How::writes, Between::warp, 32>());
  CHECK(!conflicts<How::adds, How::adds, Between::warp, 32>());
  CHECK(!conflicts<How::writes, How::reads, Between::block, 32>());
  CHECK(!conflicts<How::adds, How::writes, Between::block, 33>());
}

namespace {

struct Broadcasts {  // every thread reads what one of them then writes
  static constexpr int threads = 64;
  bool waits = false;
  struct Memory {
    Shared<int, 1> x;
  };
  Global<int> y;
  std::int64_t blocks() const { return 1; }
  constexpr void operator()(auto& block, auto& memory) const {
    if (block.thread() == 0) memory.x[0] = 1;
    block.sync();
    y[block.thread()] = memory.x[0];
    if (waits) block.sync();
    if (block.thread() == 0) memory.x[0] = 2;
  }
};
struct TwoBarriers {
  static constexpr int threads = 64;
  struct Memory {};
  std::int64_t blocks() const { return 1; }
  constexpr void operator()(auto& block, auto&) const {
    if (block.warp() == 0) block.sync();
    if (block.warp() == 1) block.sync();
  }
};
struct Masked {
  static constexpr int threads = 32;
  struct Memory {};
  std::uint32_t mask = 0;
  int from = 0;
  std::int64_t blocks() const { return 1; }
  constexpr void operator()(auto& block, auto&) const {
    if (block.lane() < 8) (void)block.broadcast(block.lane(), from, mask);
  }
};
struct Grid {
  static constexpr int threads = 32;
  struct Memory {};
  std::int64_t n = 0;
  std::int64_t blocks() const { return n; }
  constexpr void operator()(auto&, auto&) const {}
};

}  // namespace

TEST_CASE("one writer among many readers needs a barrier behind them") {
  std::vector<int> y(64);
  finds(Broadcasts{.y = {y.data(), 64}}, "without a barrier between them");
  runs(Broadcasts{.waits = true, .y = {y.data(), 64}});
}
TEST_CASE("two barriers are not one, and masks name who is there") {
  finds(TwoBarriers{}, "which thread 32 does not reach: it waits at the barrier at emulator.cpp:");
  runs(Masked{0xff, 3});
  finds(Masked{0x7f, 3}, "is lane 7 and is not in the mask of its own broadcast");
  finds(Masked{0x1ff, 3}, "for lane 8, which takes no part: thread 8 has ended");
  finds(Masked{0xff, 9}, "reads lane 9 in broadcast");
  finds(Masked{0xff, 32}, "for a lane that is none: 32");
}
TEST_CASE("a grid has 0 to 2147483647 blocks, and words belong into kernels") {
  runs(Grid{0});
  const std::string many = testing::sentence([] { emulate(Grid{std::int64_t{1} << 31}); });
  CHECK(many == "strop: kernel Grid: a grid has 0 to 2147483647 blocks, got 2147483648");
  CHECK(testing::sentence([] { (void)Block{}.thread(); }) ==
        "strop: memory and threads of a kernel are used outside of one; strop::cuda::emulate runs a kernel");
}
TEST_CASE("threads of the machine emulate side by side, and what failed leaves nothing behind") {
  std::vector<std::thread> workers;
  std::vector<int> right(3);
  for (std::size_t k = 0; k < right.size(); ++k)
    workers.emplace_back([&right, k] {
      Numbers numbers(500);
      for (int round = 0; round < 3; ++round) {
        const bool failed = !testing::sentence([&] { emulate(numbers.kernel<Fault::half_barrier>()); }).empty();
        emulate(numbers.kernel());
        right[k] += failed && numbers.y == numbers.expected(false) ? 1 : 0;
      }
    });
  for (std::thread& one : workers) one.join();
  CHECK(right == std::vector<int>{3, 3, 3});
}
