// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/elementwise/sum.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/ops/cast_body.hpp>
#include <strop/ops/elementwise/sum.hpp>
#include <strop/ops/pairwise.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

template <class V>
void add_block(V* total, const V* term, std::int64_t count) {
  std::int64_t i = 0;
  if constexpr (std::is_floating_point_v<V>) {
    using R = number::Rep<number::Vec<V>>;
    for (; i + R::lanes <= count; i += R::lanes) R::store(total + i, R::load(total + i) + R::load(term + i));
  }
  for (; i < count; ++i) {
    if constexpr (std::is_integral_v<V>)
      total[i] = static_cast<V>(static_cast<std::uint64_t>(total[i]) + static_cast<std::uint64_t>(term[i]));
    else
      total[i] += term[i];
  }
}

/// out = Σ in, block by block: halves are added in float, integers in 64 bits (narrow ones wrap on store); of many
/// arrays stretches, and their sums in pairs.
template <class V>
void sum_elements(std::span<const NDArray> in, const NDArray& out) {
  constexpr std::int64_t grain = 1 << 15, block = 512;
  const Dtype type = out.dtype();
  const std::int64_t size = size_of(type);
  parallel_for(out.size(), grain, [&](std::int64_t begin, std::int64_t end) {
    const auto stretches = (static_cast<std::int64_t>(in.size()) + chain_of_sums - 1) / chain_of_sums;
    alignas(64) V total[block], term[block];
    List<V> waiting(pair_levels_of(stretches) * block);
    const auto sums_at = [&](std::int64_t level) { return level == 0 ? total : waiting.data() + (level - 1) * block; };
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t count = std::min(block, end - at);
      const auto add_stretch = [&](std::int64_t k, std::int64_t level) {
        V* const sums = sums_at(level);
        const auto first = static_cast<std::size_t>(k * chain_of_sums),
                   last = std::min(in.size(), first + static_cast<std::size_t>(chain_of_sums));
        convert_elements(type, in[first].bytes() + at * size, dtype_of<V>, sums, count);
        for (const NDArray& a : in.subspan(first + 1, last - first - 1)) {
          const V* from = reinterpret_cast<const V*>(a.bytes() + at * size);
          if (type != dtype_of<V>) {
            convert_elements(type, a.bytes() + at * size, dtype_of<V>, term, count);
            from = term;
          }
          add_block(sums, from, count);
        }
      };
      in_pairs(stretches, add_stretch, [&](std::int64_t level) {
        add_block(sums_at(level), static_cast<const V*>(sums_at(level + 1)), count);
      });
      convert_elements(dtype_of<V>, total, type, out.bytes() + at * size, count);
    }
  });
}

}  // namespace STROP_ISA

/// total += a, of a sparse array where it stores something.
template <class V>
void add_stored_values(const NDArray& a, const NDArray& total) {
  const NDArray values = as_type(a.data(), dtype_of<V>);
  const V* from = values.pointer<const V>();
  V* const to = total.pointer<V>();
  const IndexReader indices(a.indices());
  if (a.storage() == row_sparse) {
    const std::int64_t rows = a.shape()[0], width = a.shape().size(1, a.ndim());
    for (std::int64_t k = 0; k < a.nnz(); ++k, from += width)
      add_block(to + checked_index(indices[k], rows) * width, from, width);
    return;
  }
  const IndexReader indptr(a.indptr());
  const std::int64_t cols = a.shape()[1];
  for (std::int64_t row = 0; row < a.shape()[0]; ++row) {
    const RowSpan span = row_span(indptr, row, a.nnz());
    for (std::int64_t k = span.begin; k < span.end; ++k)
      add_block(to + row * cols + checked_index(indices[k], cols), from + k, 1);
  }
}

/// out = Σ in, dense, of which some are dense and others sparse.
template <class V>
void sum_mixed(std::span<const NDArray> in, const NDArray& out) {
  std::vector<NDArray> whole;
  for (const NDArray& a : in)
    if (a.storage() == dense) whole.push_back(a);
  const NDArray total = out.dtype() == dtype_of<V> ? out : NDArray(out.shape(), dtype_of<V>);
  const NDArray first = as_type(whole[0], dtype_of<V>);
  if (total.bytes() != first.bytes()) copy_bytes(total.bytes(), first.bytes(), first.size() * size_of(first.dtype()));
  for (std::size_t i = 1; i < whole.size(); ++i) {
    const NDArray term = as_type(whole[i], dtype_of<V>);
    add_block(total.pointer<V>(), term.pointer<const V>(), term.size());
  }
  for (const NDArray& a : in)
    if (a.storage() != dense) add_stored_values<V>(a, total);
  if (!total.is(out)) convert_elements(total.dtype(), total.bytes(), out.dtype(), out.bytes(), out.size());
}

}  // namespace detail

template <Element E, class Add>
inline void AddN::forward(Cpu&, std::span<const NDArray> in, NDArray& out) const {
  using V = std::conditional_t<std::same_as<E, double>, double,
                               std::conditional_t<floating.contains(dtype_of<E>), float, std::int64_t>>;
  if (out.storage() == dense) {
    bool sparse = false;
    for (const NDArray& a : in) sparse = sparse || a.storage() != dense;
    return sparse ? detail::sum_mixed<V>(in, out) : detail::sum_elements<V>(in, out);
  }
  NDArray total = in[0];
  for (const NDArray& a : in.subspan(1)) total = Op<Add, OnUse>{}(total, a);
  detail::assign(total, out);
}

}  // namespace strop::inline v0
