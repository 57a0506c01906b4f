// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pack<E>, as many elements as one thread moves at once: 16 bytes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace strop::inline v0::cuda {

/// As many elements as one thread moves at once.
template <class E>
struct alignas(16) Pack {
  static constexpr std::int64_t size = 16 / static_cast<std::int64_t>(sizeof(E));
  E e[static_cast<std::size_t>(size)];
};
/// Whether a pack may begin there.
inline bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

}  // namespace strop::inline v0::cuda
