// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a device's operations are completed.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <strop/core/config.hpp>
#include <strop/core/fork.hpp>
#include <strop/engine/core.hpp>
#include <strop/engine/waiter.hpp>
#include <strop/memory/gpu.hpp>
#include <utility>

namespace strop::inline v0::detail {

STROP_IMPL void StreamWaiter::add(Operation* operation, memory::detail::GpuStream& stream, std::uint64_t mark) {
  auto item = std::make_unique<Item>(Item{operation, &stream, mark});
  Core::retain(operation);
  {
    Hold hold(lock_);
    if (!started_)
      started_ =
          thread_.start([](void* self) -> void* { return static_cast<StreamWaiter*>(self)->work(), nullptr; }, this);
    if (started_) {
      (first_ == nullptr ? first_ : last_->next) = item.get();
      last_ = item.release();
    }
  }
  if (item == nullptr)
    wake_.release();
  else
    complete(*item);
}

STROP_IMPL void StreamWaiter::complete(const Item& item) noexcept {
  const ForkPass pass;  // a fork waits for the operation, not the other way round
  std::exception_ptr error;
  try {
    item.stream->wait(item.mark);
  } catch (...) {
    error = std::current_exception();
  }
  Core::done(item.operation, std::move(error));
  Core::drop(item.operation);
}

STROP_IMPL void StreamWaiter::work() noexcept {
  for (;;) {
    wake_.acquire();
    std::unique_ptr<Item> item;
    {
      Hold hold(lock_);
      item.reset(first_);
      if (item == nullptr) {
        if (stopping_) return;
        continue;
      }
      first_ = item->next;
    }
    complete(*item);
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
