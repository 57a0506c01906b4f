// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arithmetic of two arrays whose shapes broadcast, element by element.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/elementwise/bodies.hpp>
#include <strop/ops/list.hpp>

#include <string_view>
#include <tuple>

namespace strop::inline v0 {

struct BroadcastAdd {
  static constexpr std::string_view name = "broadcast_add";
  static constexpr std::string_view aliases[] = {"_sparse_broadcast_add", "_sparse_broadcast_plus", "broadcast_plus"};
  static constexpr const char* doc =
      "lhs + rhs. Shapes broadcast. Floating and integer types. Integers wrap. Sparse where both are of one "
      "storage, else dense. Example: broadcast_add(array({1, 2}), array({3, 4})) is [4, 6].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs + rhs; }
  constexpr auto grad_use_none(auto dy) const { return std::tuple(dy, dy); }
};

struct BroadcastSub {
  static constexpr std::string_view name = "broadcast_sub";
  static constexpr std::string_view aliases[] = {"_sparse_broadcast_sub", "_sparse_broadcast_minus", "broadcast_minus"};
  static constexpr const char* doc =
      "lhs − rhs. Shapes broadcast. Floating and integer types. Integers wrap. Sparse where both are of one "
      "storage, else dense. Example: broadcast_sub(array({1, 2}), array({3, 5})) is [-2, -3].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs - rhs; }
  constexpr auto grad_use_none(auto dy) const { return std::tuple(dy, -dy); }
};

struct BroadcastMul {
  static constexpr std::string_view name = "broadcast_mul";
  static constexpr std::string_view aliases[] = {"_sparse_broadcast_mul"};
  static constexpr const char* doc =
      "lhs · rhs. Shapes broadcast. Floating and integer types. Integers wrap. Sparse where either is. Example: "
      "broadcast_mul(array({1, 2}), array({3, 4})) is [3, 8].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs * rhs; }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const { return std::tuple(dy * rhs, dy * lhs); }
};

struct BroadcastDiv {
  static constexpr std::string_view name = "broadcast_div";
  static constexpr std::string_view aliases[] = {"_sparse_broadcast_div"};
  static constexpr const char* doc =
      "lhs / rhs. Shapes broadcast. Floating and integer types. Integers truncate; an integer over 0 is 0. Sparse "
      "where lhs is. Example: broadcast_div(array({1, 6}), array({2, 4})) is [0.5, 1.5].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs / rhs; }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const {
    const auto dl = dy / rhs;
    return std::tuple(dl, -dl * (lhs / rhs));
  }
};

struct BroadcastMod {
  static constexpr std::string_view name = "broadcast_mod";
  static constexpr const char* doc =
      "The remainder of lhs / rhs with the sign of rhs; 0 where rhs is 0. Shapes broadcast. Floating and integer "
      "types. Sparse where lhs is. Example: broadcast_mod(array({5, -5}), array({3, 3})) is [2, 1].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto lhs, auto rhs) const { return detail::modulo(lhs, rhs); }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const {
    const auto quotient = detail::floored_quotient(lhs, rhs, detail::modulo(lhs, rhs));
    return std::tuple(dy, where(rhs != 0, -dy * quotient, 0));
  }
};

struct BroadcastPower {
  static constexpr std::string_view name = "broadcast_power";
  static constexpr const char* doc =
      "lhs to the power rhs. Shapes broadcast. Floating and integer types. On integers the result is truncated. The "
      "derivative in rhs is 0 where lhs ≤ 0. A sparse input is computed densely. Example: broadcast_power(array({2, "
      "3}), array({3, 2})) is [8, 9].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto lhs, auto rhs) const { return pow(lhs, rhs); }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const { return detail::power_gradient(dy, lhs, rhs); }
};

struct BroadcastMaximum {
  static constexpr std::string_view name = "broadcast_maximum";
  static constexpr std::string_view aliases[] = {"_npi_maximum"};
  static constexpr const char* doc =
      "The larger of lhs and rhs; NaN where either is. Shapes broadcast. Floating and integer types. Where they tie "
      "the gradient goes to lhs. Sparse where both are of one storage, else dense. Example: "
      "broadcast_maximum(array({1, 5}), array({3, 4})) is [3, 5].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto lhs, auto rhs) const { return max(lhs, rhs); }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const {
    return std::tuple(where(lhs >= rhs, dy, 0), where(lhs >= rhs, 0, dy));
  }
};

struct BroadcastMinimum {
  static constexpr std::string_view name = "broadcast_minimum";
  static constexpr std::string_view aliases[] = {"_npi_minimum"};
  static constexpr const char* doc =
      "The smaller of lhs and rhs; NaN where either is. Shapes broadcast. Floating and integer types. Where they "
      "tie the gradient goes to lhs. Sparse where both are of one storage, else dense. Example: "
      "broadcast_minimum(array({1, 5}), array({3, 4})) is [1, 4].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto lhs, auto rhs) const { return min(lhs, rhs); }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const {
    return std::tuple(where(lhs <= rhs, dy, 0), where(lhs <= rhs, 0, dy));
  }
};

struct BroadcastHypot {
  static constexpr std::string_view name = "broadcast_hypot";
  static constexpr const char* doc =
      "√(lhs² + rhs²), without overflow. Shapes broadcast. Floating and integer types. On integers the result is "
      "truncated. Sparse where both are of one storage, else dense. Example: broadcast_hypot(array({3, 5}), "
      "array({4, 12})) is [5, 13].";
  static constexpr DtypeSet dtypes = floating | integral;
  constexpr auto forward(auto lhs, auto rhs) const { return hypot(lhs, rhs); }
};

inline constexpr Op<BroadcastAdd, OnUse> broadcast_add;
inline constexpr Op<BroadcastSub, OnUse> broadcast_sub;
inline constexpr Op<BroadcastMul, OnUse> broadcast_mul;
inline constexpr Op<BroadcastDiv, OnUse> broadcast_div;
inline constexpr Op<BroadcastMod, OnUse> broadcast_mod;
inline constexpr Op<BroadcastPower, OnUse> broadcast_power;
inline constexpr Op<BroadcastMaximum, OnUse> broadcast_maximum;
inline constexpr Op<BroadcastMinimum, OnUse> broadcast_minimum;
inline constexpr Op<BroadcastHypot, OnUse> broadcast_hypot;

using BroadcastOps = OpList<BroadcastAdd, BroadcastSub, BroadcastMul, BroadcastDiv, BroadcastMod, BroadcastPower,
                            BroadcastMaximum, BroadcastMinimum, BroadcastHypot>;

}  // namespace strop::inline v0
