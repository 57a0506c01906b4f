// SPDX-License-Identifier: Apache-2.0
/// \file
/// How parallel loops are run: the threads that help, and the host's own pool.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <strop/core/call_mode.hpp>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/fork.hpp>
#include <strop/core/sanitizer.hpp>
#include <strop/engine/pool.hpp>
#include <strop/engine/sync.hpp>
#include <strop/engine/threads.hpp>
#include <utility>

namespace strop::inline v0::detail {

/// A loop in flight, on its caller's stack. Every participant owns a share, works it off in steps, then helps others:
/// the same thread meets the same part of an array in loop after loop, and a helper that never wakes costs nothing.
struct Loop {
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0, step = 1;
  };
  static constexpr int max_shares = 32;

  std::int64_t n = 0, grain = 1;
  ThrowingBody body = nullptr;
  void* context = nullptr;
  int shares = 1;
  int entered = 1;             // helpers that ever came, the caller included (under the thread pool's lock)
  std::atomic<int> inside{0};  // helpers that have not left
  // Helpers are inside the operation that the caller is inside of: they do not wait for what it uses.
  const CallMode mode{nullptr, call_mode.training, call_mode.operation};
  const bool in_section = own_sections > 0;  // the caller's is that of its helpers, too: it ends after they have left
  const unsigned char made_in = fork_mark.load(std::memory_order_relaxed);
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  Loop* next = nullptr;
  Share share[max_shares];

  void cut() {
    const std::int64_t pieces = (n - 1) / grain + 1;
    if (shares > pieces) shares = static_cast<int>(pieces);
    for (int i = 0; i < shares; ++i) {
      const std::int64_t begin = pieces / shares * i + (i < pieces % shares ? i : pieces % shares);
      const std::int64_t count = pieces / shares + (i < pieces % shares ? 1 : 0);
      share[i].next.store(begin, std::memory_order_relaxed);
      share[i].end = begin + count;
      share[i].step = count / 4 + 1;
    }
  }

  /// Whether this process was forked inside the loop. Only the thread that did is here: nobody helps, or is helped.
  bool is_left_behind() const { return fork_mark.load(std::memory_order_relaxed) != made_in; }

  void work(int me, bool may_leave) {
    for (int s = 0; s < shares; ++s) {
      Share& from = share[(me + s) % shares];
      for (;;) {
        if (failed.load(std::memory_order_relaxed)) return;
        // the engine has found work for this core: the caller finishes the loop with those who stay
        if (may_leave && busy_threads.load(std::memory_order_relaxed) > num_threads()) return;
        if (from.next.load(std::memory_order_relaxed) >= from.end) break;
        const std::int64_t first = from.next.fetch_add(from.step, std::memory_order_relaxed);
        if (first >= from.end) break;
        const std::int64_t last = first + from.step < from.end ? first + from.step : from.end;
        try {
          body(context, first * grain, last * grain < n ? last * grain : n);
        } catch (...) {
          if (!failed.exchange(true, std::memory_order_acq_rel)) error = std::current_exception();
        }
      }
    }
  }
};

/// Of a thread that helps: the section that its loop's caller is in.
class SharedSection {
 public:
  explicit SharedSection(const Loop& loop) : count_(loop.in_section ? 1 : 0) { own_sections += count_; }
  ~SharedSection() { own_sections -= count_; }
  SharedSection(const SharedSection&) = delete;
  SharedSection& operator=(const SharedSection&) = delete;

 private:
  const std::int32_t count_;
};

/// Marks this thread as inside a loop for a scope: loops in there are serial.
class InsideScope {
 public:
  InsideScope() : before_(std::exchange(inside_loop, true)) {}
  ~InsideScope() { inside_loop = before_; }
  InsideScope(const InsideScope&) = delete;
  InsideScope& operator=(const InsideScope&) = delete;

 private:
  const bool before_;
};

/// The section of a loop that is not part of an operation.
class LoopSection {
 public:
  LoopSection() : enters_(call_mode.operation == nullptr) {
    if (enters_) enter_section();
  }
  ~LoopSection() {
    if (enters_) leave_section();
  }
  LoopSection(const LoopSection&) = delete;
  LoopSection& operator=(const LoopSection&) = delete;

 private:
  const bool enters_;
};

/// The helper threads of parallel loops. They start with the first loop that wants them and are joined at exit.
class ThreadPool {
 public:
  /// Never destroyed: loops of other static objects' destructors find it closed and run on their caller.
  static ThreadPool& get();

