// SPDX-License-Identifier: Apache-2.0
/// \file
/// When emulated kernels run, and in which order their threads do.
#pragma once
#include <strop/cuda/emulate.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>

/// The program runs once more for every level and asynchronously, which is nothing to a GPU's kernels.
inline const auto once =
    doctest::skip(std::getenv("STROP_ISA") != nullptr || std::getenv("STROP_TEST_ASYNCHRONOUS") != nullptr);

/// Each emulation in another order.
inline strop::cuda::Emulation next_order() {
  using strop::cuda::Order;
  static std::uint64_t calls = 0;
  constexpr Order orders[] = {Order::ascending, Order::descending, Order::seeded};
  return {orders[calls % 3], ++calls};
}
