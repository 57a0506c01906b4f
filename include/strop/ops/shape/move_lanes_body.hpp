// SPDX-License-Identifier: Apache-2.0
/// \file
/// Registers of elements that move: of 1, 2, 4 or 8 bytes, whatever they mean. One number where there are no lanes.
#pragma once
#include <strop/core/span.hpp>
#include <strop/number/lanes_base.hpp>

#include <cstdint>
#include <utility>

// Defined where elements move in registers. nvcc's front end does not take the shuffles of these. It stays defined on
// purpose.
#if !defined(STROP_NO_LANES) && !defined(__CUDACC__)
#define STROP_MOVES_IN_LANES
#endif

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

#ifdef STROP_MOVES_IN_LANES
inline constexpr int whole_register = STROP_LANE_BYTES / 16;

/// A register of `parts` times 16 bytes. What instructions exchange quickly lies within a part.
template <class Bits, int parts = whole_register>
struct MoveLanes {
  static constexpr int part = 16 / static_cast<int>(sizeof(Bits)), lanes = part * parts;
  typedef Bits V __attribute__((vector_size(16 * parts)));

  [[gnu::always_inline]] static V load(const Bits* from) {
    V v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  [[gnu::always_inline]] static void store(Bits* to, V v) { __builtin_memcpy(to, &v, sizeof v); }
  /// Past the caches; `to` is aligned to the register. Before other threads read: drain().
  [[gnu::always_inline]] static void store_past(Bits* to, V v) {
    if constexpr (parts == whole_register)
      number::detail_lanes::EachLane<float>::store_past(reinterpret_cast<float*>(to),
                                                        number::detail_lanes::pun<number::Vec<float>>(v));
    else
      store(to, v);
  }
  static void drain() { number::detail_lanes::EachLane<float>::drain(); }
  [[gnu::always_inline]] static V splat(Bits b) { return V{} + b; }
  [[gnu::always_inline]] static V reversed(V v) {
    return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      return (V)__builtin_shufflevector(v, v, (lanes - 1 - I)...);
    }(std::make_integer_sequence<int, lanes>());
  }
  /// The even or the odd elements of a and then b.
  template <int odd>
  [[gnu::always_inline]] static V every_second(V a, V b) {
    return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      return (V)__builtin_shufflevector(a, b, (2 * I + odd)...);
    }(std::make_integer_sequence<int, lanes>());
  }
  /// Elements of a and b in turn: of the lower or the upper halves of each `width` elements.
  template <int upper, int width>
  [[gnu::always_inline]] static V in_turn(V a, V b) {
    return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      return (V)__builtin_shufflevector(
          a, b, (I / width * width + upper * (width / 2) + I % width / 2 + (I % 2 != 0 ? lanes : 0))...);
    }(std::make_integer_sequence<int, lanes>());
  }
  /// `count` registers, a power of two, become the elements 0 of all of them, then the elements 1, and so on. Within
  /// parts (`width` = part, which has `count` elements then) that transposes each.
  template <int count, int width>
  [[gnu::always_inline]] static void zip(V (&v)[unsigned_size(count)]) {
    for (int stage = 1; stage < count; stage *= 2) {
      V w[unsigned_size(count)];
      for (int i = 0; i < count / 2; ++i) {
        w[2 * i] = in_turn<0, width>(v[i], v[i + count / 2]);
        w[2 * i + 1] = in_turn<1, width>(v[i], v[i + count / 2]);
      }
      for (int i = 0; i < count; ++i) v[i] = w[i];
    }
  }
  /// The opposite of zip over whole registers.
  template <int count>
  [[gnu::always_inline]] static void unzip(V (&v)[unsigned_size(count)]) {
    for (int stage = 1; stage < count; stage *= 2) {
      V w[unsigned_size(count)];
      for (int i = 0; i < count / 2; ++i) {
        w[i] = every_second<0>(v[2 * i], v[2 * i + 1]);
        w[i + count / 2] = every_second<1>(v[2 * i], v[2 * i + 1]);
      }
      for (int i = 0; i < count; ++i) v[i] = w[i];
    }
  }
  /// Part g is what stands at from + g · part · step.
  template <int of = parts>
  [[gnu::always_inline]] static auto load_parts(const Bits* from, std::int64_t step) {
    if constexpr (of == 1) {
      return MoveLanes<Bits, 1>::load(from);
    } else {
      const auto a = load_parts<of / 2>(from, step), b = load_parts<of / 2>(from + of / 2 * part * step, step);
      return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
        return (typename MoveLanes<Bits, of>::V)__builtin_shufflevector(a, b, I...);
      }(std::make_integer_sequence<int, part * of>());
    }
  }
};
#else
inline constexpr int whole_register = 1;

template <class Bits, int parts = 1>
struct MoveLanes {
  static constexpr int part = 1, lanes = 1;
  using V = Bits;
  static V load(const Bits* from) { return *from; }
  static void store(Bits* to, V v) { *to = v; }
  static void store_past(Bits* to, V v) { *to = v; }
  static void drain() {}
  static V splat(Bits b) { return b; }
  static V reversed(V v) { return v; }
  template <int count, int width>
  static void zip(V (&)[unsigned_size(count)]) {}
  static V load_parts(const Bits* from, std::int64_t) { return *from; }
};
#endif

/// A run of n ≥ lanes elements; make(i) gives a register of those from i on. What is written may be written twice.
template <class Bits, class Make>
[[gnu::always_inline]] inline void write_run(Bits* to, std::int64_t n, bool past, Make make) {
  using R = MoveLanes<Bits>;
  std::int64_t i = 0;
  if (past) {
    constexpr auto bytes = static_cast<std::uintptr_t>(sizeof(typename R::V));
    R::store(to, make(0));
    i = static_cast<std::int64_t>((bytes - reinterpret_cast<std::uintptr_t>(to) % bytes) % bytes / sizeof(Bits));
    for (; i + R::lanes <= n; i += R::lanes) R::store_past(to + i, make(i));
  } else {
    for (; i + R::lanes <= n; i += R::lanes) R::store(to + i, make(i));
  }
  if (i < n) R::store(to + n - R::lanes, make(n - R::lanes));
}

}  // namespace STROP_ISA
}  // namespace strop::inline v0::detail
