// SPDX-License-Identifier: Apache-2.0
/// \file
/// FullyConnected: a linear layer.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// Whether a bias comes as one column of a matrix.
constexpr bool is_column(const Shape& bias) { return bias.has_rank() && bias.ndim() == 2 && bias[1] == 1; }

}  // namespace detail

/// FullyConnected: y = x · Wᵀ + b, x being `data` as a matrix of one row per example.
///
/// data (batch, …), weight (num_hidden, inputs), bias (num_hidden,) or (num_hidden, 1) unless `no_bias`; output (batch,
/// num_hidden). With `flatten = False` the layer works on the last axis alone and the output has the other axes of
/// data. Floating types. weight and bias may be row_sparse: rows that they do not store are zero, whatever data is;
/// other sparse arrays go by the dense fallback. The gradient needs data and weight. Error: num_hidden is missing,
/// extents do not agree.
///
/// Example: `fully_connected(array({{1, 2}}), array({{1, 1}}), array({10}), {.num_hidden = 1})` is [[13]].
struct FullyConnected {
  Required<int> num_hidden = {};
  bool no_bias = false, flatten = true;

  static constexpr std::string_view aliases[] = {"_sparse_FullyConnected", "_npx_fully_connected"};
  static constexpr std::string_view inputs[] = {"data", "weight", "bias"};
  static constexpr const char* doc =
      "A linear layer: the product of data, one row per example, with the transpose of weight, plus bias. "
      "data (batch, …), weight (num_hidden, inputs), bias (num_hidden,), output (batch, num_hidden).";
  static constexpr Note notes[] = {
      {"num_hidden", "rows of weight"},
      {"no_bias", "there is no bias"},
      {"flatten", "all axes of data but the first are one; else only the last axis counts"}};
  static constexpr Range range[] = {{"num_hidden", 1}};
  static constexpr bool accumulates = true, gradient_accumulates = true;

  constexpr int input_count() const { return no_bias ? 2 : 3; }

  template <int = 0>
  constexpr void infer_shape(Shapes& shapes) const {
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
      shapes.set_in(1, weight);
      if (!no_bias) shapes.set_in(2, detail::is_column(shapes.in(2)) ? Shape{hidden, 1} : Shape{hidden});
    }
  }

  double operations(std::span<const Shape> in) const;

  /// A product for data and one for weight, and the sum for bias.
  double gradient_operations(std::span<const Shape> takes) const;

  /// Of a weight or bias in row_sparse the stored rows are read; the others are zero.
  template <int = 0>
  constexpr bool infer_storage(Storages& s) const {
    for (int i = 1; i < s.inputs(); ++i)
      if (s.in(i) == csr) return false;
    return s.in(0) == dense && s.set_out(0, dense);
  }

  template <Real E>
  void forward(Cpu& ctx, View<const E> x, const NDArray& weight, const NDArray& bias, View<E> y) const;

  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E>> dy, In<"data", View<const E>> x, In<"weight", View<const E, 2>> w,
            Grad<"data", View<E>> dx, Grad<"weight", View<E, 2>> dw, Grad<"bias", View<E>> db) const;

  /// Heads of the gradients of data, weight and, where there is one, bias; head gradient, data, weight.
  template <class Node>
  std::vector<Node> gradient_again(std::span<const Node> heads, std::span<const Node> in) const;

 private:
  static bool stores_all_rows(const NDArray& a);
  /// Adds from[k] to the element of `to` that belongs to the stored row k.
  template <class E>
  static void add_at_rows(const NDArray& a, const E* from, E* to);
};
template <>
inline constexpr bool detail::reads_any_index<FullyConnected> = true;
inline constexpr Op<FullyConnected, OnUse> fully_connected;

/// The gradients of data, weight and bias of FullyConnected as an operator: its own gradient is again a layer, which is
/// linear in each of its inputs. Internal.
struct FullyConnectedGradient {
  Required<int> num_hidden = {};
  bool flatten = true;
  static constexpr std::string_view name = "_backward_FullyConnected_again", inputs[] = {"head", "data", "weight"},
                                    outputs[] = {"data", "weight", "bias"};
  static constexpr const char* doc = "The gradients of data, weight and bias of FullyConnected.";
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    for (int k = 0; k < 2; ++k) s.set_out(k, s.in(k + 1));
    s.set_out(2, {*num_hidden});
    detail::expect_made_by(FullyConnected{.num_hidden = num_hidden, .no_bias = true, .flatten = flatten}, s, 0, {1, 2});
  }
  double operations(std::span<const Shape> in) const;
  template <Real E>
  void forward(Cpu& ctx, View<const E> dy, View<const E> x, View<const E, 2> w, View<E> dx, View<E, 2> dw,
               View<E> db) const;
  template <class Node>
  std::vector<Node> gradient(std::span<const Node> heads, const Node& dy, const Node& data, const Node& weight) const;
};
inline constexpr Op<FullyConnectedGradient, OnUse> fully_connected_gradient;

/// The layer of (a, b) plus that of (c, d), plus bias unless no_bias: the head gradient's part in the gradient of
/// FullyConnectedGradient. Internal.
struct FullyConnectedSum {
  Required<int> num_hidden = {};
  bool no_bias = false, flatten = true;
  static constexpr std::string_view name = "_backward_FullyConnected_sum", inputs[] = {"a", "b", "c", "d", "bias"};
  static constexpr const char* doc = "The sum of two layers, and of a bias unless no_bias.";
  constexpr int input_count() const { return no_bias ? 4 : 5; }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    FullyConnected{.num_hidden = num_hidden, .no_bias = true, .flatten = flatten}.infer_shape(s);
    s.set_in(2, s.in(0));
    s.set_in(3, s.in(1));
    if (!no_bias) s.set_in(4, detail::is_column(s.in(4)) ? Shape{*num_hidden, 1} : Shape{*num_hidden});
  }
  double operations(std::span<const Shape> in) const;
  template <Real E>
  void forward(Cpu&, View<const E> a, View<const E, 2> b, View<const E> c, View<const E, 2> d, View<const E> bias,
               View<E> y) const;
  auto gradient(const auto& dy, const auto& a, const auto& b, const auto& c, const auto& d, const auto&) const {
    const auto one = fully_connected_gradient(dy, a, b, {.num_hidden = num_hidden, .flatten = flatten}),
               two = fully_connected_gradient(dy, c, d, {.num_hidden = num_hidden, .flatten = flatten});
    std::vector<std::remove_cvref_t<decltype(dy)>> out{one[0], one[1], two[0], two[1]};
    if (!no_bias) out.push_back(two[2]);
    return out;
  }
};
inline constexpr Op<FullyConnectedSum, OnUse> fully_connected_sum;

using FullyConnectedOps = OpList<FullyConnected, FullyConnectedGradient, FullyConnectedSum>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/fully_connected_body.hpp>
#endif
