// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which tensors the gradient of a call takes and gives: one list, which the tape, graphs and descriptions read.
#pragma once
#include <strop/core/list.hpp>
#include <strop/op/entry.hpp>
#include <strop/op/tags.hpp>

#include <cstddef>
#include <cstdint>

namespace strop::inline v0::detail {

/// Whether a set of tensors, a bit each, has this one; `every` has all of them.
inline bool in_mask(std::uint64_t mask, std::integral auto i) {
  return mask == every || (i < 64 && (mask >> i & 1U) != 0);
}

/// One tensor that a gradient takes: a head gradient, an input or an output of the call, by its position there.
struct GradientArgument {
  Role role = Role::head;
  int at = 0;
};

/// The arguments of a gradient in their order, and the inputs whose gradients are its results.
struct GradientRoles {
  List<GradientArgument, 8> takes;
  List<int, 4> gives;
};

/// Of a call with so many inputs (optional ones that were left out are not there) and outputs.
inline GradientRoles gradient_roles(const GradientRule& rule, Index inputs, Index outputs) {
  GradientRoles roles;
  const auto take = [&](Role role, std::uint64_t mask, Index count) {
    for (int k = 0; k < count; ++k)
      if (in_mask(mask, k)) roles.takes.push_back({role, k});
  };
  take(Role::head, rule.heads, outputs);
  take(Role::in, rule.in, inputs);
  take(Role::out, rule.out, outputs);
  for (int i = 0; i < inputs; ++i)
    if (in_mask(rule.gives, i)) roles.gives.push_back(i);
  return roles;
}

}  // namespace strop::inline v0::detail
