// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/order.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/cast.hpp>
#include <strop/ops/cast_body.hpp>
#include <strop/ops/order.hpp>
#include <strop/ops/order_kernels.hpp>
#include <strop/ops/shape/move_body.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace strop::inline v0 {

namespace detail {

/// How many elements of each row are wanted: k, or all where it is less than 1.
inline std::int64_t ordered_count(const NDArray& x, std::optional<int> axis, std::int64_t k) {
  return k >= 1 ? k : ordered_rows(x.shape(), axis).length;
}

inline namespace STROP_ISA {

/// Calls f(row, offset of its first element, parts, memory) for each row; `numbers`: how many of 64 bits the memory
/// has. Threads take rows or, where these are few and long, parts of each.
template <class F>
void each_row(const AxisSplit& s, std::int64_t numbers, F f) {
  const std::int64_t rows = s.outer * s.inner, parts = rows < num_threads() ? parts_of_list(s.length, 0) : 1;
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    const NDArray memory({numbers}, i64);
    for (std::int64_t row = begin; row < end; ++row)
      f(row, row / s.inner * s.length * s.inner + row % s.inner, parts, memory.pointer<std::uint64_t>());
  };
  if (s.length == 0) return;
  if (parts > 1)
    work(0, rows);
  else
    parallel_for(rows, std::max<std::int64_t>(1, 4096 / s.length), work);
}

/// Calls f(row, the row's keys, positions of the first `count` in order).
template <class E, class F>
void each_ordered(const NDArray& x, std::optional<int> axis, std::int64_t count, bool ascending, F f) {
  const AxisSplit s = ordered_rows(x.shape(), axis);
  const bool few = count <= s.length / 4;
  each_row(s, few ? count : 2 * s.length,
           [&](std::int64_t row, std::int64_t first, std::int64_t parts, std::uint64_t* memory) {
             const KeyRow<E> keys(x.pointer<const E>() + first, s.inner, s.length, ascending);
             if (few)
               f(row, keys, first_positions(keys, count, memory, parts));
             else if (s.length >> 32 == 0)
               f(row, keys, sorted_positions(keys, memory, parts));
             else
               f(row, keys, sorted_far_positions(keys, memory));
           });
}

/// Where the results of a row go: `count` of them along the axis.
inline std::int64_t ordered_offset(std::int64_t row, std::int64_t inner, std::int64_t count) {
  return row / inner * count * inner + row % inner;
}

/// Writes positions [begin, end) of a row, `inner` elements from one to the next.
inline void write_positions(const OrderedPositions& at, std::int64_t begin, std::int64_t end, const NDArray& out,
                            std::int64_t to, std::int64_t inner) {
  constexpr std::int64_t most = 512;
  std::int64_t some[most];
  alignas(8) std::byte converted[8 * most];
  const std::int64_t size = size_of(out.dtype());
  for (std::int64_t i = begin; i < end; i += most) {
    const std::int64_t n = std::min(most, end - i);
    for (std::int64_t j = 0; j < n; ++j) some[j] = at[i + j];
    std::byte* const place = out.bytes() + (to + i * inner) * size;
    convert_elements(i64, some, out.dtype(), inner == 1 ? place : converted, n);
    for (std::int64_t j = 0; inner != 1 && j < n; ++j) copy_bytes(place + j * inner * size, converted + j * size, size);
  }
}

/// The first `count` elements of each row in order, and their positions; either array may be absent.
template <class E>
void order(const NDArray& x, std::optional<int> axis, std::int64_t k, bool ascending, const NDArray* values,
           const NDArray* positions) {
  const std::int64_t count = ordered_count(x, axis, k);
  each_ordered<E>(x, axis, count, ascending, [&](std::int64_t row, const KeyRow<E>& keys, const OrderedPositions& at) {
    const std::int64_t inner = keys.stride, to = ordered_offset(row, inner, count);
    parallel_for(count, order_grain, [&](std::int64_t begin, std::int64_t end) {
      if (values != nullptr) {
        E* const place = values->pointer<E>() + to;
        for (std::int64_t i = begin; i < end; ++i) place[i * inner] = keys.element(at[i]);
      }
      if (positions != nullptr) write_positions(at, begin, end, *positions, to, inner);
    });
  });
}

}  // namespace STROP_ISA

