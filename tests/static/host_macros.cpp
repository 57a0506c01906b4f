// SPDX-License-Identifier: Apache-2.0
/// \file
/// Macros that hosts have for words of ours, defined before our headers are read, and still there behind them.
#include "host_macros.hpp"

#include <strop/eigen.hpp>
#include <strop/ops/all.hpp>
#include <strop/strop.hpp>

static_assert(max(N, 3) == 10 && min(N, 3) == 3 && E > 2.7 && Success == False);

struct Halved {
  float by = 2;
  constexpr auto forward(auto x) const { return x / by; }
};
inline constexpr strop::Op<Halved> halved;

strop::Array use(const strop::Array& x);
strop::Array use(const strop::Array& x) { return strop::tanh(halved(x, {.by = 3})) + x; }
