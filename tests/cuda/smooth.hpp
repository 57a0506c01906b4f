// SPDX-License-Identifier: Apache-2.0
/// \file
/// Those of these tests' maps that nvcc takes longest for. smooth.cu brings their GPU kernels.
#pragma once
#include <strop/strop.hpp>

#include <tuple>

namespace checks {

struct SoftHinge {
  constexpr auto forward(auto x, auto y) const { return where(x > y, log1p(exp(x - y)), tanh(x * y)); }
};
inline constexpr strop::Op<SoftHinge> soft_hinge;
struct SumAndProduct {
  constexpr auto forward(auto x, auto y) const { return std::make_tuple(x + y, x * y); }
};
inline constexpr strop::Op<SumAndProduct> sum_and_product;
/// With a = 0 terms that are infinite at 0 drop out.
struct Dropped {
  float a = 0;
  constexpr auto forward(auto x, auto y) const { return (a / x + 2) * x + a * log(y) + a * x / y + x * y; }
};
inline constexpr strop::Op<Dropped> dropped;
struct Softened {
  constexpr auto forward(auto x, auto y) const { return softplus(x) + sinc(y) + xlogy(x, 4 + y); }
};
inline constexpr strop::Op<Softened> softened;

}  // namespace checks