  /// Publishes the loop to as many helpers as are wanted, of whom it wakes at most `wakes`; false where it had better
  /// run on its caller alone.
  bool open(Loop& loop, int helpers, int wakes) {
    join_forks(forks_);
    Hold hold(lock_);
    if (closed_) return false;
    if (wakes >= helpers || (started_ - sleeping_ < helpers && is_one_of_many())) wakes = helpers;
    while (started_ < wakes && start_one()) {
    }
    if (wakes == 0 ? started_ == sleeping_ : started_ == 0) return false;
    loop.next = first_;
    first_ = &loop;
    opened_.fetch_add(1, std::memory_order_seq_cst);
    const int wake = sleeping_ < wakes ? sleeping_ : wakes;
    sleeping_ -= wake;
    if (wake > 0) wake_.release(static_cast<std::uint32_t>(wake));
    return true;
  }

  /// Takes the loop back and waits for the helpers that are in it.
  void close(Loop& loop) {
    if (loop.is_left_behind()) return lose(loop);
    {
      Hold hold(lock_);
      Loop** at = &first_;
      while (*at != &loop) at = &(*at)->next;
      *at = loop.next;
    }
    for (int spin = 0; spin < 1000 && loop.inside.load(std::memory_order_acquire) > 0; ++spin) pause();
    for (;;) {
      const auto seen = left_.load(std::memory_order_seq_cst);
      if (loop.inside.load(std::memory_order_seq_cst) == 0) return;
      left_.wait(seen);
    }
  }

 private:
  struct Closer {
    ~Closer() { ThreadPool::get().shut(); }
  };

  /// In the child of a fork: the thread pool has forgotten the loop, and what helpers had begun of it is done nowhere.
  static void lose(Loop& loop) {
    if (loop.inside.load(std::memory_order_relaxed) == 0 || loop.error) return;
    try {
      fail(
          "parallel_for: this process was forked inside the loop, and what other threads had begun of it is not done "
          "here; end such a child with _exit, or fork outside of loops");
    } catch (...) {
      loop.error = std::current_exception();
    }
  }

  /// Whether loops that helpers missed follow each other closely, and so many of them that waking somebody, who would
  /// then stay awake, costs no more than has been lost.
  bool is_one_of_many() {
    const std::int64_t now = nanoseconds();
    missed_ = now - missed_at_ < patience ? missed_ + 1 : 0;
    missed_at_ = now;
    if (missed_ < 3) return false;
    missed_ = 0;
    return true;
  }

  bool start_one() {
    if (!hooked_) {
      hooked_ = true;
      static Closer closer;
    }
    if (started_ >= Loop::max_shares - 1) return false;
    if (!threads_[started_].start(
            [](void* thread_pool) -> void* { return static_cast<ThreadPool*>(thread_pool)->help(), nullptr; }, this))
      return false;
    ++started_;
    return true;
  }

  /// What a helper thread does: joins open loops; spins a little for the next one, then sleeps.
  void help() {
    const InsideScope inside;
    const UnwatchedScope unwatched;
    for (;;) {
      const auto seen = opened_.load(std::memory_order_relaxed);
      int me = 0;
      if (Loop* loop = enter(me)) {
        {
          const BusyScope busy;
          const CallModeScope mode(loop->mode);
          const SharedSection shared(*loop);
          loop->work(me, true);
          if (loop->is_left_behind()) return;  // the loop's caller is not here: this thread has nothing left to do
        }
        // the loop may be gone as soon as this thread is counted out
        if (loop->inside.fetch_sub(1, std::memory_order_seq_cst) == 1) {
          left_.fetch_add(1, std::memory_order_seq_cst);
          left_.notify_all();
        }
      }
      if (comes_soon(seen)) continue;
      {
        Hold hold(lock_);
        if (closed_) return;
        if (wanted() != nullptr) continue;
        ++sleeping_;
      }
      wake_.acquire();
    }
  }

  /// Waits for a loop after those `seen`, as long as a thread stays awake for one, also for one that woke it and is
  /// done before it came.
  bool comes_soon(std::uint32_t seen) const {
    const std::int64_t end = nanoseconds() + patience;
    do {
      for (int spin = 0; spin < 16; ++spin) {
        if (opened_.load(std::memory_order_relaxed) != seen) return true;
        pause();
      }
    } while (nanoseconds() < end);
    return false;
  }

