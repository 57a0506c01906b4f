// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/order.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/cast.hpp>
#include <strop/ops/cast_body.hpp>
#include <strop/ops/order.hpp>
#include <strop/ops/shape/move_body.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

namespace strop::inline v0 {

namespace detail {

/// How many elements of each row are wanted: k, or all where it is less than 1.
inline std::int64_t ordered_count(const NDArray& x, std::optional<int> axis, std::int64_t k) {
  return k >= 1 ? k : ordered_rows(x.shape(), axis).length;
}

/// Calls f(row, offset of its first element, distance of its elements, positions of the first `count` in order).
template <class E, class F>
void each_ordered(const NDArray& x, std::optional<int> axis, std::int64_t count, bool ascending, F f) {
  const E* data = x.pointer<const E>();
  const AxisSplit s = ordered_rows(x.shape(), axis);
  if (s.length == 0) return;
  parallel_for(s.outer * s.inner, std::max<std::int64_t>(1, 4096 / s.length),
               [&](std::int64_t begin, std::int64_t end) {
                 detail::List<std::int64_t> at(s.length);
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t first = row / s.inner * s.length * s.inner + row % s.inner;
                   const E* from = data + first;
                   std::iota(at.begin(), at.end(), std::int64_t{0});
                   const auto less = [&](E a, E b) { return a < b || (b != b && a == a); };
                   const auto before = [&](std::int64_t i, std::int64_t j) {
                     const E a = from[i * s.inner], b = from[j * s.inner];
                     if (ascending ? less(a, b) : less(b, a)) return true;
                     return !(ascending ? less(b, a) : less(a, b)) && i < j;
                   };
                   if (count < s.length)
                     std::partial_sort(at.begin(), at.begin() + count, at.end(), before);
                   else
                     std::sort(at.begin(), at.end(), before);
                   f(row, first, s.inner, at.data());
                 }
               });
}

/// Where the results of a row go: `count` of them along the axis.
inline std::int64_t ordered_offset(std::int64_t row, std::int64_t inner, std::int64_t count) {
  return row / inner * count * inner + row % inner;
}

/// The first `count` elements of each row in order, and their positions; either array may be absent.
template <class E>
void order(const NDArray& x, std::optional<int> axis, std::int64_t k, bool ascending, const NDArray* values,
           const NDArray* positions) {
  const std::int64_t count = ordered_count(x, axis, k);
  each_ordered<E>(x, axis, count, ascending,
                  [&](std::int64_t row, std::int64_t first, std::int64_t inner, const std::int64_t* at) {
                    const std::int64_t to = ordered_offset(row, inner, count);
                    for (std::int64_t i = 0; i < count; ++i) {
                      const std::int64_t place = to + i * inner;
                      if (values != nullptr) values->pointer<E>()[place] = x.pointer<const E>()[first + at[i] * inner];
                      if (positions != nullptr)
                        convert_elements(i64, at + i, positions->dtype(),
                                         positions->bytes() + place * size_of(positions->dtype()), 1);
                    }
                  });
}

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
inline void Sort::forward(Cpu&, const NDArray& x, NDArray& y, NDArray& indices) const {
  detail::order<E>(x, axis, 0, is_ascend, &y, &indices);
}

inline void Sort::grad(Cpu&, Head<"output", NDArray> dy, Out<"indices", NDArray> at, Grad<"data", NDArray> dx) const {
  if (dx.defined()) detail::place_ordered(dy, at, axis, dx);
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
                          [&](std::int64_t, std::int64_t first, std::int64_t inner, const std::int64_t* chosen) {
                            for (std::int64_t i = 0; i < count; ++i) y.pointer<E>()[first + chosen[i] * inner] = E(1);
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
