// SPDX-License-Identifier: Apache-2.0
/// \file
/// How functions take turns: by <ucontext.h>, which every processor of Linux has.
#pragma once
#include <strop/cuda/fibers.hpp>

#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {  // of the sanitizers, where the program has them
__attribute__((weak)) void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, std::size_t* size);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* memory, std::size_t size);
__attribute__((weak)) void* __tsan_get_current_fiber();
__attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
__attribute__((weak)) void __tsan_destroy_fiber(void* fiber);
__attribute__((weak)) void __tsan_switch_to_fiber(void* fiber, unsigned flags);
__attribute__((weak)) void __tsan_ignore_thread_begin();
__attribute__((weak)) void __tsan_ignore_thread_end();
}
// NOLINTEND(bugprone-reserved-identifier)

namespace strop::inline v0::detail {

/// Whether the program has the sanitizers, also where this runtime was compiled without them.
inline bool has_address_sanitizer() { return __sanitizer_start_switch_fiber != nullptr; }
inline bool has_thread_sanitizer() { return __tsan_create_fiber != nullptr; }

/// Stacks, below each of which lies as much memory that nobody may touch: a stack that is too small ends the program
/// there.
class Stacks {
 public:
  Stacks(std::size_t count, std::size_t bytes) : all_(2 * count * bytes), bytes_(bytes) {
    void* const made = mmap(nullptr, all_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(made);
    for (std::size_t i = 0; i < count; ++i)
      if (mprotect(memory_ + 2 * i * bytes, bytes, PROT_NONE) != 0) {
        munmap(memory_, all_);
        throw std::bad_alloc();
      }
  }
  ~Stacks() { munmap(memory_, all_); }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  std::byte* at(std::size_t i) const { return memory_ + (2 * i + 1) * bytes_; }
  std::size_t bytes() const { return bytes_; }  // of one

 private:
  std::size_t all_, bytes_;  // whole pages
  std::byte* memory_ = nullptr;
};

/// While it lives the thread sanitizer does not look at what a fiber does for the emulator: that is in order, as fibers
/// take turns, and says nothing of the order of what they do for themselves.
struct EmulatorScope {
  EmulatorScope() {
    if (has_thread_sanitizer()) __tsan_ignore_thread_begin();
  }
  ~EmulatorScope() {
    if (has_thread_sanitizer()) __tsan_ignore_thread_end();
  }
  EmulatorScope(const EmulatorScope&) = delete;
  EmulatorScope& operator=(const EmulatorScope&) = delete;
};

struct Fibers::State {
  struct Fiber {
    ucontext_t context;
    void* watched = nullptr;  // what the thread sanitizer knows it by
    void* fake_stack = nullptr;
    Body body = nullptr;
    void* argument = nullptr;
  };
  static constexpr unsigned without_order = 1;  // a turn says nothing of what happens before what

  Stacks stacks;
  std::vector<Fiber> fibers;
  ucontext_t outside;
  void* outside_watched = nullptr;
  const void* outside_stack = nullptr;
  std::size_t outside_bytes = 0;
  int running = -1;

  explicit State(std::size_t count)
      : stacks(count, std::size_t{has_address_sanitizer() || has_thread_sanitizer() ? 512U : 64U} << 10U),
        fibers(count) {}
  static State*& starting() {
    static thread_local State* state = nullptr;
    return state;
  }
  static void begin() {
    State* state = nullptr;
    Body body = nullptr;
    void* argument = nullptr;
    int i = 0;
    {
      const EmulatorScope emulator;
      state = starting();
      state->arrive(nullptr);
      i = state->running;
      body = state->fibers[static_cast<std::size_t>(i)].body;
      argument = state->fibers[static_cast<std::size_t>(i)].argument;
    }
    body(argument, i);
    void* next = nullptr;
    {
      const EmulatorScope emulator;
      next = state->outside_watched;
      state->leave(nullptr);
    }
    if (has_thread_sanitizer()) __tsan_switch_to_fiber(next, without_order);
    setcontext(&state->outside);
  }
  /// A fiber was entered, whose stack the address sanitizer knew by `fake_stack`.
  void arrive(void* fake_stack) {
    if (has_address_sanitizer()) __sanitizer_finish_switch_fiber(fake_stack, &outside_stack, &outside_bytes);
  }
  /// A fiber is about to be left; for good where nothing is kept.
  void leave(void** fake_stack) {
    if (has_address_sanitizer()) __sanitizer_start_switch_fiber(fake_stack, outside_stack, outside_bytes);
  }
};

STROP_IMPL Fibers::Fibers(int count) : state_(std::make_unique<State>(static_cast<std::size_t>(count))) {
  if (has_thread_sanitizer())
    for (State::Fiber& fiber : state_->fibers) fiber.watched = __tsan_create_fiber(0);
}
STROP_IMPL Fibers::~Fibers() {
  if (has_thread_sanitizer())
    for (const State::Fiber& fiber : state_->fibers) __tsan_destroy_fiber(fiber.watched);
}

STROP_IMPL int Fibers::count() const { return static_cast<int>(state_->fibers.size()); }

STROP_IMPL void Fibers::start(int i, Body body, void* argument) {
  const auto at = static_cast<std::size_t>(i);
  State::Fiber& fiber = state_->fibers[at];
  fiber.body = body;
  fiber.argument = argument;
  fiber.fake_stack = nullptr;
  if (has_address_sanitizer()) __asan_unpoison_memory_region(state_->stacks.at(at), state_->stacks.bytes());
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = state_->stacks.at(at);
  fiber.context.uc_stack.ss_size = state_->stacks.bytes();
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, &State::begin, 0);
}

STROP_IMPL void Fibers::resume(int i) {
  State& state = *state_;
  State::Fiber& fiber = state.fibers[static_cast<std::size_t>(i)];
  State* const before = State::starting();
  State::starting() = &state;
  state.running = i;
  void* fake_stack = nullptr;
  if (has_thread_sanitizer()) {
    state.outside_watched = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber.watched, State::without_order);
  }
  if (has_address_sanitizer())
    __sanitizer_start_switch_fiber(&fake_stack, state.stacks.at(static_cast<std::size_t>(i)), state.stacks.bytes());
  swapcontext(&state.outside, &fiber.context);
  if (has_address_sanitizer()) __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
  state.running = -1;
  State::starting() = before;
}

STROP_IMPL void Fibers::pause() {
  State& state = *state_;
  State::Fiber& fiber = state.fibers[static_cast<std::size_t>(state.running)];
  state.leave(&fiber.fake_stack);
  if (has_thread_sanitizer()) __tsan_switch_to_fiber(state.outside_watched, State::without_order);
  swapcontext(&fiber.context, &state.outside);
  state.arrive(fiber.fake_stack);
}

}  // namespace strop::inline v0::detail
