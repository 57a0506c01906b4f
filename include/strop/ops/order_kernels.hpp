// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sorted rows and the first of them: elements as unsigned numbers of the same order, by radix or in registers.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/ops/counting_sort.hpp>
#include <strop/ops/vector_sort.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// An element as an unsigned number: equal elements have equal numbers, −0 that of 0, and NaN the greatest.
template <class E>
struct OrderKey {
  using U = std::conditional_t<sizeof(E) == 8, std::uint64_t, std::uint32_t>;
  static constexpr U sign = static_cast<U>(U(1) << (8 * sizeof(U) - 1));

  static U of(E x) {
    if constexpr (std::is_integral_v<E>) {
      return std::is_signed_v<E> ? static_cast<U>(x) ^ sign : static_cast<U>(x);
    } else {
      constexpr U infinity = sizeof(E) == 8 ? U(0x7ff0000000000000) : U(0x7f800000);
      const U bits = std::bit_cast<U>(x), down = U(0) - (bits >> (8 * sizeof(U) - 1));  // all ones of a negative number
      const U key = bits ^ (down | sign);
      return (bits & ~sign) > infinity ? static_cast<U>(-1) : key + (key == sign - 1 ? 1 : 0);
    }
  }
  /// The element of a number, where it is neither −0 nor NaN.
  static E value(U key) {
    if constexpr (std::is_integral_v<E>) {
      return static_cast<E>(std::is_signed_v<E> ? key ^ sign : key);
    } else {
      const U down = (key >> (8 * sizeof(U) - 1)) - U(1);
      return std::bit_cast<E>(key ^ (down | sign));
    }
  }
  /// Other than 0 where the number does not tell which element it is: of −0 and NaN.
  static U lost(E x) {
    if constexpr (std::is_integral_v<E>)
      return 0;
    else
      return std::bit_cast<U>(value(of(x))) ^ std::bit_cast<U>(x);
  }
};

/// f(i, i · stride) for each of [begin, end): a loop of its own where the elements follow each other.
template <class F>
void each_place(std::int64_t stride, std::int64_t begin, std::int64_t end, F f) {
  if (stride == 1)
    for (std::int64_t i = begin; i < end; ++i) f(i, i);
  else
    for (std::int64_t i = begin; i < end; ++i) f(i, i * stride);
}

/// A row as it is sorted: the key of its element i, which is turned over where the greatest is the first.
template <class E>
struct KeyRow {
  using U = typename OrderKey<E>::U;
  const E* from;
  std::int64_t stride, n;
  U turn;  // 0, or all ones

  KeyRow(const E* first, std::int64_t distance, std::int64_t count, bool ascending)
      : from(first), stride(distance), n(count), turn(ascending ? U(0) : static_cast<U>(-1)) {}
  E element(std::int64_t i) const { return from[i * stride]; }
  U operator[](std::int64_t i) const { return OrderKey<E>::of(element(i)) ^ turn; }
  /// f(i, element, key) for each of [begin, end).
  template <class F>
  void each(std::int64_t begin, std::int64_t end, F f) const {
    const E* const at = from;  // not to be read again after each store
    const U turned = turn;
    each_place(stride, begin, end,
               [=](std::int64_t i, std::int64_t place) { f(i, at[place], OrderKey<E>::of(at[place]) ^ turned); });
  }
};

inline constexpr std::int64_t order_grain = 1 << 14;

/// Sorts n numbers, of which those that are equal from bit `low` on stay in their order: numbers that differ below it
/// have ascending bits there. `other` has room for n; says in which of the two the result is.
template <class U>
U* sort_numbers(U* x, U* other, std::int64_t n, int low, std::int64_t parts) {
#if STROP_X86_BYTES == 64 && !defined(__CUDACC__)
  constexpr std::int64_t few = 8;
#else
  constexpr std::int64_t few = 64;
#endif
  if (n <= few) {
    std::sort(x, x + n);
    return x;
  }
#if STROP_X86_BYTES == 64 && !defined(__CUDACC__)
  VectorSort<U>::sort(x, other, n, true, parts);
  (void)low;
  return x;
#else
  return radix_sort(x, other, n, low, parts);
#endif
}

