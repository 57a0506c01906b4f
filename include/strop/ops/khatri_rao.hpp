// SPDX-License-Identifier: Apache-2.0
/// \file
/// khatri_rao: products of all rows of several matrices.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/index/kernels.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

/// khatri_rao: a row of the result for each choice of one row per matrix, the last one's changing first, which are
/// multiplied column by column: column j is the Kronecker product of the columns j.
///
/// Matrices (mᵢ, n), the result is (m₁ · m₂ · …, n). Floating types, int32 and int64; without a gradient, as in MXNet.
/// Sparse arrays by the dense fallback. Error: other dimensions, numbers of columns that differ.
///
/// Example: `khatri_rao({array({{1, -1}, {2, -3}}), array({{1, 4}})})` is [[1, -4], [2, -12]].
struct KhatriRao {
  int num_args = 0;
  static constexpr std::string_view name = "khatri_rao";
  static constexpr const char* doc =
      "The Khatri-Rao product: column by column, the Kronecker product of the columns of all matrices.";
  static constexpr Note notes[] = {{"num_args", "how many matrices there are; 0: those that are given"}};
  static constexpr Range range[] = {{"num_args", 0}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count(s, num_args);
    Shape out{1, Shape::unknown_extent};
    for (int i = 0; i < s.inputs(); ++i) {
      s.expect_rank(i, 2);
      s.set_in(i, {Shape::unknown_extent, out[1]});
      const std::int64_t rows = s.in(i)[0];
      out = {out[0] < 0 || rows < 0 ? Shape::unknown_extent : detail::checked_product(out[0], rows, s.op()),
             s.in(i)[1]};
    }
    s.set_out(0, out);
  }
  template <detail::Addable E>
  void forward(Cpu&, std::span<const View<const E, 2>> x, View<E, 2> y) const;
};
inline constexpr Op<KhatriRao, OnUse> khatri_rao;

using KhatriRaoOps = OpList<KhatriRao>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/khatri_rao_body.hpp>
#endif
