// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the operands of a map lie in memory: elements of any type as the number that they are computed in, and the
/// positions of an element of the common shape in every operand.
#pragma once
#include <strop/core/dtype.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0::cuda {

/// What an element is computed in: halves in float.
template <class E>
using ComputeAs = std::conditional_t<std::same_as<E, half> || std::same_as<E, bfloat16>, float, E>;

/// One element as a number.
template <class C, class E>
constexpr C number_of(E e) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::same_as<E, half>) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(e.bits));
    return static_cast<C>(wide);
  }
#endif
  return convert<C>(e);
}

/// A number as an element: halves round to nearest, integers truncate and saturate or, from integers, wrap.
template <class E, class C>
constexpr E element_of(C value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::same_as<E, half>) {
    half e;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(e.bits) : "f"(static_cast<float>(value)));
    return e;
  }
#if __CUDA_ARCH__ >= 800
  if constexpr (std::same_as<E, bfloat16>) {
    bfloat16 e;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(e.bits) : "f"(static_cast<float>(value)));
    return e;
  }
#endif
#endif
  return convert<E>(value);
}

/// Element i of an array whose type is known when the kernel runs, and is one that is computed in C.
template <class C>
constexpr C load_from(Dtype dtype, const void* data, std::int64_t i) {
  if constexpr (std::integral<C>) {
    switch (dtype) {
      case Dtype::u8:
        return number_of<C>(static_cast<const std::uint8_t*>(data)[i]);
      case Dtype::i8:
        return number_of<C>(static_cast<const std::int8_t*>(data)[i]);
      case Dtype::i32:
        return number_of<C>(static_cast<const std::int32_t*>(data)[i]);
      case Dtype::boolean:
        return number_of<C>(static_cast<const bool*>(data)[i]);
      default:
        return number_of<C>(static_cast<const std::int64_t*>(data)[i]);
    }
  } else {
    switch (dtype) {
      case Dtype::f16:
        return number_of<C>(static_cast<const half*>(data)[i]);
      case Dtype::bf16:
        return number_of<C>(static_cast<const bfloat16*>(data)[i]);
      case Dtype::f32:
        return number_of<C>(static_cast<const float*>(data)[i]);
      case Dtype::f64:
        return number_of<C>(static_cast<const double*>(data)[i]);
      default:  // the double of an integer map's floating result
        return static_cast<C>(load_from<std::int64_t>(dtype, data, i));
    }
  }
}

/// Sets element i of such an array.
template <class C>
constexpr void store_to(Dtype dtype, void* data, std::int64_t i, C value) {
  if constexpr (!std::integral<C>) {
    switch (dtype) {
      case Dtype::f16:
        static_cast<half*>(data)[i] = element_of<half>(value);
        return;
      case Dtype::bf16:
        static_cast<bfloat16*>(data)[i] = element_of<bfloat16>(value);
        return;
      case Dtype::f32:
        static_cast<float*>(data)[i] = element_of<float>(value);
        return;
      case Dtype::f64:
        static_cast<double*>(data)[i] = element_of<double>(value);
        return;
      default:
        break;
    }
  }
  switch (dtype) {
    case Dtype::u8:
      static_cast<std::uint8_t*>(data)[i] = element_of<std::uint8_t>(value);
      return;
    case Dtype::i8:
      static_cast<std::int8_t*>(data)[i] = element_of<std::int8_t>(value);
      return;
    case Dtype::i32:
      static_cast<std::int32_t*>(data)[i] = element_of<std::int32_t>(value);
      return;
    case Dtype::boolean:
      static_cast<bool*>(data)[i] = element_of<bool>(value);
      return;
    default:
      static_cast<std::int64_t*>(data)[i] = element_of<std::int64_t>(value);
  }
}

/// a + b, where integers wrap.
template <class C>
constexpr C plus(C a, C b) {
  if constexpr (std::integral<C>)
    return static_cast<C>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

/// The operands of a map with N inputs and M results in their common shape, whose neighbouring axes are merged where
/// every operand allows it. Strides are in elements, 0 where an operand is broadcast.
template <std::size_t N, std::size_t M>
struct MapLayout {
  static constexpr int most = 12;
  const void* in[N];  // null: an input that is not read, 0
  void* out[M];       // null: a result that nobody asked for
  bool add[M];
  Dtype dtype;
  int rank;
  std::int64_t n;
  std::int64_t extents[static_cast<std::size_t>(most)];
  std::int64_t strides[static_cast<std::size_t>(most)][N + M];

  /// The positions in every operand of element i of the common shape.
  constexpr void locate(std::int64_t i, std::int64_t (&at)[N + M]) const {
    if (rank <= 1) return step(0, i, at);
    if (n <= INT32_MAX)  // divisions of 64 bits take several times as long
      walk(static_cast<std::uint32_t>(i), at);
    else
      walk(static_cast<std::uint64_t>(i), at);
  }

  /// The positions of the term-th value of those that belong to element o of operand k: o counts over the axes that the
  /// operand has, term over those along which it is broadcast.
  constexpr void locate_in(std::size_t k, std::int64_t o, std::int64_t term, std::int64_t (&at)[N + M]) const {
    if (n <= INT32_MAX)
      walk_in(k, static_cast<std::uint32_t>(o), static_cast<std::uint32_t>(term), at);
    else
      walk_in(k, static_cast<std::uint64_t>(o), static_cast<std::uint64_t>(term), at);
  }

 private:
  constexpr void step(int axis, std::int64_t i, std::int64_t (&at)[N + M]) const {
    for (std::size_t k = 0; k < N + M; ++k) at[k] += i * strides[axis][k];
  }
  template <class I>
  constexpr void walk_in(std::size_t k, I o, I term, std::int64_t (&at)[N + M]) const {
    for (int axis = rank - 1; axis >= 0; --axis) {
      const bool own = strides[axis][k] != 0;
      const I extent = static_cast<I>(extents[axis]), rest = own ? o : term, next = rest / extent;
      step(axis, static_cast<std::int64_t>(rest - next * extent), at);
      (own ? o : term) = next;
    }
  }
  template <class I>
  constexpr void walk(I i, std::int64_t (&at)[N + M]) const {
    for (int axis = rank - 1; axis > 0; --axis) {
      const I extent = static_cast<I>(extents[axis]), next = i / extent;
      step(axis, static_cast<std::int64_t>(i - next * extent), at);
      i = next;
    }
    step(0, static_cast<std::int64_t>(i), at);
  }
};

}  // namespace strop::inline v0::cuda
