// SPDX-License-Identifier: Apache-2.0
/// \file
/// Embedding: rows of a weight by the numbers in an array, with a dense or row-sparse gradient of the weight.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/csr_transposed.hpp>
#include <strop/ops/index/take.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/ranked_set.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// y[i] = row ids[i] of a row-sparse weight; rows that are not stored are zero.
inline void take_stored_rows(const NDArray& given, Span<const std::int64_t> ids, const NDArray& y) {
  const NDArray weight = merged(given);
  const std::int64_t bytes = weight.shape().size(1, weight.ndim()) * size_of(weight.dtype());
  const std::int64_t count = weight.nnz();
  IndexReader(weight.indices()).as_stored([&](const auto* stored) {
    for (std::int64_t i = 0; i < ids.size(); ++i) {
      std::byte* to = y.bytes() + i * bytes;
      const auto* found = std::lower_bound(stored, stored + count, ids[i]);
      if (found == stored + count || *found != ids[i])
        detail::clear_bytes(to, bytes);
      else
        detail::copy_bytes(to, weight.bytes() + (found - stored) * bytes, bytes);
    }
  });
}

/// Rows of a head gradient with the place that each goes to, as ByBlock and ByPlace read them.
template <class E>
struct PlacedRows : ListedNumbers<std::int64_t> {
  /// f(place, 1, row).
  template <class F>
  void values(std::int64_t p, std::int64_t parts, F f) const {
    columns(p, parts, [&](std::int64_t k, std::int64_t at) { f(at, E(1), static_cast<std::int32_t>(k)); });
  }
};

/// The rows that occur in ids, each the sum of its rows of dy, as a row-sparse array with indices of the type `index`.
template <class E>
void add_stored_rows(const E* dy, Span<const std::int64_t> ids, const NDArray& weight, Dtype index) {
  const std::int64_t width = weight.shape().size(1, weight.ndim()), extent = weight.shape()[0];
  const NDArray places({ids.size()}, i64);
  auto* const place = places.pointer<std::int64_t>();
  const auto number_rows = [&]<class I>(I) {
    return number_through(
        extent, ids.size(), ListedNumbers<std::int64_t>{ids.data(), ids.size()},
        [&](std::int64_t rows) {
          allocate_stored_as(weight, rows, dtype_of<I>);
          return weight.indices().template pointer<I>();
        },
        [place](std::int64_t i, std::int64_t at) { place[i] = at; });
  };
  const std::int64_t count = index == i32 ? number_rows(std::int32_t{}) : number_rows(std::int64_t{});
  if (count == 0 || width == 0) return;
  const Span<const std::int64_t> at = count == extent ? ids : Span<const std::int64_t>(place, ids.size());
  const SparseSizes sizes{.width = width, .values = at.size(), .columns = count, .counted = at.size()};
  E* const out = weight.pointer<E>();
  switch (sparse_kernel(SparseWork::row_gradient, sizes)) {
    case SparseKernel::by_block:
      return ByBlock<E>(PlacedRows<E>{{at.data(), at.size()}}, at.size(), count, width).add_up(dy, out, false);
    case SparseKernel::by_place:
      return ByPlace<E>(PlacedRows<E>{{at.data(), at.size()}}, at.size(), count)
          .add_up(dy, at.size(), width, out, false);
    default:
      return add_blocks(dy, at, out, 1, count, width);
  }
}

}  // namespace detail

/// Embedding: y[…] = weight[data[…]]. `data` has any shape and type, `weight` shape (input_dim, output_dim) and the
/// result's type.
///
/// Numbers outside are moved to the nearest end; a row-sparse `weight` refuses them, and its rows that are not stored
/// are zero. The gradient of `weight` is the sum of the head gradient's rows per number; with sparse_grad it is
/// row-sparse and holds the rows that occur, numbered in int32 where `data` is. `data` has no gradient. `dtype` is the
/// weight's type where nothing else says it.
///
/// Example: `embedding(array({1, 1}), array({{1, 2}, {3, 4}}), {.input_dim = 2, .output_dim = 2})` is [[3, 4], [3, 4]].
struct Embedding {
  Required<std::int64_t> input_dim = {}, output_dim = {};
  Dtype dtype = f32;
  bool sparse_grad = false;

  static constexpr std::string_view aliases[] = {"_sparse_Embedding", "_npx_embedding"}, inputs[] = {"data", "weight"};
  static constexpr const char* doc =
      "Rows of weight by the numbers in data, moved to the nearest end where they lie outside. With sparse_grad the "
      "gradient of weight is row-sparse.";
  static constexpr Note notes[] = {{"input_dim", "rows of weight"},
                                   {"output_dim", "columns of weight"},
                                   {"dtype", "type of weight where nothing else says it"},
                                   {"sparse_grad", "whether the gradient of weight is row-sparse"}};
  static constexpr Range range[] = {{"input_dim", 1}, {"output_dim", 1}};
  static constexpr std::string_view gradient_reads[] = {"data"};

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
  constexpr void infer_type(Types& t) const {
    t.set_out(0, t.in(1));
    t.set_in(1, t.out(0) ? *t.out(0) : dtype);
    t.set_out(0, t.in(1));
  }
  constexpr bool infer_storage(Storages& s) const { return s.set_out(0, dense) && s.in(0) == dense && s.in(1) != csr; }
  void forward(Cpu&, const NDArray& data, const NDArray& weight, NDArray& y) const {
    const bool sparse = weight.storage() == row_sparse;
    const detail::ReadPositions ids(data, *input_dim, sparse ? detail::Outside::refuse : detail::Outside::clip,
                                    "embedding");
    if (sparse)
      detail::take_stored_rows(weight, ids.span(), y);
    else
      detail::take_blocks(weight, ids.span(), y, 1, *input_dim, *output_dim);
  }
  auto gradient(const auto& dy, const auto& data, const auto& weight) const;
};

/// Sums of the rows of the head gradient per number. Internal.
struct EmbeddingGradient {
  bool sparse_grad = false;
  static constexpr std::string_view name = "_backward_Embedding", inputs[] = {"data", "indices", "like"};
  static constexpr const char* doc =
      "Sums of the rows of data per number in indices, in the shape of like; row-sparse with sparse_grad.";
  static constexpr std::string_view gradient_reads[] = {"indices"};
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
  void forward(Cpu&, const NDArray& dy, const NDArray& data, const NDArray&, NDArray& dw) const {
    const detail::ReadPositions ids(data, dw.shape()[0], detail::Outside::clip, "embedding");
    if (dw.storage() == row_sparse)
      detail::add_stored_rows<E>(dy.pointer<const E>(), ids.span(), dw, data.dtype() == i32 ? i32 : i64);
    else
      detail::add_blocks(dy.pointer<E>(), ids.span(), dw.pointer<E>(), 1, dw.shape()[0], dw.shape()[1]);
  }
  auto gradient(const auto& ddw, const auto& dy, const auto& data, const auto& like) const;
};

/// _contrib_SparseEmbedding: Embedding with a gradient of `weight` that is row-sparse, under the name that older models
/// have for it.
///
/// `deterministic` asked the original for sums in one order, which they have here always.
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
  void forward(Cpu& ctx, const NDArray& data, const NDArray& weight, NDArray& y) const {
    plain().forward(ctx, data, weight, y);
  }
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
