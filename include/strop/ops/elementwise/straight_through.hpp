// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps whose gradient is that of another function: rounding that lets gradients pass, and gradient scaling.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

/// _contrib_round_ste: The nearest integer, ties away from 0; the gradient is the head gradient, as if it were x.
/// Example: `round_ste(array({1.5, -0.4}))` is [2, 0].
struct RoundSte {
  static constexpr std::string_view name = "_contrib_round_ste";
  static constexpr std::string_view aliases[] = {"_sparse__contrib_round_ste", "round_ste"};
  static constexpr std::string_view doc =
      "The nearest integer, ties away from 0; the gradient is the head gradient, as if it were x. Floating and "
      "integer types. A sparse input gives a result of its storage. Example: round_ste(array({1.5, -0.4})) is [2, "
      "0].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return round(x); }
  constexpr auto grad_use_none(auto dy) const { return dy; }
};

/// _contrib_sign_ste: −1, 0 or 1; the gradient is the head gradient, as if it were x. Example: `sign_ste(array({3,
/// -2}))` is [1, -1].
struct SignSte {
  static constexpr std::string_view name = "_contrib_sign_ste";
  static constexpr std::string_view aliases[] = {"_sparse__contrib_sign_ste", "sign_ste"};
  static constexpr std::string_view doc =
      "−1, 0 or 1; the gradient is the head gradient, as if it were x. Floating and integer types. A sparse input "
      "gives a result of its storage. Example: sign_ste(array({3, -2})) is [1, -1].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return sign(x); }
  constexpr auto grad_use_none(auto dy) const { return dy; }
};

/// _contrib_gradientmultiplier: x itself; the gradient is the head gradient times `scalar`. Example:
/// `gradientmultiplier(array({1, 2}), {.scalar = -1})` is [1, 2].
struct GradientMultiplier {
  double scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_contrib_gradientmultiplier";
  static constexpr std::string_view aliases[] = {"gradientmultiplier"};
  static constexpr Note notes[] = {{"scalar", "the factor; negative reverses the gradient"}, {"is_int", "whether the scalar was an integer; it changes nothing"}};
  static constexpr std::string_view doc =
      "x itself; the gradient is the head gradient times `scalar`. Floating and integer types. A sparse input gives "
      "a result of its storage. Example: gradientmultiplier(array({1, 2}), {.scalar = -1}) is [1, 2].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return x; }
  constexpr auto grad_use_none(auto dy) const { return dy * scalar; }
};

inline constexpr Op<RoundSte, OnUse> round_ste;
inline constexpr Op<SignSte, OnUse> sign_ste;
inline constexpr Op<GradientMultiplier, OnUse> gradientmultiplier;

using StraightThroughOps = OpList<RoundSte, SignSte, GradientMultiplier>;

}  // namespace strop::inline v0
