// SPDX-License-Identifier: Apache-2.0
/// \file
/// How functions take turns: by <ucontext.h>, which every processor of Linux has.
#pragma once
#include <strop/core/sanitizer.hpp>
#include <strop/cuda/fibers.hpp>

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// While it lives the thread sanitizer does not look at what a fiber does for the emulator: that is in order, as fibers
/// take turns, and says nothing of the order of what they do for themselves.
struct EmulatorScope {
  EmulatorScope() {
    if constexpr (watches_threads) __tsan_ignore_thread_begin();
  }
  ~EmulatorScope() {
    if constexpr (watches_threads) __tsan_ignore_thread_end();
  }
  EmulatorScope(const EmulatorScope&) = delete;
  EmulatorScope& operator=(const EmulatorScope&) = delete;
};

struct Fibers::State {
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<std::byte[]> stack;
    void* watched = nullptr;  // what the thread sanitizer knows it by
    void* fake_stack = nullptr;
    Body body = nullptr;
    void* argument = nullptr;
  };
  static constexpr std::size_t stack_bytes = (sanitized || watches_threads ? 512U : 64U) << 10U;
  static constexpr unsigned without_order = 1;  // a turn says nothing of what happens before what

  std::vector<Fiber> fibers;
  ucontext_t outside;
  void* outside_watched = nullptr;
  const void* outside_stack = nullptr;
  std::size_t outside_bytes = 0;
  int running = -1;

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
    if constexpr (watches_threads) __tsan_switch_to_fiber(next, without_order);
    setcontext(&state->outside);
  }
  /// A fiber was entered, whose stack the address sanitizer knew by `fake_stack`.
  void arrive(void* fake_stack) {
    if constexpr (sanitized) __sanitizer_finish_switch_fiber(fake_stack, &outside_stack, &outside_bytes);
  }
  /// A fiber is about to be left; for good where nothing is kept.
  void leave(void** fake_stack) {
    if constexpr (sanitized) __sanitizer_start_switch_fiber(fake_stack, outside_stack, outside_bytes);
  }
};

STROP_IMPL Fibers::Fibers(int count) : state_(std::make_unique<State>()) {
  state_->fibers.resize(static_cast<std::size_t>(count));
  for (State::Fiber& fiber : state_->fibers) {
    fiber.stack.reset(new std::byte[State::stack_bytes]);  // not made zero: most of it is never touched
    if constexpr (watches_threads) fiber.watched = __tsan_create_fiber(0);
  }
}
STROP_IMPL Fibers::~Fibers() {
  if constexpr (watches_threads)
    for (const State::Fiber& fiber : state_->fibers) __tsan_destroy_fiber(fiber.watched);
}

STROP_IMPL int Fibers::count() const { return static_cast<int>(state_->fibers.size()); }

STROP_IMPL void Fibers::start(int i, Body body, void* argument) {
  State::Fiber& fiber = state_->fibers[static_cast<std::size_t>(i)];
  fiber.body = body;
  fiber.argument = argument;
  fiber.fake_stack = nullptr;
  if constexpr (sanitized) __asan_unpoison_memory_region(fiber.stack.get(), State::stack_bytes);
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = State::stack_bytes;
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
  if constexpr (watches_threads) {
    state.outside_watched = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber.watched, State::without_order);
  }
  if constexpr (sanitized) __sanitizer_start_switch_fiber(&fake_stack, fiber.stack.get(), State::stack_bytes);
  swapcontext(&state.outside, &fiber.context);
  if constexpr (sanitized) __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
  state.running = -1;
  State::starting() = before;
}

STROP_IMPL void Fibers::pause() {
  State& state = *state_;
  State::Fiber& fiber = state.fibers[static_cast<std::size_t>(state.running)];
  state.leave(&fiber.fake_stack);
  if constexpr (watches_threads) __tsan_switch_to_fiber(state.outside_watched, State::without_order);
  swapcontext(&fiber.context, &state.outside);
  state.arrive(fiber.fake_stack);
}

}  // namespace strop::inline v0::detail
