// SPDX-License-Identifier: Apache-2.0
/// \file
/// Powers and roots, element by element.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct Reciprocal {
  static constexpr std::string_view name = "reciprocal";
  static constexpr const char* doc =
      "1/x. Floating types. A sparse input is computed densely. Example: reciprocal(array({2, -4})) is [0.5, "
      "-0.25].";
  constexpr auto forward(auto x) const { return 1 / x; }
};

struct Square {
  static constexpr std::string_view name = "square";
  static constexpr std::string_view aliases[] = {"_sparse_square"};
  static constexpr const char* doc =
      "x². Floating and integer types. A sparse input gives a result of its storage. Example: square(array({2, "
      "-3})) is [4, 9].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return x * x; }
};

struct Sqrt {
  static constexpr std::string_view name = "sqrt";
  static constexpr std::string_view aliases[] = {"_sparse_sqrt"};
  static constexpr const char* doc =
      "√x; NaN below 0. Floating types. A sparse input gives a result of its storage. Example: sqrt(array({4, 9})) "
      "is [2, 3].";
  constexpr auto forward(auto x) const { return sqrt(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * (0.5 / y); }
};

struct Rsqrt {
  static constexpr std::string_view name = "rsqrt";
  static constexpr std::string_view aliases[] = {"_sparse_rsqrt"};
  static constexpr const char* doc =
      "1/√x. Floating types. A sparse input is computed densely. Example: rsqrt(array({4, 16})) is [0.5, 0.25].";
  constexpr auto forward(auto x) const { return rsqrt(x); }
};

struct Cbrt {
  static constexpr std::string_view name = "cbrt";
  static constexpr std::string_view aliases[] = {"_sparse_cbrt"};
  static constexpr const char* doc =
      "The cube root. Floating types. A sparse input gives a result of its storage. Example: cbrt(array({8, -27})) "
      "is [2, -3].";
  constexpr auto forward(auto x) const { return cbrt(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy / (3 * y * y); }
};

struct Rcbrt {
  static constexpr std::string_view name = "rcbrt";
  static constexpr const char* doc =
      "One over the cube root. Floating types. A sparse input is computed densely. Example: rcbrt(array({8, -27})) "
      "is [0.5, -0.3333333].";
  constexpr auto forward(auto x) const { return 1 / cbrt(x); }
};

inline constexpr Op<Reciprocal, OnUse> reciprocal;
inline constexpr Op<Square, OnUse> square;
inline constexpr Op<Sqrt, OnUse> sqrt;
inline constexpr Op<Rsqrt, OnUse> rsqrt;
inline constexpr Op<Cbrt, OnUse> cbrt;
inline constexpr Op<Rcbrt, OnUse> rcbrt;

using PowerOps = OpList<Reciprocal, Square, Sqrt, Rsqrt, Cbrt, Rcbrt>;

}  // namespace strop::inline v0
