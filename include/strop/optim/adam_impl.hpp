// SPDX-License-Identifier: Apache-2.0
/// \file
/// What Adam's rate is multiplied with.
#pragma once
#include <strop/core/config.hpp>
#include <strop/optim/adam.hpp>

#include <cmath>
#include <cstdint>

namespace strop::inline v0::detail {

STROP_IMPL double bias_correction(double beta1, double beta2, std::int64_t t) {
  const auto updates = static_cast<double>(t);
  return std::sqrt(1 - std::pow(beta2, updates)) / (1 - std::pow(beta1, updates));
}

}  // namespace strop::inline v0::detail
