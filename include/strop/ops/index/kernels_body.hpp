// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/index/kernels.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/core/prefetch.hpp>
#include <strop/ops/index/add_blocks_body.hpp>
#include <strop/ops/index/kernels.hpp>
#include <strop/ops/shape/move_body.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace strop::inline v0::detail {

inline void bring_inside(detail::List<std::int64_t>& at, std::int64_t extent, Outside outside, std::string_view op) {
  if (at.empty()) return;
  if (extent == 0) fail(op, ": positions in an axis without elements");
  for (std::int64_t& i : at) {
    if (i >= 0 && i < extent) continue;
    if (outside == Outside::clip)
      i = i < 0 ? 0 : extent - 1;
    else if (outside == Outside::wrap)
      i = i % extent < 0 ? i % extent + extent : i % extent;
    else if (outside == Outside::from_end && i < 0 && i >= -extent)
      i += extent;
    else
      fail(op, ": position ", i, " is outside an axis of extent ", extent);
  }
}

/// The elements of an array of any type as positions (floating ones truncate) in an axis of this extent.
inline detail::List<std::int64_t> positions(const NDArray& from, std::int64_t extent, Outside outside,
                                            std::string_view op) {
  detail::List<std::int64_t> at(from.size());
  convert_elements(from.dtype(), from.bytes(), i64, at.data(), from.size());
  bring_inside(at, extent, outside, op);
  return at;
}

/// Positions as positions() has them, without a copy where they are int64 and all inside.
class ReadPositions {
 public:
  ReadPositions(const NDArray& from, std::int64_t extent, Outside outside, std::string_view op) {
    if (from.dtype() == i64 && all_below(from.pointer<const std::int64_t>(), from.size(), extent)) {
      given_ = {from.pointer<const std::int64_t>(), from.size()};
    } else {
      own_ = positions(from, extent, outside, op);
      given_ = own_.span();
    }
  }
  ReadPositions(const ReadPositions&) = delete;
  ReadPositions& operator=(const ReadPositions&) = delete;
  Span<const std::int64_t> span() const { return given_; }

 private:
  detail::List<std::int64_t> own_;
  Span<const std::int64_t> given_;
};

/// y[o, i] = a[o, at[i]] for blocks of `inner` elements.
inline void take_blocks(const NDArray& a, Span<const std::int64_t> at, const NDArray& y, std::int64_t outer,
                        std::int64_t extent, std::int64_t inner) {
  const auto count = at.size();
  const std::int64_t bytes = inner * size_of(a.dtype());
  if (bytes == 0 || outer == 0) return;
  const std::byte* from = a.bytes();
  std::byte* to = y.bytes();
  constexpr std::int64_t ahead = 8;
  const std::int64_t asked = std::min<std::int64_t>(512, bytes);
  parallel_for(outer * count, std::max<std::int64_t>(1, 65536 / bytes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end;) {
      const std::int64_t first = k / count * count, stop = std::min(end, first + count);
      const std::byte* const blocks = from + k / count * extent * bytes;
      const auto copy_each = [&]<int size>(std::integral_constant<int, size>) {
        if (bytes != size) return;
        for (; k < stop; ++k) std::memcpy(to + k * size, blocks + at[k - first] * size, size);
      };
      copy_each(std::integral_constant<int, 1>());
      copy_each(std::integral_constant<int, 2>());
      copy_each(std::integral_constant<int, 4>());
      copy_each(std::integral_constant<int, 8>());
      copy_each(std::integral_constant<int, 16>());
      for (; k < stop; ++k) {
        // blocks are anywhere: what is asked for early does not stop the copies
        if (k + ahead < stop) prefetch_lines(blocks + at[k + ahead - first] * bytes, asked);
        copy_run(to + k * bytes, blocks + at[k - first] * bytes, bytes);
      }
    }
  });
}

