// SPDX-License-Identifier: Apache-2.0
/// \file
/// Element types: the enumeration, its names, and the bridge between a Dtype and a C++ type.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/half.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace strop::inline v0 {

/// The element type of an array. The values are those of MXNet's files.
enum class Dtype : std::uint8_t { f32 = 0, f64 = 1, f16 = 2, u8 = 3, i32 = 4, i8 = 5, i64 = 6, boolean = 7, bf16 = 12 };

inline constexpr Dtype f32 = Dtype::f32, f64 = Dtype::f64, f16 = Dtype::f16, bf16 = Dtype::bf16;
inline constexpr Dtype u8 = Dtype::u8, i8 = Dtype::i8, i32 = Dtype::i32, i64 = Dtype::i64, boolean = Dtype::boolean;

/// All element types, in the order of documentation.
inline constexpr Dtype all_dtypes[] = {f16, bf16, f32, f64, u8, i8, i32, i64, boolean};

/// A set of element types: `strop::floating | strop::integral`, `strop::f32 | strop::i64`.
struct DtypeSet {
  std::uint32_t bits = 0;
  constexpr DtypeSet() = default;
  constexpr explicit DtypeSet(std::uint32_t mask) : bits(mask) {}
  constexpr DtypeSet(Dtype type) : bits(1U << static_cast<unsigned>(type)) {}
  constexpr bool contains(Dtype type) const { return (bits & DtypeSet(type).bits) != 0; }
  friend constexpr bool operator==(DtypeSet, DtypeSet) = default;
};
constexpr DtypeSet operator|(DtypeSet a, DtypeSet b) { return DtypeSet{a.bits | b.bits}; }
constexpr DtypeSet operator|(Dtype a, Dtype b) { return DtypeSet(a) | DtypeSet(b); }

inline constexpr DtypeSet floating = DtypeSet(f16) | bf16 | f32 | f64;
inline constexpr DtypeSet integral = DtypeSet(u8) | i8 | i32 | i64;
inline constexpr DtypeSet any_dtype = floating | integral | boolean;

/// A C++ type that an array can hold.
template <class E>
concept Element = std::same_as<E, float> || std::same_as<E, double> || std::same_as<E, half> ||
                  std::same_as<E, bfloat16> || std::same_as<E, std::uint8_t> || std::same_as<E, std::int8_t> ||
                  std::same_as<E, std::int32_t> || std::same_as<E, std::int64_t> || std::same_as<E, bool>;

/// What a tensor operator computes in: float or double (halves come as converted copies).
template <class E>
concept Real = std::same_as<E, float> || std::same_as<E, double>;

namespace detail {
template <class N>
inline constexpr bool is_whole_number = false;
}
/// Whole numbers: uint8, int8, int32, int64, bool; in a map's forward, a parameter whose input is an array of one of
/// these beside inputs of another type: `constexpr auto forward(auto x, strop::Integer auto mask) const`.
template <class E>
concept Integer = (Element<E> && std::integral<E>) || detail::is_whole_number<E>;

template <class E>
  requires Element<std::remove_cv_t<E>>
inline constexpr Dtype dtype_of = [] {
  using T = std::remove_cv_t<E>;
  if constexpr (std::same_as<T, float>)
    return f32;
  else if constexpr (std::same_as<T, double>)
    return f64;
  else if constexpr (std::same_as<T, half>)
    return f16;
  else if constexpr (std::same_as<T, bfloat16>)
    return bf16;
  else if constexpr (std::same_as<T, std::uint8_t>)
    return u8;
  else if constexpr (std::same_as<T, std::int8_t>)
    return i8;
  else if constexpr (std::same_as<T, std::int32_t>)
    return i32;
  else if constexpr (std::same_as<T, std::int64_t>)
    return i64;
  else
    return boolean;
}();

/// Bytes of one element.
constexpr std::int64_t size_of(Dtype type) {
  switch (type) {
    case Dtype::f64:
    case Dtype::i64:
      return 8;
    case Dtype::f32:
    case Dtype::i32:
      return 4;
    case Dtype::f16:
    case Dtype::bf16:
      return 2;
    default:
      return 1;
  }
}

constexpr bool is_floating(Dtype type) {
  constexpr std::uint32_t set = floating.bits;  // a GPU has the value, but no address, of a constant of the host
  return (set & DtypeSet(type).bits) != 0;
}
constexpr bool is_half(Dtype type) { return type == f16 || type == bf16; }

/// The name that is printed and parsed: `float32`, `int64`, …
constexpr std::string_view name_of(Dtype type) {
  switch (type) {
    case Dtype::f32:
      return "float32";
    case Dtype::f64:
      return "float64";
    case Dtype::f16:
      return "float16";
    case Dtype::bf16:
      return "bfloat16";
    case Dtype::u8:
      return "uint8";
    case Dtype::i8:
      return "int8";
    case Dtype::i32:
      return "int32";
    case Dtype::i64:
      return "int64";
    case Dtype::boolean:
      return "bool";
  }
  return "unknown";
}