/// dx = 0, then dx[positions] = dy: the gradient of elements that were chosen by their order.
inline void place_ordered(const NDArray& dy, const NDArray& positions, std::optional<int> axis, const NDArray& dx) {
  zero_elements(dx);
  const AxisSplit s = ordered_rows(dx.shape(), axis);
  if (s.outer * s.inner == 0 || dy.size() == 0) return;
  const std::int64_t count = dy.size() / (s.outer * s.inner), bytes = size_of(dx.dtype());
  detail::List<std::int64_t> at(dy.size());
  convert_elements(positions.dtype(), positions.bytes(), i64, at.data(), dy.size());
  for (std::int64_t i = 0; i < dy.size(); ++i) {
    const std::int64_t place = at[i];
    if (place < 0 || place >= s.length) fail("topk: position ", place, " is outside an axis of ", s.length);
    const std::int64_t row = i / (count * s.inner) * s.inner + i % s.inner,
                       to = row / s.inner * s.length * s.inner + row % s.inner + place * s.inner;
    detail::copy_bytes(dx.bytes() + to * bytes, dy.bytes() + i * bytes, bytes);
  }
}

}  // namespace detail

template <detail::Sortable E>
inline void Sort::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const detail::AxisSplit s = detail::ordered_rows(x.shape(), axis);
  detail::each_row(s, s.length * std::int64_t{sizeof(typename detail::KeyRow<E>::U)} / 4,
                   [&](std::int64_t, std::int64_t first, std::int64_t parts, std::uint64_t* memory) {
                     const detail::KeyRow<E> keys(x.pointer<const E>() + first, s.inner, s.length, is_ascend);
                     detail::sorted_values(keys, y.pointer<E>() + first, memory, parts);
                   });
}

/// dx[positions of the elements in order] = dy.
template <detail::Sortable E>
inline void Sort::grad(Cpu&, Head<"output", NDArray> dy, In<"data", NDArray> x, Grad<"data", NDArray> dx) const {
  if (!dx.defined()) return;
  const E* const from = dy.template pointer<const E>();
  detail::each_ordered<E>(x, axis, detail::ordered_count(x, axis, 0), is_ascend,
                          [&](std::int64_t, const detail::KeyRow<E>& row, const detail::OrderedPositions& at) {
                            const std::int64_t first = row.from - x.template pointer<const E>();
                            E* const to = dx.template pointer<E>() + first;
                            for (std::int64_t i = 0; i < row.n; ++i)
                              to[at[i] * row.stride] = from[first + i * row.stride];
                          });
}

template <detail::Sortable E>
inline void Argsort::forward(Cpu&, const NDArray& x, NDArray& y) const {
  detail::order<E>(x, axis, 0, is_ascend, nullptr, &y);
}

template <detail::Sortable E>
inline void Topk::forward(Cpu&, const NDArray& x, NDArray& y, NDArray& at) const {
  if (ret_typ == indices) return detail::order<E>(x, axis, k, is_ascend, nullptr, &y);
  if (ret_typ != mask) return detail::order<E>(x, axis, k, is_ascend, &y, &at);
  detail::zero_elements(y);
  const std::int64_t count = detail::ordered_count(x, axis, k);
  detail::each_ordered<E>(x, axis, count, is_ascend,
                          [&](std::int64_t, const detail::KeyRow<E>& row, const detail::OrderedPositions& chosen) {
                            E* const to = y.pointer<E>() + (row.from - x.pointer<const E>());
                            for (std::int64_t i = 0; i < count; ++i) to[chosen[i] * row.stride] = E(1);
                          });
}

inline void Topk::grad(Cpu&, Head<"output", NDArray> dy, Out<"indices", NDArray> at, Grad<"data", NDArray> dx) const {
  if (!dx.defined()) return;
  if (ret_typ == value || ret_typ == both)
    detail::place_ordered(dy, at, axis, dx);
  else
    detail::zero_elements(dx);
}

}  // namespace strop::inline v0
