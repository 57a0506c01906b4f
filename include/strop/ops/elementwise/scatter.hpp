// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators on the stored values of a sparse array alone, where the dense function would fill it.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/elementwise/rounding.hpp>
#include <strop/ops/elementwise/scalar.hpp>
#include <strop/ops/list.hpp>

#include <optional>
#include <string_view>
#include <tuple>

namespace strop::inline v0 {

namespace detail {
/// Types of an array and a number: one, or float64 of integers that are taken so.
template <int = 0>
constexpr void types_with_number(Types& types, bool is_int) {
  const bool as_double = !is_int && types.in(0) && !is_floating(*types.in(0));
  types.set_out(0, as_double ? f64 : types.in(0));
  if (!as_double) types.set_in(0, types.out(0));
}
}  // namespace detail

/// Example: of `array({{1, 0}}).to(csr)` with `{.scalar = 2}` it is csr [[3, 0]].
struct ScatterPlusScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_scatter_plus_scalar";
  static constexpr std::string_view aliases[] = {"scatter_plus_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "x + s where x stores a value; what is not stored stays zero. On a dense x everywhere. Floating and integer "
      "types. "
      "The result has the storage of x. The gradient is the head gradient.";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  constexpr bool infer_storage(Storages& storages) const { return storages.set_out(0, storages.in(0)); }
  constexpr void infer_type(Types& types) const { detail::types_with_number(types, is_int); }
  template <Element E, class Add = PlusScalar>
  // it is built only where this one is
  void forward(Cpu&, const NDArray& data, NDArray& y) const;
  auto gradient(const auto& dy) const { return dy; }
};

/// Example: of `array({{1, 0}}).to(csr)` with `{.scalar = 2}` it is csr [[-1, 0]].
struct ScatterMinusScalar {
  Scalar scalar = 1;
  bool is_int = true;

  static constexpr std::string_view name = "_scatter_minus_scalar";
  static constexpr std::string_view aliases[] = {"scatter_minus_scalar"};
  static constexpr Note notes[] = {{"scalar", "the number s"},
                                   {"is_int", "whether s was an integer; else integers are taken as float64"}};
  static constexpr const char* doc =
      "x - s where x stores a value; what is not stored stays zero. On a dense x everywhere. Floating and integer "
      "types. "
      "The result has the storage of x. The gradient is the head gradient.";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  constexpr bool infer_storage(Storages& storages) const { return storages.set_out(0, storages.in(0)); }
  constexpr void infer_type(Types& types) const { detail::types_with_number(types, is_int); }
  template <Element E, class Subtract = MinusScalar>
  void forward(Cpu&, const NDArray& data, NDArray& y) const;
  auto gradient(const auto& dy) const { return dy; }
};

/// Gradients: dy / rhs and −dy · lhs / rhs². Example: of a row-sparse lhs with the row [1, 2] at 1 and rhs all 2 it is
/// the row [0.5, 1] at 1.
struct ScatterElemwiseDiv {
  static constexpr std::string_view name = "_scatter_elemwise_div";
  static constexpr std::string_view aliases[] = {"scatter_elemwise_div"};
  static constexpr const char* doc =
      "lhs / rhs where lhs stores a row (or, in CSR, a value); what is not stored stays zero, whatever rhs is there. "
      "On a "
      "dense lhs everywhere. Both have one shape and one type, floating or integer. The result has the storage of lhs. "
      "Gradients: dy / rhs and -dy lhs / rhs^2.";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr Share inplace[] = {{0, 0}};

  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
    for (int pass = 0; pass < 2; ++pass) {
      shapes.set_in(0, shapes.out(0));
      shapes.set_in(1, shapes.in(0));
      shapes.set_in(0, shapes.in(1));
      shapes.set_out(0, shapes.in(0));
    }
  }
  template <int = 0>
  constexpr void infer_type(Types& types) const {
    const std::optional<Dtype> common = types.in(0) ? types.in(0) : types.in(1) ? types.in(1) : types.out(0);
    types.set_in(0, common);
    types.set_in(1, common);
    types.set_out(0, common);
  }
  constexpr bool infer_storage(Storages& storages) const {
    if (storages.in(0) == dense && storages.in(1) != dense) return false;
    return storages.set_out(0, storages.in(0));
  }
  template <Element E, class Divide = ElemwiseDiv>
  void forward(Cpu&, const NDArray& data, const NDArray& rhs, NDArray& y) const;
  auto gradient(const auto& dy, const auto& lhs, const auto& rhs) const {
    constexpr Op<ElemwiseDiv, OnUse> divide;
    constexpr Op<ElemwiseMul, OnUse> multiply;
    constexpr Op<Negative, OnUse> minus;
    const auto dl = divide(dy, rhs);
    return std::tuple(dl, minus(multiply(dl, divide(lhs, rhs))));
  }
};

template <>
inline constexpr bool detail::reads_any_index<ScatterPlusScalar> = true;
inline constexpr Op<ScatterPlusScalar, OnUse> scatter_plus_scalar;
template <>
inline constexpr bool detail::reads_any_index<ScatterMinusScalar> = true;
inline constexpr Op<ScatterMinusScalar, OnUse> scatter_minus_scalar;
template <>
inline constexpr bool detail::reads_any_index<ScatterElemwiseDiv> = true;
inline constexpr Op<ScatterElemwiseDiv, OnUse> scatter_elemwise_div;

using ScatterOps = OpList<ScatterPlusScalar, ScatterMinusScalar, ScatterElemwiseDiv>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/elementwise/scatter_body.hpp>
#endif
