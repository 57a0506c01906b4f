// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/linalg/diagonals.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/linalg/diagonals.hpp>
#include <strop/ops/linalg/kernels_body.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// Positions of a diagonal in an n × n matrix.
struct DiagonalPlaces {
  std::int64_t n, count, start;
  constexpr DiagonalPlaces(std::int64_t side, int offset)
      : n(side), count(side - (offset < 0 ? -offset : offset)), start(offset < 0 ? -offset * side : offset) {}
  /// f(number of the element, its position).
  template <class F>
  constexpr void each(F f) const {
    for (std::int64_t i = 0; i < count; ++i) f(i, start + i * (n + 1));
  }
};

/// Positions of a triangle in an n × n matrix: of the lower one row by row, of the upper one column by column.
struct TrianglePlaces {
  std::int64_t n, side, count, along = 0, across = 0, start = 0;
  constexpr TrianglePlaces(std::int64_t extent, int offset, bool lower)
      : n(extent), side(extent - (offset < 0 ? -offset : offset)), count(side * (side + 1) / 2) {
    const bool below = offset < 0 || (offset == 0 && lower);
    along = below ? n : 1;
    across = below ? 1 : n;
    start = (n - side) * along;
  }
  template <class F>
  constexpr void each(F f) const {
    for (std::int64_t i = 0, at = 0; i < side; ++i)
      for (std::int64_t j = 0; j <= i; ++j) f(at++, start + i * along + j * across);
  }
};

/// part = the elements of each matrix at the places.
template <class E, class Places>
constexpr void take_part(View<const E> whole, const Places& places, View<E> part) {
  const Matrices m(whole.shape());
  for (std::int64_t k = 0; k < m.count; ++k)
    places.each([&](std::int64_t i, std::int64_t at) { part[k * places.count + i] = whole[k * m.size() + at]; });
}
/// whole = zeros but for the places.
template <class E, class Places>
constexpr void put_part(View<const E> part, const Places& places, View<E> whole) {
  const Matrices m(whole.shape());
  std::fill(whole.begin(), whole.end(), E(0));
  for (std::int64_t k = 0; k < m.count; ++k)
    places.each([&](std::int64_t i, std::int64_t at) { whole[k * m.size() + at] = part[k * places.count + i]; });
}

}  // namespace STROP_ISA

}  // namespace detail

template <Real E>
constexpr void LinalgExtractdiag::forward(Cpu&, View<const E> a, View<E> y) const {
  detail::take_part(a, detail::DiagonalPlaces(a.shape().back(), offset), y);
}

template <Real E>
constexpr void LinalgMakediag::forward(Cpu&, View<const E> a, View<E> y) const {
  detail::put_part(a, detail::DiagonalPlaces(y.shape().back(), offset), y);
}

template <Real E>
constexpr void LinalgExtracttrian::forward(Cpu&, View<const E> a, View<E> y) const {
  detail::take_part(a, detail::TrianglePlaces(a.shape().back(), offset, lower), y);
}

template <Real E>
constexpr void LinalgMaketrian::forward(Cpu&, View<const E> a, View<E> y) const {
  detail::put_part(a, detail::TrianglePlaces(y.shape().back(), offset, lower), y);
}

template <Real E>
constexpr void LinalgSumlogdiag::forward(Cpu&, View<const E> a, View<E> y) const {
  const detail::Matrices m(a.shape());
  for (std::int64_t k = 0; k < m.count; ++k) {
    double total = 0;
    detail::DiagonalPlaces(m.rows, 0).each([&](std::int64_t, std::int64_t at) {
      total += number::Rep<double>::log(static_cast<double>(a[k * m.size() + at]));
    });
    y[k] = static_cast<E>(total);
  }
}

template <Real E>
constexpr void LinalgSumlogdiag::grad_use_in(Cpu&, View<const E> dy, View<const E> a, View<E> da) const {
  const detail::Matrices m(a.shape());
  std::fill(da.begin(), da.end(), E(0));
  for (std::int64_t k = 0; k < m.count; ++k)
    detail::DiagonalPlaces(m.rows, 0).each(
        [&](std::int64_t, std::int64_t at) { da[k * m.size() + at] = dy[k] / a[k * m.size() + at]; });
}

}  // namespace strop::inline v0
