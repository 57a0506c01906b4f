// SPDX-License-Identifier: Apache-2.0
/// \file
/// Embedding: rows of a weight by the numbers in an array, with a dense or row-sparse gradient of the weight.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/index/kernels.hpp>
#include <strop/ops/index/take.hpp>
#include <strop/ops/list.hpp>

#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// Embedding: y[…] = weight[data[…]]. `data` has any shape and type, `weight` shape (input_dim, output_dim) and the
/// result's type.
///
/// Numbers outside are moved to the nearest end; a row-sparse `weight` refuses them, and its rows that are not stored
/// are zero. The gradient of `weight` is the sum of the head gradient's rows per number; with sparse_grad it is
/// row-sparse and holds the rows that occur, numbered in int32 where `data` is, and refuses numbers outside. `data` has
/// no gradient. `dtype` is the weight's type where nothing else says it.
///
/// Example: `embedding(array({1, 1}), array({{1, 2}, {3, 4}}), {.input_dim = 2, .output_dim = 2})` is [[3, 4], [3, 4]].
struct Embedding {
  Required<std::int64_t> input_dim = {}, output_dim = {};
  Dtype dtype = f32;
  bool sparse_grad = false;

  static constexpr std::string_view aliases[] = {"_sparse_Embedding", "_npx_embedding"}, inputs[] = {"data", "weight"};
  static constexpr const char* doc =
      "Rows of weight by the numbers in data, moved to the nearest end where they lie outside. With sparse_grad the "
      "gradient of weight is row-sparse, and refuses numbers that lie outside.";
  static constexpr Note notes[] = {{"input_dim", "rows of weight"},
                                   {"output_dim", "columns of weight"},
                                   {"dtype", "type of weight where nothing else says it"},
                                   {"sparse_grad",
                                    "whether the gradient of weight is row-sparse; forward moves numbers that "
                                    "lie outside to the nearest end, backward refuses them then"}};
  static constexpr Range range[] = {{"input_dim", 1}, {"output_dim", 1}};
  static constexpr std::string_view gradient_reads[] = {"data"};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_in(1, Shape{*input_dim, *output_dim});
    if (s.in(0).has_rank()) {
      Shape out = s.in(0);
      out.push_back(*output_dim);
      s.set_out(0, out);
    } else if (s.out(0).has_rank() && s.out(0).ndim() > 0) {
      Shape in = s.out(0);
      in.erase(in.ndim() - 1);
      s.set_in(0, in);
    }
  }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    t.set_out(0, t.in(1));
    t.set_in(1, t.out(0) ? *t.out(0) : dtype);
    t.set_out(0, t.in(1));
  }
  constexpr bool infer_storage(Storages& s) const { return s.set_out(0, dense) && s.in(0) == dense && s.in(1) != csr; }
  void forward(Cpu&, const NDArray& data, const NDArray& weight, NDArray& y) const;
  auto gradient(const auto& dy, const auto& data, const auto& weight) const;
};

/// Sums of the rows of the head gradient per number. Internal.
struct EmbeddingGradient {
  bool sparse_grad = false;
  static constexpr std::string_view name = "_backward_Embedding", inputs[] = {"data", "indices", "like"};
  static constexpr const char* doc =
      "Sums of the rows of data per number in indices, in the shape of like; row-sparse with sparse_grad.";
  static constexpr std::string_view gradient_reads[] = {"indices"};
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(2));
    s.expect_rank(2, 2);
    if (!s.in(1).has_rank() || !s.in(2).has_rank()) return;
    Shape rows = s.in(1);
    rows.push_back(s.in(2)[1]);
    s.set_in(0, rows);
  }
  constexpr void infer_type(Types& t) const { detail::type_of_first(t); }
  constexpr bool infer_storage(Storages& s) const {
    return s.set_out(0, sparse_grad ? row_sparse : dense) && s.in(0) == dense && s.in(1) == dense;
  }
  template <Real E>
  void forward(Cpu&, const NDArray& dy, const NDArray& data, const NDArray&, NDArray& dw) const;
  auto gradient(const auto& ddw, const auto& dy, const auto& data, const auto& like) const;
};

/// _contrib_SparseEmbedding: Embedding with a gradient of `weight` that is row-sparse, under the name that older models
/// have for it.
///
/// `deterministic` asked MXNet for sums in one order, which they have here always.
/// Example: `sparse_embedding(array({1}), array({{1, 2}, {3, 4}}), {.input_dim = 2, .output_dim = 2})` is [[3, 4]].
struct SparseEmbedding {
  Required<std::int64_t> input_dim = {}, output_dim = {};
  Dtype dtype = f32;
  bool deterministic = false;

  static constexpr std::string_view name = "_contrib_SparseEmbedding",
                                    aliases[] = {"SparseEmbedding", "sparse_embedding"}, inputs[] = {"data", "weight"};
  static constexpr const char* doc =
      "Rows of weight by the numbers in data, moved to the nearest end where they lie outside. The gradient of weight "
      "is row-sparse.";
  static constexpr Note notes[] = {{"input_dim", "rows of weight"},
                                   {"output_dim", "columns of weight"},
                                   {"dtype", "type of weight where nothing else says it"},
                                   {"deterministic", "changes nothing: sums have one order"}};
  static constexpr Range range[] = {{"input_dim", 1}, {"output_dim", 1}};
  static constexpr std::string_view gradient_reads[] = {"data"};

  constexpr void infer_shape(Shapes& s) const { plain().infer_shape(s); }
  constexpr void infer_type(Types& t) const { plain().infer_type(t); }
  constexpr bool infer_storage(Storages& s) const { return plain().infer_storage(s); }
  void forward(Cpu& ctx, const NDArray& data, const NDArray& weight, NDArray& y) const;
  auto gradient(const auto& dy, const auto& data, const auto& weight) const {
    return plain().gradient(dy, data, weight);
  }

 private:
  constexpr Embedding plain() const {
    return {.input_dim = input_dim, .output_dim = output_dim, .dtype = dtype, .sparse_grad = true};
  }
};

template <>
inline constexpr bool detail::reads_any_index<Embedding> = true;
template <>
inline constexpr bool detail::reads_any_index<SparseEmbedding> = true;
template <>
inline constexpr bool detail::reads_any_index<EmbeddingGradient> = true;
inline constexpr Op<Embedding, OnUse> embedding;
inline constexpr Op<SparseEmbedding, OnUse> sparse_embedding;
inline constexpr Op<EmbeddingGradient, OnUse> embedding_gradient;

auto Embedding::gradient(const auto& dy, const auto& data, const auto& weight) const {
  using Node = std::remove_cvref_t<decltype(dy)>;
  return std::vector<Node>{Node(), embedding_gradient(dy, data, weight, {.sparse_grad = sparse_grad})};
}
auto EmbeddingGradient::gradient(const auto& ddw, const auto&, const auto& data, const auto&) const {
  return std::vector<std::remove_cvref_t<decltype(ddw)>>{take(ddw, data)};
}

using EmbeddingOps = OpList<Embedding, EmbeddingGradient, SparseEmbedding>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/index/embedding_body.hpp>
#endif
