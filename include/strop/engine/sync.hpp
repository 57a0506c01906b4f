// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the engine's threads meet on: a lock of one byte, a counting semaphore, native threads that may fail to start.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/fork.hpp>

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace strop::inline v0::detail {

/// Tells the processor that this thread waits for another one.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits a little between two looks at a shared word: first on the processor, then by giving the core away, because
/// the thread that is waited for may need this very core.
class Backoff {
 public:
  void operator()() {
    if (++rounds_ < 64)
      pause();
    else
      sched_yield();
  }

 private:
  int rounds_ = 0;
};

/// One look of many at a word that another thread is about to change. Who is looked at, or who would give this thread
/// work, may be ready to run on this very core: it gets its turn now and then.
inline void spin_once(int round) {
  if (round % 16 == 15)
    sched_yield();
  else
    pause();
}

/// Since some moment.
inline std::int64_t nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Mutual exclusion for a few dozen instructions. It is constant-initialised and one byte.
///
/// A lock that another thread held when this process was forked is free in the child, where that thread is not. What it
/// guards has to be whole there. The handler of forks (core/fork.hpp) takes the locks of what other threads may change
/// at any time: the list of engines, their queues, threads, lanes, streams and failures, blocks of memory, traces and
/// the thread pool of loops. It does not take those of variables and of the parts of an arena: these change in
/// operations and calls, which a fork waits for. Nor does it take the one of what hangs on arrays: under it pointers
/// are swapped, no more.
class SpinLock {
 public:
  bool try_lock() {
    const unsigned char mark = fork_mark.load(std::memory_order_relaxed);
    return held_.exchange(mark, std::memory_order_acquire) != mark;
  }
  void lock() {
    if (!try_lock()) lock_slow();
  }
  void unlock() { held_.store(0, std::memory_order_release); }

 private:
  void lock_slow() {
    Backoff wait;
    do {
      while (held_.load(std::memory_order_relaxed) == fork_mark.load(std::memory_order_relaxed)) wait();
    } while (!try_lock());
  }
  std::atomic<unsigned char> held_{0};  // the mark of the process that holds it
};

/// Holds a lock for a scope.
template <class L>
class Hold {
 public:
  explicit Hold(L& lock) : lock_(lock) { lock_.lock(); }
  ~Hold() { lock_.unlock(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  L& lock_;
};

/// Permits that are given by one thread and taken, or slept for, by another.
class Semaphore {
 public:
  void release(std::uint32_t permits = 1) {
    permits_.fetch_add(permits, std::memory_order_release);
    permits == 1 ? permits_.notify_one() : permits_.notify_all();
  }
  void acquire() {
    for (;;) {
      if (try_acquire()) return;
      permits_.wait(0, std::memory_order_relaxed);
    }
  }
  bool try_acquire() {
    auto n = permits_.load(std::memory_order_relaxed);
    while (n > 0)
      if (permits_.compare_exchange_weak(n, n - 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    return false;
  }
  /// For the child of a fork, where nobody waits.
  void reset() { permits_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> permits_{0};
};

/// A native thread; std::thread would cost every includer a quarter of a second.
class Thread {
 public:
  /// False where the system has no thread left to give.
  bool start(void* (*body)(void*), void* argument) { return pthread_create(&id_, nullptr, body, argument) == 0; }
  void join() { pthread_join(id_, nullptr); }
  bool is_this() const { return pthread_equal(id_, pthread_self()) != 0; }
  void detach() { pthread_detach(id_); }

 private:
  pthread_t id_{};
};

}  // namespace strop::inline v0::detail
