// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/shape/join.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/shape/csr_window.hpp>
#include <strop/ops/shape/join.hpp>
#include <strop/ops/shape/move_body.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// An array that is a part of another along one axis, from `offset` on.
struct PartOfWhole {
  const NDArray* array;
  std::int64_t offset, extent;
};

/// Parts along one axis, into the whole or out of it. Where rows of the whole are short, every part has a few rows at a
/// time, so that the cache lines of the whole are met by all parts while they are near.
inline void move_parts(const NDArray& whole, Span<const PartOfWhole> parts, int axis, bool into_whole) {
  const std::int64_t outer = whole.shape().size(0, axis), inner = whole.shape().size(axis + 1, whole.ndim()),
                     row = whole.shape()[axis] * inner, size = size_of(whole.dtype());
  if (outer == 0 || row == 0) return;
  const bool past = into_whole && outer * row * size >= past_caches_bytes;
  const auto move_rows = [&](const PartOfWhole& part, std::int64_t first, std::int64_t count) {
    const std::int64_t width = part.extent * inner;
    if (width == 0) return;
    const std::int64_t at_whole = first * row + part.offset * inner, at_part = first * width;
    Move m;
    into_whole ? m.axis(count, width, row) : m.axis(count, row, width);
    m.axis(width, 1, 1);
    m.in_start = into_whole ? at_part : at_whole;
    m.out_start = into_whole ? at_whole : at_part;
    into_whole ? move_elements(m, *part.array, whole, past) : move_elements(m, whole, *part.array);
  };
  constexpr std::int64_t near = 16384;
  if (outer == 1 || row * size >= near) {
    for (const PartOfWhole& part : parts) move_rows(part, 0, outer);
    return;
  }
  const std::int64_t block = near / (row * size);
  parallel_for((outer + block - 1) / block, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin * block; first < std::min(outer, end * block); first += block)
      for (const PartOfWhole& part : parts) move_rows(part, first, std::min(block, outer - first));
  });
}

/// The same of parts one behind the other, each with its own extent along the axis.
inline void move_parts_in_turn(const NDArray& whole, std::span<const NDArray> arrays, int axis, bool into_whole) {
  List<PartOfWhole> parts;
  std::int64_t offset = 0;
  for (const NDArray& part : arrays) {
    parts.push_back({&part, offset, part.shape()[axis]});
    offset += part.shape()[axis];
  }
  move_parts(whole, parts, axis, into_whole);
}

/// Rows of CSR arrays, one array after the other. Values that no row has are left out.
inline void concat_csr(std::span<const NDArray> parts, const NDArray& y) {
  const auto stored = [](const NDArray& part) {
    const IndexReader from(part.indptr());
    const std::int64_t rows = part.shape()[0];
    for (std::int64_t r = 0; r < rows; ++r) row_span(from, r, part.nnz());
    return rows == 0 ? RowSpan{0, 0} : RowSpan{from[0], from[rows]};
  };
  std::int64_t count = 0;
  bool narrow = true;
  for (const NDArray& part : parts) {
    const RowSpan span = stored(part);
    count += span.end - span.begin;
    narrow = narrow && part.indices().dtype() == i32;
  }
  allocate_stored_as(y, count, narrow ? i32 : i64);
  const std::int64_t size = size_of(y.dtype()), wide = size_of(y.indices().dtype());
  detail::List<std::int64_t> starts(1, 0);
  std::int64_t at = 0;
  for (const NDArray& part : parts) {
    const RowSpan span = stored(part);
    const std::int64_t n = span.end - span.begin;
    const IndexReader from(part.indptr());
    for (std::int64_t r = 1; r <= part.shape()[0]; ++r) starts.push_back(at + (from[r] - span.begin));
    if (n == 0) continue;
    const Dtype kind = part.indices().dtype();
    detail::copy_bytes(y.bytes() + at * size, part.bytes() + span.begin * size, n * size);
    convert_elements(kind, part.indices().bytes() + span.begin * size_of(kind), y.indices().dtype(),
                     y.indices().bytes() + at * wide, n);
    at += n;
  }
  write_indices(y.indptr(), starts.data(), starts.size());
}

}  // namespace detail

inline void Concat::forward(Cpu&, std::span<const NDArray> parts, NDArray& y) const {
  if (parts[0].storage() == csr) return detail::concat_csr(parts, y);
  detail::move_parts_in_turn(y, parts, detail::checked_axis(dim, y.ndim(), "concat"), true);
}

inline void ConcatGradient::forward(Cpu&, const NDArray& whole, std::span<const NDArray>,
                                    std::span<NDArray> parts) const {
  const int axis = detail::checked_axis(dim, whole.ndim(), name);
  if (whole.storage() != csr) return detail::move_parts_in_turn(whole, parts, axis, false);
  std::int64_t offset = 0;
  for (const NDArray& part : parts) {
    detail::slice_csr_window(whole, part, {.begin = offset, .count = part.shape()[0]}, {.count = part.shape()[1]});
    offset += part.shape()[axis];
  }
}

inline void Stack::forward(Cpu&, std::span<const NDArray> arrays, NDArray& y) const {
  detail::List<detail::PartOfWhole> parts;
  for (const NDArray& part : arrays) parts.push_back({&part, parts.size(), 1});
  detail::move_parts(y, parts, detail::checked_axis(axis, y.ndim(), name), true);
}

inline void SliceChannel::forward(Cpu&, const NDArray& x, std::span<NDArray> arrays) const {
  const int at = detail::checked_axis(axis, x.ndim(), "split");
  const std::int64_t extent = x.shape()[at] / *num_outputs;
  detail::List<detail::PartOfWhole> parts;
  for (const NDArray& part : arrays) parts.push_back({&part, parts.size() * extent, extent});
  detail::move_parts(x, parts, at, false);
}

namespace detail {

/// The parts that a split gives; some may be empty.
template <class Array>
List<PartOfWhole> parts_of_split(const SplitV2& split, std::span<Array> arrays, std::int64_t extent) {
  List<PartOfWhole> parts;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const std::int64_t begin = split.start(static_cast<int>(k), extent),
                       end = split.start(static_cast<int>(k) + 1, extent);
    if (end > begin) parts.push_back({&arrays[k], begin, end - begin});
  }
  return parts;
}

}  // namespace detail

inline void SplitV2::forward(Cpu&, const NDArray& x, std::span<NDArray> parts) const {
  const int at = detail::checked_axis(axis, x.ndim(), name);
  detail::move_parts(x, detail::parts_of_split(*this, parts, x.shape()[at]), at, false);
}

inline void SplitV2Gradient::forward(Cpu&, const NDArray&, std::span<const NDArray> parts, NDArray& whole) const {
  const int at = detail::checked_axis(axis, whole.ndim(), name);
  detail::zero_elements(whole);
  detail::move_parts(whole,
                     detail::parts_of_split(SplitV2{indices, axis, squeeze_axis, sections}, parts, whole.shape()[at]),
                     at, true);
}

template <class Node>
inline std::vector<Node> ConcatGradient::gradient(std::span<const Node> heads, std::span<const Node>) const {
  return {concat(heads, {.dim = dim})};
}

}  // namespace strop::inline v0
