// SPDX-License-Identifier: Apache-2.0
/// \file
/// How values of one place are found and added up.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/isa.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/csr_shares.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/structure.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace strop::inline v0::detail {

inline namespace STROP_ISA {
/// Steps down, or none at all, from one index to the next. It looks at every index before each call that needs them in
/// order: many at a time, whatever the compiler is asked to make of loops.
template <class I>
std::int64_t count_steps_down(const I* at, std::int64_t count) {
  std::int64_t steps = 0, k = 1;
#if STROP_ISA_BYTES
  typedef I Indices __attribute__((vector_size(STROP_ISA_BYTES)));
  constexpr std::int64_t lanes = STROP_ISA_BYTES / sizeof(I);
  Indices down{};
  for (; k + lanes <= count; k += lanes) {
    Indices before, here;
    std::memcpy(&before, at + k - 1, sizeof before);
    std::memcpy(&here, at + k, sizeof here);
    down -= here <= before;
  }
  for (std::int64_t i = 0; i < lanes; ++i) steps += down[i];
#endif
  for (; k < count; ++k) steps += at[k] <= at[k - 1] ? 1 : 0;
  return steps;
}
}  // namespace STROP_ISA

/// Whether the columns of each row ascend, by all threads. Only where a row begins may an index be no greater than the
/// one before it. No where the rows do not follow each other from the first stored value to the last.
template <class I, class J>
bool columns_ascend(const I* at, const J* starts, std::int64_t rows, std::int64_t stored) {
  if (starts[0] != 0 || starts[rows] != stored) return false;
  std::atomic<bool> yes{true};
  const auto before = [=](std::int64_t row) { return std::int64_t{starts[row]}; };
  share_rows_out(rows, stored, 1 << 16, before, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t from = starts[first];
    std::int64_t between = 0;
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t begin = starts[row], end = starts[row + 1];
      if (begin < 0 || end < begin || end > stored) return yes.store(false);
      if (begin != from && begin != end) between += at[begin] <= at[begin - 1] ? 1 : 0;
    }
    if (count_steps_down(at + from, starts[last] - from) != between) yes = false;
  });
  return yes;
}

STROP_IMPL bool ascends(const NDArray& a) {
  bool yes = false;
  IndexReader(a.indices()).as_stored([&](const auto* at) {
    if (a.storage() == row_sparse)
      yes = count_steps_down(at, a.nnz()) == 0;
    else
      IndexReader(a.indptr()).as_stored([&](const auto* starts) {
        yes = columns_ascend(at, starts, a.shape()[0], a.nnz());
      });
  });
  return yes;
}

/// The elements of some entries of `from`, each of `width` elements, added up into entry `at` of `to`: floating numbers
/// in double, integers in 64 bits.
STROP_IMPL void add_entries(const NDArray& from, Span<const std::int64_t> entries, std::int64_t width,
                            const NDArray& to, std::int64_t at) {
  const std::int64_t bytes = width * size_of(from.dtype());
  if (entries.size() == 1) return copy_bytes(to.bytes() + at * bytes, from.bytes() + entries[0] * bytes, bytes);
  const auto sum = [&]<class V>(List<V> total, auto load, auto store) {
    List<V> term(width);
    for (const std::int64_t k : entries) {
      load(from.dtype(), from.bytes() + k * bytes, term.data(), width);
      for (std::int64_t j = 0; j < width; ++j) {
        if constexpr (std::same_as<V, double>)
          total[j] += term[j];
        else
          total[j] = static_cast<V>(static_cast<std::uint64_t>(total[j]) + static_cast<std::uint64_t>(term[j]));
      }
    }
    store(from.dtype(), total.data(), to.bytes() + at * bytes, width);
  };
  if (is_floating(from.dtype()))
    sum(List<double>(width), load_doubles, store_doubles);
  else
    sum(List<std::int64_t>(width), load_integers, store_integers);
}

STROP_IMPL NDArray structure_of(const NDArray& a) {
  if (a.device() == cpu()) return a;
  a.wait();
  const NDArray out = NDArray::fresh_shell(a.shape(), a.dtype(), cpu(), a.storage());
  out.body().indices = on_device(a.indices(), cpu()).body_ref();
  if (a.storage() == csr) out.body().indptr = on_device(a.indptr(), cpu()).body_ref();
  return out;
}

STROP_IMPL NDArray merged(const NDArray& a, bool sorted) {
  if (a.storage() == dense || a.nnz() == 0) return a;
  if (a.device() != cpu()) {
    const NDArray structure = structure_of(a);
    if (ascends(structure)) return a;
    const NDArray here = a.allocated() ? on_device(a, cpu()) : structure, made = merged(here, sorted);
    return made.is(here) ? a : on_device(made, a.device());
  }
  if (ascends(a)) return a;
  const bool by_row = a.storage() == csr;
  const std::int64_t rows = by_row ? a.shape()[0] : 1, extent = a.shape()[by_row ? 1 : 0],
                     width = by_row ? 1 : a.shape().size(1, a.ndim());
  const IndexReader indices(a.indices()), starts(by_row ? a.indptr() : a.indices());
  List<std::int64_t> order, places, first, ends;  // first: where in `order` the entries of a place begin
  for (std::int64_t row = 0; row < rows; ++row) {
    const RowSpan span = by_row ? row_span(starts, row, a.nnz()) : RowSpan{0, a.nnz()};
    const Index begin = order.size();
    for (std::int64_t k = span.begin; k < span.end; ++k) {
      checked_index(indices[k], extent);
      order.push_back(k);
    }
    std::sort(order.begin() + begin, order.end(), [&](std::int64_t i, std::int64_t j) {
      return indices[i] != indices[j] ? indices[i] < indices[j] : i < j;
    });
    for (Index k = begin; k < order.size(); ++k) {
      if (k != begin && indices[order[k]] == indices[order[k - 1]]) continue;
      places.push_back(indices[order[k]]);
      first.push_back(k);
    }
    ends.push_back(places.size());
  }
  if (by_row && !sorted && places.size() == a.nnz()) return a;  // out of order, and each place once
  first.push_back(order.size());

  const NDArray out = NDArray::fresh_shell(a.shape(), a.dtype(), a.device(), a.storage());
  allocate_stored_as(out, places.size(), a.indices().dtype());
  write_indices(out.indices(), places.data(), places.size());
  if (by_row) {
    const std::int64_t zero = 0;
    write_indices(out.indptr(), &zero, 1);
    write_indices(out.indptr(), ends.data(), rows, 1);
  }
  for (Index at = 0; at < places.size() && width != 0 && a.allocated(); ++at)
    add_entries(a, order.span().subspan(first[at], first[at + 1] - first[at]), width, out, at);
  trust_structure(out);
  return out;
}

}  // namespace strop::inline v0::detail
