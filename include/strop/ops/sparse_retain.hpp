// SPDX-License-Identifier: Apache-2.0
/// \file
/// _sparse_retain: some of the rows of a row_sparse array.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <string_view>

namespace strop::inline v0 {

/// _sparse_retain: the rows of `data` that `indices` lists; the others become zero.
///
/// data row_sparse of any type, indices a dense vector of any type; the result is row_sparse and stores exactly the
/// listed rows, ascending, each once (a row that data does not store is zero). The gradient is the head gradient's
/// listed rows, row_sparse unless its array is dense. Error: other storages, an index outside of the first axis.
///
/// Example: `sparse_retain(row_sparse_array({{1}, {2}}, {0, 2}, {3, 1}), array({2}))` stores row 2 alone.
struct SparseRetain {
  static constexpr std::string_view name = "_sparse_retain", aliases[] = {"sparse_retain"};
  static constexpr std::string_view inputs[] = {"data", "indices"};
  static constexpr const char* doc = "The rows of a row_sparse array that indices lists; the others become zero.";

  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_out(0, shapes.in(0));
    shapes.set_in(0, shapes.out(0));
    shapes.expect_rank(1, 1);
  }
  template <int = 0>
  constexpr void infer_type(Types& types) const {
    types.set_out(0, types.in(0));
    types.set_in(0, types.out(0));
    if (!types.in(1)) types.set_in(1, i64);
  }
  template <int = 0>
  constexpr bool infer_storage(Storages& s) const {
    if (s.in(0) != row_sparse || s.in(1) != dense)
      strop::fail(name, ": storages are (", name_of(s.in(0)), ", ", name_of(s.in(1)),
                  "), expected (row_sparse, dense)");
    return s.set_out(0, row_sparse);
  }
  constexpr bool infer_gradient_storage(Storages& s) const {
    s.set_out(0, s.out(0).value_or(row_sparse));
    return s.in(0) != csr && s.in(1) == dense;
  }

  void forward(Cpu&, const NDArray& x, const NDArray& indices, NDArray& y) const;
  void grad(Cpu&, Head<"output", NDArray> dy, In<"indices", NDArray> indices, Grad<"data", NDArray> dx) const;

 private:
  static void retain(const NDArray& data, const NDArray& indices, const NDArray& y);
};
template <>
inline constexpr bool detail::reads_any_index<SparseRetain> = true;
inline constexpr Op<SparseRetain, OnUse> sparse_retain;

using SparseRetainOps = OpList<SparseRetain>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/sparse_retain_body.hpp>
#endif
