// SPDX-License-Identifier: Apache-2.0
/// \file
/// The emulator: the threads of a block take turns until each waits or has ended; then the barrier opens, or the
/// sentence is said of what never will.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/error.hpp>
#include <strop/cuda/emulator.hpp>
#include <strop/cuda/fibers_impl.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {  // of the thread sanitizer, where the program has it
__attribute__((weak)) void __tsan_acquire(void* at);
__attribute__((weak)) void __tsan_release(void* at);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace strop::inline v0::detail {

/// A point at which threads meet, as the thread sanitizer knows it.
struct ThreadMeeting {
  char at = 0;
  void leave() {
    if (__tsan_release != nullptr) __tsan_release(&at);
  }
  void enter() {
    if (__tsan_acquire != nullptr) __tsan_acquire(&at);
  }
};

struct EmulatedThread {
  enum class Doing : std::uint8_t { runs, waits, exchanges, ended };
  Doing doing = Doing::runs;
  bool begun = false;
  LaneExchange what = LaneExchange::down;
  std::uint32_t mask = 0;
  int argument = 0;
  std::uint64_t bits = 0;
  std::source_location where;
  std::vector<DeferredCopy> copies;  // under way, the oldest first
  std::vector<std::size_t> groups;   // how many of them belong to each group
};

inline std::string place_text(const std::source_location& where) {
  const std::string_view file = where.file_name();
  return cat(file.substr(file.find_last_of('/') + 1), ":", where.line());
}

/// What a thread throws where another one failed, so that what it holds is destroyed.
struct GivenUp {};

/// The run of one kernel.
class BlockRun {
 public:
  BlockRun(const EmulatedKernel& kernel, cuda::Emulation how)
      : kernel_(kernel), how_(how), random_(how.seed), fibers_(kernel.threads) {}

  static BlockRun*& current() {
    static thread_local BlockRun* run = nullptr;
    return run;
  }
  static BlockRun& get() {
    BlockRun* const run = current();
    if (run == nullptr || run->now_ < 0)
      fail("strop: memory and threads of a kernel are used outside of one; strop::cuda::emulate runs a kernel");
    return *run;
  }

  void run() {
    std::vector<std::int64_t> blocks(static_cast<std::size_t>(kernel_.blocks));
    std::iota(blocks.begin(), blocks.end(), std::int64_t{0});
    arrange(blocks);
    for (const std::int64_t b : blocks) run_block(b);
  }

  int thread() const { return now_; }
  int threads() const { return kernel_.threads; }
  std::int64_t block() const { return block_; }
  std::int64_t blocks() const { return kernel_.blocks; }
  Moment moment() const { return {now_, stretch_, warp_stretch_[now_ / 32]}; }
  EmulatedThread& own() { return of(now_); }

  template <class... P>
  [[noreturn]] void fault(int thread, const P&... what) const {
    fail("strop: kernel ", kernel_.name, ": block ", block_, ", thread ", thread, " ", cat(what...));
  }

  void sync(const std::source_location& where) {
    ThreadMeeting& meeting = block_meetings_[stretch_ % 2];
    meeting.leave();
    own().where = where;
    wait(EmulatedThread::Doing::waits);
    meeting.enter();
  }

  std::uint64_t exchange(LaneExchange what, std::uint64_t bits, int argument, std::uint32_t mask,
                         const std::source_location& where) {
    const int warp = now_ / 32, lane = now_ % 32;
    EmulatedThread& mine = own();
    mine.what = what;
    mine.bits = bits;
    mine.argument = argument;
    mine.mask = mask;
    mine.where = where;
    if ((mask >> lane & 1U) == 0)
      fault(now_, "is lane ", lane, " and is not in the mask of its own ", name_of(what), " at ", place_text(where));
    ThreadMeeting& meeting = warp_meetings_[warp][warp_stretch_[warp] % 2];
    if (what == LaneExchange::barrier) meeting.leave();
    mine.doing = EmulatedThread::Doing::exchanges;
    if (complete(warp, mine)) finish(warp, mine.what, mine.mask);
    if (mine.doing != EmulatedThread::Doing::runs) wait(EmulatedThread::Doing::exchanges);
    if (what == LaneExchange::barrier) meeting.enter();
    return mine.bits;
  }

 private:
  EmulatedThread& of(int thread) { return states_[static_cast<std::size_t>(thread)]; }

  static std::string_view name_of(LaneExchange what) {
    constexpr std::string_view names[] = {"shuffle_down", "shuffle_xor", "broadcast", "ballot", "sync_warp"};
    return names[static_cast<std::size_t>(what)];
  }

  /// In the order of turns.
  template <class X>
  void arrange(std::vector<X>& turns) {
    std::sort(turns.begin(), turns.end());
    if (how_.order == cuda::Order::descending) std::reverse(turns.begin(), turns.end());
    if (how_.order != cuda::Order::seeded) return;
    for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[next_random() % i]);
  }
  std::uint64_t next_random() {  // SplitMix64
    std::uint64_t z = random_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  void wait(EmulatedThread::Doing doing) {
    own().doing = doing;
    fibers_.pause();
    if (given_up_) throw GivenUp();
  }

  static void begin(void* argument, int thread) noexcept {
    BlockRun& run = *static_cast<BlockRun*>(argument);
    run.start_.enter();
    try {
      run.kernel_.run(run.kernel_.kernel, run.memory_.get());
      const EmulatorScope emulator;
      if (const std::size_t left = run.own().copies.size(); left != 0)
        run.fault(thread, "ends while ", left, left == 1 ? " asynchronous copy" : " asynchronous copies",
                  " of its own is under way: wait_copies, or commit_copies before it, is missing");
    } catch (const GivenUp&) {
    } catch (...) {
      const EmulatorScope emulator;
      run.thrown_ = std::current_exception();
    }
    {
      const EmulatorScope emulator;
      run.own().doing = EmulatedThread::Doing::ended;
    }
    run.end_.leave();
  }

  void run_block(std::int64_t block) {
    block_ = block;
    stretch_ = 1;
    std::fill(std::begin(warp_stretch_), std::end(warp_stretch_), 0U);
    memory_ = kernel_.memory();
    states_.assign(static_cast<std::size_t>(kernel_.threads), {});
    std::vector<int> turns(states_.size());
    std::iota(turns.begin(), turns.end(), 0);
    for (const int i : turns) fibers_.start(i, begin, this);
    start_.leave();
    for (;;) {
      arrange(turns);
      bool ran = false;
      for (const int i : turns) {
        if (of(i).doing != EmulatedThread::Doing::runs) continue;
        ran = true;
        of(i).begun = true;
        turn(i);
        if (thrown_) give_up(std::exchange(thrown_, nullptr));
      }
      if (ran) continue;
      if (std::all_of(states_.begin(), states_.end(),
                      [](const EmulatedThread& t) { return t.doing == EmulatedThread::Doing::ended; }))
        break;
      try {
        open_barrier();
      } catch (...) {
        give_up(std::current_exception());
      }
    }
    end_.enter();
  }
  void turn(int i) {
    now_ = i;
    fibers_.resume(i);
    now_ = -1;
  }
  /// Lets the threads that began end, and throws what was wrong.
  [[noreturn]] void give_up(const std::exception_ptr& why) {
    given_up_ = true;
    for (int i = 0; i < kernel_.threads; ++i)
      if (of(i).begun && of(i).doing != EmulatedThread::Doing::ended) turn(i);
    end_.enter();
    std::rethrow_exception(why);
  }

  /// Nobody can go on: every thread waits at the same barrier, which opens, or the sentence says who waits in vain.
  void open_barrier() {
    for (int i = 0; i < kernel_.threads; ++i)
      if (of(i).doing == EmulatedThread::Doing::exchanges) refuse_exchange(i);
    const auto waits = [](const EmulatedThread& t) { return t.doing == EmulatedThread::Doing::waits; };
    const int first = static_cast<int>(std::find_if(states_.begin(), states_.end(), waits) - states_.begin());
    for (int i = 0; i < kernel_.threads; ++i) {
      const EmulatedThread& other = of(i);
      if (!waits(other) || other.where.line() != of(first).where.line() ||
          other.where.column() != of(first).where.column() ||
          std::string_view(other.where.file_name()) != of(first).where.file_name())
        fault(first, "waits at the barrier at ", place_text(of(first).where), ", which thread ", i,
              " does not reach: it ", whereabouts(other));
    }
    ++stretch_;
    for (EmulatedThread& t : states_) t.doing = EmulatedThread::Doing::runs;
  }

  [[noreturn]] void refuse_exchange(int thread) {
    const EmulatedThread& mine = of(thread);
    const int warp = thread / 32;
    int absent = 0;
    while ((mine.mask >> absent & 1U) == 0 || takes_part(warp, absent, mine)) ++absent;
    fault(thread, "waits in ", name_of(mine.what), " at ", place_text(mine.where), " for lane ", absent,
          ", which takes no part: thread ", warp * 32 + absent, " ", whereabouts(of(warp * 32 + absent)));
  }

  static std::string whereabouts(const EmulatedThread& t) {
    switch (t.doing) {
      case EmulatedThread::Doing::ended:
        return "has ended";
      case EmulatedThread::Doing::waits:
        return cat("waits at the barrier at ", place_text(t.where));
      default:
        return cat("waits in ", name_of(t.what), " at ", place_text(t.where), ", mask ", t.mask);
    }
  }

  bool takes_part(int warp, int lane, const EmulatedThread& in) {
    const EmulatedThread& t = of(warp * 32 + lane);
    return t.doing == EmulatedThread::Doing::exchanges && t.what == in.what && t.mask == in.mask;
  }
  bool complete(int warp, const EmulatedThread& in) {
    for (int lane = 0; lane < 32; ++lane)
      if ((in.mask >> lane & 1U) != 0 && !takes_part(warp, lane, in)) return false;
    return true;
  }
  /// Every lane is there: each takes what is meant for it, and goes on.
  void finish(int warp, LaneExchange what, std::uint32_t mask) {
    if (what == LaneExchange::barrier) ++warp_stretch_[warp];
    std::uint64_t given[32] = {}, votes = 0;
    for (int lane = 0; lane < 32; ++lane) {
      given[lane] = of(warp * 32 + lane).bits;
      if ((mask >> lane & 1U) != 0 && what == LaneExchange::ballot) votes |= given[lane] << lane;
    }
    for (int lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1U) == 0) continue;
      EmulatedThread& t = of(warp * 32 + lane);
      t.bits = what == LaneExchange::ballot ? votes : given[source_of(what, warp, lane, t)];
      t.doing = EmulatedThread::Doing::runs;
    }
  }
  int source_of(LaneExchange what, int warp, int lane, const EmulatedThread& t) const {
    int from = lane;
    if (what == LaneExchange::down && t.argument >= 0) from = lane + t.argument < 32 ? lane + t.argument : lane;
    if (what == LaneExchange::exclusive) from = lane ^ t.argument;
    if (what == LaneExchange::broadcast) from = t.argument;
    if ((what == LaneExchange::down && t.argument < 0) || from < 0 || from > 31)
      fault(warp * 32 + lane, "asks ", name_of(what), " at ", place_text(t.where),
            " for a lane that is none: ", t.argument);
    if (what != LaneExchange::barrier && (t.mask >> from & 1U) == 0)
      fault(warp * 32 + lane, "reads lane ", from, " in ", name_of(what), " at ", place_text(t.where),
            ", which is not in the mask");
    return from;
  }

  const EmulatedKernel& kernel_;
  cuda::Emulation how_;
  std::uint64_t random_;
  Fibers fibers_;
  std::vector<EmulatedThread> states_;
  std::shared_ptr<void> memory_;
  std::exception_ptr thrown_;
  std::int64_t block_ = 0;
  int now_ = -1;
  bool given_up_ = false;
  std::uint32_t stretch_ = 1, warp_stretch_[32] = {};
  ThreadMeeting start_, end_, block_meetings_[2], warp_meetings_[32][2];
};

