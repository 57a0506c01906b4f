// SPDX-License-Identifier: Apache-2.0
/// \file
/// Hyperbolic functions and their inverses, element by element.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct Sinh {
  static constexpr std::string_view name = "sinh";
  static constexpr std::string_view aliases[] = {"_sparse_sinh"};
  static constexpr const char* doc =
      "(eˣ − e⁻ˣ)/2. Floating types. A sparse input gives a result of its storage. Example: sinh(array({0, 1})) is "
      "[0, 1.175201].";
  constexpr auto forward(auto x) const { return sinh(x); }
};

struct Cosh {
  static constexpr std::string_view name = "cosh";
  static constexpr std::string_view aliases[] = {"_sparse_cosh"};
  static constexpr const char* doc =
      "(eˣ + e⁻ˣ)/2. Floating types. A sparse input is computed densely. Example: cosh(array({0, 1})) is [1, "
      "1.543081].";
  constexpr auto forward(auto x) const { return cosh(x); }
};

struct Tanh {
  static constexpr std::string_view name = "tanh";
  static constexpr std::string_view aliases[] = {"_sparse_tanh"};
  static constexpr const char* doc =
      "sinh x / cosh x. Floating types. A sparse input gives a result of its storage. Example: tanh(array({0, 1})) "
      "is [0, 0.7615942].";
  constexpr auto forward(auto x) const { return tanh(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * (1 - y * y); }
};

struct Arcsinh {
  static constexpr std::string_view name = "arcsinh";
  static constexpr std::string_view aliases[] = {"_sparse_arcsinh"};
  static constexpr const char* doc =
      "The inverse of sinh. Floating types. A sparse input gives a result of its storage. Example: "
      "arcsinh(array({0, 1})) is [0, 0.8813736].";
  constexpr auto forward(auto x) const { return asinh(x); }
};

struct Arccosh {
  static constexpr std::string_view name = "arccosh";
  static constexpr std::string_view aliases[] = {"_sparse_arccosh"};
  static constexpr const char* doc =
      "The inverse of cosh, x ≥ 1; NaN below. Floating types. A sparse input is computed densely. Example: "
      "arccosh(array({1, 2})) is [0, 1.316958].";
  constexpr auto forward(auto x) const { return acosh(x); }
};

struct Arctanh {
  static constexpr std::string_view name = "arctanh";
  static constexpr std::string_view aliases[] = {"_sparse_arctanh"};
  static constexpr const char* doc =
      "The inverse of tanh, |x| ≤ 1; NaN beyond. Floating types. A sparse input gives a result of its storage. "
      "Example: arctanh(array({0, 0.5})) is [0, 0.5493061].";
  constexpr auto forward(auto x) const { return atanh(x); }
};

inline constexpr Op<Sinh, OnUse> sinh;
inline constexpr Op<Cosh, OnUse> cosh;
inline constexpr Op<Tanh, OnUse> tanh;
inline constexpr Op<Arcsinh, OnUse> arcsinh;
inline constexpr Op<Arccosh, OnUse> arccosh;
inline constexpr Op<Arctanh, OnUse> arctanh;

using HyperbolicOps = OpList<Sinh, Cosh, Tanh, Arcsinh, Arccosh, Arctanh>;

}  // namespace strop::inline v0
