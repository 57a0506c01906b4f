// SPDX-License-Identifier: Apache-2.0
/// \file
/// How numbers that a program writes become elements.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/scalar.hpp>

#include <cstring>

namespace strop::inline v0 {

STROP_IMPL void Scalar::store(Dtype dtype, void* to) const {
  visit(dtype, [&]<class E>() {
    E element;
    if constexpr (std::same_as<E, bool>)
      element = real != 0;
    else if constexpr (std::integral<E>)
      element = static_cast<E>(detail::nearest_integer(dtype, whole));
    else
      element = is_whole ? convert<E>(whole) : convert<E>(real);
    std::memcpy(to, &element, sizeof element);
  });
}

}  // namespace strop::inline v0