STROP_IMPL void Deeds::add(const Moment& m) {
  const int warp = m.thread / 32;
  const std::uint32_t bit = 1U << static_cast<unsigned>(warp);
  if (stretch_ != m.stretch) {
    *this = {};
    stretch_ = m.stretch;
  }
  if (warps_ != bit || warp_stretch_ != m.warp_stretch) lanes_ = 0;
  if (warps_ != 0 && last_ / 32 != warp) before_ = last_;
  warps_ |= bit;
  lanes_ |= 1U << static_cast<unsigned>(m.thread % 32);
  warp_stretch_ = m.warp_stretch;
  last_ = m.thread;
}
STROP_IMPL int Deeds::beside(const Moment& m) const {
  if (stretch_ != m.stretch) return -1;
  const int warp = m.thread / 32;
  if ((warps_ & ~(1U << static_cast<unsigned>(warp))) != 0) return last_ / 32 != warp ? last_ : before_;
  const std::uint32_t others = lanes_ & ~(1U << static_cast<unsigned>(m.thread % 32));
  return warp_stretch_ == m.warp_stretch && others != 0 ? warp * 32 + std::countr_zero(others) : -1;
}

inline void refuse_beside(const Deeds& deeds, std::string_view does, std::string_view did, std::int64_t i,
                          std::int64_t size) {
  const BlockRun& run = BlockRun::get();
  if (const int other = deeds.beside(run.moment()); other >= 0)
    run.fault(run.thread(), does, " element ", i, " of a shared array of ", size, ", which thread ", other, " ", did,
              " without a barrier between them");
}
inline void refuse_unwritten(const SharedCell& cell, std::int64_t i, std::int64_t size) {
  const BlockRun& run = BlockRun::get();
  if (!cell.written)
    run.fault(run.thread(), "reads element ", i, " of a shared array of ", size, ", which nobody wrote");
}
STROP_IMPL void emulated_read(SharedCell& cell, std::int64_t i, std::int64_t size) {
  const EmulatorScope emulator;
  refuse_beside(cell.writes, "reads", "writes", i, size);
  refuse_beside(cell.atomics, "reads", "changes", i, size);
  refuse_unwritten(cell, i, size);
  cell.reads.add(BlockRun::get().moment());
}
STROP_IMPL void emulated_write(SharedCell& cell, std::int64_t i, std::int64_t size) {
  const EmulatorScope emulator;
  refuse_beside(cell.writes, "writes", "writes", i, size);
  refuse_beside(cell.atomics, "writes", "changes", i, size);
  refuse_beside(cell.reads, "writes", "reads", i, size);
  cell.writes.add(BlockRun::get().moment());
  cell.written = true;
}
STROP_IMPL void emulated_atomic(SharedCell& cell, std::int64_t i, std::int64_t size) {
  const EmulatorScope emulator;
  refuse_beside(cell.writes, "changes", "writes", i, size);
  refuse_beside(cell.reads, "changes", "reads", i, size);
  refuse_unwritten(cell, i, size);
  cell.atomics.add(BlockRun::get().moment());
}

