// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rounding that lets gradients pass, gradient scaling, and division by the root of the last extent.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct RoundSte {
  static constexpr std::string_view name = "_contrib_round_ste";
  static constexpr std::string_view aliases[] = {"_sparse__contrib_round_ste", "round_ste"};
  static constexpr const char* doc =
      "The nearest integer, ties away from 0; the gradient is the head gradient, as if it were x. Floating and "
      "integer types. A sparse input gives a result of its storage. Example: round_ste(array({1.5, -0.4})) is [2, "
      "0].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return round(x); }
  constexpr auto grad_use_none(auto dy) const { return dy; }
};

struct SignSte {
  static constexpr std::string_view name = "_contrib_sign_ste";
  static constexpr std::string_view aliases[] = {"_sparse__contrib_sign_ste", "sign_ste"};
  static constexpr const char* doc =
      "−1, 0 or 1; the gradient is the head gradient, as if it were x. Floating and integer types. A sparse input "
      "gives a result of its storage. Example: sign_ste(array({3, -2})) is [1, -1].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return sign(x); }
  constexpr auto grad_use_none(auto dy) const { return dy; }
};

struct GradientMultiplier {
  double scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_contrib_gradientmultiplier";
  static constexpr std::string_view aliases[] = {"gradientmultiplier"};
  static constexpr Note notes[] = {{"scalar", "the factor; negative reverses the gradient"},
                                   {"is_int", "whether the scalar was an integer; it changes nothing"}};
  static constexpr const char* doc =
      "x itself; the gradient is the head gradient times `scalar`. Floating and integer types. A sparse input gives "
      "a result of its storage. Example: gradientmultiplier(array({1, 2}), {.scalar = -1}) is [1, 2].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return x; }
  constexpr auto grad_use_none(auto dy) const { return dy * scalar; }
};

/// _contrib_div_sqrt_dim: x / √d, d being the extent of the last axis. The gradient is dy / √d.
struct DivSqrtDim {
  static constexpr std::string_view name = "_contrib_div_sqrt_dim";
  static constexpr std::string_view aliases[] = {"div_sqrt_dim"};
  static constexpr const char* doc =
      "x divided by the root of the extent of its last axis. Floating types, any rank but 0. The gradient is the head "
      "gradient divided likewise. Example: div_sqrt_dim(array({2, 4, 6, 8})) is [1, 2, 3, 4].";
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}};

  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_out(0, shapes.in(0));
    shapes.set_in(0, shapes.out(0));
    if (shapes.in(0).has_rank() && shapes.in(0).ndim() == 0) shapes.fail(shapes.name_in(0), " has no axis");
  }
  template <Real E>
  constexpr void forward(Cpu&, View<const E> x, View<E> y) const;
  template <Real E>
  constexpr void grad_use_none(Cpu& ctx, View<const E> dy, View<E> dx) const;
};

inline constexpr Op<RoundSte, OnUse> round_ste;
inline constexpr Op<SignSte, OnUse> sign_ste;
inline constexpr Op<GradientMultiplier, OnUse> gradientmultiplier;
inline constexpr Op<DivSqrtDim, OnUse> div_sqrt_dim;

using ContribMapOps = OpList<RoundSte, SignSte, GradientMultiplier, DivSqrtDim>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/elementwise/contrib_body.hpp>
#endif
