// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arithmetic of two arrays of one shape, element by element.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/elementwise/bodies.hpp>
#include <strop/ops/list.hpp>

#include <string_view>
#include <tuple>

namespace strop::inline v0 {

struct ElemwiseAdd {
  static constexpr std::string_view name = "elemwise_add";
  static constexpr std::string_view aliases[] = {"_sparse_elemwise_add", "_add", "_plus", "_Plus", "_grad_add"};
  static constexpr const char* doc =
      "lhs + rhs. Both have one shape. Floating and integer types. Integers wrap. Sparse where both are of one "
      "storage, else dense. Example: elemwise_add(array({1, 2}), array({3, 4})) is [4, 6].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool same_shape = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs + rhs; }
  constexpr auto grad_use_none(auto dy) const { return std::tuple(dy, dy); }
};

struct ElemwiseSub {
  static constexpr std::string_view name = "elemwise_sub";
  static constexpr std::string_view aliases[] = {"_sparse_elemwise_sub", "_sub", "_minus", "_Minus"};
  static constexpr const char* doc =
      "lhs − rhs. Both have one shape. Floating and integer types. Integers wrap. Sparse where both are of one "
      "storage, else dense. Example: elemwise_sub(array({1, 2}), array({3, 5})) is [-2, -3].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool same_shape = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs - rhs; }
  constexpr auto grad_use_none(auto dy) const { return std::tuple(dy, -dy); }
};

struct ElemwiseMul {
  static constexpr std::string_view name = "elemwise_mul";
  static constexpr std::string_view aliases[] = {"_sparse_elemwise_mul", "_mul", "_Mul"};
  static constexpr const char* doc =
      "lhs · rhs. Both have one shape. Floating and integer types. Integers wrap. Sparse where either is. Example: "
      "elemwise_mul(array({1, 2}), array({3, 4})) is [3, 8].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool same_shape = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs * rhs; }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const { return std::tuple(dy * rhs, dy * lhs); }
};

struct ElemwiseDiv {
  static constexpr std::string_view name = "elemwise_div";
  static constexpr std::string_view aliases[] = {"_sparse_elemwise_div", "_div", "_Div"};
  static constexpr const char* doc =
      "lhs / rhs. Both have one shape. Floating and integer types. Integers truncate; an integer over 0 is 0. "
      "The result is dense: 0 / 0 is not 0. Example: elemwise_div(array({1, 6}), array({2, 4})) is [0.5, 1.5].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool same_shape = true;
  constexpr bool infer_storage(Storages& s) const { return s.set_out(0, dense); }
  constexpr auto forward(auto lhs, auto rhs) const { return lhs / rhs; }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const {
    const auto dl = dy / rhs;
    return std::tuple(dl, -dl * (lhs / rhs));
  }
};

struct ElemwiseMod {
  static constexpr std::string_view name = "_mod";
  static constexpr std::string_view aliases[] = {"_Mod", "elemwise_mod"};
  static constexpr const char* doc =
      "The remainder of lhs / rhs with the sign of rhs; 0 where rhs is 0. Both have one shape. Floating and integer "
      "types. Sparse where lhs is and rhs is dense. Example: elemwise_mod(array({5, -5}), array({3, 3})) is [2, 1].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool same_shape = true;
  constexpr auto forward(auto lhs, auto rhs) const { return detail::modulo(lhs, rhs); }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const {
    const auto quotient = detail::floored_quotient(lhs, rhs, detail::modulo(lhs, rhs));
    return std::tuple(dy, where(rhs != 0, -dy * quotient, 0));
  }
};

struct ElemwisePower {
  static constexpr std::string_view name = "_power";
  static constexpr std::string_view aliases[] = {"_Power", "elemwise_power"};
  static constexpr const char* doc =
      "lhs to the power rhs. Both have one shape. Floating and integer types. On integers the result is truncated. "
      "The derivative in rhs is 0 where lhs ≤ 0. The result is dense. Example: "
      "elemwise_power(array({2, 3}), array({3, 2})) is [8, 9].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool same_shape = true;
  constexpr bool infer_storage(Storages& s) const {
    return s.in(0) == dense || s.in(1) == dense || s.set_out(0, dense);
  }
  constexpr auto forward(auto lhs, auto rhs) const { return pow(lhs, rhs); }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const { return detail::power_gradient(dy, lhs, rhs); }
};

struct ElemwiseMaximum {
  static constexpr std::string_view name = "_maximum";
  static constexpr std::string_view aliases[] = {"_Maximum", "elemwise_maximum"};
  static constexpr const char* doc =
      "The larger of lhs and rhs; NaN where either is. Both have one shape. Floating and integer types. Where they "
      "tie the gradient goes to lhs. Sparse where both are of one storage, else dense. Example: "
      "elemwise_maximum(array({1, 5}), array({3, 4})) is [3, 5].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool same_shape = true;
  constexpr auto forward(auto lhs, auto rhs) const { return max(lhs, rhs); }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const {
    return std::tuple(where(lhs >= rhs, dy, 0), where(lhs >= rhs, 0, dy));
  }
};

struct ElemwiseMinimum {
  static constexpr std::string_view name = "_minimum";
  static constexpr std::string_view aliases[] = {"_Minimum", "elemwise_minimum"};
  static constexpr const char* doc =
      "The smaller of lhs and rhs; NaN where either is. Both have one shape. Floating and integer types. Where they "
      "tie the gradient goes to lhs. Sparse where both are of one storage, else dense. Example: "
      "elemwise_minimum(array({1, 5}), array({3, 4})) is [1, 4].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool same_shape = true;
  constexpr auto forward(auto lhs, auto rhs) const { return min(lhs, rhs); }
  constexpr auto grad_use_in(auto dy, auto lhs, auto rhs) const {
    return std::tuple(where(lhs <= rhs, dy, 0), where(lhs <= rhs, 0, dy));
  }
};

struct ElemwiseHypot {
  static constexpr std::string_view name = "_hypot";
  static constexpr std::string_view aliases[] = {"_Hypot", "elemwise_hypot"};
  static constexpr const char* doc =
      "√(lhs² + rhs²), without overflow. Both have one shape. Floating and integer types. On integers the result is "
      "truncated. Sparse where both are of one storage, else dense. Example: elemwise_hypot(array({3, 5}), "
      "array({4, 12})) is [5, 13].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr bool same_shape = true;
  constexpr auto forward(auto lhs, auto rhs) const { return hypot(lhs, rhs); }
};

inline constexpr Op<ElemwiseAdd, OnUse> elemwise_add;
inline constexpr Op<ElemwiseSub, OnUse> elemwise_sub;
inline constexpr Op<ElemwiseMul, OnUse> elemwise_mul;
inline constexpr Op<ElemwiseDiv, OnUse> elemwise_div;
inline constexpr Op<ElemwiseMod, OnUse> elemwise_mod;
inline constexpr Op<ElemwisePower, OnUse> elemwise_power;
inline constexpr Op<ElemwiseMaximum, OnUse> elemwise_maximum;
inline constexpr Op<ElemwiseMinimum, OnUse> elemwise_minimum;
inline constexpr Op<ElemwiseHypot, OnUse> elemwise_hypot;

using ElemwiseOps = OpList<ElemwiseAdd, ElemwiseSub, ElemwiseMul, ElemwiseDiv, ElemwiseMod, ElemwisePower,
                           ElemwiseMaximum, ElemwiseMinimum, ElemwiseHypot>;

}  // namespace strop::inline v0
