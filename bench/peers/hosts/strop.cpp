// SPDX-License-Identifier: Apache-2.0
// softsign by strop/torch.hpp.
#include <strop/op.hpp>
#include <strop/torch.hpp>

struct Softsign {
  constexpr auto forward(auto x) const { return x / (1 + abs(x)); }
};
inline constexpr strop::Op<Softsign> softsign;

STROP_TORCH_LIBRARY(by_struct);
