// SPDX-License-Identifier: Apache-2.0
/// \file
/// Waits of calls that a front end may end.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/ref.hpp>
#include <strop/tensor/buffer.hpp>

#include <atomic>

namespace strop::inline v0::detail {

/// A front end's way to wait, inside a call, for what was enqueued: `wait` says for what, and throws what failed
/// there. It may throw what ends the wait; the call's results are let go of then.
using WaitApart = void (*)(const Ref<Pending>& order, void (*wait)(Pending& order));
inline constinit std::atomic<WaitApart> wait_apart{nullptr};

inline void wait_in_call(Pending& order, void (*wait)(Pending& order)) {
  if (const WaitApart apart = wait_apart.load(std::memory_order_acquire)) [[unlikely]]
    apart(Ref<Pending>(&order), wait);
  else
    wait(order);
}

}  // namespace strop::inline v0::detail
