// SPDX-License-Identifier: Apache-2.0
/// \file
/// stored_softmax, stored_log_softmax: softmax over the stored values of each row of a matrix.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

/// stored_softmax: y[i, j] = e^x[i, j] / Σ e^x[i, ·] over the places of row i that store something. stored_log_softmax:
/// the logarithm of it there.
///
/// data has two dimensions and a floating type; the result has its storage, and of CSR its places, whatever values
/// stand there, a stored zero too. The places of a dense array are its elements that are not zero. The other elements
/// of the result are 0, as if data had −∞ there; a row without places has zeros alone. The gradient stands in the same
/// places. Error: data has another number of dimensions.
///
/// Example: `stored_softmax(csr_matrix({5, 5, 1}, {0, 2, 1}, {0, 2, 3}, {2, 3}))` stores 0.5, 0.5 and 1.
template <bool Logarithm>
struct StoredSoftmaxOf {
  static constexpr std::string_view name = Logarithm ? "stored_log_softmax" : "stored_softmax";
  static constexpr const char* doc = Logarithm
                                         ? "The logarithm of stored_softmax at the places that data stores."
                                         : "Softmax of each row over the places that data stores, or that are not "
                                           "zero; elsewhere zero.";
  static constexpr Note notes[] = {{"data", "a matrix; a stored zero is a place like any other"}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.expect_rank(0, 2);
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
  }
  constexpr bool infer_storage(Storages& s) const {
    const Storage same = s.in(0) == csr ? csr : dense;
    return s.set_out(0, s.out(0).value_or(same)) && s.in(0) != row_sparse && s.out(0) == same;
  }
  template <Real E>
  void forward(Cpu&, const NDArray& data, NDArray& y) const;

  template <int = 0>
  constexpr bool infer_gradient_storage(Storages& s) const {  // head gradient, data, output
    const Storage same = s.in(1) == csr ? csr : dense;
    s.set_out(0, s.out(0).value_or(same));
    return s.in(0) != row_sparse && (same == csr || s.in(0) == dense) && s.in(1) != row_sparse && s.in(2) == same &&
           s.out(0) == same;
  }
  template <Real E>
  void grad(Cpu&, Head<"output", NDArray> dy, In<"data", NDArray> data, Out<"output", NDArray> y,
            Grad<"data", NDArray> dx) const;

 private:
  /// f(values of each of `from`, where to put as many, how many) for each row of `places`, which a CSR `to` has as
  /// well.
  template <Real E, std::size_t N, class F>
  static void each_row(const NDArray* const (&from)[N], const NDArray& places, const NDArray& to, F f);
};
using StoredSoftmax = StoredSoftmaxOf<false>;
using StoredLogSoftmax = StoredSoftmaxOf<true>;
template <bool Logarithm>
inline constexpr bool detail::reads_any_index<StoredSoftmaxOf<Logarithm>> = true;
template <bool Logarithm>
inline constexpr bool detail::zero_unless_stored<StoredSoftmaxOf<Logarithm>> = true;
inline constexpr Op<StoredSoftmax, OnUse> stored_softmax;
inline constexpr Op<StoredLogSoftmax, OnUse> stored_log_softmax;

using StoredSoftmaxOps = OpList<StoredSoftmax, StoredLogSoftmax>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/stored_softmax_body.hpp>
#endif
