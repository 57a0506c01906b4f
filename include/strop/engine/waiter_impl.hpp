// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a device's operations are completed.
#pragma once
#include <cstdint>
#include <exception>
#include <new>
#include <strop/core/config.hpp>
#include <strop/core/fork.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/waiter.hpp>
#include <strop/memory/gpu.hpp>
#include <utility>

namespace strop::inline v0::detail {

STROP_IMPL void StreamWaiter::add(Operation* operation, memory::detail::GpuStream& stream, std::uint64_t mark) {
  auto* const item = new (std::nothrow) Item{operation, &stream, mark};
  Core::retain(operation);
  bool waits = false;
  if (item != nullptr) {
    Hold hold(lock_);
    if (!started_ && !stopping_)
      started_ =
          thread_.start([](void* self) -> void* { return static_cast<StreamWaiter*>(self)->work(), nullptr; }, this);
    waits = started_;
    if (waits) {
      (first_ == nullptr ? first_ : last_->next) = item;
      last_ = item;
    }
  }
  if (waits) return wake_.release();
  complete(operation, stream, mark);
  delete item;
}

STROP_IMPL void StreamWaiter::complete(Operation* operation, memory::detail::GpuStream& stream,
                                       std::uint64_t mark) noexcept {
  const ForkPass pass;  // a fork waits for the operation, not the other way round
  std::exception_ptr error;
  try {
    stream.wait(mark);
  } catch (...) {
    error = std::current_exception();
  }
  Core::done(operation, std::move(error));
  Core::drop(operation);
}

STROP_IMPL void StreamWaiter::work() noexcept {
  for (;;) {
    wake_.acquire();
    Item* item = nullptr;
    {
      Hold hold(lock_);
      item = first_;
      if (item == nullptr) {
        if (stopping_) return;
        continue;
      }
      first_ = item->next;
    }
    complete(item->operation, *item->stream, item->mark);
    delete item;
  }
}

STROP_IMPL void StreamWaiter::stop() noexcept {
  {
    Hold hold(lock_);
    if (!started_) return;
    started_ = false;
    stopping_ = true;
  }
  wake_.release();
  thread_.join();
}

}  // namespace strop::inline v0::detail
