// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operator that every part of the program names.
#pragma once
#include <strop/strop.hpp>

struct Shared {
  float a = 2;
  constexpr auto forward(auto x) const { return exp(a * x) - 1; }
};
inline constexpr strop::Op<Shared> shared_by_all;
