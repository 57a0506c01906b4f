// SPDX-License-Identifier: Apache-2.0
/// \file
/// Comparisons and logic of two arrays of one shape, element by element.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct ElemwiseEqual {
  static constexpr std::string_view name = "_equal";
  static constexpr std::string_view aliases[] = {"_Equal", "elemwise_equal"};
  static constexpr const char* doc =
      "1 where lhs = rhs, else 0, in the type of the inputs. Both have one shape. Every type, bool included. A "
      "sparse input is computed densely. The gradient is 0. Example: elemwise_equal(array({1, 2}), array({2, 2})) "
      "is [0, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool same_shape = true;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs == rhs; }
};

struct ElemwiseNotEqual {
  static constexpr std::string_view name = "_not_equal";
  static constexpr std::string_view aliases[] = {"_Not_Equal", "elemwise_not_equal"};
  static constexpr const char* doc =
      "1 where lhs ≠ rhs, else 0, in the type of the inputs. Both have one shape. Every type, bool included. Sparse "
      "where both are of one storage, else dense. The gradient is 0. Example: elemwise_not_equal(array({1, 2}), "
      "array({2, 2})) is [1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool same_shape = true;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs != rhs; }
};

struct ElemwiseGreater {
  static constexpr std::string_view name = "_greater";
  static constexpr std::string_view aliases[] = {"_Greater", "elemwise_greater"};
  static constexpr const char* doc =
      "1 where lhs > rhs, else 0, in the type of the inputs. Both have one shape. Every type, bool included. Sparse "
      "where both are of one storage, else dense. The gradient is 0. Example: elemwise_greater(array({1, 2}), "
      "array({2, 2})) is [0, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool same_shape = true;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs > rhs; }
};

struct ElemwiseGreaterEqual {
  static constexpr std::string_view name = "_greater_equal";
  static constexpr std::string_view aliases[] = {"_Greater_Equal", "elemwise_greater_equal"};
  static constexpr const char* doc =
      "1 where lhs ≥ rhs, else 0, in the type of the inputs. Both have one shape. Every type, bool included. A "
      "sparse input is computed densely. The gradient is 0. Example: elemwise_greater_equal(array({1, 2}), "
      "array({2, 2})) is [0, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool same_shape = true;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs >= rhs; }
};

struct ElemwiseLesser {
  static constexpr std::string_view name = "_lesser";
  static constexpr std::string_view aliases[] = {"_Lesser", "elemwise_lesser"};
  static constexpr const char* doc =
      "1 where lhs < rhs, else 0, in the type of the inputs. Both have one shape. Every type, bool included. Sparse "
      "where both are of one storage, else dense. The gradient is 0. Example: elemwise_lesser(array({1, 2}), "
      "array({2, 2})) is [1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool same_shape = true;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs < rhs; }
};

struct ElemwiseLesserEqual {
  static constexpr std::string_view name = "_lesser_equal";
  static constexpr std::string_view aliases[] = {"_Lesser_Equal", "elemwise_lesser_equal"};
  static constexpr const char* doc =
      "1 where lhs ≤ rhs, else 0, in the type of the inputs. Both have one shape. Every type, bool included. A "
      "sparse input is computed densely. The gradient is 0. Example: elemwise_lesser_equal(array({1, 2}), array({2, "
      "2})) is [1, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool same_shape = true;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs <= rhs; }
};

struct ElemwiseLogicalAnd {
  static constexpr std::string_view name = "_logical_and";
  static constexpr std::string_view aliases[] = {"_Logical_And", "elemwise_logical_and"};
  static constexpr const char* doc =
      "1 where both of lhs and rhs are not 0, else 0. Both have one shape. Every type, bool included. Sparse where "
      "either is. The gradient is 0. Example: elemwise_logical_and(array({0, 2}), array({1, 3})) is [0, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool same_shape = true;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return (lhs != 0) && (rhs != 0); }
};

struct ElemwiseLogicalOr {
  static constexpr std::string_view name = "_logical_or";
  static constexpr std::string_view aliases[] = {"_Logical_Or", "elemwise_logical_or"};
  static constexpr const char* doc =
      "1 where either of lhs and rhs is not 0, else 0. Both have one shape. Every type, bool included. Sparse where "
      "both are of one storage, else dense. The gradient is 0. Example: elemwise_logical_or(array({0, 2}), "
      "array({1, 3})) is [1, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool same_shape = true;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return (lhs != 0) || (rhs != 0); }
};

struct ElemwiseLogicalXor {
  static constexpr std::string_view name = "_logical_xor";
  static constexpr std::string_view aliases[] = {"_Logical_Xor", "elemwise_logical_xor"};
  static constexpr const char* doc =
      "1 where exactly one of lhs and rhs is not 0, else 0. Both have one shape. Every type, bool included. Sparse "
      "where both are of one storage, else dense. The gradient is 0. Example: elemwise_logical_xor(array({0, 2}), "
      "array({1, 3})) is [1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool same_shape = true;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return ((lhs != 0) && (rhs == 0)) || ((lhs == 0) && (rhs != 0)); }
};

struct LogicalNot {
  static constexpr std::string_view name = "logical_not";
  static constexpr const char* doc =
      "1 where x is 0, else 0. Every type, bool included. A sparse input is computed densely. The gradient is 0. "
      "Example: logical_not(array({0, 2})) is [1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto x) const { return x == 0; }
};

inline constexpr Op<ElemwiseEqual, OnUse> elemwise_equal;
inline constexpr Op<ElemwiseNotEqual, OnUse> elemwise_not_equal;
inline constexpr Op<ElemwiseGreater, OnUse> elemwise_greater;
inline constexpr Op<ElemwiseGreaterEqual, OnUse> elemwise_greater_equal;
inline constexpr Op<ElemwiseLesser, OnUse> elemwise_lesser;
inline constexpr Op<ElemwiseLesserEqual, OnUse> elemwise_lesser_equal;
inline constexpr Op<ElemwiseLogicalAnd, OnUse> elemwise_logical_and;
inline constexpr Op<ElemwiseLogicalOr, OnUse> elemwise_logical_or;
inline constexpr Op<ElemwiseLogicalXor, OnUse> elemwise_logical_xor;
inline constexpr Op<LogicalNot, OnUse> logical_not;

using CompareOps = OpList<ElemwiseEqual, ElemwiseNotEqual, ElemwiseGreater, ElemwiseGreaterEqual, ElemwiseLesser,
                          ElemwiseLesserEqual, ElemwiseLogicalAnd, ElemwiseLogicalOr, ElemwiseLogicalXor, LogicalNot>;

}  // namespace strop::inline v0