/// y[o, i] = x[o, at[o, i], i].
inline void pick_elements(const NDArray& x, const detail::List<std::int64_t>& at, const NDArray& y, std::int64_t outer,
                          std::int64_t extent, std::int64_t inner) {
  visit_bits(x.dtype(), [&]<class Bits>(Bits) {
    const Bits* from = x.pointer<Bits>();
    Bits* to = y.pointer<Bits>();
    for (std::int64_t k = 0; k < outer * inner; ++k) to[k] = from[(k / inner * extent + at[k]) * inner + k % inner];
  });
}

/// x[o, at[o, i], i] = y[o, i].
inline void place_elements(const NDArray& y, const detail::List<std::int64_t>& at, const NDArray& x, std::int64_t outer,
                           std::int64_t extent, std::int64_t inner) {
  visit_bits(x.dtype(), [&]<class Bits>(Bits) {
    const Bits* from = y.pointer<Bits>();
    Bits* to = x.pointer<Bits>();
    for (std::int64_t k = 0; k < outer * inner; ++k) to[(k / inner * extent + at[k]) * inner + k % inner] = from[k];
  });
}

/// Rows `at` of a CSR array.
inline void take_csr_rows(const NDArray& a, Span<const std::int64_t> at, const NDArray& y) {
  const IndexReader starts(a.indptr());
  const std::int64_t rows = at.size();
  detail::List<std::int64_t> ends(rows + 1);
  for (std::int64_t i = 0; i < rows; ++i) {
    const RowSpan span = row_span(starts, at[i], a.nnz());
    ends[i + 1] = ends[i] + span.end - span.begin;
  }
  allocate_stored_as(y, ends[rows], a.indices().dtype());
  write_indices(y.indptr(), ends.data(), rows + 1);
  const std::int64_t size = size_of(a.dtype()), wide = size_of(a.indices().dtype());
  const std::byte *values = a.bytes(), *columns = a.indices().bytes();
  std::byte *to_values = y.bytes(), *to_columns = y.indices().bytes();
  share_rows_out(
      rows, ends[rows], stored_share, [&](std::int64_t i) { return ends[i]; },
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t from = starts[at[i]], to = ends[i], n = ends[i + 1] - to;
          if (n == 0) continue;
          detail::copy_bytes(to_values + to * size, values + from * size, n * size);
          detail::copy_bytes(to_columns + to * wide, columns + from * wide, n * wide);
        }
      });
}

/// Row at[i] of a CSR array adds up the rows i of dy, in CSR too.
inline void add_csr_rows(const NDArray& dy, Span<const std::int64_t> at, const NDArray& da) {
  const IndexReader starts(dy.indptr());
  const auto span_of = [&](std::int64_t row) { return row_span(starts, row, dy.nnz()); };
  const Dtype kind = dy.indices().dtype();
  const std::int64_t rows = da.shape()[0], size = size_of(dy.dtype()), wide = size_of(kind);
  List<std::int64_t> begins(rows + 1, 0);
  for (std::int64_t i = 0; i < at.size(); ++i) begins[at[i] + 1] += span_of(i).end - span_of(i).begin;
  for (std::int64_t r = 0; r < rows; ++r) begins[r + 1] += begins[r];
  const NDArray all = NDArray::fresh_shell(da.shape(), dy.dtype(), cpu(), csr);
  allocate_stored_as(all, begins[rows], kind);
  write_indices(all.indptr(), begins.data(), rows + 1);
  for (std::int64_t i = 0; i < at.size(); ++i) {
    const RowSpan span = span_of(i);
    const std::int64_t n = span.end - span.begin, to = begins[at[i]];
    if (n == 0) continue;
    detail::copy_bytes(all.bytes() + to * size, dy.bytes() + span.begin * size, n * size);
    detail::copy_bytes(all.indices().bytes() + to * wide, dy.indices().bytes() + span.begin * wide, n * wide);
    begins[at[i]] += n;  // where the next of these rows goes
  }
  const NDArray sums = merged(all, true);
  copy_structure(sums, da);
  if (sums.stored() != 0) copy_bytes(da.bytes(), sums.bytes(), sums.stored() * size);
}

}  // namespace strop::inline v0::detail