  Loop* wanted() const {
    for (Loop* loop = first_; loop != nullptr; loop = loop->next)
      if (loop->entered < loop->shares) return loop;
    return nullptr;
  }

  Loop* enter(int& me) {
    Hold hold(lock_);
    Loop* loop = wanted();
    if (loop == nullptr) return nullptr;
    me = loop->entered++;
    loop->inside.fetch_add(1, std::memory_order_relaxed);
    return loop;
  }

  void shut() {
    int threads = 0;
    {
      Hold hold(lock_);
      closed_ = true;
      threads = started_;
      started_ = sleeping_ = 0;
      if (threads > 0) wake_.release(static_cast<std::uint32_t>(threads));
    }
    for (int i = 0; i < threads; ++i) threads_[i].is_this() ? threads_[i].detach() : threads_[i].join();
  }

  static void before_fork() noexcept { get().lock_.lock(); }
  static void after_fork(bool child) noexcept {
    ThreadPool& thread_pool = get();
    if (child) {  // only the forking thread lives on
      thread_pool.started_ = thread_pool.sleeping_ = 0;
      thread_pool.first_ = nullptr;
      thread_pool.wake_.reset();
      busy_threads.store(counted_busy ? 1 : 0, std::memory_order_relaxed);
    }
    thread_pool.lock_.unlock();
  }
  static inline constinit ForkPart forks_{ForkPlace::thread_pool, before_fork, after_fork};

  /// How long a helper waits for the next loop before it sleeps, in nanoseconds.
  static constexpr std::int64_t patience = 20'000;

  SpinLock lock_;
  Loop* first_ = nullptr;
  int started_ = 0, sleeping_ = 0;
  int missed_ = 0;  // loops in quick succession that helpers slept through, and when the last of them began
  std::int64_t missed_at_ = 0;
  bool closed_ = false, hooked_ = false;
  std::atomic<std::uint32_t> opened_{0}, left_{0};  // loops that were, and helpers that were the last in one
  Semaphore wake_;
  Thread threads_[Loop::max_shares];
};
inline constinit ThreadPool all_helpers;
STROP_IMPL ThreadPool& ThreadPool::get() { return all_helpers; }

/// A loop on the host's pool: its threads see a body that does not throw.
STROP_IMPL void run_hosted(ParallelHook hook, std::int64_t n, std::int64_t grain, ThrowingBody body, void* context) {
  Loop loop;
  loop.body = body;
  loop.context = context;
  hook(
      n, grain,
      [](void* context_, std::int64_t begin, std::int64_t end) {
        Loop& own = *static_cast<Loop*>(context_);
        if (own.failed.load(std::memory_order_relaxed)) return;
        const InsideScope inside;
        const CallModeScope mode(own.mode);
        const SharedSection shared(own);
        try {
          own.body(own.context, begin, end);
        } catch (...) {
          if (!own.failed.exchange(true, std::memory_order_acq_rel)) own.error = std::current_exception();
        }
      },
      &loop);
  if (loop.error) std::rethrow_exception(loop.error);
}

STROP_IMPL void run_parallel(std::int64_t n, std::int64_t grain, int wakes, ThrowingBody body, void* context) {
  if (grain < 1) grain = 1;
  const ParallelHook hook = parallel_hook.load(std::memory_order_acquire);
  if (hook != nullptr && wakes == 0) {  // who is awake there, nobody knows
    body(context, 0, n);
    return;
  }
  // Inside a loop nobody is held back by a fork, which waits for the loop instead: as for the operation around it, or,
  // where there is none, as for a section.
  const LoopSection whole;
  if (hook != nullptr) {
    run_hosted(hook, n, grain, body, context);
    return;
  }
  const BusyScope busy;
  const InsideScope inside;
  const int spare = num_threads() - busy_threads.load(std::memory_order_relaxed);
  int helpers = spare < Loop::max_shares - 1 ? spare : Loop::max_shares - 1;
  if (helpers > (n - 1) / grain) helpers = static_cast<int>((n - 1) / grain);
  if (helpers <= 0) {
    body(context, 0, n);
    return;
  }
  Loop loop;
  loop.n = n;
  loop.grain = grain;
  loop.body = body;
  loop.context = context;
  loop.shares = helpers + 1;
  loop.cut();
  if (!ThreadPool::get().open(loop, loop.shares - 1, wakes)) {
    body(context, 0, n);
    return;
  }
  loop.work(0, false);
  ThreadPool::get().close(loop);
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace strop::inline v0::detail
