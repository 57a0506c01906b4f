// SPDX-License-Identifier: Apache-2.0
/// \file
/// The runtime's own loops over elements, for whatever instruction set is best: conversion, sums, what is stored,
/// random numbers.
///
/// A header-only program calls those of its own instruction set. The compiled runtime calls them through a table: its
/// own, or that of a level which src/levels links beside it, chosen when the program starts as entries are.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/isa.hpp>
#include <strop/core/span.hpp>
#include <strop/memory/random.hpp>
#include <strop/tensor/convert_lanes.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace strop::inline v0::detail {
inline namespace STROP_ISA {

/// The loops of this instruction set.
struct OwnLoops {
  /// Converts n elements as `convert<To>` does each. Few loops serve all pairs: those without a loop of their own
  /// go through a block on the stack. It has 32-bit integers between integers, and floats between halves and others.
  static void convert(Dtype from, const void* source, Dtype to, void* target, std::int64_t n) {
    if (n <= 0) return;
    const std::int64_t in = size_of(from), out = size_of(to);
    if (from == to) {
      detail::move_bytes(target, source, n * in);
      return;
    }
    if (to == f32) return to_number(from, source, static_cast<float*>(target), n);
    if (from == f32) return from_number(to, static_cast<const float*>(source), target, n);
    if (to == f64) return to_number(from, source, static_cast<double*>(target), n);
    if (from == f64) return from_number(to, static_cast<const double*>(source), target, n);
    const bool whole = !is_floating(from) && !is_floating(to);
    if (whole && to == i64) return to_integers(from, source, static_cast<std::int64_t*>(target), n);
    if (whole && from == i64) return from_integers(to, static_cast<const std::int64_t*>(source), target, n);
    if (whole && to == i32) return to_integers(from, source, static_cast<std::int32_t*>(target), n);
    if (whole && from == i32) return from_integers(to, static_cast<const std::int32_t*>(source), target, n);

    constexpr std::int64_t block = 512;
    alignas(64) std::byte space[block * 4];
    const auto* at = static_cast<const std::byte*>(source);
    auto* put = static_cast<std::byte*>(target);
    for (std::int64_t done = 0; done < n; done += block, at += block * in, put += block * out) {
      const std::int64_t count = n - done < block ? n - done : block;
      if (whole) {
        auto* integers = reinterpret_cast<std::int32_t*>(space);
        to_integers(from, at, integers, count);
        from_integers(to, integers, put, count);
      } else {
        auto* floats = reinterpret_cast<float*>(space);
        to_number(from, at, floats, count);
        from_number(to, floats, put, count);
      }
    }
  }

  /// total = a + b in float, double or 64-bit integers, which wrap around. total is a or b, or apart from
  /// both.
  static void add(Dtype type, const void* a, const void* b, void* total, std::int64_t n) {
    if (type == f32)
      add_as<float>(a, b, total, n);
    else if (type == f64)
      add_as<double>(a, b, total, n);
    else
      add_as<std::int64_t>(a, b, total, n);
  }

  /// How many of n elements are not zero; the position of the first of them, or n; they and their positions, one after
  /// the other: how many they are.
  static std::int64_t count_stored(Dtype type, const void* from, std::int64_t n) {
    return visit_bits(type, [&]<class Bits>(Bits mask) {
      const auto* bits = static_cast<const Bits*>(from);
      constexpr int run = 64;  // a constant length: many at a time
      std::int64_t count = 0, i = 0;
      for (; i + run <= n; i += run) {
        std::int32_t here = 0;
        for (int k = 0; k < run; ++k) here += (bits[i + k] & mask) != 0 ? 1 : 0;
        count += here;
      }
      for (; i < n; ++i) count += (bits[i] & mask) != 0 ? 1 : 0;
      return count;
    });
  }
  static std::int64_t first_stored(Dtype type, const void* from, std::int64_t n) {
    return visit_bits(type, [&]<class Bits>(Bits mask) {
      const auto* bits = static_cast<const Bits*>(from);
      std::int64_t i = 0;
      while (i + 16 <= n && is_zero_run(bits + i, mask)) i += 16;
      while (i < n && (bits[i] & mask) == 0) ++i;
      return i;
    });
  }
  static std::int64_t copy_stored(Dtype type, const void* from, std::int64_t n, void* to, std::int64_t* positions) {
    return visit_bits(type, [&]<class Bits>(Bits mask) {
      const auto* bits = static_cast<const Bits*>(from);
      auto* put = static_cast<Bits*>(to);
      std::int64_t stored = 0;
      for (std::int64_t i = 0; i < n;) {
        const std::int64_t end = n - i < 16 ? n : i + 16;
        if (end - i == 16 && is_zero_run(bits + i, mask)) {
          i = end;
          continue;
        }
        for (; i < end; ++i) {
          if ((bits[i] & mask) == 0) continue;
          put[stored] = bits[i];
          positions[stored++] = i;
        }
      }
      return stored;
    });
  }

  // Elements 0 to n - 1 of a stream.
  static void uniform(const random::Stream& stream, float* to, std::int64_t n, float low, float high, Dtype type) {
    stream.fill_uniform(to, n, low, high, type);
  }
  static void uniform01d(const random::Stream& stream, double* to, std::int64_t n) { stream.fill_uniform01d(to, n); }
  static void normal(const random::Stream& stream, float* to, std::int64_t n, float mean, float deviation) {
    stream.fill_normal(to, n, mean, deviation);
  }

 private:
  /// Whether a run of 16 elements is zero.
  template <class Bits>
  static bool is_zero_run(const Bits* from, Bits mask) {
    Bits any = 0;
    for (int k = 0; k < 16; ++k) any = static_cast<Bits>(any | from[k]);
    return (any & mask) == 0;
  }

  template <class V>
  static void add_as(const void* a, const void* b, void* total, std::int64_t n) {
    using Bits = std::conditional_t<std::is_integral_v<V>, std::make_unsigned<V>, std::type_identity<V>>::type;
    const auto one = [](V u, V v) { return static_cast<V>(static_cast<Bits>(u) + static_cast<Bits>(v)); };
    const V* const x = static_cast<const V*>(a);
    const V* const y = static_cast<const V*>(b);
    V* const sum = static_cast<V*>(total);
    constexpr std::int64_t run = 16;  // a fixed length, from which compilers make vector code
    std::int64_t i = 0;
    for (; i + run <= n; i += run) {
      V part[run];  // all of it read before any is written
      for (std::int64_t j = 0; j < run; ++j) part[j] = one(x[i + j], y[i + j]);
      std::memcpy(sum + i, part, sizeof part);
    }
    for (; i < n; ++i) sum[i] = one(x[i], y[i]);
  }

  template <class To, class From>
  static void each(const From* from, To* to, std::int64_t n) {
    std::int64_t i = 0;
    if constexpr (!std::same_as<To, From>)
      for (; i + lane_block <= n; i += lane_block) convert_block(from + i, to + i);
    for (; i < n; ++i) to[i] = strop::convert<To>(from[i]);
  }
  /// To and from floats or doubles.
  template <class Number>
  static void to_number(Dtype dtype, const void* from, Number* to, std::int64_t n) {
    visit(dtype, [&]<class E>() { each(static_cast<const E*>(from), to, n); });
  }
  template <class Number>
  static void from_number(Dtype dtype, const Number* from, void* to, std::int64_t n) {
    visit(dtype, [&]<class E>() { each(from, static_cast<E*>(to), n); });
  }
  template <class Wide>
  static void to_integers(Dtype dtype, const void* from, Wide* to, std::int64_t n) {
    switch (dtype) {
      case Dtype::u8:
        return each(static_cast<const std::uint8_t*>(from), to, n);
      case Dtype::i8:
        return each(static_cast<const std::int8_t*>(from), to, n);
      case Dtype::i32:
        return each(static_cast<const std::int32_t*>(from), to, n);
      default:
        return each(static_cast<const bool*>(from), to, n);
    }
  }
  template <class Wide>
  static void from_integers(Dtype dtype, const Wide* from, void* to, std::int64_t n) {
    switch (dtype) {
      case Dtype::u8:
        return each(from, static_cast<std::uint8_t*>(to), n);
      case Dtype::i8:
        return each(from, static_cast<std::int8_t*>(to), n);
      case Dtype::i32:
        return each(from, static_cast<std::int32_t*>(to), n);
      default:
        return each(from, static_cast<bool*>(to), n);
    }
  }
};

}  // namespace STROP_ISA