/// The elements of a row in order, at to[i · stride]. `room` is for 2 n keys.
template <class E>
void sorted_values(const KeyRow<E>& row, E* to, void* room, std::int64_t parts) {
  using U = typename KeyRow<E>::U;
  using Key = OrderKey<E>;
  const std::int64_t n = row.n, stride = row.stride;
  if constexpr (sizeof(E) == 1) {
    std::int64_t counts[256] = {}, i = 0;
    constexpr U least = std::is_signed_v<E> ? Key::sign - 128 : 0;
    for (std::int64_t k = 0; k < n; ++k) ++counts[Key::of(row.element(k)) - least];
    for (int k = 0; k < 256; ++k) {
      const int byte = row.turn == 0 ? k : 255 - k;
      for (std::int64_t end = i + counts[byte]; i < end; ++i) to[i * stride] = Key::value(static_cast<U>(byte) + least);
    }
    return;
  }
  auto* const memory = static_cast<U*>(room);
  std::atomic<bool> lost = false;  // −0 and NaN, of which the keys tell nothing
  parallel_for(n, order_grain, [&](std::int64_t begin, std::int64_t end) {
    U any = 0;
    row.each(begin, end, [&any, memory](std::int64_t i, E x, U key) {
      memory[i] = key;
      any |= Key::lost(x);
    });
    if (any != 0) lost = true;
  });
  const U* const keys = sort_numbers(memory, memory + n, n, 0, parts);
  parallel_for(n, order_grain, [&](std::int64_t begin, std::int64_t end) {
    each_place(stride, begin, end, [to, keys, turn = row.turn](std::int64_t i, std::int64_t place) {
      to[place] = Key::value(keys[i] ^ turn);
    });
  });
  if (!lost) return;
  std::int64_t zero = std::lower_bound(keys, keys + n, Key::of(E(0)) ^ row.turn) - keys;
  std::int64_t nan = std::lower_bound(keys, keys + n, static_cast<U>(-1) ^ row.turn) - keys;
  for (std::int64_t i = 0; i < n; ++i) {
    const E x = row.element(i);
    if (x == E(0)) to[zero++ * stride] = x;
    if (x != x) to[nan++ * stride] = x;
  }
}

/// Positions in a row: the low bits of each number.
struct OrderedPositions {
  const std::uint64_t* at;
  std::uint64_t mask;
  std::int64_t operator[](std::int64_t i) const { return static_cast<std::int64_t>(at[i] & mask); }
};

/// A key and where it stands: the order of both is that of a sort in which equal elements stay in their order.
template <class U>
struct PlacedKey {
  U key;
  std::uint64_t at;
  friend bool operator<(const PlacedKey& a, const PlacedKey& b) { return a.key != b.key ? a.key < b.key : a.at < b.at; }
};

/// The positions of a row's elements in order. Positions stand below 32 bits of the keys, so that numbers of 64 bits
/// are sorted; runs that are equal in these bits are sorted by the bits below. `memory`: room for 2 n numbers.
template <class E>
OrderedPositions sorted_positions(const KeyRow<E>& row, std::uint64_t* memory, std::int64_t parts) {
  using U = typename KeyRow<E>::U;
  const std::int64_t n = row.n;
  int shift = 0;
  if constexpr (sizeof(U) == 8) {
    std::atomic<U> varying = 0;
    parallel_for(n, order_grain, [&](std::int64_t begin, std::int64_t end) {
      U any = 0;
      const U first = row[0];
      row.each(begin, end, [&](std::int64_t, E, U key) { any |= key ^ first; });
      varying |= any;
    });
    shift = std::max(0, static_cast<int>(std::bit_width(varying.load())) - 32);
  }
  parallel_for(n, order_grain, [&](std::int64_t begin, std::int64_t end) {
    row.each(begin, end, [memory, shift](std::int64_t i, E, U key) {
      memory[i] =
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(key >> shift)) << 32 | static_cast<std::uint64_t>(i);
    });
  });
  std::uint64_t* const at = sort_numbers(memory, memory + n, n, 32, parts);
  std::uint64_t* const other = at == memory ? memory + n : memory;
  constexpr std::uint64_t mask = 0xffffffff;
  if (shift == 0) return {at, mask};
  const auto follows = [&](std::int64_t i) { return i < n && (at[i] ^ at[i - 1]) <= mask; };
  List<std::int64_t> cuts(parts + 1);  // where no run goes on
  for (std::int64_t p = 1; p <= parts; ++p) {
    std::int64_t cut = n * p / parts;
    while (follows(cut)) ++cut;
    cuts[p] = cut;
  }
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = cuts[begin], last; i < cuts[end]; i = last) {
      for (last = i + 1; last < cuts[end] && follows(last);) ++last;  // behind it is another part's
      if (last == i + 1) continue;
      for (std::int64_t k = i; k < last; ++k) {
        const std::uint64_t place = at[k] & mask;
        at[k] = static_cast<std::uint64_t>(row[static_cast<std::int64_t>(place)]) << 32 | place;
      }
      const std::uint64_t* const run = sort_numbers(at + i, other + i, last - i, 32, 1);
      if (run != at + i) std::copy(run, run + (last - i), at + i);
    }
  });
  return {at, mask};
}

