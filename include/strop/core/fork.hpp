// SPDX-License-Identifier: Apache-2.0
/// \file
/// Forks: what one waits for and what it holds meanwhile, so that parent and child both go on.
#pragma once
#include <strop/core/call_mode.hpp>
#include <strop/core/config.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <type_traits>

namespace strop::inline v0::detail {

/// The order in which the parts of the runtime are asked and locked; behind the fork they follow in the reverse order.
/// Who holds a lock of one place may wait for one of a later place, never for one of an earlier one.
enum class ForkPlace : std::uint8_t { front_end, engine, trace, thread_pool, random, memory };

/// A part of the runtime that has locks which other threads hold for a moment, or work of its own.
///
/// One handler of the process serves all parts. It holds new work of other threads back, waits until nothing is
/// pending, and takes every lock; both processes give them back, and the child begins with new threads. A part joins
/// before its first use, and never while it holds one of its locks.
struct ForkPart {
  ForkPlace place;
  void (*before)() noexcept;           // takes the locks
  void (*after)(bool child) noexcept;  // gives them back; in the child no other thread is left
  bool (*quiet)() noexcept = nullptr;  // whether nothing of it is pending
  void (*help)() noexcept = nullptr;   // runs one pending operation, where nobody else would
  std::atomic<bool> joined{false};
  ForkPart* next = nullptr;
};
void join_forks_now(ForkPart& part) noexcept;
inline void join_forks(ForkPart& part) noexcept {
  if (!part.joined.load(std::memory_order_acquire)) [[unlikely]]
    join_forks_now(part);
}

/// 1 while a fork holds back what other threads begin.
inline constinit std::atomic<std::uint32_t> forking{0};
/// Sections that threads are in.
inline constinit std::atomic<std::int32_t> fork_sections{0};
/// Changes in the child of a fork: a lock that carries another mark is held by a thread that is not there.
inline constinit std::atomic<unsigned char> fork_mark{1};
/// How many sections this thread is in, one inside the other.
inline constinit thread_local std::int32_t own_sections = 0;
/// How many ForkPass live on this thread; one more while it forks.
inline constinit thread_local std::int32_t fork_passes = 0;

/// Whether a fork waits for what this thread does, or it is the one that forks: it is not held back.
inline bool passes_forks() noexcept { return call_mode.operation != nullptr || inside_loop || fork_passes > 0; }
/// While it lives the thread is at something that a fork waits for in another way than for a section.
struct ForkPass {
  ForkPass() noexcept { ++fork_passes; }
  ~ForkPass() { --fork_passes; }
  ForkPass(const ForkPass&) = delete;
  ForkPass& operator=(const ForkPass&) = delete;
};
/// Waits until the fork that is on its way is over.
void wait_for_fork() noexcept;
/// Waits until nothing is pending, as a fork does, and holds nobody back afterwards.
void settle_for_fork() noexcept;

/// A front end's way to run f(context), which waits for other threads, without a lock of its own that these may need.
using RunUnlocked = void (*)(void (*f)(void* context), void* context);
inline constinit std::atomic<RunUnlocked> run_unlocked{nullptr};

/// f(), which waits for other threads.
template <class F>
void unlocked(F&& f) {
  const RunUnlocked run = run_unlocked.load(std::memory_order_acquire);
  if (run == nullptr)
    f();
  else
    run([](void* context) { (*static_cast<std::remove_reference_t<F>*>(context))(); }, &f);
}

void enter_section_later() noexcept;
inline void enter_section() noexcept {
  if (own_sections++ > 0) return;
  // either the fork sees that this thread has entered, or this thread sees the fork
  fork_sections.fetch_add(1, std::memory_order_seq_cst);
  if (forking.load(std::memory_order_seq_cst) != 0) [[unlikely]]
    enter_section_later();
}
inline void leave_section() noexcept {
  if (--own_sections == 0) fork_sections.fetch_sub(1, std::memory_order_release);
}

/// A fork waits for what other threads do while one lives.
class ForkSection {
 public:
  ForkSection() noexcept { enter_section(); }
  ~ForkSection() { leave_section(); }
  ForkSection(const ForkSection&) = delete;
  ForkSection& operator=(const ForkSection&) = delete;
};

/// A mutex that no other thread holds when the process forks.
class ForkMutex {
 public:
  constexpr ForkMutex() noexcept = default;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  void lock() {
    enter_section();
    mutex_.lock();
  }
  bool try_lock() {
    enter_section();
    if (mutex_.try_lock()) return true;
    leave_section();
    return false;
  }
  void unlock() {
    mutex_.unlock();
    leave_section();
  }

 private:
  std::mutex mutex_;
};

/// Mutual exclusion of threads for as long as something runs, which may take it again itself. A fork waits for its end.
class TurnLock {
 public:
  void lock() {
    const void* const me = &own_sections;  // an address that no other thread has
    if (owner_.load(std::memory_order_relaxed) == me) {
      ++depth_;
      return;
    }
    enter_section();
    if (std::uint32_t free = 0; !state_.compare_exchange_strong(free, 1, std::memory_order_acquire)) [[unlikely]]
      lock_later();
    owner_.store(me, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    if (depth_ > 0) {
      --depth_;
      return;
    }
    owner_.store(nullptr, std::memory_order_relaxed);
    if (state_.exchange(0, std::memory_order_release) == 2) state_.notify_one();
    leave_section();
  }

 private:
  void lock_later();

  std::atomic<std::uint32_t> state_{0};  // 1: it is held; 2: and somebody may wait for it
  int depth_ = 0;                        // how often its holder has taken it again
  std::atomic<const void*> owner_{nullptr};
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/core/fork_impl.hpp>
#endif
