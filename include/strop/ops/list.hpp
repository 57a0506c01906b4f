// SPDX-License-Identifier: Apache-2.0
/// \file
/// OpList: the operators of a family as a list of types.
#pragma once

namespace strop::inline v0 {

/// Names operators by their types; ops/all.hpp registers what the families' lists name.
template <class...>
struct OpList {};

}  // namespace strop::inline v0
