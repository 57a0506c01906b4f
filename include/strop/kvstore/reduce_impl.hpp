// SPDX-License-Identifier: Apache-2.0
/// \file
/// How sums and copies of whole arrays are made.
#pragma once
#include <strop/core/config.hpp>
#include <strop/engine/pool.hpp>
#include <strop/kvstore/reduce.hpp>
#include <strop/op/map_run.hpp>
#include <strop/op/target.hpp>
#include <strop/tensor/element_loops.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/structure.hpp>

#include <algorithm>

namespace strop::inline v0::detail {

STROP_IMPL void ArrayUses::read(const NDArray& a) {
  foreign = foreign || (a.allocated() && a.body().buffer->is_foreign());
  reads.push_back(a.variable());
}
STROP_IMPL void ArrayUses::write(const NDArray& a) {
  foreign = foreign || (a.allocated() && a.body().buffer->is_foreign());
  writes.push_back(a.variable());
  if (!overwrites(a, Request::write)) reads.push_back(a.variable());  // the rest of the memory keeps what it has
}

STROP_IMPL bool is_for_engine(Span<const NDArray> reads, Span<const NDArray> writes) {
  std::int64_t most = 0;
  for (const Span<const NDArray> list : {reads, writes})
    for (const NDArray& a : list) {
      if (a.busy()) return true;
      most = std::max(most, a.size());
    }
  return is_handed_over(most);
}

/// The type in which elements of a type are added.
inline Dtype type_of_sum(Dtype type) { return !is_floating(type) ? i64 : type == f64 ? f64 : f32; }

STROP_IMPL void sum_memory(Dtype type, Span<const std::byte* const> terms, std::byte* total, Index n) {
  const Dtype wide = type_of_sum(type);
  const Index bytes = size_of(type);
  parallel_for(n, map_grain, [&](Index begin, Index end) {
    constexpr Index block = 1024;
    alignas(64) std::byte sums[block * 8], converted[block * 8];
    for (Index at = begin; at < end; at += block) {
      const Index count = std::min(block, end - at);
      const auto term = [&](Index k) { return terms[k] + at * bytes; };
      std::byte* const out = total + at * bytes;
      if (terms.size() == 1) {
        if (out != term(0)) copy_bytes(out, term(0), count * bytes);
      } else if (type == wide) {
        element_loops().add(type, term(0), term(1), out, count);
        for (Index k = 2; k < terms.size(); ++k) element_loops().add(type, out, term(k), out, count);
      } else {
        convert_elements(type, term(0), wide, sums, count);
        for (Index k = 1; k < terms.size(); ++k) {
          convert_elements(type, term(k), wide, converted, count);
          element_loops().add(wide, sums, converted, sums, count);
        }
        convert_elements(wide, sums, type, out, count);
      }
    }
  });
}

STROP_IMPL NDArray sum_dense(Span<const NDArray> terms, int priority) {
  const NDArray total = NDArray::fresh(terms[0].shape(), terms[0].dtype(), terms[0].device());
  if (total.device() != cpu()) {
    if (terms.size() == 1) deliver(terms[0], total, Request::write);
    for (Index k = 1; k < terms.size(); ++k) add_elements(k == 1 ? terms[0] : total, terms[k], total);
    return total;
  }
  in_order(terms, {&total, 1}, "kvstore_sum", priority, [kept = List<NDArray, 4>(terms), total] {
    List<const std::byte*, 8> from;
    for (const NDArray& a : kept) from.push_back(a.address());
    sum_memory(total.dtype(), from, total.address(), total.size());
  });
  return total;
}

STROP_IMPL NDArray sum_rows(Span<const NDArray> terms) {
  List<NDArray, 4> sorted;
  List<Index> rows;
  Dtype index = terms[0].indices().defined() ? terms[0].indices().dtype() : i64;
  for (const NDArray& a : terms) {
    check_structure(a);
    sorted.push_back(merged(a));
    if (a.nnz() == 0) continue;
    const IndexReader at(sorted.back().indices());
    if (sorted.back().indices().dtype() == i64) index = i64;
    for (Index k = 0; k < sorted.back().nnz(); ++k) rows.push_back(at[k]);
  }
  std::sort(rows.begin(), rows.end());
  rows.resize(std::unique(rows.begin(), rows.end()) - rows.begin());

  const NDArray& like = terms[0];
  const Index width = like.shape().size(1, like.ndim()), bytes = width * size_of(like.dtype());
  const NDArray total = NDArray::shell(like.shape(), like.dtype(), like.device(), row_sparse);
  allocate_stored_as(total, rows.size(), index);
  write_indices(total.indices(), rows.data(), rows.size());
  trust_structure(total);
  List<const std::byte*> values;
  for (const NDArray& a : sorted) values.push_back(a.nnz() == 0 ? nullptr : a.bytes());
  std::byte* const to = total.bytes();
  // Each piece of rows finds its place in every term once, and goes on from there.
  parallel_for(rows.size(), std::max<Index>(1, map_grain / std::max<Index>(1, width)), [&](Index begin, Index end) {
    List<Index, 8> place;
    for (const NDArray& a : sorted) {
      Index at = 0;
      if (a.nnz() != 0)
        IndexReader(a.indices()).as_stored([&](const auto* first) {
          at = std::lower_bound(first, first + a.nnz(), rows[begin]) - first;
        });
      place.push_back(at);
    }
    List<const std::byte*, 8> from;
    for (Index r = begin; r < end; ++r) {
      from.clear();
      for (Index k = 0; k < sorted.size(); ++k)
        if (place[k] < sorted[k].nnz() && IndexReader(sorted[k].indices())[place[k]] == rows[r])
          from.push_back(values[k] + place[k]++ * bytes);
      sum_memory(like.dtype(), from, to + r * bytes, width);
    }
  });
  return total;
}

STROP_IMPL void copy_elements(const NDArray& from, const NDArray& to, int priority) {
  if (to.is(from)) return;
  if (from.storage() != dense) {
    const NDArray whole = merged(from);
    return deliver(whole.is(from) && to.storage() == from.storage() ? from.copy() : whole, to, Request::write);
  }
  to.allocated() || to.storage() != dense ? void() : to.allocate();
  if (to.storage() != dense || from.device() != cpu() || to.device() != cpu()) return deliver(from, to, Request::write);
  if (from.address() == to.address()) return;
  if (overlap(memory_of(from), memory_of(to))) return deliver(from.copy(), to, Request::write);
  in_order({&from, 1}, {&to, 1}, "kvstore_copy", priority, [from, to] {
    const std::byte* const source = from.address();
    sum_memory(from.dtype(), {&source, 1}, to.address(), from.size());
  });
}

STROP_IMPL void copy_rows(const NDArray& from, Span<const std::int64_t> ids, const NDArray& to) {
  check_structure(from);
  const NDArray sorted = merged(from);
  const Index count = sorted.nnz() == 0 ? 0 : ids.size(),
              bytes = from.shape().size(1, from.ndim()) * size_of(from.dtype());
  const NDArray made = NDArray::shell(from.shape(), from.dtype(), from.device(), row_sparse);
  allocate_stored_as(made, count, from.indices().defined() ? from.indices().dtype() : i64);
  write_indices(made.indices(), ids.data(), count);
  trust_structure(made);
  std::byte* const out = made.bytes();
  if (count != 0 && bytes != 0)
    IndexReader(sorted.indices()).as_stored([&](const auto* stored) {
      const std::byte* const values = sorted.bytes();
      const auto* const end = stored + sorted.nnz();
      parallel_for(count, std::max<Index>(1, (Index{1} << 16) / bytes), [&](Index first, Index last) {
        const auto* at = std::lower_bound(stored, end, ids[first]);
        for (Index k = first; k < last; ++k) {
          at = std::lower_bound(at, end, ids[k]);
          if (at != end && *at == ids[k])
            copy_bytes(out + k * bytes, values + (at - stored) * bytes, bytes);
          else
            clear_bytes(out + k * bytes, bytes);
        }
      });
    });
  deliver(made, to, Request::write);
}

}  // namespace strop::inline v0::detail