/// Whether the number is one that the enumeration lists (files carry it as an integer).
constexpr bool is_dtype(std::int64_t value) { return (value >= 0 && value <= 7) || value == 12; }

/// Calls `f.template operator()<E>()` with the C++ type of `type`.
template <class F>
constexpr decltype(auto) visit(Dtype type, F&& f) {
  switch (type) {
    case Dtype::f32:
      return f.template operator()<float>();
    case Dtype::f64:
      return f.template operator()<double>();
    case Dtype::f16:
      return f.template operator()<half>();
    case Dtype::bf16:
      return f.template operator()<bfloat16>();
    case Dtype::u8:
      return f.template operator()<std::uint8_t>();
    case Dtype::i8:
      return f.template operator()<std::int8_t>();
    case Dtype::i32:
      return f.template operator()<std::int32_t>();
    case Dtype::i64:
      return f.template operator()<std::int64_t>();
    case Dtype::boolean:
      break;
  }
  return f.template operator()<bool>();
}

namespace detail {

/// Calls `f` with an unsigned integer of an element's width and the mask of the bits that make it other than zero.
template <class F>
decltype(auto) visit_bits(Dtype dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1:
      return f(std::uint8_t{0xff});
    case 2:
      return f(std::uint16_t{0x7fff});  // the sign of a floating zero does not count
    case 4:
      return f(std::uint32_t{is_floating(dtype) ? 0x7fffffffU : 0xffffffffU});
    default:
      return f(is_floating(dtype) ? ~std::uint64_t{0} >> 1 : ~std::uint64_t{0});
  }
}

/// Double to an element as a kernel stores it: integers truncate and saturate (NaN becomes 0), bool is "not zero".
template <class E>
constexpr E from_double(double value) {
  if constexpr (std::same_as<E, bool>)
    return value != 0;
  else if constexpr (std::same_as<E, half> || std::same_as<E, bfloat16>)
    return E(static_cast<float>(value));
  else if constexpr (std::integral<E>) {
    constexpr E lowest = std::is_signed_v<E> ? static_cast<E>(std::uint64_t{1} << (sizeof(E) * 8 - 1)) : E(0);
    constexpr double low = static_cast<double>(lowest);
    constexpr double past = std::is_signed_v<E> ? -low : static_cast<double>(std::uint64_t{1} << (sizeof(E) * 8 % 64));
    if (value != value) return E(0);
    if (value <= low) return lowest;
    if (value >= past) return static_cast<E>(~lowest);
    return static_cast<E>(value);
  } else
    return static_cast<E>(value);
}

/// The integer of the type, 0 or 1 of bool, that is nearest to this one.
constexpr std::int64_t nearest_integer(Dtype type, std::int64_t value) {
  const auto between = [value](std::int64_t low, std::int64_t high) {
    return value < low ? low : value > high ? high : value;
  };
  switch (type) {
    case Dtype::u8:
      return between(0, UINT8_MAX);
    case Dtype::i8:
      return between(INT8_MIN, INT8_MAX);
    case Dtype::i32:
      return between(INT32_MIN, INT32_MAX);
    case Dtype::boolean:
      return between(0, 1);
    default:
      return value;
  }
}

/// How many positions, counted from 0, elements of the type hold exactly.
constexpr std::int64_t positions_held(Dtype type) {
  switch (type) {
    case Dtype::f16:
      return (std::int64_t{1} << 11) + 1;
    case Dtype::bf16:
      return (std::int64_t{1} << 8) + 1;
    case Dtype::f32:
      return (std::int64_t{1} << 24) + 1;
    case Dtype::f64:
      return (std::int64_t{1} << 53) + 1;
    default: {
      const std::int64_t last = nearest_integer(type, INT64_MAX);
      return last < INT64_MAX ? last + 1 : last;
    }
  }
}

template <class E>
constexpr double to_double(E value) {
  if constexpr (std::same_as<E, half> || std::same_as<E, bfloat16>)
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

}  // namespace detail

/// Converts one element; to an integer it truncates towards zero and saturates, to a narrower integer it wraps.
template <Element To, Element From>
constexpr To convert(From value) {
  if constexpr (std::same_as<To, From>)
    return value;
  else if constexpr (std::same_as<To, bool>)
    return detail::to_double(value) != 0;
  else if constexpr (std::integral<To> && std::integral<From>)
    return static_cast<To>(value);
  else if constexpr (std::integral<To>)
    return detail::from_double<To>(detail::to_double(value));
  else if constexpr (std::same_as<To, double> || std::same_as<From, double>)
    return detail::from_double<To>(detail::to_double(value));
  else
    return To(static_cast<float>(value));
}

}  // namespace strop::inline v0
