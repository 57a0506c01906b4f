// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/index/embedding.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/index/embedding.hpp>
#include <strop/ops/index/kernels_body.hpp>
#include <strop/ops/ranked_set.hpp>

#include <algorithm>

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
  add_blocks(dy, at, weight.pointer<E>(), 1, count, width);
}

}  // namespace detail

inline void Embedding::forward(Cpu&, const NDArray& data, const NDArray& weight, NDArray& y) const {
  const bool sparse = weight.storage() == row_sparse;
  const detail::ReadPositions ids(data, *input_dim, sparse ? detail::Outside::refuse : detail::Outside::clip,
                                  "embedding");
  if (sparse)
    detail::take_stored_rows(weight, ids.span(), y);
  else
    detail::take_blocks(weight, ids.span(), y, 1, *input_dim, *output_dim);
}

template <Real E>
inline void EmbeddingGradient::forward(Cpu&, const NDArray& dy, const NDArray& data, const NDArray&,
                                       NDArray& dw) const {
  const bool sparse = dw.storage() == row_sparse;  // whose rows are numbered by what data says
  const detail::ReadPositions ids(data, dw.shape()[0], sparse ? detail::Outside::refuse : detail::Outside::clip,
                                  "embedding");
  if (sparse)
    detail::add_stored_rows<E>(dy.pointer<const E>(), ids.span(), dw, data.dtype() == i32 ? i32 : i64);
  else
    detail::add_blocks(dy.pointer<E>(), ids.span(), dw.pointer<E>(), 1, dw.shape()[0], dw.shape()[1]);
}

inline void SparseEmbedding::forward(Cpu& ctx, const NDArray& data, const NDArray& weight, NDArray& y) const {
  plain().forward(ctx, data, weight, y);
}

}  // namespace strop::inline v0
