// SPDX-License-Identifier: Apache-2.0
/// \file
/// LRN: each element divided by a power of what its neighbours in other channels are.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

/// LRN: y = x / tmp_normᵇᵉᵗᵃ with tmp_norm = knorm + alpha / nsize · Σ x² over the nsize channels (axis 1) around that
/// of x; channels that are not there count as 0.
///
/// data (batch, channels, …) of two dimensions or more. Hidden output: tmp_norm, in the shape of data. Floating types;
/// sparse arrays by the dense fallback. Error: nsize is even, data has fewer dimensions.
///
/// Example: `lrn(array({{1, 1}}), {.alpha = 3, .beta = 1, .knorm = 1, .nsize = 3})` is [[0.3333333, 0.3333333]].
struct LRN {
  float alpha = 1e-4f, beta = 0.75f, knorm = 2;
  Required<int> nsize = {};

  static constexpr std::string_view outputs[] = {"output", "tmp_norm"};
  static constexpr const char* doc =
      "x / (knorm + alpha / nsize · Σ x²)^beta, summed over the nsize channels around that of x.";
  static constexpr Note notes[] = {{"alpha", "factor of the mean of squares"},
                                   {"beta", "the power of the divisor"},
                                   {"knorm", "what is added to it"},
                                   {"nsize", "how many channels, an odd number"}};
  static constexpr Range range[] = {{"nsize", 1}};
  static constexpr int visible = 1;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (*nsize % 2 == 0) s.fail("nsize is ", *nsize, ", expected an odd number");
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (!s.in(0).has_rank()) return;
    if (s.in(0).ndim() < 2) s.fail(s.name_in(0), " has shape ", s.in(0), ", expected 2 dimensions or more");
    s.set_out(1, s.in(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y, View<E> base) const;
  static constexpr Share gradient_inplace[] = {{0, 0}};
  /// dx = dy · norm^−beta − 2 · alpha / nsize · beta · x · Σ dy · x · norm^(−beta − 1).
  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x,
            Out<"tmp_norm", View<const E>> base, Grad<"data", View<E>> dx) const;

 private:
  /// f(elements of a channel, elements of one around it, how many, whether it is the first of these).
  template <class F>
  void around(detail::Span<const std::int64_t> shape, F f) const;
  template <class E>
  static void times_power(const E* x, const E* base, double exponent, E* y, std::int64_t n);
};
inline constexpr Op<LRN, OnUse> lrn;

using LrnOps = OpList<LRN>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/lrn_body.hpp>
#endif