#if defined(STROP_COMPILED)
/// The same loops of some instruction set; a member is described there.
struct ElementLoops {
  Isa isa;
  void (*convert)(Dtype from, const void* source, Dtype to, void* target, std::int64_t n);
  void (*add)(Dtype type, const void* a, const void* b, void* total, std::int64_t n);
  std::int64_t (*count_stored)(Dtype type, const void* from, std::int64_t n);
  std::int64_t (*first_stored)(Dtype type, const void* from, std::int64_t n);
  std::int64_t (*copy_stored)(Dtype type, const void* from, std::int64_t n, void* to, std::int64_t* positions);
  void (*uniform)(const random::Stream& stream, float* to, std::int64_t n, float low, float high, Dtype type);
  void (*uniform01d)(const random::Stream& stream, double* to, std::int64_t n);
  void (*normal)(const random::Stream& stream, float* to, std::int64_t n, float mean, float deviation);
};

inline namespace STROP_ISA {
inline constexpr ElementLoops own_element_loops{this_isa,
                                                OwnLoops::convert,
                                                OwnLoops::add,
                                                OwnLoops::count_stored,
                                                OwnLoops::first_stored,
                                                OwnLoops::copy_stored,
                                                OwnLoops::uniform,
                                                OwnLoops::uniform01d,
                                                OwnLoops::normal};
}  // namespace STROP_ISA

/// The loops that the runtime calls.
const ElementLoops& element_loops();
/// Has the runtime call these where the machine runs them and they are the best so far, by the rule of entries.
void enrol(const ElementLoops& own);
#else
constexpr OwnLoops element_loops() { return {}; }
#endif

}  // namespace strop::inline v0::detail

#include <strop/core/pop_macros.def>
