// SPDX-License-Identifier: Apache-2.0
/// \file
/// add_n: the sum of any number of arrays.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/elementwise/elemwise.hpp>
#include <strop/ops/list.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// Errors: no input; other shapes or types.
struct AddN {
  int num_args = 0;

  static constexpr std::string_view name = "add_n";
  static constexpr std::string_view aliases[] = {"_sparse_add_n", "_sparse_ElementWiseSum", "ElementWiseSum"};
  static constexpr Note notes[] = {{"num_args", "the number of inputs; 0 takes as many as are given"}};
  static constexpr const char* doc =
      "The sum of one or more arrays of one shape and type. Floating and integer types; halves are added in float32, "
      "integers "
      "wrap. The result is sparse where all inputs have one sparse storage, dense where one of them is, else dense by "
      "the dense fallback. The gradient of every input is "
      "the "
      "head gradient. Example: add_n({array({1, 2}), array({3, 4}), array({5, 6})}) is [9, 12].";
  static constexpr DtypeSet dtypes = floating | integral;
  static constexpr Share inplace[] = {{0, 0}};
  static constexpr Keeps gradient_keeps = Keeps::none;

  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
    if (shapes.inputs() == 0) shapes.fail("takes at least one input");
    detail::check_count(shapes, num_args);
    Shape common = shapes.out(0);
    for (int i = 0; i < shapes.inputs(); ++i)
      if (!unify(common, shapes.in(i))) shapes.set_in(i, common);
    for (int i = 0; i < shapes.inputs(); ++i) shapes.set_in(i, common);
    shapes.set_out(0, common);
  }
  template <int = 0>
  constexpr void infer_type(Types& types) const {
    std::optional<Dtype> common = types.out(0);
    for (int i = 0; i < types.inputs() && !common; ++i) common = types.in(i);
    for (int i = 0; i < types.inputs(); ++i) {
      types.expect_in(i, dtypes);
      types.set_in(i, common);
    }
    types.set_out(0, common);
  }
  template <int = 0>
  constexpr bool infer_storage(Storages& storages) const {
    bool alike = true, whole = false;
    for (int i = 0; i < storages.inputs(); ++i) {
      alike = alike && storages.in(i) == storages.in(0);
      whole = whole || storages.in(i) == dense;
    }
    if (alike) return storages.set_out(0, storages.in(0));
    return storages.set_out(0, dense) && whole;
  }
  template <Element E, class Add = ElemwiseAdd>
  void forward(Cpu&, std::span<const NDArray> in, NDArray& out) const;
  auto gradient(const auto& dy, auto in) const { return std::vector(in.size(), dy); }
};

template <>
inline constexpr bool detail::reads_any_index<AddN> = true;
template <>
inline constexpr bool detail::zero_unless_stored<AddN> = true;
inline constexpr Op<AddN, OnUse> add_n;

using SumOps = OpList<AddN>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/elementwise/sum_body.hpp>
#endif
