// SPDX-License-Identifier: Apache-2.0
/// \file
/// The error function, its inverse and the gamma functions, element by element.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct Erf {
  static constexpr std::string_view name = "erf";
  static constexpr std::string_view aliases[] = {"_npx_erf"};
  static constexpr const char* doc =
      "The error function 2/√π ∫₀ˣ exp(−t²) dt. Floating types. A sparse input gives a result of its storage. "
      "Example: erf(array({0, 1})) is [0, 0.8427008].";
  constexpr auto forward(auto x) const { return erf(x); }
};

struct Erfinv {
  static constexpr std::string_view name = "erfinv";
  static constexpr std::string_view aliases[] = {"_npx_erfinv"};
  static constexpr const char* doc =
      "The y with erf(y) = x; ±inf at ±1, NaN beyond. Floating types. A sparse input gives a result of its storage. "
      "Example: erfinv(array({0, 0.5})) is [0, 0.4769363].";
  constexpr auto forward(auto x) const { return erfinv(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * (0.88622692545275801365 * exp(y * y)); }
};

struct Gamma {
  static constexpr std::string_view name = "gamma";
  static constexpr std::string_view aliases[] = {"_sparse_gamma", "_npx_gamma"};
  static constexpr const char* doc =
      "Γ(x); NaN at the negative integers. Floating types. A sparse input is computed densely. Example: "
      "gamma(array({0.5, 5})) is [1.772454, 24].";
  constexpr auto forward(auto x) const { return tgamma(x); }
};

struct Gammaln {
  static constexpr std::string_view name = "gammaln";
  static constexpr std::string_view aliases[] = {"_npx_gammaln", "_sparse_gammaln"};
  static constexpr const char* doc =
      "log |Γ(x)|. Floating types. A sparse input is computed densely. Example: gammaln(array({0.5, 5})) is "
      "[0.5723649, 3.178054].";
  constexpr auto forward(auto x) const { return lgamma(x); }
};

inline constexpr Op<Erf, OnUse> erf;
inline constexpr Op<Erfinv, OnUse> erfinv;
inline constexpr Op<Gamma, OnUse> gamma;
inline constexpr Op<Gammaln, OnUse> gammaln;

using SpecialOps = OpList<Erf, Erfinv, Gamma, Gammaln>;

}  // namespace strop::inline v0
