// SPDX-License-Identifier: Apache-2.0
/// \file
/// Comparisons and logic of two arrays whose shapes broadcast, element by element.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

struct BroadcastEqual {
  static constexpr std::string_view name = "broadcast_equal";
  static constexpr const char* doc =
      "1 where lhs = rhs, else 0, in the type of the inputs. Shapes broadcast. Every type, bool included. A sparse "
      "input is computed densely. The gradient is 0. Example: broadcast_equal(array({1, 2}), array({2, 2})) is [0, "
      "1].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs == rhs; }
};

struct BroadcastNotEqual {
  static constexpr std::string_view name = "broadcast_not_equal";
  static constexpr const char* doc =
      "1 where lhs ≠ rhs, else 0, in the type of the inputs. Shapes broadcast. Every type, bool included. Sparse "
      "where both are of one storage, else dense. The gradient is 0. Example: broadcast_not_equal(array({1, 2}), "
      "array({2, 2})) is [1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs != rhs; }
};

struct BroadcastGreater {
  static constexpr std::string_view name = "broadcast_greater";
  static constexpr const char* doc =
      "1 where lhs > rhs, else 0, in the type of the inputs. Shapes broadcast. Every type, bool included. Sparse "
      "where both are of one storage, else dense. The gradient is 0. Example: broadcast_greater(array({1, 2}), "
      "array({2, 2})) is [0, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs > rhs; }
};

struct BroadcastGreaterEqual {
  static constexpr std::string_view name = "broadcast_greater_equal";
  static constexpr const char* doc =
      "1 where lhs ≥ rhs, else 0, in the type of the inputs. Shapes broadcast. Every type, bool included. A sparse "
      "input is computed densely. The gradient is 0. Example: broadcast_greater_equal(array({1, 2}), array({2, 2})) "
      "is [0, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs >= rhs; }
};

struct BroadcastLesser {
  static constexpr std::string_view name = "broadcast_lesser";
  static constexpr const char* doc =
      "1 where lhs < rhs, else 0, in the type of the inputs. Shapes broadcast. Every type, bool included. Sparse "
      "where both are of one storage, else dense. The gradient is 0. Example: broadcast_lesser(array({1, 2}), "
      "array({2, 2})) is [1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs < rhs; }
};

struct BroadcastLesserEqual {
  static constexpr std::string_view name = "broadcast_lesser_equal";
  static constexpr const char* doc =
      "1 where lhs ≤ rhs, else 0, in the type of the inputs. Shapes broadcast. Every type, bool included. A sparse "
      "input is computed densely. The gradient is 0. Example: broadcast_lesser_equal(array({1, 2}), array({2, 2})) "
      "is [1, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs <= rhs; }
};

struct BroadcastLogicalAnd {
  static constexpr std::string_view name = "broadcast_logical_and";
  static constexpr const char* doc =
      "1 where both of lhs and rhs are not 0, else 0. Shapes broadcast. Every type, bool included. Sparse where "
      "either is. The gradient is 0. Example: broadcast_logical_and(array({0, 2}), array({1, 3})) is [0, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return (lhs != 0) && (rhs != 0); }
};

struct BroadcastLogicalOr {
  static constexpr std::string_view name = "broadcast_logical_or";
  static constexpr const char* doc =
      "1 where either of lhs and rhs is not 0, else 0. Shapes broadcast. Every type, bool included. Sparse where "
      "both are of one storage, else dense. The gradient is 0. Example: broadcast_logical_or(array({0, 2}), "
      "array({1, 3})) is [1, 1].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return (lhs != 0) || (rhs != 0); }
};

struct BroadcastLogicalXor {
  static constexpr std::string_view name = "broadcast_logical_xor";
  static constexpr const char* doc =
      "1 where exactly one of lhs and rhs is not 0, else 0. Shapes broadcast. Every type, bool included. Sparse "
      "where both are of one storage, else dense. The gradient is 0. Example: broadcast_logical_xor(array({0, 2}), "
      "array({1, 3})) is [1, 0].";
  static constexpr DtypeSet dtypes = any_dtype;
  static constexpr bool zero_gradient = true;
  constexpr auto forward(auto lhs, auto rhs) const { return ((lhs != 0) && (rhs == 0)) || ((lhs == 0) && (rhs != 0)); }
};

inline constexpr Op<BroadcastEqual, OnUse> broadcast_equal;
inline constexpr Op<BroadcastNotEqual, OnUse> broadcast_not_equal;
inline constexpr Op<BroadcastGreater, OnUse> broadcast_greater;
inline constexpr Op<BroadcastGreaterEqual, OnUse> broadcast_greater_equal;
inline constexpr Op<BroadcastLesser, OnUse> broadcast_lesser;
inline constexpr Op<BroadcastLesserEqual, OnUse> broadcast_lesser_equal;
inline constexpr Op<BroadcastLogicalAnd, OnUse> broadcast_logical_and;
inline constexpr Op<BroadcastLogicalOr, OnUse> broadcast_logical_or;
inline constexpr Op<BroadcastLogicalXor, OnUse> broadcast_logical_xor;

using BroadcastCompareOps =
    OpList<BroadcastEqual, BroadcastNotEqual, BroadcastGreater, BroadcastGreaterEqual, BroadcastLesser,
           BroadcastLesserEqual, BroadcastLogicalAnd, BroadcastLogicalOr, BroadcastLogicalXor>;

}  // namespace strop::inline v0
