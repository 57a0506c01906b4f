// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pieces of rows in registers: what sums of rows are made of.
#pragma once
#include <strop/number/lanes.hpp>

#include <cstdint>
#include <cstring>
#include <utility>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// f(0), f(1) … f(N − 1), each written out: the compilers keep in memory what a loop indexes.
template <int N, class F>
[[gnu::always_inline]] inline void unrolled(F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>)
      __attribute__((always_inline)) { (f(I), ...); }(std::make_integer_sequence<int, N>{});
}

/// The halves of a register of N elements added up until P are left. They are shuffled: what is copied out of a
/// register by bytes, g++ keeps in memory all the time; and listed: nvcc loses an expanded pack here.
template <int P, int N, class V>
[[gnu::always_inline]] inline auto folded(V v) {
  if constexpr (N == P)
    return v;
  else if constexpr (N == 4)
    return folded<P, 2>(__builtin_shufflevector(v, v, 0, 1) + __builtin_shufflevector(v, v, 2, 3));
  else if constexpr (N == 8)
    return folded<P, 4>(__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7));
  else
    return folded<P, 8>(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                        __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
}

/// Asks for the cache lines of `bytes` that will be read soon.
template <std::int64_t bytes>
[[gnu::always_inline]] inline void prefetch(const void* from) {
  constexpr std::int64_t line = 64;
  unrolled<static_cast<int>((bytes + line - 1) / line)>(
      [&](int i) __attribute__((always_inline)) { __builtin_prefetch(static_cast<const char*>(from) + i * line); });
}

/// A few columns of a row: what a kernel of CSR products holds in registers.
template <class E, int N>
struct FullPiece {  ///< N registers
  using R = number::Rep<number::Vec<E>>;
  static constexpr int registers = N, columns = N * static_cast<int>(R::lanes);
  static constexpr std::int64_t bytes = N * std::int64_t{sizeof(number::Vec<E>)};
  number::Vec<E> v[std::size_t{N}];
  FullPiece() {
    unrolled<N>([&](int i) __attribute__((always_inline)) { v[i] = number::Vec<E>{}; });
  }
  explicit FullPiece(const E* from) {
    unrolled<N>([&](int i) __attribute__((always_inline)) { v[i] = R::load(from + i * R::lanes); });
  }
  void add_product(E s, const FullPiece& x) {
    unrolled<N>([&](int i) __attribute__((always_inline)) { v[i] += s * x.v[i]; });
  }
  void add_product(E s, const E* from) {
    unrolled<N>([&](int i) __attribute__((always_inline)) { v[i] += s * R::load(from + i * R::lanes); });
  }
  void add(const FullPiece& x) {
    unrolled<N>([&](int i) __attribute__((always_inline)) { v[i] += x.v[i]; });
  }
  void store(E* to) const {
    unrolled<N>([&](int i) __attribute__((always_inline)) { R::store(to + i * R::lanes, v[i]); });
  }
};

template <class E, int W>
struct NarrowPiece {  ///< W elements, less than a register
  typedef E V __attribute__((vector_size(W * sizeof(E))));
  static constexpr int registers = 1, columns = W;
  static constexpr std::int64_t bytes = sizeof(V);
  V v = {};
  NarrowPiece() = default;
  explicit NarrowPiece(const E* from) { std::memcpy(&v, from, sizeof v); }
  void add_product(E s, const NarrowPiece& x) { v += s * x.v; }
  void add_product(E s, const E* from) { add_product(s, NarrowPiece(from)); }
  void add(const NarrowPiece& x) { v += x.v; }
  void store(E* to) const { std::memcpy(to, &v, sizeof v); }
};
template <class E>
struct NarrowPiece<E, 1> {
  static constexpr int registers = 1, columns = 1;
  static constexpr std::int64_t bytes = sizeof(E);
  E v = 0;
  NarrowPiece() = default;
  explicit NarrowPiece(const E* from) : v(*from) {}
  void add_product(E s, const NarrowPiece& x) { v += s * x.v; }
  void add_product(E s, const E* from) { v += s * *from; }
  void add(const NarrowPiece& x) { v += x.v; }
  void store(E* to) const { *to = v; }
};

/// N sums of one kind. Each is made by an expression of its own: g++ makes those of an array in a loop, in memory,
/// which costs as much as twenty products.
template <class Piece, int N, class = std::make_integer_sequence<int, N>>
struct Chains;
template <class Piece, int N, int... I>
struct Chains<Piece, N, std::integer_sequence<int, I...>> {
  Piece of[std::size_t{N}] = {(static_cast<void>(I), Piece())...};
};

/// f.operator()<Piece>(column) for pieces that make up n columns: the widest first.
template <class E, class F>
void each_piece(std::int64_t n, F&& f) {
  constexpr std::int64_t lanes = number::Rep<number::Vec<E>>::lanes;
  std::int64_t c = 0;
  for (; c + 8 * lanes <= n; c += 8 * lanes) f.template operator()<FullPiece<E, 8>>(c);
  if (c + 4 * lanes <= n) f.template operator()<FullPiece<E, 4>>(c), c += 4 * lanes;
  if (c + 2 * lanes <= n) f.template operator()<FullPiece<E, 2>>(c), c += 2 * lanes;
  if constexpr (lanes > 1)
    if (c + lanes <= n) f.template operator()<FullPiece<E, 1>>(c), c += lanes;
  if constexpr (lanes > 8)
    if (c + 8 <= n) f.template operator()<NarrowPiece<E, 8>>(c), c += 8;
  if constexpr (lanes > 4)
    if (c + 4 <= n) f.template operator()<NarrowPiece<E, 4>>(c), c += 4;
  if constexpr (lanes > 2)
    if (c + 2 <= n) f.template operator()<NarrowPiece<E, 2>>(c), c += 2;
  for (; c < n; ++c) f.template operator()<NarrowPiece<E, 1>>(c);
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
