// SPDX-License-Identifier: Apache-2.0
/// \file
/// _contrib_allclose: whether two arrays are equal to rounding, as an operator.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

/// _contrib_allclose: 1 where |a − b| ≤ atol + rtol · |b| holds for all elements, in double, else 0.
///
/// Arrays of one shape and type, the result is a number of uint8 without dimensions. An infinity is close to itself
/// alone, NaN to NaN with `equal_nan`. Without a gradient, as in MXNet. Sparse arrays by the dense fallback.
/// In C++ strop::allclose is the function that gives a bool. Error: shapes that differ.
///
/// Example: `allclose_op(array({1, 2}), array({1, 2.5}), {.atol = 0.5f})` is 1.
struct Allclose {
  float rtol = 1e-5f, atol = 1e-8f;
  bool equal_nan = true;
  static constexpr std::string_view name = "_contrib_allclose", aliases[] = {"allclose"}, inputs[] = {"a", "b"};
  static constexpr const char* doc = "Whether |a − b| ≤ atol + rtol · |b| for all elements, as 1 or 0.";
  static constexpr Note notes[] = {{"rtol", "what may differ, relative to b"},
                                   {"atol", "what may differ besides"},
                                   {"equal_nan", "NaN is close to NaN"}};
  static constexpr Range range[] = {{"rtol", 0}, {"atol", 0}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_in(1, s.in(0));
    s.set_in(0, s.in(1));
    s.set_out(0, Shape{});
  }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    t.set_in(1, t.in(0));
    t.set_in(0, t.in(1));
    t.set_out(0, u8);
  }
  void forward(Cpu&, const NDArray& a, const NDArray& b, NDArray& y) const;
};
inline constexpr Op<Allclose, OnUse> allclose_op;

using AllcloseOps = OpList<Allclose>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/allclose_body.hpp>
#endif
