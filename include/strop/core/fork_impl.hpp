// SPDX-License-Identifier: Apache-2.0
/// \file
/// The handler of forks, of which the process has one.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/fork.hpp>

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace strop::inline v0::detail {

/// The parts in the order of their places, whose turn it is to fork, and how many wait for theirs.
struct Forks {
  std::atomic<bool> changing{false}, turn{false};
  std::atomic<int> wanting{0};
  bool handled = false;
  ForkPart* first = nullptr;
};
inline constinit Forks forks;

/// Longer and longer looks at what another thread is about to change.
class ForkNap {
 public:
  void operator()() noexcept {
    if (++rounds_ < 64) {
      sched_yield();
      return;
    }
    const timespec nap{0, rounds_ < 256 ? 20'000 : 200'000};
    nanosleep(&nap, nullptr);
  }

 private:
  int rounds_ = 0;
};

STROP_IMPL void take_forks(std::atomic<bool>& lock) noexcept {
  for (ForkNap nap; lock.exchange(true, std::memory_order_acquire);) nap();
}

STROP_IMPL void wait_for_fork() noexcept {
  unlocked([] {
    while (forking.load(std::memory_order_seq_cst) != 0) forking.wait(1, std::memory_order_seq_cst);
  });
}
STROP_IMPL void enter_section_later() noexcept {
  while (!passes_forks() && forking.load(std::memory_order_seq_cst) != 0) {
    fork_sections.fetch_sub(1, std::memory_order_release);
    wait_for_fork();
    fork_sections.fetch_add(1, std::memory_order_seq_cst);
  }
}

STROP_IMPL void TurnLock::lock_later() {
  unlocked([this] {
    while (state_.exchange(2, std::memory_order_acquire) != 0) state_.wait(2, std::memory_order_relaxed);
  });
}

STROP_IMPL void open_forks() noexcept {
  forking.store(0, std::memory_order_seq_cst);
  forking.notify_all();
}

/// f(part) of every part, in their order. The list may grow meanwhile.
template <class F>
void each_fork_part(F&& f) noexcept {
  take_forks(forks.changing);
  ForkPart* part = forks.first;
  forks.changing.store(false, std::memory_order_release);
  while (part != nullptr) {
    f(*part);
    take_forks(forks.changing);
    part = part->next;
    forks.changing.store(false, std::memory_order_release);
  }
}

/// Whether nothing is pending but what this thread is in the middle of.
STROP_IMPL bool is_quiet_for_fork() noexcept {
  bool quiet = fork_sections.load(std::memory_order_seq_cst) == (own_sections > 0 ? 1 : 0);
  each_fork_part([&](ForkPart& part) { quiet = quiet && (part.quiet == nullptr || part.quiet()); });
  return quiet;
}

STROP_IMPL std::int64_t fork_clock() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

STROP_IMPL void take_turn_of_fork() noexcept {
  forks.wanting.fetch_add(1, std::memory_order_relaxed);
  take_forks(forks.turn);
  forks.wanting.fetch_sub(1, std::memory_order_relaxed);
  ++fork_passes;
  forking.store(1, std::memory_order_seq_cst);
}
STROP_IMPL void end_turn_of_fork() noexcept {
  open_forks();
  --fork_passes;
  forks.turn.store(false, std::memory_order_release);
}

/// Returns with nothing pending, and others held back. What is pending may wait for a thread that is held back, or may
/// itself want to fork: where it takes long the turn is given back and others go on for a tenth of the time, and next
/// time it is given longer to end.
STROP_IMPL void wait_until_quiet() noexcept {
  constexpr std::int64_t first = 100'000'000;
  for (std::int64_t patience = first;; patience *= 2) {
    take_turn_of_fork();
    const std::int64_t begin = fork_clock();
    for (ForkNap nap; !is_quiet_for_fork(); nap()) {
      each_fork_part([](ForkPart& part) {
        if (part.help != nullptr) part.help();
      });
      const std::int64_t waited = fork_clock() - begin;
      if (waited > patience || (waited > first && forks.wanting.load(std::memory_order_relaxed) > 0)) break;
    }
    if (is_quiet_for_fork()) return;
    end_turn_of_fork();
    const std::int64_t pause = patience / 10;
    const timespec moment{static_cast<time_t>(pause / 1'000'000'000), static_cast<long>(pause % 1'000'000'000)};
    nanosleep(&moment, nullptr);
  }
}

STROP_IMPL void settle_for_fork() noexcept {
  unlocked([] {
    wait_until_quiet();
    end_turn_of_fork();
  });
}

STROP_IMPL void before_fork() noexcept {
  unlocked([] { wait_until_quiet(); });
  take_forks(forks.changing);
  for (ForkPart* part = forks.first; part != nullptr; part = part->next) part->before();
}
STROP_IMPL void after_fork(ForkPart* part, bool child) noexcept {
  if (part == nullptr) return;
  after_fork(part->next, child);
  part->after(child);
}
STROP_IMPL void after_fork(bool child) noexcept {
  if (child) {
    fork_sections.store(own_sections > 0 ? 1 : 0, std::memory_order_relaxed);
    forks.wanting.store(0, std::memory_order_relaxed);
    const unsigned char mark = fork_mark.load(std::memory_order_relaxed);
    fork_mark.store(mark == 255 ? 1 : static_cast<unsigned char>(mark + 1), std::memory_order_relaxed);
  }
  after_fork(forks.first, child);
  forks.changing.store(false, std::memory_order_release);
  end_turn_of_fork();
}

STROP_IMPL void join_forks_now(ForkPart& part) noexcept {
  take_forks(forks.changing);
  if (!part.joined.load(std::memory_order_relaxed)) {
    ForkPart** at = &forks.first;
    while (*at != nullptr && (*at)->place <= part.place) at = &(*at)->next;
    part.next = *at;
    *at = &part;
    part.joined.store(true, std::memory_order_release);
  }
  if (!forks.handled)
    forks.handled = pthread_atfork([] { before_fork(); }, [] { after_fork(false); }, [] { after_fork(true); }) == 0;
  forks.changing.store(false, std::memory_order_release);
}

}  // namespace strop::inline v0::detail
