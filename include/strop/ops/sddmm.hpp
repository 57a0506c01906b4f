// SPDX-License-Identifier: Apache-2.0
/// \file
/// sddmm: a product of dense matrices where a pattern stores something.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <span>
#include <string_view>

namespace strop::inline v0 {

/// sddmm: y[i, j] = Σₖ lhs[i, k] · rhs[j, k].
///
/// pattern (m, n), lhs (m, k), rhs (n, k), floating types of one kind, lhs and rhs dense. A CSR pattern gives a CSR
/// result with the pattern's indices, whatever values stand there, a stored zero too; of a dense pattern the places
/// are those of its elements that are not zero, and the result is dense. Work is proportional to the places times k.
/// The gradients of lhs and rhs are dense; the pattern has none. Error: extents differ.
///
/// Example: `sddmm(csr_matrix({1, 1}, {0, 1}, {0, 1, 2}, {2, 2}), array({{1, 2}, {3, 4}}), array({{1, 0}, {0, 1}}))`
/// stores 1 at (0, 0) and 4 at (1, 1).
struct Sddmm {
  static constexpr std::string_view name = "sddmm", inputs[] = {"pattern", "lhs", "rhs"};
  static constexpr const char* doc =
      "The product lhs · rhsᵀ at the places where pattern stores something, or is not zero; elsewhere zero.";
  static constexpr Note notes[] = {{"pattern", "its places count, not its values"},
                                   {"lhs", "a row for each row of the pattern"},
                                   {"rhs", "a row for each column of the pattern"}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    for (int i = 0; i < 3; ++i) s.expect_rank(i, 2);
    s.set_in(0, s.out(0));
    s.set_out(0, s.in(0));
    if (!s.in(1).has_rank() || !s.in(2).has_rank()) return;
    const Shape lhs = s.in(1), rhs = s.in(2);
    s.set_in(1, Shape{s.in(0).has_rank() ? s.in(0)[0] : lhs[0], rhs[1] < 0 ? lhs[1] : rhs[1]});
    s.set_in(2, Shape{s.in(0).has_rank() ? s.in(0)[1] : rhs[0], s.in(1)[1]});
    s.set_in(0, Shape{s.in(1)[0], s.in(2)[0]});
    s.set_out(0, s.in(0));
  }
  double operations(std::span<const Shape> in) const;
  template <int = 0>
  constexpr bool infer_storage(Storages& s) const {
    const bool sparse = s.in(0) == csr && s.in(1) == dense && s.in(2) == dense;
    s.set_out(0, s.out(0).value_or(sparse ? csr : dense));
    return (sparse && s.out(0) == csr) ||
           (s.in(0) == dense && s.in(1) == dense && s.in(2) == dense && s.out(0) == dense);
  }

  template <Real E>
  void forward(Cpu&, const NDArray& pattern, const NDArray& lhs, const NDArray& rhs, NDArray& y) const;

  template <int = 0>
  constexpr bool infer_gradient_storage(Storages& s) const {  // head, pattern, lhs, rhs
    for (int k = 0; k < 2; ++k) s.set_out(k, s.out(k).value_or(dense));
    return (s.in(0) == csr || s.in(0) == dense) && (s.in(1) == csr || s.in(1) == dense) && s.in(2) == dense &&
           s.in(3) == dense && s.out(0) == dense && s.out(1) == dense;
  }
  static constexpr bool gradient_accumulates = true;

  template <Real E>
  void grad(Cpu& ctx, Head<"output", NDArray> dy, In<"pattern", NDArray> pattern, In<"lhs", NDArray> lhs,
            In<"rhs", NDArray> rhs, Grad<"lhs", NDArray> da, Grad<"rhs", NDArray> db) const;
};
template <>
inline constexpr bool detail::reads_any_index<Sddmm> = true;
template <>
inline constexpr bool detail::zero_unless_stored<Sddmm> = true;
inline constexpr Op<Sddmm, OnUse> sddmm;

using SddmmOps = OpList<Sddmm>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/sddmm_body.hpp>
#endif
