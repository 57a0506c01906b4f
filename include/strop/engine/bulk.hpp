// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bulks: the small operations of one thread, pushed together as one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <source_location>
#include <strop/engine/core.hpp>
#include <strop/engine/operation.hpp>
#include <strop/engine/variable.hpp>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// What this thread has pushed inside an EngineBulk and what is not submitted yet.
class Gathering {
 public:
  static inline constinit thread_local Gathering* current = nullptr;

  Gathering(Core& core, std::size_t most) : core_(core), most_(most), outer_(std::exchange(current, this)) {
    if (outer_ != nullptr) outer_->flush();
  }
  ~Gathering() {
    flush();
    current = outer_;
  }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  /// Whether it gathers what `running`, the operation that this thread runs, pushes.
  bool is_of(const Running* running) const { return here_ == running; }
  /// Before anything that may see whether an operation has been pushed.
  static void flush_current() {
    if (current != nullptr) [[unlikely]]
      current->flush();
  }
  /// Whether something is gathered for this engine.
  static bool holds(const Core* core) { return current != nullptr && &current->core_ == core && current->count_ > 0; }

  /// Takes the operation over, or submits it behind what is gathered where it cannot be part of a bulk.
  void take(Core& core, Operation* operation);

  /// Submits what is gathered. Never throws: with no memory for the bulk its operations go one by one.
  void flush() noexcept;

 private:
  struct Members;
  /// One operation that uses what they use, or null where there is no memory for it.
  Operation* united(Operation* first) noexcept;

  Core& core_;
  const std::size_t most_;
  const Running* const here_ =
      Running::current();  // operations that this thread runs while it waits push for themselves
  Gathering* const outer_;
  ReadyList list_;
  std::vector<Var*> vars_;  // that they use: they live at least until then
  std::size_t count_ = 0;
};

/// What a push ends in.
inline void enqueue(Core& core, Operation* operation) {
  if (Gathering::current != nullptr && Gathering::current->is_of(Running::current())) [[unlikely]]
    Gathering::current->take(core, operation);
  else
    core.submit(operation);
}

}  // namespace strop::inline v0::detail