STROP_IMPL void emulated_bounds(std::string_view array, std::int64_t i, std::int64_t size) {
  if (i >= 0 && i < size) return;
  const EmulatorScope emulator;
  const BlockRun& run = BlockRun::get();
  run.fault(run.thread(), "is outside of ", array, ": element ", i, " of ", size);
}
STROP_IMPL void emulated_pack(std::string_view array, std::int64_t i, std::int64_t size, const void* data,
                              std::int64_t width) {
  const EmulatorScope emulator;
  const BlockRun& run = BlockRun::get();
  const std::int64_t n = 16 / width;
  if (i < 0 || i > size - n)
    run.fault(run.thread(), "is outside of ", array, ": elements ", i, " to ", i + n - 1, " of ", size);
  if ((reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(i * width)) % 16 != 0)
    run.fault(run.thread(), "moves a pack of ", array, " that does not begin at a multiple of 16 bytes: element ", i);
}

STROP_IMPL int emulated_thread() {
  const EmulatorScope emulator;
  return BlockRun::get().thread();
}
STROP_IMPL int emulated_threads() {
  const EmulatorScope emulator;
  return BlockRun::get().threads();
}
STROP_IMPL std::int64_t emulated_block() {
  const EmulatorScope emulator;
  return BlockRun::get().block();
}
STROP_IMPL std::int64_t emulated_blocks() {
  const EmulatorScope emulator;
  return BlockRun::get().blocks();
}
STROP_IMPL void emulated_sync(const std::source_location& where) {
  const EmulatorScope emulator;
  BlockRun::get().sync(where);
}
STROP_IMPL std::uint64_t emulated_exchange(LaneExchange what, std::uint64_t bits, int argument, std::uint32_t mask,
                                           const std::source_location& where) {
  const EmulatorScope emulator;
  return BlockRun::get().exchange(what, bits, argument, mask, where);
}

