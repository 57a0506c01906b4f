// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sign, absolute value and rounding, element by element.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct Negative {
  static constexpr std::string_view name = "negative";
  static constexpr std::string_view aliases[] = {"_sparse_negative"};
  static constexpr const char* doc =
      "−x. Integers wrap. Floating and integer types. A sparse input gives a result of its storage. Example: "
      "negative(array({1, -2})) is [-1, 2].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return -x; }
  constexpr auto grad_use_none(auto dy) const { return -dy; }
};

struct Abs {
  static constexpr std::string_view name = "abs";
  static constexpr std::string_view aliases[] = {"_sparse_abs"};
  static constexpr const char* doc =
      "|x|; the derivative at 0 is 0. Floating and integer types. A sparse input gives a result of its storage. "
      "Example: abs(array({1, -2})) is [1, 2].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto x) const { return abs(x); }
};

struct Sign {
  static constexpr std::string_view name = "sign";
  static constexpr std::string_view aliases[] = {"_sparse_sign"};
  static constexpr const char* doc =
      "−1, 0 or 1; 0 of NaN. Floating and integer types. A sparse input gives a result of its storage. The gradient "
      "is 0. Example: sign(array({3, -2})) is [1, -1].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return sign(x); }
};

struct Round {
  static constexpr std::string_view name = "round";
  static constexpr std::string_view aliases[] = {"_sparse_round"};
  static constexpr const char* doc =
      "The nearest integer, ties away from 0. Floating and integer types. A sparse input gives a result of its "
      "storage. The gradient is 0. Example: round(array({1.5, -1.5})) is [2, -2].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return round(x); }
};

struct Rint {
  static constexpr std::string_view name = "rint";
  static constexpr std::string_view aliases[] = {"_sparse_rint"};
  static constexpr const char* doc =
      "The nearest integer, ties towards −inf (round() has them away from 0). Floating and integer types. A sparse "
      "input gives a result of its storage. The gradient is 0. Example: rint(array({1.5, -1.5})) is [1, -2].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const {
    const auto below = floor(x), above = ceil(x);
    return where(x - below <= above - x, below, above);
  }
};

struct Ceil {
  static constexpr std::string_view name = "ceil";
  static constexpr std::string_view aliases[] = {"_sparse_ceil"};
  static constexpr const char* doc =
      "The least integer that is not below x. Floating and integer types. A sparse input gives a result of its "
      "storage. The gradient is 0. Example: ceil(array({1.2, -1.2})) is [2, -1].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return ceil(x); }
};

struct Floor {
  static constexpr std::string_view name = "floor";
  static constexpr std::string_view aliases[] = {"_sparse_floor"};
  static constexpr const char* doc =
      "The greatest integer that is not above x. Floating and integer types. A sparse input gives a result of its "
      "storage. The gradient is 0. Example: floor(array({1.2, -1.2})) is [1, -2].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return floor(x); }
};

struct Trunc {
  static constexpr std::string_view name = "trunc";
  static constexpr std::string_view aliases[] = {"_sparse_trunc"};
  static constexpr const char* doc =
      "The integer next to x towards 0. Floating and integer types. A sparse input gives a result of its storage. "
      "The gradient is 0. Example: trunc(array({1.7, -1.7})) is [1, -1].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return trunc(x); }
};

struct Fix {
  static constexpr std::string_view name = "fix";
  static constexpr std::string_view aliases[] = {"_sparse_fix"};
  static constexpr const char* doc =
      "The integer next to x towards 0, as trunc. Floating and integer types. A sparse input gives a result of its "
      "storage. The gradient is 0. Example: fix(array({1.7, -1.7})) is [1, -1].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return trunc(x); }
};

inline constexpr Op<Negative, OnUse> negative;
inline constexpr Op<Abs, OnUse> abs;
inline constexpr Op<Sign, OnUse> sign;
inline constexpr Op<Round, OnUse> round;
inline constexpr Op<Rint, OnUse> rint;
inline constexpr Op<Ceil, OnUse> ceil;
inline constexpr Op<Floor, OnUse> floor;
inline constexpr Op<Trunc, OnUse> trunc;
inline constexpr Op<Fix, OnUse> fix;

using RoundingOps = OpList<Negative, Abs, Sign, Round, Rint, Ceil, Floor, Trunc, Fix>;

}  // namespace strop::inline v0
