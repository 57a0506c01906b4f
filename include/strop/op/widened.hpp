// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which gradients are computed in double because their operators take no integers.
#pragma once
#include <strop/op/entry.hpp>

namespace strop::inline v0::detail {

/// Whether a gradient operator of floating types alone meets integers: it then computes in double.
inline bool lacks_integers(const Entry& entry, Dtype type) {
  if (is_floating(type)) return false;
  return entry.is_map() ? !entry.dtypes.contains(type) : entry.takes != nullptr && !entry.takes(type);
}

/// What it computes such an array in.
constexpr Dtype wide_type(Dtype type) { return is_floating(type) ? type : f64; }

}  // namespace strop::inline v0::detail
