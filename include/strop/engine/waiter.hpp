// SPDX-License-Identifier: Apache-2.0
/// \file
/// Who completes the operations of a device's queue when what they left on its stream is done.
#pragma once
#include <cstdint>
#include <strop/engine/sync.hpp>

namespace strop::inline v0 {
namespace memory::detail {
class GpuStream;
}
namespace detail {

struct Operation;

/// One thread that waits for one stream, from the first operation on it: the threads that run operations go on. The
/// stream's order is that of the operations.
class StreamWaiter {
 public:
  StreamWaiter() = default;
  StreamWaiter(const StreamWaiter&) = delete;
  StreamWaiter& operator=(const StreamWaiter&) = delete;

  /// Completes the asynchronous operation when the mark has passed, with what fails on the way. Waits for it here where
  /// the system has no thread or memory left to give.
  void add(Operation* operation, memory::detail::GpuStream& stream, std::uint64_t mark);

  /// Ends the thread. Nothing is waited for any more.
  void stop() noexcept;

  /// Around a fork, at which nothing is waited for. The thread starts again in the child when it is needed.
  void before_fork() noexcept { lock_.lock(); }
  void after_fork(bool child) noexcept {
    if (child) {
      started_ = false;
      wake_.reset();
      for (const Item* item = first_; item != nullptr; item = item->next) wake_.release();
    }
    lock_.unlock();
  }

 private:
  struct Item {
    Operation* operation;
    memory::detail::GpuStream* stream;
    std::uint64_t mark;
    Item* next = nullptr;
  };
  static void complete(Operation* operation, memory::detail::GpuStream& stream, std::uint64_t mark) noexcept;
  void work() noexcept;

  SpinLock lock_;
  Item *first_ = nullptr, *last_ = nullptr;
  bool started_ = false, stopping_ = false;
  Semaphore wake_;
  Thread thread_;
};

}  // namespace detail
}  // namespace strop::inline v0
