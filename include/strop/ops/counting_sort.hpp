// SPDX-License-Identifier: Apache-2.0
/// \file
/// Counting sorts, whose items the callers count and place, by parts on threads; and radix sort.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// In how many parts threads go through a list: what they find does not depend on it. `table`: what each part prepares.
inline std::int64_t parts_of_list(std::int64_t count, std::int64_t table) {
  const std::int64_t most = count / std::max<std::int64_t>(std::int64_t{1} << 14, table);
  return std::clamp<std::int64_t>(most, 1, std::min(num_threads(), 16));
}

/// Puts items into lists that follow each other; those of a list keep their order. count(p, table) adds to zeros how
/// many items of part p go into each list. ended(list, end) learns where a list ends. put(p, next) puts each item at
/// next[list]++. `tables`: room for parts · lists counts.
template <class N, class Count, class Ended, class Put>
void counting_sort(N* tables, std::int64_t lists, std::int64_t parts, Count count, Ended ended, Put put) {
  const auto each_part = [&](auto f) {
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) f(p, tables + p * lists);
    });
  };
  each_part([&](std::int64_t p, N* table) {
    std::fill(table, table + lists, N(0));
    count(p, table);
  });
  N next = 0;
  for (std::int64_t list = 0; list < lists; ++list) {
    for (std::int64_t p = 0; p < parts; ++p) next += std::exchange(tables[p * lists + list], next);
    ended(list, next);
  }
  each_part(put);
}

/// Sorts n numbers by their bits [low, 64), equal ones stay in their order; says in which of the two memories the
/// result is. The other has room for n as well. Digits of 8 or 11 bits, the last first; those that are the same in all
/// numbers take no time.
template <class U>
U* radix_sort(U* from, U* other, std::int64_t n, int low, std::int64_t parts) {
  const auto each_of = [n, parts](std::int64_t p, auto f) {
    for (std::int64_t i = n * p / parts, end = n * (p + 1) / parts; i < end; ++i) f(i);
  };
  List<U> seen(parts);
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      U any = 0;
      each_of(p, [&](std::int64_t i) { any |= from[i] ^ from[0]; });
      seen[p] = any;
    }
  });
  U varying = 0;
  for (const U any : seen) varying |= any;
  varying = varying >> low << low;
  if (varying == 0) return from;
  low = std::countr_zero(varying);
  const int bits = static_cast<int>(std::bit_width(varying)) - low, most = n < 1 << 17 ? 8 : 11;
  const int digit = (bits + (bits + most - 1) / most - 1) / ((bits + most - 1) / most);
  const std::int64_t lists = std::int64_t{1} << digit;
  const U mask = static_cast<U>(lists - 1);
  const NDArray memory({parts, lists}, i64);
  for (; low < static_cast<int>(std::bit_width(varying)); low += digit) {
    if ((varying >> low & mask) == 0) continue;
    counting_sort(
        memory.pointer<std::int64_t>(), lists, parts,
        [&](std::int64_t p, std::int64_t* count) {
          each_of(p, [=](std::int64_t i) { ++count[from[i] >> low & mask]; });
        },
        [](std::int64_t, std::int64_t) {},
        [&](std::int64_t p, std::int64_t* next) {
          each_of(p, [=](std::int64_t i) { other[next[from[i] >> low & mask]++] = from[i]; });
        });
    std::swap(from, other);
  }
  return from;
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
