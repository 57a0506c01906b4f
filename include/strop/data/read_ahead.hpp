// SPDX-License-Identifier: Apache-2.0
/// \file
/// Makes the next items while the one before is used.
#pragma once
#include <strop/engine/engine.hpp>

#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// Up to `depth` items are made ahead of who takes them, one after the other, by operations of the global engine, in
/// whose traces they stand as `name`. With a depth of 0 an item is made when it is asked for. One thread takes items.
template <class Item, class Make>
class ReadAhead {
 public:
  /// `make(item)` makes the next item; false: there is none.
  ReadAhead(const char* name, std::size_t depth, Make make)
      : name_(name), make_(std::move(make)), ahead_(depth > 0), slots_(ahead_ ? depth : 1) {}
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead() { finish(); }

  /// The next item; false at the end. What making it threw is thrown here, and again until restart().
  bool next(Item& to) {
    if (!running_) start();
    Slot& slot = slots_[at_];
    if (ahead_)
      Engine::global().wait(slot.done);
    else if (!slot.failure)
      fill(slot);
    if (slot.failure) std::rethrow_exception(slot.failure);
    if (!slot.filled) return false;
    to = std::move(slot.item);
    if (ahead_) push(slot);
    at_ = (at_ + 1) % slots_.size();
    return true;
  }

  /// Drops what was made ahead. f sets back what items are made of; the next call of next() begins there.
  template <class F>
  void restart(F f) {
    finish();
    f();
  }

 private:
  struct Slot {
    Item item;
    bool filled = false;
    std::exception_ptr failure;
    Engine::Variable done;
  };
  void start() {
    running_ = true;
    over_ = false;
    at_ = 0;
    for (Slot& slot : slots_) slot.failure = nullptr;
    if (!ahead_) return;
    source_ = Engine::global().variable();
    for (Slot& slot : slots_) {
      slot.done = Engine::global().variable();
      push(slot);
    }
  }
  void push(Slot& slot) {
    Engine::global().push([this, &slot] { fill(slot); }, {.writes = {source_, slot.done}, .name = name_});
  }
  void fill(Slot& slot) noexcept {
    slot.filled = false;
    if (over_) return;
    try {
      slot.item = {};  // of a batch that nobody took, or what one that was taken left
      slot.filled = make_(slot.item);
    } catch (...) {
      slot.failure = std::current_exception();
    }
    over_ = !slot.filled;
  }
  void finish() noexcept {
    if (!std::exchange(running_, false) || !ahead_) return;
    try {
      Engine::global().wait_idle(source_);
    } catch (...) {  // operations keep their failures to themselves
    }
  }

  const char* name_;
  Make make_;
  bool ahead_;
  std::vector<Slot> slots_;
  std::size_t at_ = 0;
  bool running_ = false, over_ = false;
  Engine::Variable source_;
};

}  // namespace strop::inline v0::detail
