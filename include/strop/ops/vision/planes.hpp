// SPDX-License-Identifier: Apache-2.0
/// \file
/// Planes of images: how threads share them out, and what their gradients are added up in.
#pragma once
#include <strop/core/isa.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

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

/// A gradient whose elements are sums of any number of terms. They are added up in double, from 0, so that no digit is
/// lost with their number; store() gives them to the `size` elements at `to`.
template <class E>
class GradientSums {
 public:
  GradientSums(E* to, std::int64_t size) : to_(to), size_(size) {
    if constexpr (in_place)
      std::fill_n(to, size, 0.0);
    else
      held_ = List<double>(size);
  }
  double* data() {
    if constexpr (in_place)
      return to_;
    else
      return held_.data();
  }
  void store() {
    if constexpr (!in_place)
      parallel_for(size_, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) to_[i] = static_cast<E>(held_[i]);
      });
  }

 private:
  static constexpr bool in_place = std::is_same_v<E, double>;
  E* to_;
  std::int64_t size_;
  List<double> held_;
};

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
