// SPDX-License-Identifier: Apache-2.0
/// \file
/// Comparisons and logic of an array and a number s, the parameter `scalar`. On integer arrays s is truncated to an
/// integer first, of 64 bits whatever the arrays' type; with is_int = false their elements are taken as float64
/// instead, and the result is float64.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/elementwise/bodies.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct EqualScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_equal_scalar";
  static constexpr std::string_view aliases[] = {"_EqualScalar", "equal_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "1 where x = s, else 0, in the type of x. Every type, bool included. A sparse input keeps its storage where "
      "the value at 0 is 0. The gradient is 0. Example: equal_scalar(array({1, 2}), {.scalar = 2}) is [0, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  constexpr bool integers_as_double() const { return !is_int; }
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const {
    return detail::compare(x, scalar, [](auto a, auto b) { return a == b; });
  }
};

struct NotEqualScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_not_equal_scalar";
  static constexpr std::string_view aliases[] = {"_NotEqualScalar", "not_equal_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "1 where x ≠ s, else 0, in the type of x. Every type, bool included. A sparse input keeps its storage where "
      "the value at 0 is 0. The gradient is 0. Example: not_equal_scalar(array({1, 2}), {.scalar = 2}) is [1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  constexpr bool integers_as_double() const { return !is_int; }
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const {
    return detail::compare(x, scalar, [](auto a, auto b) { return a != b; });
  }
};

struct GreaterScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_greater_scalar";
  static constexpr std::string_view aliases[] = {"_GreaterScalar", "greater_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "1 where x > s, else 0, in the type of x. Every type, bool included. A sparse input keeps its storage where "
      "the value at 0 is 0. The gradient is 0. Example: greater_scalar(array({1, 2}), {.scalar = 2}) is [0, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  constexpr bool integers_as_double() const { return !is_int; }
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const {
    return detail::compare(x, scalar, [](auto a, auto b) { return a > b; });
  }
};

struct GreaterEqualScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_greater_equal_scalar";
  static constexpr std::string_view aliases[] = {"_GreaterEqualScalar", "greater_equal_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "1 where x ≥ s, else 0, in the type of x. Every type, bool included. A sparse input keeps its storage where "
      "the value at 0 is 0. The gradient is 0. Example: greater_equal_scalar(array({1, 2}), {.scalar = 2}) is [0, "
      "1].";
  static constexpr DtypeSet dtypes = any_dtype;
  constexpr bool integers_as_double() const { return !is_int; }
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const {
    return detail::compare(x, scalar, [](auto a, auto b) { return a >= b; });
  }
};

struct LesserScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_lesser_scalar";
  static constexpr std::string_view aliases[] = {"_LesserScalar", "lesser_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "1 where x < s, else 0, in the type of x. Every type, bool included. A sparse input keeps its storage where "
      "the value at 0 is 0. The gradient is 0. Example: lesser_scalar(array({1, 2}), {.scalar = 2}) is [1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  constexpr bool integers_as_double() const { return !is_int; }
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const {
    return detail::compare(x, scalar, [](auto a, auto b) { return a < b; });
  }
};

struct LesserEqualScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_lesser_equal_scalar";
  static constexpr std::string_view aliases[] = {"_LesserEqualScalar", "lesser_equal_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "1 where x ≤ s, else 0, in the type of x. Every type, bool included. A sparse input keeps its storage where "
      "the value at 0 is 0. The gradient is 0. Example: lesser_equal_scalar(array({1, 2}), {.scalar = 2}) is [1, "
      "1].";
  static constexpr DtypeSet dtypes = any_dtype;
  constexpr bool integers_as_double() const { return !is_int; }
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const {
    return detail::compare(x, scalar, [](auto a, auto b) { return a <= b; });
  }
};

struct LogicalAndScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_logical_and_scalar";
  static constexpr std::string_view aliases[] = {"_LogicalAndScalar", "logical_and_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "1 where both of x and s are not 0, else 0. Every type, bool included. A sparse input keeps its storage where "
      "the value at 0 is 0. The gradient is 0. Example: logical_and_scalar(array({0, 2}), {.scalar = 1}) is [0, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  constexpr bool integers_as_double() const { return !is_int; }
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return (x != 0) && (detail::like(x, scalar) != 0); }
};

struct LogicalOrScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_logical_or_scalar";
  static constexpr std::string_view aliases[] = {"_LogicalOrScalar", "logical_or_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "1 where either of x and s is not 0, else 0. Every type, bool included. A sparse input keeps its storage "
      "where the value at 0 is 0. The gradient is 0. Example: logical_or_scalar(array({0, 2}), {.scalar = 1}) is "
      "[1, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  constexpr bool integers_as_double() const { return !is_int; }
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return (x != 0) || (detail::like(x, scalar) != 0); }
};

struct LogicalXorScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_logical_xor_scalar";
  static constexpr std::string_view aliases[] = {"_LogicalXorScalar", "logical_xor_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "1 where exactly one of x and s is not 0, else 0. Every type, bool included. A sparse input keeps its storage "
      "where the value at 0 is 0. The gradient is 0. Example: logical_xor_scalar(array({0, 2}), {.scalar = 1}) is "
      "[1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  constexpr bool integers_as_double() const { return !is_int; }
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const {
    return ((x != 0) && (detail::like(x, scalar) == 0)) || ((x == 0) && (detail::like(x, scalar) != 0));
  }
};

inline constexpr Op<EqualScalar, OnUse> equal_scalar;
inline constexpr Op<NotEqualScalar, OnUse> not_equal_scalar;
inline constexpr Op<GreaterScalar, OnUse> greater_scalar;
inline constexpr Op<GreaterEqualScalar, OnUse> greater_equal_scalar;
inline constexpr Op<LesserScalar, OnUse> lesser_scalar;
inline constexpr Op<LesserEqualScalar, OnUse> lesser_equal_scalar;
inline constexpr Op<LogicalAndScalar, OnUse> logical_and_scalar;
inline constexpr Op<LogicalOrScalar, OnUse> logical_or_scalar;
inline constexpr Op<LogicalXorScalar, OnUse> logical_xor_scalar;

using ScalarCompareOps = OpList<EqualScalar, NotEqualScalar, GreaterScalar, GreaterEqualScalar, LesserScalar,
                                LesserEqualScalar, LogicalAndScalar, LogicalOrScalar, LogicalXorScalar>;

}  // namespace strop::inline v0
