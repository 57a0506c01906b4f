// SPDX-License-Identifier: Apache-2.0
/// \file
/// FullyConnected: a linear layer.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/list.hpp>
#include <strop/tensor/cast.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace strop::inline v0 {

namespace detail {
inline namespace STROP_ISA {

/// out(j) = Σᵢ x(i, j), or += where `add`: the sum of the rows of a matrix.
template <class E>
void sum_rows(const E* x, std::int64_t rows, std::int64_t cols, E* out, bool add) {
  using R = number::Rep<number::Vec<E>>;
  parallel_for(cols, std::max<std::int64_t>(64, (std::int64_t{1} << 17) / std::max<std::int64_t>(1, rows)),
               [&](std::int64_t begin, std::int64_t end) {
                 if (!add) std::fill(out + begin, out + end, E(0));
                 for (std::int64_t i = 0; i < rows; ++i) {
                   const E* from = x + i * cols;
                   std::int64_t j = begin;
                   for (; j + R::lanes <= end; j += R::lanes) R::store(out + j, R::load(out + j) + R::load(from + j));
                   for (; j < end; ++j) out[j] += from[j];
                 }
               });
}

}  // namespace STROP_ISA
}  // namespace detail

/// FullyConnected: y = x · Wᵀ + b, x being `data` as a matrix of one row per example.
///
/// data (batch, …), weight (num_hidden, inputs), bias (num_hidden,) unless `no_bias`; output (batch, num_hidden). With
/// `flatten = False` the layer works on the last axis alone and the output has the other axes of data. Floating types.
/// weight and bias may be row_sparse; other sparse arrays go by the dense fallback. The gradient needs data and weight.
/// Error: num_hidden is missing, extents do not agree.
///
/// Example: `fully_connected(array({{1, 2}}), array({{1, 1}}), array({10}), {.num_hidden = 1})` is [[13]].
struct FullyConnected {
  Required<int> num_hidden = {};
  bool no_bias = false, flatten = true;

  static constexpr std::string_view aliases[] = {"_sparse_FullyConnected", "_npx_fully_connected"};
  static constexpr std::string_view inputs[] = {"data", "weight", "bias"};
  static constexpr std::string_view doc =
      "A linear layer: the product of data, one row per example, with the transpose of weight, plus bias. "
      "data (batch, …), weight (num_hidden, inputs), bias (num_hidden,), output (batch, num_hidden).";
  static constexpr Note notes[] = {
      {"num_hidden", "rows of weight"},
      {"no_bias", "there is no bias"},
      {"flatten", "all axes of data but the first are one; else only the last axis counts"}};
  static constexpr Range range[] = {{"num_hidden", 1}};
  static constexpr bool accumulates = true, gradient_accumulates = true;

  int input_count() const { return no_bias ? 2 : 3; }

  void infer_shape(Shapes& shapes) const {
    const std::int64_t hidden = *num_hidden;
    Shape weight{hidden, Shape::unknown_extent};
    Shape data = shapes.in(0);
    if (data.has_rank()) {
      if (data.ndim() == 0) shapes.fail(shapes.name_in(0), " has no dimension, expected 1 or more");
      const int first = flatten ? 1 : data.ndim() - 1;
      std::int64_t width = 1;
      for (int i = first; i < data.ndim(); ++i)
        width = width < 0 || data[i] < 0 ? Shape::unknown_extent : width * data[i];
      weight[1] = width;
      const Shape given = shapes.in(1);
      if (first == data.ndim() - 1 && data.back() < 0 && given.has_rank() && given.ndim() == 2) data.back() = given[1];
      Shape out = data;
      out.resize(first);
      out.push_back(hidden);
      shapes.set_out(0, out);
      for (int i = 0; i < first; ++i) data[i] = shapes.out(0)[i];
      shapes.set_in(0, data);
    }
    shapes.set_in(1, weight);
    if (!no_bias) shapes.set_in(2, {hidden});
  }

  /// A weight or bias in row_sparse is read as it is where it stores all its rows.
  bool infer_storage(Storages& s) const {
    for (int i = 1; i < s.inputs(); ++i)
      if (s.in(i) == csr) return false;
    return s.in(0) == dense && s.set_out(0, dense);
  }

  template <Real E>
  void forward(Cpu& ctx, View<const E> x, const NDArray& weight, const NDArray& bias, View<E> y) const {
    const std::int64_t hidden = *num_hidden, examples = y.size() / hidden;
    if (y.size() == 0) return;
    const NDArray w = all_rows(weight);
    bool add = ctx.request() == Request::add;
    if (bias) {
      const NDArray b = all_rows(bias);
      const E* from = b.pointer<const E>();
      for (std::int64_t i = 0; i < examples; ++i) {
        E* to = y.data() + i * hidden;
        if (!add)
          std::memcpy(to, from, static_cast<std::size_t>(hidden) * sizeof(E));
        else
          for (std::int64_t j = 0; j < hidden; ++j) to[j] += from[j];
      }
      add = true;
    }
    detail::gemm(examples, hidden, x.size() / examples, x.data(), false, w.pointer<const E>(), true, y.data(), add);
  }

  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"weight", View<const E, 2>> w,
            Grad<"data", View<E>> dx, Grad<"weight", View<E, 2>> dw, Grad<"bias", View<E, 1>> db) const {
    const std::int64_t hidden = *num_hidden, width = w.shape()[1], examples = dy.size() / hidden;
    const auto adds = [&](int i) { return ctx.request(i) == Request::add; };
    if (dx) detail::gemm(examples, width, hidden, dy.data(), false, w.data(), false, dx.data(), adds(0));
    if (dw) detail::gemm(hidden, width, examples, dy.data(), true, x.data(), false, dw.data(), adds(1));
    if (db) detail::sum_rows(dy.data(), examples, hidden, db.data(), adds(2));
  }

 private:
  static NDArray all_rows(const NDArray& a) {
    return a.storage() == row_sparse && a.nnz() == a.shape()[0] ? a.data() : detail::cast_storage(a, dense);
  }
};
inline constexpr Op<FullyConnected, OnUse> fully_connected;

using FullyConnectedOps = OpList<FullyConnected>;

}  // namespace strop::inline v0
