// SPDX-License-Identifier: Apache-2.0
// An extension of PyTorch: torch.ops.curves.squash, with its gradients, from one struct.
#include <strop/op.hpp>
#include <strop/torch.hpp>

/// x / (1 + beta |x|)
struct Squash {
  float beta = 1;
  constexpr auto forward(auto x) const { return x / (1 + beta * abs(x)); }
};
inline constexpr strop::Op<Squash> squash;

STROP_TORCH_LIBRARY(curves);
