// SPDX-License-Identifier: Apache-2.0
/// \file
/// _sparse_retain: some of the rows of a row_sparse array.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/sparse_dot.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

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

  constexpr void infer_shape(Shapes& shapes) const {
    shapes.set_out(0, shapes.in(0));
    shapes.set_in(0, shapes.out(0));
    shapes.expect_rank(1, 1);
  }
  constexpr void infer_type(Types& types) const {
    types.set_out(0, types.in(0));
    types.set_in(0, types.out(0));
    if (!types.in(1)) types.set_in(1, i64);
  }
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

  void forward(Cpu&, const NDArray& x, const NDArray& indices, NDArray& y) const { retain(x, indices, y); }
  void grad(Cpu&, Head<"output", NDArray> dy, In<"indices", NDArray> indices, Grad<"data", NDArray> dx) const {
    if (dx) retain(dy, indices, dx);
  }

 private:
  static void retain(const NDArray& data, const NDArray& indices, const NDArray& y) {
    const NDArray x = detail::merged(data);
    const std::int64_t rows = x.shape()[0], width = x.shape().size(1, x.ndim()) * size_of(x.dtype());
    detail::List<std::int64_t> wanted(indices.size());
    detail::convert_elements(indices.dtype(), indices.bytes(), i64, wanted.data(), indices.size());
    std::sort(wanted.begin(), wanted.end());
    wanted.resize(std::unique(wanted.begin(), wanted.end()) - wanted.begin());
    for (std::int64_t i : wanted)
      if (i < 0 || i >= rows)
        strop::fail(name, ": index ", i, " is outside the first axis of shape ", to_text(x.shape()));
    const std::int64_t count = wanted.size();
    const bool sparse = y.storage() == row_sparse, stored = x.storage() == row_sparse;
    if (sparse) {
      detail::allocate_stored_as(y, count, stored ? x.indices().dtype() : i64);
      detail::write_indices(y.indices(), wanted.data(), count);
    } else {
      detail::clear(y, rows * width);
    }
    const detail::Positions positions(stored ? detail::IndexReader(x.indices()) : detail::IndexReader(nullptr),
                                      stored ? x.nnz() : 0, rows, count);
    for (std::int64_t k = 0; width != 0 && k < count; ++k) {
      const std::int64_t row = wanted[k], from = stored ? positions(row) : row;
      std::byte* to = y.bytes() + (sparse ? k : row) * width;
      if (from >= 0)
        detail::copy_bytes(to, x.bytes() + from * width, width);
      else
        detail::clear_bytes(to, width);
    }
  }
};
template <>
inline constexpr bool detail::reads_any_index<SparseRetain> = true;
inline constexpr Op<SparseRetain, OnUse> sparse_retain;

using SparseRetainOps = OpList<SparseRetain>;

}  // namespace strop::inline v0