/// The same of a row that has more positions than 32 bits count.
template <class E>
OrderedPositions sorted_far_positions(const KeyRow<E>& row, std::uint64_t* memory) {
  for (std::int64_t i = 0; i < row.n; ++i) memory[i] = static_cast<std::uint64_t>(i);
  std::sort(memory, memory + row.n, [&](std::uint64_t a, std::uint64_t b) {
    using Placed = PlacedKey<typename KeyRow<E>::U>;
    return Placed{row[static_cast<std::int64_t>(a)], a} < Placed{row[static_cast<std::int64_t>(b)], b};
  });
  return {memory, static_cast<std::uint64_t>(-1)};
}

/// Keeps the first `count` of a list, in any order.
template <class U>
void keep_first(List<PlacedKey<U>>& list, std::int64_t count) {
  if (list.size() <= count) return;
  std::nth_element(list.begin(), list.begin() + count - 1, list.end());
  list.resize(count);
}

/// The first `count` in order of elements [begin, end) of a row, in any order. What comes before the last of those that
/// were kept joins them, and from time to time the list is cut: most of a row is only compared, 64 at a time.
template <class E>
void first_of(const KeyRow<E>& row, std::int64_t begin, std::int64_t end, std::int64_t count,
              List<PlacedKey<typename KeyRow<E>::U>>& kept) {
  using U = typename KeyRow<E>::U;
  constexpr int block = 64;
  const std::int64_t room = 2 * count + 4 * block;
  kept.reserve(room);
  U bound = 0;  // of what comes before: all, while the list has not been cut
  bool every = true;
  for (std::int64_t i = begin; i < end; i += block) {
    U keys[block];
    const std::int64_t here = std::min<std::int64_t>(block, end - i);
    if (here == block && row.stride == 1)
      for (int j = 0; j < block; ++j) keys[j] = OrderKey<E>::of(row.from[i + j]) ^ row.turn;
    else
      for (std::int64_t j = 0; j < block; ++j) keys[j] = j < here ? row[i + j] : static_cast<U>(-1);
    U before = 0;
    for (int j = 0; j < block; ++j) before |= keys[j] < bound ? U(1) : U(0);
    if (!every && before == 0) continue;
    if (kept.size() + block > room) {
      keep_first(kept, count);
      bound = kept.back().key, every = false;
    }
    for (std::int64_t j = 0; j < here; ++j)
      if (every || keys[j] < bound) kept.push_back({keys[j], static_cast<std::uint64_t>(i + j)});
  }
  keep_first(kept, count);
}

/// The positions of the first `count` in order, which are few. `memory`: room for them.
template <class E>
OrderedPositions first_positions(const KeyRow<E>& row, std::int64_t count, std::uint64_t* memory, std::int64_t parts) {
  List<List<PlacedKey<typename KeyRow<E>::U>>> kept(parts);
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      first_of(row, row.n * p / parts, row.n * (p + 1) / parts, count, kept[p]);
  });
  auto& all = kept[0];
  for (std::int64_t p = 1; p < parts; ++p) all.append(kept[p].span());
  keep_first(all, count);
  std::sort(all.begin(), all.end());
  for (std::int64_t i = 0; i < count; ++i) memory[i] = all[i].at;
  return {memory, static_cast<std::uint64_t>(-1)};
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
