// SPDX-License-Identifier: Apache-2.0
/// \file
/// Planes that are transposed, tile by tile in registers; and the narrow ones: channels that lie in turn, or apart.
#pragma once
#include <strop/ops/shape/move_lanes_body.hpp>

#include <algorithm>
#include <cstdint>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// to[r · out + c] = from[r + c · in] for r < rows, c < columns. What is read ends at `end`.
template <class Bits>
struct MovePlane {
  const Bits *from, *end;
  Bits* to;
  std::int64_t rows, columns, in, out;

  void each(std::int64_t row, std::int64_t column) const {
    for (std::int64_t r = row; r < rows; ++r)
      for (std::int64_t c = column; c < columns; ++c) to[r * out + c] = from[r + c * in];
  }
};

/// Rows and columns of at least a tile. The last tiles begin so that they end with the plane.
template <class Bits, int parts>
void move_tiles(const MovePlane<Bits>& p, bool past) {
  using R = MoveLanes<Bits, parts>;
  past = past && p.out % R::lanes == 0 && reinterpret_cast<std::uintptr_t>(p.to) % sizeof(typename R::V) == 0;
  for (std::int64_t c = 0; c < p.columns; c += R::lanes) {
    const std::int64_t column = std::min(c, p.columns - R::lanes);
    const bool aligned = past && column == c;
    for (std::int64_t r = 0; r < p.rows; r += R::part) {
      const std::int64_t row = std::min(r, p.rows - R::part);
      const Bits* const from = p.from + row + column * p.in;
      Bits* const to = p.to + row * p.out + column;
      typename R::V v[unsigned_size(R::part)];
      for (int i = 0; i < R::part; ++i) v[i] = R::load_parts(from + i * p.in, p.in);
      R::template zip<R::part, R::part>(v);
      if (aligned)
        for (int i = 0; i < R::part; ++i) R::store_past(to + i * p.out, v[i]);
      else
        for (int i = 0; i < R::part; ++i) R::store(to + i * p.out, v[i]);
    }
  }
}

#ifdef STROP_MOVES_IN_LANES
/// Fewer rows than a part has elements: parts are read whole, and rows written that there are.
template <class Bits, int parts>
void move_few_rows(const MovePlane<Bits>& p) {
  using R = MoveLanes<Bits, parts>;
  for (std::int64_t c = 0; c < p.columns; c += R::lanes) {
    const std::int64_t column = std::min(c, p.columns - R::lanes);
    const Bits* const from = p.from + column * p.in;
    if (p.end - (from + std::max<std::int64_t>(0, (R::lanes - 1) * p.in)) < R::part) {
      for (std::int64_t r = 0; r < p.rows; ++r)
        for (std::int64_t k = column; k < column + R::lanes; ++k) p.to[r * p.out + k] = p.from[r + k * p.in];
      continue;
    }
    typename R::V v[unsigned_size(R::part)];
    for (int i = 0; i < R::part; ++i) v[i] = R::load_parts(from + i * p.in, p.in);
    R::template zip<R::part, R::part>(v);
    for (int i = 0; i < R::part; ++i)
      if (i < p.rows) R::store(p.to + i * p.out + column, v[i]);
  }
}

/// As many rows as elements from a column to the next, `count`.
template <int count, class Bits>
void move_apart(const MovePlane<Bits>& p) {
  using R = MoveLanes<Bits>;
  std::int64_t c = 0;
  for (; c + R::lanes <= p.columns; c += R::lanes) {
    typename R::V v[unsigned_size(count)];
    for (int i = 0; i < count; ++i) v[i] = R::load(p.from + c * count + i * R::lanes);
    R::template unzip<count>(v);
    for (int i = 0; i < count; ++i) R::store(p.to + i * p.out + c, v[i]);
  }
  p.each(0, c);
}

/// As many columns as elements from a row to the next, `count`.
template <int count, class Bits>
void move_in_turn(const MovePlane<Bits>& p, bool past) {
  using R = MoveLanes<Bits>;
  past = past && reinterpret_cast<std::uintptr_t>(p.to) % sizeof(typename R::V) == 0;
  std::int64_t r = 0;
  for (; r + R::lanes <= p.rows; r += R::lanes) {
    typename R::V v[unsigned_size(count)];
    for (int i = 0; i < count; ++i) v[i] = R::load(p.from + r + i * p.in);
    R::template zip<count, R::lanes>(v);
    Bits* const to = p.to + r * count;
    if (past)
      for (int i = 0; i < count; ++i) R::store_past(to + i * R::lanes, v[i]);
    else
      for (int i = 0; i < count; ++i) R::store(to + i * R::lanes, v[i]);
  }
  p.each(r, 0);
}

/// Fewer columns than a part has elements, rows one behind the other: a part is written whole, and the next row over
/// what it has too much.
template <class Bits>
void move_few_columns(const MovePlane<Bits>& p) {
  using R = MoveLanes<Bits, 1>;
  std::int64_t r = 0;
  for (; r + R::part <= p.rows && (p.rows - r - R::part + 1) * p.out >= R::part; r += R::part) {
    typename R::V v[unsigned_size(R::part)] = {};
    for (int i = 0; i < R::part; ++i)
      if (i < p.columns) v[i] = R::load(p.from + r + i * p.in);
    R::template zip<R::part, R::part>(v);
    for (int i = 0; i < R::part; ++i) R::store(p.to + (r + i) * p.out, v[i]);
  }
  p.each(r, 0);
}

/// Calls f with 2, 4 or 8 as a constant where n is that and a part has more elements; else gives false.
template <class Bits, class F>
bool with_power(std::int64_t n, F f) {
  constexpr int part = MoveLanes<Bits>::part;
  const auto one = [&]<int count>(std::integral_constant<int, count> c) {
    if constexpr (count < part)
      if (n == count) return f(c), true;
    return false;
  };
  return one(std::integral_constant<int, 2>()) || one(std::integral_constant<int, 4>()) ||
         one(std::integral_constant<int, 8>());
}
#endif

template <class Bits>
void move_plane(const MovePlane<Bits>& p, bool past) {
  using R = MoveLanes<Bits>;
  if (p.rows >= R::part && p.columns >= R::lanes) return move_tiles<Bits, whole_register>(p, past);
#ifdef STROP_MOVES_IN_LANES
  if (p.rows >= R::part && p.columns >= R::part) return move_tiles<Bits, 1>(p, false);
  if (p.columns >= R::part) {
    if (p.in == p.rows && with_power<Bits>(p.rows, [&](auto count) { move_apart<count()>(p); })) return;
    return p.columns >= R::lanes ? move_few_rows<Bits, whole_register>(p) : move_few_rows<Bits, 1>(p);
  }
  if (p.rows >= R::part && p.out == p.columns) {
    if (with_power<Bits>(p.columns, [&](auto count) { move_in_turn<count()>(p, past); })) return;
    return move_few_columns(p);
  }
#endif
  p.each(0, 0);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
