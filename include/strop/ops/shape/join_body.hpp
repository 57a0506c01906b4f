// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/shape/join.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/shape/csr_window.hpp>
#include <strop/ops/shape/join.hpp>
#include <strop/ops/shape/move_body.hpp>

#include <span>
#include <vector>

namespace strop::inline v0 {

namespace detail {

/// A part of a whole along one axis, at `offset`: from the part into the whole, or out of it.
inline void move_part(const NDArray& whole, const NDArray& part, int axis, std::int64_t offset, std::int64_t extent,
                      bool into_whole) {
  const std::int64_t outer = whole.shape().size(0, axis), inner = whole.shape().size(axis + 1, whole.ndim()),
                     row = whole.shape()[axis] * inner;
  Move m;
  if (into_whole) {
    m.axis(outer, extent * inner, row);
    m.out_start = offset * inner;
  } else {
    m.axis(outer, row, extent * inner);
    m.in_start = offset * inner;
  }
  m.axis(extent * inner, 1, 1);
  if (outer == 0 || extent == 0 || inner == 0) return;
  into_whole ? move_elements(m, part, whole) : move_elements(m, whole, part);
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
  const int axis = detail::checked_axis(dim, y.ndim(), "concat");
  std::int64_t offset = 0;
  for (const NDArray& part : parts) {
    detail::move_part(y, part, axis, offset, part.shape()[axis], true);
    offset += part.shape()[axis];
  }
}

inline void ConcatGradient::forward(Cpu&, const NDArray& whole, std::span<const NDArray>,
                                    std::span<NDArray> parts) const {
  const int axis = detail::checked_axis(dim, whole.ndim(), name);
  std::int64_t offset = 0;
  for (const NDArray& part : parts) {
    if (whole.storage() == csr)
      detail::slice_csr_window(whole, part, {.begin = offset, .count = part.shape()[0]}, {.count = part.shape()[1]});
    else
      detail::move_part(whole, part, axis, offset, part.shape()[axis], false);
    offset += part.shape()[axis];
  }
}

inline void Stack::forward(Cpu&, std::span<const NDArray> parts, NDArray& y) const {
  const int at = detail::checked_axis(axis, y.ndim(), name);
  for (std::size_t k = 0; k < parts.size(); ++k)
    detail::move_part(y, parts[k], at, static_cast<std::int64_t>(k), 1, true);
}

inline void SliceChannel::forward(Cpu&, const NDArray& x, std::span<NDArray> parts) const {
  const int at = detail::checked_axis(axis, x.ndim(), "split");
  const std::int64_t extent = x.shape()[at] / *num_outputs;
  for (std::size_t k = 0; k < parts.size(); ++k)
    detail::move_part(x, parts[k], at, static_cast<std::int64_t>(k) * extent, extent, false);
}

inline void SplitV2::forward(Cpu&, const NDArray& x, std::span<NDArray> parts) const {
  const int at = detail::checked_axis(axis, x.ndim(), name);
  const std::int64_t extent = x.shape()[at];
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::int64_t begin = start(static_cast<int>(k), extent), end = start(static_cast<int>(k) + 1, extent);
    if (end > begin) detail::move_part(x, parts[k], at, begin, end - begin, false);
  }
}

inline void SplitV2Gradient::forward(Cpu&, const NDArray&, std::span<const NDArray> parts, NDArray& whole) const {
  const int at = detail::checked_axis(axis, whole.ndim(), name);
  const std::int64_t extent = whole.shape()[at];
  const SplitV2 forward_of{indices, axis, squeeze_axis, sections};
  detail::zero_elements(whole);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::int64_t begin = forward_of.start(static_cast<int>(k), extent),
                       end = forward_of.start(static_cast<int>(k) + 1, extent);
    if (end > begin) detail::move_part(whole, parts[k], at, begin, end - begin, true);
  }
}

template <class Node>
inline std::vector<Node> ConcatGradient::gradient(std::span<const Node> heads, std::span<const Node>) const {
  return {concat(heads, {.dim = dim})};
}

}  // namespace strop::inline v0
