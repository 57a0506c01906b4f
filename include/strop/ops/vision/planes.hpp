// SPDX-License-Identifier: Apache-2.0
/// \file
/// Planes of images, shared out among threads.
#pragma once
#include <strop/core/isa.hpp>
#include <strop/engine/pool.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// f(plane) for each plane of images, each of `size` elements.
template <class F>
constexpr void each_plane(std::int64_t planes, std::int64_t size, F f) {
  parallel_for(planes, std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, size)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) f(i);
               });
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