STROP_IMPL void emulated_copy(const DeferredCopy& copy) {
  const EmulatorScope emulator;
  BlockRun::get().own().copies.push_back(copy);
}
STROP_IMPL void emulated_commit() {
  const EmulatorScope emulator;
  EmulatedThread& own = BlockRun::get().own();
  std::size_t in_groups = 0;
  for (const std::size_t group : own.groups) in_groups += group;
  own.groups.push_back(own.copies.size() - in_groups);
}
STROP_IMPL void emulated_wait_copies(int pending) {
  std::vector<DeferredCopy> due;
  {
    const EmulatorScope emulator;
    EmulatedThread& own = BlockRun::get().own();
    while (own.groups.size() > static_cast<std::size_t>(pending)) {
      const auto end = own.copies.begin() + static_cast<std::ptrdiff_t>(own.groups.front());
      due.insert(due.end(), own.copies.begin(), end);
      own.copies.erase(own.copies.begin(), end);
      own.groups.erase(own.groups.begin());
    }
  }
  for (const DeferredCopy& copy : due) copy.write(copy.array, copy.at, copy.from);
}

STROP_IMPL void emulate_blocks(const EmulatedKernel& kernel, cuda::Emulation how) {
  if (kernel.blocks < 0 || kernel.blocks > INT32_MAX)
    fail("strop: kernel ", kernel.name, ": a grid has 0 to 2147483647 blocks, got ", kernel.blocks);
  BlockRun run(kernel, how);
  BlockRun* const before = std::exchange(BlockRun::current(), &run);
  try {
    run.run();
  } catch (...) {
    BlockRun::current() = before;
    throw;
  }
  BlockRun::current() = before;
}

}  // namespace strop::inline v0::detail

#include <strop/core/pop_macros.def>
