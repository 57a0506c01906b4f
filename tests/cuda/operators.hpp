// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operators of these tests. kernels.cu includes this and nothing else, and so brings their GPU kernels.
#pragma once
#include <strop/strop.hpp>

#include <string_view>
#include <tuple>

namespace checks {

struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
inline constexpr strop::Op<Quadratic> quadratic;
struct SoftHinge {
  constexpr auto forward(auto x, auto y) const { return where(x > y, log1p(exp(x - y)), tanh(x * y)); }
};
inline constexpr strop::Op<SoftHinge> soft_hinge;
/// Linear in each input: its gradient reads one of the inputs, or none.
struct Weighted {
  float weight = 3;
  constexpr auto forward(auto x, auto y) const { return weight * x + y; }
};
inline constexpr strop::Op<Weighted> weighted;
struct SumAndProduct {
  constexpr auto forward(auto x, auto y) const { return std::make_tuple(x + y, x * y); }
};
inline constexpr strop::Op<SumAndProduct> sum_and_product;
/// Its gradient reads the output.
struct Squash {
  constexpr auto forward(auto x) const { return sigmoid(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * y * (1 - y); }
};
inline constexpr strop::Op<Squash> squash;
struct Halved {
  static constexpr auto dtypes = strop::integral | strop::floating | strop::boolean;
  constexpr auto forward(auto x) const { return x / 2; }
};
inline constexpr strop::Op<Halved> halved;
struct Scaled {
  static constexpr auto dtypes = strop::integral | strop::floating;
  constexpr auto forward(auto x) const { return 100.75 * x; }
};
inline constexpr strop::Op<Scaled> scaled;
/// Writes its second input.
struct Decay {
  static constexpr std::string_view inputs[] = {"x", "state"}, mutates[] = {"state"};
  constexpr auto forward(auto x, auto state) const {
    const auto next = 0.5 * state + x;
    return std::make_tuple(x - next, next);
  }
};
inline constexpr strop::Op<Decay> decay;

}  // namespace checks
