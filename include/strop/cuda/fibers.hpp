// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions that take turns on one thread of the machine, each on a stack of its own; the address and the thread
/// sanitizer are told of every turn.
#pragma once
#include <strop/core/config.hpp>

#include <cstdint>
#include <memory>

namespace strop::inline v0::detail {

/// As many functions as a block has threads. Used by the thread of the machine that made it.
class Fibers {
 public:
  using Body = void (*)(void* argument, int fiber) noexcept;

  explicit Fibers(int count);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  int count() const;
  /// Fiber i begins with body(argument, i) when it is resumed next; what it was doing is forgotten.
  void start(int i, Body body, void* argument);
  /// Runs fiber i until it pauses or ends.
  void resume(int i);
  /// Goes back to who resumed this fiber. Called by a fiber, within an EmulatorScope.
  void pause();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/cuda/fibers_impl.hpp>
#endif
