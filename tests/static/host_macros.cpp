// SPDX-License-Identifier: Apache-2.0
/// \file
/// Macros that hosts have for words of ours, defined before our headers are read, and still there behind them; globals
/// that no warning about our headers mentions. What macros and warnings do they do where a body is read, so every
/// body is read here and none is built: that would take 2.7 GB.
#include "host_macros.hpp"

#include <strop/eigen.hpp>
#include <strop/strop.hpp>

static_assert(max(N, 3) == 10 && min(N, 3) == 3 && E > 2.7 && Success == False);

struct Halved {
  float by = 2;
  constexpr auto forward(auto given) const { return given / by; }
};
inline constexpr strop::Op<Halved> halved;

strop::Array use(const strop::Array& given);
strop::Array use(const strop::Array& given) { return strop::tanh(halved(given, {.by = 3})) + given; }
