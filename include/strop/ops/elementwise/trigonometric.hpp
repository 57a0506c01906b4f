// SPDX-License-Identifier: Apache-2.0
/// \file
/// Trigonometric functions and their inverses, element by element; angles in radians.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct Sin {
  static constexpr std::string_view name = "sin";
  static constexpr std::string_view aliases[] = {"_sparse_sin"};
  static constexpr const char* doc =
      "The sine of x radians. Floating types. A sparse input gives a result of its storage. Example: sin(array({0, "
      "1})) is [0, 0.841471].";
  constexpr auto forward(auto x) const { return sin(x); }
};

struct Cos {
  static constexpr std::string_view name = "cos";
  static constexpr std::string_view aliases[] = {"_sparse_cos"};
  static constexpr const char* doc =
      "The cosine of x radians. Floating types. A sparse input is computed densely. Example: cos(array({0, 1})) is "
      "[1, 0.5403023].";
  constexpr auto forward(auto x) const { return cos(x); }
};

struct Tan {
  static constexpr std::string_view name = "tan";
  static constexpr std::string_view aliases[] = {"_sparse_tan"};
  static constexpr const char* doc =
      "The tangent of x radians. Floating types. A sparse input gives a result of its storage. Example: "
      "tan(array({0, 1})) is [0, 1.557408].";
  constexpr auto forward(auto x) const { return tan(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * (1 + y * y); }
};

struct Arcsin {
  static constexpr std::string_view name = "arcsin";
  static constexpr std::string_view aliases[] = {"_sparse_arcsin"};
  static constexpr const char* doc =
      "The angle in [−π/2, π/2] whose sine is x; NaN beyond ±1. Floating types. A sparse input gives a result of "
      "its storage. Example: arcsin(array({0, 1})) is [0, 1.570796].";
  constexpr auto forward(auto x) const { return asin(x); }
};

struct Arccos {
  static constexpr std::string_view name = "arccos";
  static constexpr std::string_view aliases[] = {"_sparse_arccos"};
  static constexpr const char* doc =
      "The angle in [0, π] whose cosine is x; NaN beyond ±1. Floating types. A sparse input is computed densely. "
      "Example: arccos(array({1, 0})) is [0, 1.570796].";
  constexpr auto forward(auto x) const { return acos(x); }
};

struct Arctan {
  static constexpr std::string_view name = "arctan";
  static constexpr std::string_view aliases[] = {"_sparse_arctan"};
  static constexpr const char* doc =
      "The angle in (−π/2, π/2) whose tangent is x. Floating types. A sparse input gives a result of its storage. "
      "Example: arctan(array({0, 1})) is [0, 0.7853982].";
  constexpr auto forward(auto x) const { return atan(x); }
};

struct Degrees {
  static constexpr std::string_view name = "degrees";
  static constexpr std::string_view aliases[] = {"_sparse_degrees"};
  static constexpr const char* doc =
      "Radians to degrees: 180 x/π. Floating types. A sparse input gives a result of its storage. Example: "
      "degrees(array({0, 1})) is [0, 57.29578].";
  constexpr auto forward(auto x) const { return x * 57.29577951308232; }
  constexpr auto grad_use_none(auto dy) const { return dy * 57.29577951308232; }
};

struct Radians {
  static constexpr std::string_view name = "radians";
  static constexpr std::string_view aliases[] = {"_sparse_radians"};
  static constexpr const char* doc =
      "Degrees to radians: πx/180. Floating types. A sparse input gives a result of its storage. Example: "
      "radians(array({0, 180})) is [0, 3.141593].";
  constexpr auto forward(auto x) const { return x * 0.017453292519943295; }
  constexpr auto grad_use_none(auto dy) const { return dy * 0.017453292519943295; }
};

inline constexpr Op<Sin, OnUse> sin;
inline constexpr Op<Cos, OnUse> cos;
inline constexpr Op<Tan, OnUse> tan;
inline constexpr Op<Arcsin, OnUse> arcsin;
inline constexpr Op<Arccos, OnUse> arccos;
inline constexpr Op<Arctan, OnUse> arctan;
inline constexpr Op<Degrees, OnUse> degrees;
inline constexpr Op<Radians, OnUse> radians;

using TrigonometricOps = OpList<Sin, Cos, Tan, Arcsin, Arccos, Arctan, Degrees, Radians>;

}  // namespace strop::inline v0
