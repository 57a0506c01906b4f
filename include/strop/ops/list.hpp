// SPDX-License-Identifier: Apache-2.0
/// \file
/// OpList: the operators of a family as a list of types, and their registration all together.
#pragma once
#include <strop/op/op.hpp>

namespace strop::inline v0 {

/// Names operators by their types; ops/all.hpp registers what the families' lists name.
template <class... T>
struct OpList {
  /// Puts every operator of the list into the registry when the program starts, used or not.
  static const void* enrol() {
    (detail::LibraryEnroller<T>::run(), ...);
    return nullptr;
  }
};

}  // namespace strop::inline v0
