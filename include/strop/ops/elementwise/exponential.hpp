// SPDX-License-Identifier: Apache-2.0
/// \file
/// Exponentials and logarithms, element by element.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct Exp {
  static constexpr std::string_view name = "exp";
  static constexpr std::string_view aliases[] = {"_sparse_exp"};
  static constexpr const char* doc =
      "eˣ. Floating types. A sparse input is computed densely. Example: exp(array({0, 1})) is [1, 2.718282].";
  constexpr auto forward(auto x) const { return exp(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * y; }
};

struct Expm1 {
  static constexpr std::string_view name = "expm1";
  static constexpr std::string_view aliases[] = {"_sparse_expm1"};
  static constexpr const char* doc =
      "eˣ − 1, exact near 0. Floating types. A sparse input gives a result of its storage. Example: expm1(array({0, "
      "1})) is [0, 1.718282].";
  constexpr auto forward(auto x) const { return expm1(x); }
};

struct Log {
  static constexpr std::string_view name = "log";
  static constexpr std::string_view aliases[] = {"_sparse_log"};
  static constexpr const char* doc =
      "The natural logarithm; −inf at 0, NaN below. Floating types. A sparse input is computed densely. Example: "
      "log(array({1, 2})) is [0, 0.6931472].";
  constexpr auto forward(auto x) const { return log(x); }
};

struct Log10 {
  static constexpr std::string_view name = "log10";
  static constexpr std::string_view aliases[] = {"_sparse_log10"};
  static constexpr const char* doc =
      "The logarithm to base 10. Floating types. A sparse input is computed densely. Example: log10(array({1, "
      "100})) is [0, 2].";
  constexpr auto forward(auto x) const { return log10(x); }
};

struct Log2 {
  static constexpr std::string_view name = "log2";
  static constexpr std::string_view aliases[] = {"_sparse_log2"};
  static constexpr const char* doc =
      "The logarithm to base 2. Floating types. A sparse input is computed densely. Example: log2(array({1, 8})) is "
      "[0, 3].";
  constexpr auto forward(auto x) const { return log2(x); }
};

struct Log1p {
  static constexpr std::string_view name = "log1p";
  static constexpr std::string_view aliases[] = {"_sparse_log1p"};
  static constexpr const char* doc =
      "log(1 + x), exact near 0. Floating types. A sparse input gives a result of its storage. Example: "
      "log1p(array({0, 1})) is [0, 0.6931472].";
  constexpr auto forward(auto x) const { return log1p(x); }
};

inline constexpr Op<Exp, OnUse> exp;
inline constexpr Op<Expm1, OnUse> expm1;
inline constexpr Op<Log, OnUse> log;
inline constexpr Op<Log10, OnUse> log10;
inline constexpr Op<Log2, OnUse> log2;
inline constexpr Op<Log1p, OnUse> log1p;

using ExponentialOps = OpList<Exp, Expm1, Log, Log10, Log2, Log1p>;

}  // namespace strop::inline v0
